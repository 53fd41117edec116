//! The Unix socket door: one JSON text a line, a socket file that only its owner can reach, and a look at
//! who is at the other end.
//!
//! ```no_run
//! # fn main() -> Result<(), bridge_unix::SocketError> {
//! let socket = bridge_unix::SocketFile::bind(&bridge_unix::runtime_dir()?.join("bridged.sock"))?;
//! // accept from `socket.listener()`; for each stream:
//! //   if !bridge_unix::same_user(&stream) { drop it }
//! //   spawn driver.serve(&bridge_unix::PEER, stream, Lines::new())
//! # Ok(()) }
//! ```

mod lines;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod user;

pub use lines::Lines;
#[cfg(unix)]
pub use socket::{SocketError, SocketFile, runtime_dir, runtime_dir_from};
#[cfg(unix)]
pub use user::{hung_up, peer_pid, peer_uid, same_user};

use bridge_core::{Door, Peer, Trust};

/// A peer of this door whose user was found to be ours.
pub const PEER: Peer<'static> =
    Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };
