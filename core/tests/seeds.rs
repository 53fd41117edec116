//! Every committed fuzz seed goes through its target's own function, as a plain test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::Path;

/// Runs `target` on each file of the seeds' folder `name`.
fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(name);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display())) {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        target(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", folder.display());
}

#[test]
fn the_scanner_reads_every_seed_as_serde_json_does() {
    replay("scan", bridge_model::targets::scan);
}

#[test]
fn the_hub_goes_the_way_of_its_model_on_every_seed() {
    replay("hub_ops", bridge_model::targets::hub_ops);
}
