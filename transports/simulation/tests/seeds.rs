//! Some runs that are made each time, and that a run can be repeated.

use bridge_simulation::Episode;

/// Seeds that once found something: clients that were not read because their browser was congested were dropped as
/// silent (20, 50) or for an unfinished message (28, 42), or never read again after their own long queue (3, 66).
const FOUND: [u64; 6] = [3, 20, 28, 42, 50, 66];

#[test]
fn what_was_found_once() {
    for seed in FOUND.into_iter().chain(100..110) {
        let report = Episode::new(seed).run(4_000);
        assert!(report.heard > 20, "{report:?}");
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let report = Episode::new(7).run(2_000);
    assert_eq!(report, Episode::new(7).run(2_000));
    assert_ne!(report.sum, Episode::new(8).run(2_000).sum);
}
