//! The gate on instruction counts (`core/benches/compare.sh`) judges as it says, by numbers that are made up.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

const BASELINE: &str =
    "# Instructions a message, by compare.sh --record. some compiler\nask 1000\nanswer 200\n";

/// What it prints of these counts, and whether it lets them pass.
fn judged(counts: &str, limit: &str) -> (String, bool) {
    let dir = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("gate-{}", counts.len()));
    std::fs::create_dir_all(&dir).unwrap();
    let (baseline, now) = (dir.join("baseline.txt"), dir.join("counts.txt"));
    std::fs::write(&baseline, BASELINE).unwrap();
    std::fs::write(&now, counts).unwrap();
    let judge = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/judge.awk");
    let limit = format!("limit={limit}");
    let done =
        Command::new("awk").args(["-v", &limit, "-f", judge]).args([&baseline, &now]).output().unwrap();
    (String::from_utf8(done.stdout).unwrap(), done.status.success())
}

#[test]
fn a_rise_beyond_the_limit_fails_and_names_the_path() {
    let (text, good) = judged("ask 1031\nanswer 206\n", "3");
    assert!(!good);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("ask ") && lines[0].ends_with("1031     +3.10 %  too much, was 1000"),
        "{text}"
    );
    assert!(lines[1].starts_with("answer ") && lines[1].ends_with("206     +3.00 %"), "{text}");
    assert!(lines[2].contains("--record"), "{text}");
}

#[test]
fn what_stays_within_it_or_falls_passes() {
    let (text, good) = judged("ask 1030\nanswer 100\nnewcomer 7\n", "3");
    assert!(good, "{text}");
    assert!(text.contains("-50.00 %") && text.contains("new\n") && !text.contains("too much"), "{text}");
}

#[test]
fn a_path_that_nobody_counts_any_more_fails() {
    let (text, good) = judged("ask 1000\n", "3");
    assert!(!good && text.contains("gone, was 200"), "{text}");
}

#[test]
fn without_a_limit_nothing_is_judged() {
    let (text, good) = judged("ask 99999\n ", "");
    assert!(good && text.contains("+9899.90 %"), "{text}");
}
