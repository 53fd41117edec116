//! Some runs that are made each time, and that a run can be repeated.

use bridge_simulation::Episode;

// What a seed does changes with the simulation; what it found is kept as tests of its own (`transports/runtimes/tests`).

#[test]
fn a_few_runs() {
    for seed in 0..16 {
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
