//! Who is at the other end: what a door vouches for, and what a connection may then be.

use crate::text::Name;

/// The door a connection came in by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// A WebSocket on loopback TCP.
    WebSocket,
    /// The Unix socket.
    Unix,
    /// An HTTP route of the same process (`POST /command`, `/read`).
    Http,
    /// An MCP session of the same process.
    Mcp,
    /// Any other caller inside the process.
    Memory,
}

impl Door {
    /// Whether the far end is code of the host's own process, so that it may name the owner it acts for.
    #[must_use]
    pub const fn in_process(self) -> bool {
        matches!(self, Self::Http | Self::Mcp | Self::Memory)
    }
}

/// What the transport knows about the user behind a connection. Nothing here is read from frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// The user is not known: the hello must carry a proof or a token.
    Unknown,
    /// A TCP peer whose user id the kernel says is ours.
    SameUser,
    /// A Unix socket with checked credentials, or a caller inside the process: no proof is needed.
    Owner,
}

/// A new connection as its door describes it.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// The door it came in by.
    pub door: Door,
    /// What the kernel says of its user.
    pub trust: Trust,
    /// The Origin header. Only pinned or approved extension origins ever get here; the door refuses all others.
    pub origin: Option<&'a str>,
    /// Whether the user approved this origin for the old handshake (`bridged approve`).
    pub approved: bool,
    /// The server's own address as `ip:port` (from getsockname); empty where there is none.
    pub address: &'a str,
}

impl Peer<'_> {
    /// A caller inside the host's own process.
    #[must_use]
    pub const fn in_process(door: Door) -> Peer<'static> {
        Peer { door, trust: Trust::Owner, origin: None, approved: false, address: "" }
    }
}

/// What a connection is, from its hello to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A browser's extension: is asked.
    Extension,
    /// Asks.
    Client,
    /// May change policy and pairing, on the Unix socket and inside the process only.
    Control,
}

impl Role {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Extension => "extension",
            Self::Client => "client",
            Self::Control => "control",
        }
    }
}

/// Whether a program or a person is behind a request; the extension and the policy treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// MCP doors and protocol-2 clients.
    Agent,
    /// Legacy peers, implicit hellos, and whoever says so on a door that only the user can reach.
    Person,
}

impl Class {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Person => "person",
        }
    }
}

/// The host's keys and policy, asked during a handshake. Called inside an input: it must answer from memory.
pub trait Keyring {
    /// The key a peer of `role` proves with; `None` if `key_id` is not (or no longer) paired.
    fn key(&self, role: Role, key_id: &str) -> Option<[u8; 32]>;

    /// The same for an extension that says which browser it is, where a key is good for one browser only.
    fn key_of(&self, role: Role, key_id: &str, browser_id: &str) -> Option<[u8; 32]> {
        let _ = browser_id;
        self.key(role, key_id)
    }

    /// Whether `token` is the client token. Implementations compare in constant time.
    fn token_matches(&self, token: &str) -> bool;

    /// The policy as one JSON object, as a client's `hello_ack` carries it.
    fn policy(&self) -> &str {
        "{}"
    }

    /// The same for browsers, in their `hello_ack` and in the `policy` frame: it may tell them more.
    fn policy_for_browsers(&self) -> &str {
        self.policy()
    }

    /// What the host adds to `status`: members of its object, each with a comma before it. Every client may ask.
    fn more_status(&self) -> &str {
        ""
    }
}

/// One connection, as the getters show it.
#[derive(Clone, Copy, Debug)]
pub struct ConnInfo<'h> {
    /// Its handle.
    pub conn: crate::ConnId,
    /// The door it came in by.
    pub door: Door,
    /// What the door vouched for.
    pub trust: Trust,
    /// Its role; `None` until its hello is accepted.
    pub role: Option<Role>,
    /// Who is behind it.
    pub class: Class,
    /// 1 or 2.
    pub protocol: u8,
    /// The owner stamped on its requests; empty for extensions.
    pub owner: &'h str,
    /// What it calls itself, cut to 64 bytes, control and direction characters replaced.
    pub name: &'h str,
    /// Requests that wait for an answer, asked by (or of) this connection.
    pub in_flight: usize,
    /// Those of them that the host keeps back: no browser was asked yet.
    pub held: usize,
}

/// One connected browser, as the getters show it.
#[derive(Clone, Copy, Debug)]
pub struct BrowserInfo<'h> {
    /// The extension's connection.
    pub conn: crate::ConnId,
    /// Its own id; empty for a legacy extension without one.
    pub browser_id: &'h str,
    /// What it calls itself.
    pub name: &'h str,
    /// The key it proved with; empty if it did not.
    pub key_id: &'h str,
    /// The extension's version and build stamp, empty if it did not say.
    pub version: &'h str,
    /// See `version`.
    pub build: &'h str,
    /// Whether it proved that it holds a key (or came over a door that needs no proof).
    pub proven: bool,
    /// 1 or 2.
    pub protocol: u8,
    /// How many methods it said it knows.
    pub methods: u16,
    /// [`methods_fingerprint`](crate::methods_fingerprint) of those methods, to notice a stale extension.
    pub fingerprint: u64,
    /// When its hello was accepted.
    pub since: crate::Instant,
    /// Requests it has not answered yet.
    pub in_flight: usize,
}

/// An owner's id or a label: at most 64 bytes, without control characters.
pub(crate) type Owner = Name<64>;
