//! Writes the method reference: `cargo run -p bridge-catalogue --example docs`.

fn main() -> std::io::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/methods.md");
    std::fs::write(path, bridge_catalogue::reference())?;
    println!("wrote {path}");
    Ok(())
}
