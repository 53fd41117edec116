//! Runs after runs of the simulation, until time is up or something is wrong.
//!
//!     cargo run --profile simulation -p bridge-simulation                          two minutes, seeds from the time of day
//!     cargo run --profile simulation -p bridge-simulation -- --seed 7 --steps 4000   this run, as it was

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bridge_simulation::{Episode, Report, STEPS};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seeds that every round begins with.
const FIXED: std::ops::Range<u64> = 0..200;

fn main() -> ExitCode {
    let mut seed = None;
    let mut steps = STEPS;
    let mut seconds = 120;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().and_then(|value| value.parse().ok());
        match (arg.as_str(), value) {
            ("--seed", Some(value)) => seed = Some(value),
            ("--steps", Some(value)) => steps = value,
            ("--seconds", Some(value)) => seconds = value,
            _ => {
                eprintln!("usage: bridge-simulation [--seed N] [--steps N] [--seconds N]");
                return ExitCode::from(2);
            }
        }
    }
    if let Some(seed) = seed {
        return if run(seed, steps).is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let from = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let (begin, time) = (Instant::now(), Duration::from_secs(seconds));
    let mut all = Report::default();
    let mut runs = 0u64;
    for seed in FIXED.chain(from..) {
        if begin.elapsed() >= time {
            break;
        }
        let Some(report) = run(seed, steps) else { return ExitCode::FAILURE };
        runs += 1;
        all.steps += report.steps;
        all.inputs += report.inputs;
        all.heard += report.heard;
        all.peers += report.peers;
    }
    println!(
        "{runs} runs, {} steps, {} frames and other inputs of the hub, {} messages heard, {} peers, {:.0} steps/s",
        all.steps,
        all.inputs,
        all.heard,
        all.peers,
        all.steps as f64 / begin.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// One run. If it fails, how to see it again is said.
fn run(seed: u64, steps: u64) -> Option<Report> {
    let outcome = catch_unwind(|| Episode::new(seed).run(steps));
    if outcome.is_err() {
        eprintln!("\nseed {seed} fails; to see it again:");
        eprintln!("    cargo run --profile simulation -p bridge-simulation -- --seed {seed} --steps {steps}");
    }
    outcome.ok()
}
