//! The WebSocket door: who may upgrade, how messages are framed, and a small client.
//!
//! [`accept`] takes a stream that has just been accepted, reads the upgrade request within five seconds,
//! judges it *before* it answers `101` (Host, Origin, the user behind the socket), and then has the
//! connection served by a [`Driver`](bridge_driver::Driver). A page cannot get past it: browsers always
//! send an Origin, and no web origin is let in.
//!
//! Whoever accepts the stream sets `TCP_NODELAY` on it, and should give the address the socket really has
//! (`getsockname`): it becomes part of what both sides prove to each other.
//!
//! The framing is our own ([`Frames`]), sans I/O: text messages are unmasked where they were received, and
//! one that came in one piece is never copied. The client half ([`client`]) is `async-tungstenite`, so the
//! two are tested against each other.

mod accept;
pub mod client;
mod frames;
mod head;
mod mask;
pub mod proof;
pub mod request;
pub mod user;

pub use accept::{Doorkeeper, Origin, accept};
pub use frames::Frames;
pub use head::{Refusal, Upgrade, judge};
pub use user::User;
