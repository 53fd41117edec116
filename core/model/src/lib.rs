//! A plain reference model of the hub, for the property tests and the fuzz targets.
//!
//! Nothing here is fast. JSON is read with serde_json, connections and calls live in ordinary maps, and every rule of the
//! protocol is written down once more in the most obvious way, so that two independent readings of it meet in the tests.

// A broken expectation is exactly what must stop a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod chance;
mod compare;
pub mod ledger;
pub mod loose;
pub mod model;
pub mod op;
pub mod oracle;
pub mod proof;
pub mod render;
pub mod replay;
pub mod setup;
pub mod stage;
pub mod talk;
pub mod targets;
pub mod world;
