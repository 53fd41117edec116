//! Joins a [`Hub`](bridge_core::Hub) with its connections, on any async runtime with `futures-io` streams.
//!
//! A host makes a [`Driver`], hands it every accepted stream with a [`Codec`], and spawns two kinds of
//! futures: one [`Driver::serve`] a connection and a single [`Driver::run_timers`]. Everything stays on one
//! thread (`!Send`); the driver holds no thread, channel or lock of its own.
//!
//! ```text
//!  socket ──read──▶ Codec::decode ──▶ Hub::inspect ──▶ Host::judge ──▶ Hub::forward
//!                                         │                                │
//!                                         ▼                                ▼
//!                                  Hub::poll_output ──────────────▶ write queue of the destination
//!                                                                          │ at the end of the wake-up
//!                                                                          ▼
//!                                                            one write, from the reader's own task
//! ```
//!
//! What the driver guarantees:
//!
//! * **No hop.** A frame is read, judged, queued and written in one poll of one task. Only when a socket
//!   does not take it at once does the destination's own task go on with it.
//! * **One write a wake-up and peer.** While other connections are known to be ready, writing is put off
//!   until the last of them has been read, so that one write carries all they caused.
//! * **Bounded.** Reading is bounded per wake-up, queues are bounded in bytes per connection and in all
//!   ([`Options`]), messages by the codec, and those that are not complete in all.
//! * **Fair.** One client's heavy answers are asked for a few at a time, so that another's request is soon
//!   reached; a full read buffer ends a turn.
//! * **Quiet.** One timer, armed only while something can come due.

mod clock;
mod codec;
mod driver;
mod feed;
mod heads;
mod host;
mod incoming;
mod input;
mod link;
mod local;
mod nudge;
mod options;
mod outbox;
mod serving;
mod shutdown;
mod slots;
mod timers;
mod turns;

pub use clock::Clock;
pub use codec::{Codec, Decoded, End};
pub use driver::{Driver, HubOf};
pub use heads::{Head, Ousted};
pub use host::{Held, Host, Judgement};
pub use input::Input;
pub use local::Local;
pub use options::Options;
pub use serving::Serving;
pub use shutdown::Shutdown;
pub use slots::Growing;
pub use timers::RunTimers;

#[cfg(feature = "contract")]
pub mod contract;
