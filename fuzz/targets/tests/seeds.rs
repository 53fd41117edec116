//! Every committed fuzz seed goes through its target's own function, as a plain test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::Path;

/// Runs `target` on each file of the seeds' folder `name`.
fn replay(name: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds").join(name);
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

#[test]
fn the_mcp_session_keeps_its_invariants_on_every_seed() {
    replay("mcp", |bytes| {
        bridge_mcp::fuzz::run(&bridge_mcp::fuzz::steps(bytes)).unwrap_or_else(|broken| panic!("{broken}"))
    });
}

#[test]
fn heads_and_chunks_are_read_as_plain_lines_are() {
    replay("http", bridge_targets::http);
}

#[test]
fn lines_are_split_where_split_splits_them() {
    replay("lines", bridge_targets::lines);
}

#[test]
fn frames_are_what_the_rfc_says() {
    replay("frames", bridge_targets::frames);
}

#[test]
fn arguments_that_pass_are_within_the_table() {
    replay("arguments", bridge_targets::arguments);
}

#[test]
fn the_daemons_files_are_taken_whole_or_not_at_all() {
    replay("files", bridge_targets::files);
}
