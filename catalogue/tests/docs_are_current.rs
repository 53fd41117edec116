//! The committed reference is the one the table makes.

#[test]
fn the_committed_reference_is_what_the_table_makes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/methods.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == bridge_catalogue::reference(),
        "docs/methods.md is out of date: run `cargo run -p bridge-catalogue --example docs`"
    );
}
