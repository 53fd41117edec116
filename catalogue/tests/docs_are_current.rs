//! The committed reference is the one the table makes.

#[test]
fn the_committed_reference_is_what_the_table_makes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/methods");
    let made = bridge_catalogue::reference();
    for (name, text) in &made {
        let committed = std::fs::read_to_string(format!("{folder}/{name}")).unwrap_or_default();
        assert!(
            committed == *text,
            "docs/methods/{name} is out of date: run `cargo run -p bridge-catalogue --example docs`"
        );
    }
    let there = std::fs::read_dir(folder).into_iter().flatten().count();
    assert_eq!(there, made.len(), "docs/methods holds a page of a method that is gone");
}
