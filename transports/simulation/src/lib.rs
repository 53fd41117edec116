//! The real driver and the real hub in a simulated world.
//!
//! Time, links, the order in which tasks run, and everything that peers do come from one seed, so that whatever goes wrong
//! goes wrong again. Links are slow, deliver in pieces, stall, break, or go dead without a word; peers speak both protocols
//! over all doors, and some of them lie. Checked are
//!
//! * at each moment: bounded queues, no work left lying, no deadline missed; who is cut off is the one that has to be, and
//!   no client has more under way at the browsers than it may;
//! * in the calm after the storm: whoever did nothing wrong is connected, has all answers in time, its own and nobody
//!   else's;
//! * at the end: nothing is left, neither slots nor timers nor bytes;
//! * throughout: all that the driver gave its hub is given to another hub and to the reference model (`core/model`), which
//!   must agree in every output; and what peers heard is what these sent, byte for byte.

// A broken expectation is exactly what must stop a run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acting;
pub mod chance;
mod checks;
mod episode;
mod executor;
mod framing;
mod host;
mod nature;
mod peer;
mod setup;
mod time;
mod trail;
mod watch;
mod wire;

pub use episode::{Episode, Report};

/// Steps of one run in a row of many: long enough to get deep, short enough to be read when it fails.
pub const STEPS: u64 = 4_000;
