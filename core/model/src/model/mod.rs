//! The hub once more, written to be read: ordinary maps, serde_json, no thought for speed.
//!
//! It is given the same inputs as the hub and says what must come out: the value returned, and the messages and closes
//! that follow, in order for each connection. Where the protocol leaves something to the hub (ids, nonces, owners), the
//! model takes what the hub chose, once, and holds it to that.

mod answering;
mod asking;
mod ending;
mod joining;

use std::collections::{BTreeMap, BTreeSet};

use bridge_core::{Class, Code, Config, Congestion, ConnId, Door, Fault, NoticeKind, Peer, Role, Trust};

use crate::ledger::Conn;
pub use asking::{Ask, Frame, frame as client_frame};
pub use joining::KEYS;

/// What must be sent or closed.
#[derive(Debug, Clone, PartialEq)]
pub enum Out {
    /// A message.
    Send(Conn, Said),
    /// A close with this code.
    Close(Conn, u16),
}

/// A message of the hub's own.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// `{"pong":true}` for this raw id.
    Pong(String),
    /// The list of browsers.
    Browsers(String),
    /// The status.
    Status(String),
    /// An error answer.
    Error {
        /// The raw id with its quotes.
        id: String,
        /// The code.
        code: Code,
        /// The text; nothing where the protocol leaves it open.
        text: Option<String>,
        /// Whether the command may have reached the page.
        maybe_executed: bool,
    },
    /// `{"type":"error",…}` before a close.
    Fatal(Code, Option<&'static str>),
    /// `pair_challenge`
    Challenge,
    /// `hello_ack`
    Ack,
    /// `cancel` of the call with this id.
    Cancel(String),
    /// `policy`
    Policy,
}

/// What a frame must turn out to be.
#[derive(Debug)]
pub enum Read {
    /// A request to be judged.
    Request(Ask),
    /// A request for the host.
    Host(Ask),
    /// An answer, to be passed on in these bytes.
    Answer {
        /// To whom.
        to: Conn,
        /// What.
        bytes: Vec<u8>,
    },
    /// For the host to read.
    Notice(NoticeKind),
    /// Handled.
    Absorbed,
    /// One of these faults.
    Refused(Vec<Fault>),
    /// No such connection.
    Stale,
}

/// A call that must be passed on.
#[derive(Debug)]
pub struct Passed {
    /// To this extension.
    pub to: Conn,
    call: usize,
    method: String,
    params: Vec<u8>,
    timeout_ms: u64,
    once: Option<String>,
}

/// The reference hub.
#[derive(Debug)]
pub struct Model {
    config: Config,
    slots: usize,
    call_slots: usize,
    now: u64,
    conns: BTreeMap<Conn, Connection>,
    opened: usize,
    calls: BTreeMap<usize, Call>,
    accepted: usize,
    browsers: BTreeMap<String, Browser>,
    arrivals: usize,
    draining: bool,
    nonces: Vec<String>,
    minted: BTreeSet<String>,
    wires: BTreeSet<String>,
    out: Vec<Out>,
}

/// An open connection.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    pub(crate) id: ConnId,
    pub(crate) door: Door,
    pub(crate) trust: Trust,
    pub(crate) origin: &'static str,
    pub(crate) approved: bool,
    pub(crate) address: &'static str,
    pub(crate) errors: u8,
    pub(crate) half_closed: bool,
    pub(crate) stage: Stage,
}

