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
        ("policy.json", r#"{"read-only":true}"#),
        ("policy.json", r#"{"paused":false,"denied":["bank.example"]}"#),
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

/// A rule whose name is misspelt forbids nothing; it is neither passed over nor written over.
#[test]
fn a_rule_that_nobody_knows_is_named_and_stays_in_the_file() {
    let home = Home::new();
    drop(home.serve());
    let path = home.state("policy.json");
    std::fs::write(&path, r#"{"read-only":true}"#).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["policy.json", "read-only", "read_only"]);
    home.bridged(["policy", "set", "uploads", "on"]).fails(2, &["policy.json", "read-only"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), r#"{"read-only":true}"#);
}

/// What is to be done about a file that an editor left open to others goes by what it holds.
#[test]
fn a_file_that_others_can_read_is_refused_with_what_mends_it() {
    let home = Home::new();
    drop(home.serve());
    let path = home.state("policy.json");
    std::fs::write(&path, "{}").unwrap();
    for (file, advice) in [
        (path.clone(), format!("chmod 600 {}", path.display())),
        (home.state("root.key"), "reset-pairing".to_owned()),
    ] {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        home.bridged(["serve", "--port", "0"]).fails(2, &["can be read by others (mode 644)", &advice]);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    }
    drop(home.serve());
}
