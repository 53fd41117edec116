//! The daemon's own files are taken whole or not at all.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::os::unix::fs::PermissionsExt;

use support::Home;

/// A structure can be read from a list too, and a policy read from an empty one would allow everything.
#[test]
fn a_file_that_is_no_object_is_damaged_and_nothing_starts() {
    let home = Home::new();
    drop(home.serve());
    for (file, content) in [
        ("policy.json", "[]"),
        ("policy.json", "[true]"),
        ("policy.json", "null"),
        ("policy.json", ""),
        ("policy.json", r#"{"paused":true"#),
        ("pairings.json", "[1,2,[],[],[]]"),
        ("pairings.json", "[]"),
        ("pairings.json", r#"{"epoch":1,"epoch":2}"#),
    ] {
        let path = home.state(file);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        home.bridged(["serve", "--port", "0"]).fails(2, &[file, "is damaged"]);
        std::fs::remove_file(&path).unwrap();
    }
    drop(home.serve());
}