impl Connection {
    pub(crate) fn role(&self) -> Option<Role> {
        match self.stage {
            Stage::Client { control: true, .. } => Some(Role::Control),
            Stage::Client { .. } => Some(Role::Client),
            Stage::Extension { .. } => Some(Role::Extension),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Stage {
    Greeting { due: u64 },
    Proving { due: u64, nth: usize, hello: Joining, right: bool },
    Client { owner: Owner, class: Class, control: bool, bound: Option<String> },
    Extension { browser: String, proven: bool, protocol: u8 },
}

/// What a connection is to become.
#[derive(Debug, Clone)]
pub(crate) struct Joining {
    pub(crate) role: Role,
    pub(crate) protocol: u8,
    pub(crate) class: Class,
    /// A browser's id, or a client's owner; empty if there is none yet.
    pub(crate) who: String,
    pub(crate) key_id: String,
}

/// Who is stamped on a client's calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Owner {
    /// As it said.
    Named(String),
    /// As the hub chose; learned when first seen.
    Minted(Option<String>),
}

/// A call in flight.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) asker: Conn,
    /// The inside of its raw id.
    pub(crate) id: String,
    pub(crate) timeout_ms: u32,
    pub(crate) deadline: u64,
    pub(crate) state: State,
}

#[derive(Debug, Clone)]
pub(crate) enum State {
    Held { browser: Option<String> },
    Sent { asked: Conn, wire: String },
}

#[derive(Debug, Clone)]
pub(crate) struct Browser {
    pub(crate) here: Option<Conn>,
    pub(crate) proven: bool,
    pub(crate) arrival: usize,
    pub(crate) congestion: Congestion,
    pub(crate) window: u64,
    pub(crate) takeovers: u8,
}

impl Model {
    /// A hub with so many slots.
    pub fn new(config: Config, slots: usize, call_slots: usize) -> Self {
        Model {
            config,
            slots,
            call_slots,
            now: 0,
            conns: BTreeMap::new(),
            opened: 0,
            calls: BTreeMap::new(),
            accepted: 0,
            browsers: BTreeMap::new(),
            arrivals: 0,
            draining: false,
            nonces: Vec::new(),
            minted: BTreeSet::new(),
            wires: BTreeSet::new(),
            out: Vec::new(),
        }
    }

    /// The time of the next inputs.
    pub fn at(&mut self, now: u64) {
        self.now = now;
    }

    /// Whether a new connection is taken in.
    pub fn takes_more(&self) -> bool {
        !self.draining && self.conns.len() < self.slots
    }

    /// A new connection, which got the handle `id`.
    pub fn open(&mut self, peer: &Peer<'static>, id: ConnId) -> Conn {
        let pool = pool(peer.door, peer.trust);
        let limits = &self.config.limits;
        let limit =
            [limits.greeting_strangers, limits.greeting_same_user, limits.greeting_local][pool].max(1);
        let of_this_pool = |it: &&Connection| pool == self::pool(it.door, it.trust);
        // The longest here of those whose hello is due, and of those whose proof is due; the earlier of these two goes.
        let mut greeting = Vec::new();
        let mut proving = Vec::new();
        for (conn, it) in self.conns.iter().filter(|(_, it)| of_this_pool(it)) {
            match it.stage {
                Stage::Greeting { due } => greeting.push((due, 0, *conn)),
                Stage::Proving { due, nth, .. } => proving.push((due, nth, *conn)),
                _ => {}
            }
        }
        if greeting.len() + proving.len() >= limit {
            let heads = [greeting.into_iter().min(), proving.into_iter().min()].into_iter().flatten();
            let (_, _, oldest) =
                heads.min_by_key(|(due, _, conn)| (*due, self.conns[conn].id.slot())).unwrap();
            self.end(oldest, Some(1008), Why::Gone);
        }
        let conn = self.opened;
        self.opened += 1;
        self.conns.insert(
            conn,
            Connection {
                id,
                door: peer.door,
                trust: peer.trust,
                origin: peer.origin.unwrap_or(""),
                approved: peer.approved,
                address: peer.address,
                errors: 0,
                half_closed: false,
                stage: Stage::Greeting { due: self.now + self.config.deadlines.hello_ms },
            },
        );
        conn
    }

    /// One frame.
    pub fn inspect(&mut self, conn: Conn, frame: &[u8]) -> Read {
        match self.conns.get(&conn).map(|it| &it.stage) {
            None => Read::Stale,
            Some(Stage::Greeting { .. }) => self.first_frame(conn, frame),
            Some(Stage::Proving { .. }) => self.proof_frame(conn),
            Some(Stage::Client { .. }) => self.client_frame(conn, frame),
            Some(Stage::Extension { .. }) => self.extension_frame(conn, frame),
        }
    }

