//! The HTTP door: OpenBridge's local API, MCP over HTTP, and pages as text, on any futures-io stream.
//!
//! ```text
//!   stream ──▶ head ──▶ judge ──▶ who? ──▶ body ──▶ /health   what runs here
//!              5 s      grammar,  token,   8 MiB,   /command  one call        ┐
//!              16 KiB   Host,     same     10 s     /read     a page as text  ├──▶ a connection to the hub for
//!                       Origin,   user     a stall  /mcp      an MCP session  ┘    each owner (Driver::local)
//!                       length                      /config   pause
//! ```
//!
//! Everything before `body` is decided on the head's raw bytes, and a request that is turned away closes its
//! connection, so nothing that was sent behind it is ever taken for another request. No answer carries an
//! `Access-Control-*` header; a request that a page may have caused is refused whatever else it says.
//!
//! Heads are read by the same code as the WebSocket door's ([`bridge_websocket::request`]), under further rules of
//! our own ([`judge`]). A larger HTTP library would read them again, by more lenient ones: what must be refused here (a length given twice, folded lines, a second request behind a refused
//! one) is just what such a library repairs or accepts.
//!
//! A host makes a [`Door`] and spawns [`Door::serve`] for every stream it accepts.

mod callers;
mod chunks;
mod command;
mod connection;
mod door;
mod head;
mod json;
mod mcp;
mod mcp_sets;
mod openbridge;
mod patience;
mod read;
mod refusal;
mod response;

pub use chunks::Chunks;
pub use door::{Door, Parts, Porter};
pub use head::{Head, Length, Offer, Route, judge};
pub use json::too_deep;
pub use refusal::Refusal;
