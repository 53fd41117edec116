//! What a host may set: limits, deadlines, how legacy peers are treated, and the secrets a hub starts from.

use zeroize::Zeroize;

use crate::pending::ID_MAX;
use crate::scan::DEEPEST;

/// Everything a host may set. `Config::default()` is what protocol.md says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    /// Sizes and counts.
    pub limits: Limits,
    /// Times.
    pub deadlines: Deadlines,
    /// How peers without a `protocol` field are treated.
    pub compat: Compat,
    /// What `hello_ack` and `status` say about the server.
    pub server: Server,
}

/// Name and version, as `hello_ack` says them. At most 32 bytes of each are used.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// The program's name.
    pub name: &'static str,
    /// The program's version.
    pub version: &'static str,
}

impl Default for Server {
    fn default() -> Self {
        Self { name: "bridged", version: env!("CARGO_PKG_VERSION") }
    }
}

/// Sizes and counts. What goes beyond is answered, never dropped silently.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that finished their hello.
    pub connections: usize,
    /// Connections of unknown users (TCP) that have not; the oldest goes when another one comes.
    pub greeting_strangers: usize,
    /// The same for TCP peers of our own user, in a pool of their own.
    pub greeting_same_user: usize,
    /// The same for the Unix socket and callers inside the process, in a pool of their own.
    pub greeting_local: usize,
    /// Calls in flight for one client.
    pub in_flight_client: usize,
    /// Calls in flight in all.
    pub in_flight: usize,
    /// Bytes of a frame before the hello is accepted.
    pub hello_bytes: usize,
    /// Bytes of a client's frame.
    pub client_bytes: usize,
    /// Bytes of an extension's frame.
    pub extension_bytes: usize,
    /// From this size on a proven extension's answer is routed by its first bytes alone.
    pub prefix_bytes: usize,
    /// Protocol errors of one connection before it is closed with 1008.
    pub protocol_errors: u8,
    /// Levels of objects and arrays in a frame, the frame itself being the first; 1024 at most.
    pub depth: u16,
    /// Bytes of a client's id as written; 256 at most, which is what a slot has room for.
    pub id_bytes: u16,
    /// Takeovers of one browser within `deadlines.takeover_window_ms` before the newcomer is refused.
    pub takeovers: u8,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 2048,
            greeting_strangers: 32,
            greeting_same_user: 256,
            greeting_local: 256,
            in_flight_client: 1024,
            in_flight: 8192,
            hello_bytes: 16 << 10,
            client_bytes: 8 << 20,
            extension_bytes: 64 << 20,
            prefix_bytes: 256 << 10,
            depth: 128,
            id_bytes: ID_MAX,
            protocol_errors: 10,
            takeovers: 10,
        }
    }
}

impl Limits {
    /// The same, with nothing beyond what the hub has room for.
    pub(crate) fn within_reach(self) -> Self {
        Self { depth: self.depth.min(DEEPEST), id_bytes: self.id_bytes.min(ID_MAX), ..self }
    }
}

/// Times, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// From `open` to a hello.
    pub hello_ms: u64,
    /// From the challenge to the client's proof.
    pub proof_ms: u64,
    /// A call without `timeout_ms`.
    pub call_ms: u32,
    /// The largest `timeout_ms`.
    pub call_max_ms: u32,
    /// The window takeovers are counted in.
    pub takeover_window_ms: u64,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            hello_ms: 5_000,
            proof_ms: 5_000,
            call_ms: 30_000,
            call_max_ms: 600_000,
            takeover_window_ms: 10_000,
        }
    }
}

/// How a peer whose hello has no `protocol` field is treated (setting `compat.v1`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Only with a token, or over the Unix socket.
    Strict,
    /// Also TCP peers that the kernel says are ours; extensions after `bridged approve`.
    #[default]
    SameUser,
    /// Everyone. For tests.
    Open,
}

/// The randomness a hub starts from. With the same secrets and inputs a run repeats byte for byte.
#[derive(Clone)]
pub struct Secrets {
    /// Fresh for every start: nonces, ids and hash keys derive from it.
    pub seed: [u8; 32],
    /// The same over restarts, so that a client may keep its owner: key of the `resume` values.
    pub resume: [u8; 32],
}

impl core::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secrets(..)")
    }
}

impl Drop for Secrets {
    fn drop(&mut self) {
        self.seed.zeroize();
        self.resume.zeroize();
    }
}