    /// What must have come out since the last time.
    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    pub(crate) fn send(&mut self, to: Conn, said: Said) {
        self.out.push(Out::Send(to, said));
    }

    pub(crate) fn error(&mut self, to: Conn, id: &str, code: Code, text: Option<&str>, maybe_executed: bool) {
        let said =
            Said::Error { id: format!("\"{id}\""), code, text: text.map(str::to_owned), maybe_executed };
        self.send(to, said);
    }

    // ---- what tests ask

    /// Whether it is open.
    pub fn is_open(&self, conn: Conn) -> bool {
        self.conns.contains_key(&conn)
    }

    /// Whether its hello is due.
    pub fn is_greeting(&self, conn: Conn) -> bool {
        matches!(self.conns.get(&conn).map(|it| &it.stage), Some(Stage::Greeting { .. }))
    }

    /// Whether its proof is due.
    pub fn is_proving(&self, conn: Conn) -> bool {
        matches!(self.conns.get(&conn).map(|it| &it.stage), Some(Stage::Proving { .. }))
    }

    /// Whether it is a client (or has the role control).
    pub fn asks(&self, conn: Conn) -> bool {
        matches!(self.conns.get(&conn).map(|it| &it.stage), Some(Stage::Client { .. }))
    }

    /// Whether it is an extension.
    pub fn is_asked(&self, conn: Conn) -> bool {
        matches!(self.conns.get(&conn).map(|it| &it.stage), Some(Stage::Extension { .. }))
    }

    /// The address it dialled and its Origin.
    pub fn peer_of(&self, conn: Conn) -> (&'static str, &'static str) {
        self.conns.get(&conn).map_or(("", ""), |it| (it.address, it.origin))
    }

    pub(crate) fn connections(&self) -> impl Iterator<Item = (Conn, &Connection)> {
        self.conns.iter().map(|(conn, it)| (*conn, it))
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.values()
    }

    pub(crate) fn browsers_here(&self) -> impl Iterator<Item = (&str, Conn, &Browser)> {
        self.browsers.iter().filter_map(|(id, it)| Some((id.as_str(), it.here?, it)))
    }

    /// Calls that it asked, or was asked.
    pub fn in_flight_of(&self, conn: Conn) -> usize {
        let about = |call: &&Call| {
            call.asker == conn || matches!(call.state, State::Sent { asked, .. } if asked == conn)
        };
        self.calls.values().filter(about).count()
    }

    /// Those that it asked and that are held.
    pub fn held_of(&self, conn: Conn) -> usize {
        let about = |call: &&Call| call.asker == conn && matches!(call.state, State::Held { .. });
        self.calls.values().filter(about).count()
    }

    /// The hub shows this owner for a client: right, and always the same.
    pub fn check_owner(&mut self, conn: Conn, shown: &str) {
        let Some(Connection { stage: Stage::Client { owner, .. }, .. }) = self.conns.get_mut(&conn) else {
            return;
        };
        match owner {
            Owner::Named(name) | Owner::Minted(Some(name)) => assert_eq!(name, shown, "the owner of {conn}"),
            Owner::Minted(seen) => {
                let form = shown.strip_prefix('c').and_then(|it| it.split_once('-'));
                let fits = form.is_some_and(|(n, random)| n.parse::<u64>().is_ok() && random.len() == 8);
                assert!(fits, "{shown} is no owner of the hub's making");
                assert!(self.minted.insert(shown.to_owned()), "the owner {shown} was made before");
                *seen = Some(shown.to_owned());
            }
        }
    }
}

/// Why a connection ends, as those hear it who wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    Gone,
    Replaced,
    Shutdown,
}

/// The pools of those that have not said hello.
pub(crate) fn pool(door: Door, trust: Trust) -> usize {
    match (door, trust) {
        (Door::WebSocket, Trust::Unknown) => 0,
        (Door::WebSocket, _) => 1,
        _ => 2,
    }
}
