//! What every transport must do, as one suite; and what it takes to test a host without real time.
//!
//! A test makes a [`World`] (a driver, a way to run tasks, a way to connect) and runs [`suite`]'s behaviours in
//! it. [`StillClock`] only moves when told to, and [`pipe`] is a stream in memory that holds as much as the
//! test says, so that deadlines, slow readers and lost peers can be played through in no time.

mod census;
mod clock;
mod pipe;
pub mod suite;
mod world;

pub use census::{Census, Queue};
pub use clock::StillClock;
pub use pipe::{Pipe, pipe};
pub use world::{End, Ends, NoKeys, TestHost, World, config, secrets};
