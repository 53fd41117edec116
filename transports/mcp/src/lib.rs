//! MCP for the bridge: a session without I/O, the stdio driver around it, and the front for Streamable HTTP.
//!
//! ```text
//!                 ┌───────────────── one client ─────────────────┐
//!   initialize ──►│ handshake (2024-11-05 … 2025-11-25)          │
//!   _meta ───────►│ stateless (2026-07-28), beside it or instead │──► Send     a message for the client
//!                 │                                              │──► Call     a method for the bridge
//!   handle_answer►│ tools/call ─► Provider ─► Call ─► answer     │──► Save     a picture too large to send
//!   handle_timeout│            progress while it runs            │──► Cancel   a call nobody waits for
//!                 └──────────────────────────────────────────────┘
//! ```
//!
//! The host hands every input to a [`Session`], then takes all of [`Session::poll_output`], and calls
//! [`Session::handle_timeout`] at [`Session::poll_timeout`]. What is served lies behind the [`provider::Provider`]
//! trait; [`tools::BridgeTools`] serves the bridge's methods. [`stdio::serve`] is that loop over two streams,
//! [`http::Front`] keeps the sessions of an HTTP server and knows its headers.
//!
//! ```
//! use bridge_mcp::provider::Answer;
//! use bridge_mcp::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};
//! use bridge_mcp::{Config, Lane, Output, Seed, Session};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! let catalogue = r#"{"methods":[{"name":"ping","group":"hub","scope":"hub","access":"read","about":"Ask."}]}"#;
//! let tools = Arc::new(Tools::new(catalogue, &ToolSet::parse("all"))?);
//! let provider = BridgeTools::new(Arc::new(ToolsConfig::default()), tools, Seed::new([7; 32]));
//! let mut session = Session::new(Config::default(), provider);
//!
//! let lines = [
//!     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
//!     r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ping"}}"#,
//! ];
//! let mut replies = Vec::new();
//! for line in lines {
//!     session.handle_message(Lane(0), line.as_bytes(), Duration::ZERO);
//!     while let Some(output) = session.poll_output() {
//!         match output {
//!             Output::Send { message, .. } => replies.push(String::from_utf8(message)?),
//!             // A real host sends `request` to the daemon and goes on; here the answer is at hand.
//!             Output::Call { call, request, .. } => {
//!                 assert_eq!(request.method, "ping");
//!                 session.handle_answer(call, Answer::Frame(br#"{"success":true,"result":{"pong":true}}"#.to_vec()));
//!             }
//!             _ => {}
//!         }
//!     }
//! }
//! assert!(replies[1].contains(r#""structuredContent":{"pong":true}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(hidden)]
pub mod fuzz;
pub mod http;
mod json;
mod mark;
mod message;
pub mod provider;
mod seed;
mod session;
pub mod stdio;
pub mod tools;
mod version;
mod wire;

pub use seed::Seed;
pub use session::{AskId, CallId, Config, Eras, Lane, Output, Sent, Session};
pub use version::Version;
