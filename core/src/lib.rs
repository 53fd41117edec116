//! The bridge's hub as a sans-IO state machine: no_std, no alloc.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod code;
mod config;
mod connection;
mod forward;
mod hub;
mod list;
mod listing;
mod output;
mod peer;
mod pending;
mod request;
mod scan;
mod slots;
mod text;
mod time;

pub use code::{CloseCode, Code, Fault, Full, Violation};
pub use config::{Compat, Config, Deadlines, Limits, Secrets, Server};
pub use connection::Connection;
pub use forward::Forward;
pub use hub::{Hub, Inspected};
pub use output::{Congestion, Counters, Event, Message, Output, Wake};
pub use peer::{BrowserInfo, Class, ConnInfo, Door, Keyring, Peer, Role, Trust};
pub use pending::Pending;
pub use request::{Notice, NoticeKind, Request};
pub use slots::{ConnId, Slots, Ticket};
pub use time::Instant;

/// A fingerprint of a set of method names, whatever their order: an extension whose set differs is stale.
#[must_use]
pub fn methods_fingerprint<'a>(names: impl IntoIterator<Item = &'a str>) -> u64 {
    names.into_iter().fold(0, |sum, name| sum ^ text::fnv(name.as_bytes()))
}
