//! The bridge's hub as a sans-IO state machine: it decides who may speak, whose call goes to which browser, and whose
//! answer comes back to whom. It has no sockets, no clock, no randomness, no heap and no JSON library; a host brings
//! frames and time, and writes what comes out.
//!
//! # A connection's life
//!
//! ```text
//!                                open(peer)
//!                                    │
//!                                    ▼          no hello in 5 s, not a hello, not allowed
//!                               ┌──────────┐ ─────────────────────────────────────────────┐
//!                               │ Greeting │                                              │
//!                               └──────────┘                                              │
//!    hello (v1), token,           │      │  hello with protocol 2 and a key id            │
//!    Unix socket, or a request    │      ▼                                                │
//!    as the first line of it      │  ┌─────────┐  wrong proof, none in 5 s                │
//!                                 │  │ Proving │ ───────────────────────────────────────┐ │
//!                                 │  └─────────┘                                        │ │
//!                                 │      │  pair_confirm, signature right               │ │
//!                                 ▼      ▼                                              ▼ ▼
//!          ┌───────────────────────┐  ┌───────────┐  close, 10 protocol errors,    ┌─────────┐
//!          │ Client (also Control) │  │ Extension │  taken over, shutdown          │ Closing │ ──▶ slot is free
//!          └───────────────────────┘  └───────────┘ ─────────────────────────────▶ └─────────┘
//!                      └──────────────────────────────────────────────────────────────▲
//! ```
//!
//! In *Closing* the handle is stale already. A browser's calls are answered one by one, a client's are cancelled one by
//! one, each time `poll_output` is called; then the slot is free.
//!
//! # A call's life
//!
//! ```text
//!   client's frame ─ inspect ─▶ Request ─┬─ forward ─▶ Sent ─┬─ the browser's answer ─▶ Forward to the client
//!                                        ├─ hold ─▶ Held ────┤  deadline, cancel, loss ─▶ error answer (+ cancel frame)
//!                                        ├─ answer           └─ client gone ─▶ cancel frame
//!                                        └─ refuse
//! ```
//!
//! # Driving it
//!
//! One rule: after every input drain [`Hub::poll_output`], then ask [`Hub::poll_timeout`] when to come back.
//!
//! ```
//! use bridge_core::*;
//!
//! struct Keys;
//! impl Keyring for Keys {
//!     fn key(&self, _role: Role, _key_id: &str) -> Option<[u8; 32]> { None }
//!     fn token_matches(&self, _token: &str) -> bool { false }
//! }
//!
//! /// What a host does with bytes; here they are collected.
//! #[derive(Default)]
//! struct Wires(Vec<(ConnId, Vec<u8>)>);
//!
//! type Bare<'s> = Hub<&'s mut [Connection], &'s mut [Pending], Keys>;
//!
//! /// One frame in, everything that follows out.
//! fn receive(hub: &mut Bare, wires: &mut Wires, conn: ConnId, frame: &[u8], now: Instant) {
//!     let request = match hub.inspect(conn, frame, now) {
//!         // The place for a policy: look at request.method() and request.params(), then forward, hold or refuse.
//!         Inspected::Request(request) | Inspected::Host(request) => request,
//!         Inspected::Forward(answer) => return write(hub, wires, answer),
//!         _ => return drain(hub, wires),
//!     };
//!     match hub.forward(request, now) {
//!         Ok(envelope) => write(hub, wires, envelope),
//!         Err(_) => drain(hub, wires), // the error answer is among the output
//!     }
//! }
//!
//! fn write(hub: &mut Bare, wires: &mut Wires, message: Forward) {
//!     wires.0.push((message.to(), message.parts().concat()));
//!     drain(hub, wires);
//! }
//!
//! fn drain(hub: &mut Bare, wires: &mut Wires) {
//!     while let Some(output) = hub.poll_output() {
//!         match output {
//!             Output::Send { to, message } => {
//!                 let mut bytes = Vec::new();
//!                 message.each(|piece| bytes.extend_from_slice(piece));
//!                 wires.0.push((to, bytes));
//!             }
//!             Output::Close { .. } => { /* flush, then close the socket */ }
//!             Output::Event(_) => { /* log it */ }
//!         }
//!     }
//!     // Now sleep until hub.poll_timeout(), or the next frame.
//! }
//!
//! let mut conns = [const { Connection::vacant() }; 4];
//! let mut calls = [const { Pending::vacant() }; 8];
//! let secrets = Secrets { seed: [7; 32], resume: [8; 32] };
//! let mut hub = Hub::new(Config::default(), &secrets, Keys, &mut conns[..], &mut calls[..]);
//! let mut wires = Wires::default();
//! let now = Instant::from_millis(0);
//!
//! let peer = Peer { door: Door::WebSocket, trust: Trust::SameUser, origin: None, approved: false, address: "127.0.0.1:9225" };
//! let browser = hub.open(&peer, now).unwrap();
//! receive(&mut hub, &mut wires, browser, br#"{"type":"hello","role":"extension","name":"chrome"}"#, now);
//! let client = hub.open(&peer, now).unwrap();
//! receive(&mut hub, &mut wires, client, br#"{"type":"hello","role":"client","name":"script"}"#, now);
//! receive(&mut hub, &mut wires, client, br#"{"id":"1","method":"list_tabs"}"#, now);
//!
//! let (to, envelope) = wires.0.pop().unwrap();
//! assert_eq!(to, browser);
//! let wire_id = std::str::from_utf8(&envelope[7..19]).unwrap();
//! let answer = format!(r#"{{"id":"{wire_id}","success":true,"result":{{"tabs":[]}}}}"#);
//! receive(&mut hub, &mut wires, browser, answer.as_bytes(), now);
//! assert_eq!(wires.0.pop().unwrap(), (client, br#"{"id":"1","success":true,"result":{"tabs":[]}}"#.to_vec()));
//! ```
//!
//! # What it promises
//!
//! Every accepted request gets exactly one answer, or its client is gone; nobody else gets it. An answer counts only from
//! the connection that was asked, for a live call, once. Payloads pass through as borrowed spans. What reaches an
//! extension is an envelope of the hub's own with the client's `method`, `params` and a checked `once`, and nothing else
//! of the client's. No input makes it panic, allocate, or do work that grows with the number of slots.
//!
//! # What it refuses
//!
//! A client's frame is checked byte by byte against the JSON grammar, 128 levels deep at most (`limits.depth`), without
//! half surrogate pairs. On the two levels that the hub and a policy read, the frame itself and its `params`, a key that
//! stands twice or is written with a backslash is refused (`duplicate field`, `escaped key`), and so is a 65th key: two
//! readers must never see two requests in the same bytes. A method is written in printable ASCII without backslashes, an
//! id has 1 to 256 bytes as written (`limits.id_bytes`). An extension's frame is scanned for where its values end, with
//! the same rule for its keys; one of 256 KiB or more, of an extension that proved itself, is routed by its first bytes
//! alone.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod admit;
mod answering;
mod asking;
mod browsers;
mod client_frame;
mod code;
mod config;
mod connection;
mod draining;
mod ending;
mod forward;
mod getters;
mod hash;
mod hello;
mod hub;
mod ids;
mod joining;
mod list;
mod listing;
mod outbox;
mod output;
mod peer;
mod pending;
mod proof;
mod request;
mod scan;
mod slots;
mod text;
mod time;
mod wheel;

pub use code::{CloseCode, Code, Fault, Full, Violation};
pub use config::{Compat, Config, Deadlines, Limits, Secrets, Server};
pub use connection::Connection;
pub use forward::Forward;
pub use hub::{Hub, Inspected};
pub use output::{Congestion, Counters, Event, Message, Output, Wake};
pub use peer::{BrowserInfo, Class, ConnInfo, Door, Keyring, Peer, Role, Trust};
pub use pending::Pending;
pub use request::{Notice, NoticeKind, Request};
pub use slots::{CallId, ConnId, Slots, Ticket};
pub use text::deceptive;
pub use time::Instant;

/// A fingerprint of a set of method names, whatever their order: an extension whose set differs is stale.
#[must_use]
pub fn methods_fingerprint<'a>(names: impl IntoIterator<Item = &'a str>) -> u64 {
    names.into_iter().fold(0, |sum, name| sum ^ text::fnv(name.as_bytes()))
}
