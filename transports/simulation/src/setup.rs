//! How a run is set up: limits from hardly anything to plenty, so that each of them is met.

use crate::chance::Chance;
use bridge_core::{Compat, Config, Limits};
use bridge_driver::Options;

/// The hub's limits.
pub(crate) fn config(chance: &Chance, crowded: bool) -> Config {
    let connections = if crowded { 2_048 } else { chance.pick(&[4, 12, 2_048]) };
    Config {
        limits: Limits {
            connections,
            greeting_strangers: chance.pick(&[1, 3, 32]),
            greeting_same_user: chance.pick(&[2, 256]),
            greeting_local: chance.pick(&[2, 256]),
            in_flight_client: if crowded { 200 } else { chance.pick(&[3, 40, 1_024]) },
            in_flight: if crowded { 8_192 } else { chance.pick(&[8, 100, 8_192]) },
            client_bytes: 8_192,
            extension_bytes: 24_576,
            prefix_bytes: chance.pick(&[512, 256 << 10]),
            protocol_errors: chance.pick(&[3, 10]),
            takeovers: chance.pick(&[2, 10]),
            hello_bytes: 2_048,
            depth: chance.pick(&[8, 128, 1_024]),
            id_bytes: chance.pick(&[32, 256]),
        },
        compat: chance.pick(&[Compat::SameUser, Compat::SameUser, Compat::Strict, Compat::Open]),
        ..Config::default()
    }
}

/// The driver's limits. The clients' queue holds what an honest client on a slow link may be owed at once; in a crowded
/// world all queues together hold less than two of them may.
pub(crate) fn options(chance: &Chance, crowded: bool) -> Options {
    Options {
        client_queue: chance.pick(&[320 << 10, 3 << 20]),
        extension_queue: chance.pick(&[64 << 10, 4 << 20]),
        all_queues: if crowded {
            chance.pick(&[96 << 10, 400 << 10])
        } else {
            chance.pick(&[640 << 10, 64 << 20])
        },
        all_incoming: if crowded { chance.pick(&[16 << 10, 64 << 10]) } else { 64 << 20 },
        slow_mark: chance.pick(&[8 << 10, 1 << 20]),
        fast_mark: chance.pick(&[1 << 10, 8 << 10]),
        under_way: chance.pick(&[64 << 10, 512 << 10, 8 << 20]),
        read_bytes: chance.pick(&[1 << 10, 128 << 10]),
        ..Options::default()
    }
}

/// The hub's slots as a driver reckons them: closing connections count for a while, and storage grows by 64.
pub(crate) fn slots(config: &Config) -> (usize, usize) {
    let limits = &config.limits;
    let greeting = limits.greeting_strangers + limits.greeting_same_user + limits.greeting_local;
    let whole = |count: usize| count.div_ceil(64) * 64;
    (whole(limits.connections + greeting + 64), whole(limits.in_flight))
}
