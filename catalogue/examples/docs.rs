//! Writes the method reference, `docs/methods`: `cargo run -p bridge-catalogue --example docs`.

use std::{fs, io};

fn main() -> io::Result<()> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/methods");
    fs::create_dir_all(folder)?;
    // A page of a method that is gone must go too.
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md") {
            fs::remove_file(path)?;
        }
    }
    let files = bridge_catalogue::reference();
    for (name, text) in &files {
        fs::write(format!("{folder}/{name}"), text)?;
    }
    println!("wrote {} pages to docs/methods", files.len());
    Ok(())
}
