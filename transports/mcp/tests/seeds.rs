//! Every committed fuzz seed of the session goes through its target's own function, as a plain test.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use bridge_mcp::fuzz::{run, steps};
use std::{fs, path::Path};

#[test]
fn the_session_keeps_its_invariants_on_every_seed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/mcp");
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let steps = steps(&fs::read(&path).unwrap());
        run(&steps).unwrap_or_else(|broken| panic!("{}: {broken}", path.display()));
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", folder.display());
}
