//! The hub: one machine for all connections. This file holds its state and its inputs' entry points; what each kind of
//! frame means is in `joining`, `asking` and `answering`, how things end in `ending`.

use heapless::Deque;

use crate::browsers::Browsers;
use crate::code::{CloseCode, Code, Fault, Full, Violation};
use crate::config::{Config, Secrets};
use crate::connection::{ConnList, Connection, Greeting, Lost, Stage};
use crate::forward::Forward;
use crate::ids::IdTable;
use crate::list::List;
use crate::outbox::Outbox;
use crate::output::{Congestion, Counters, Event};
use crate::peer::{Keyring, Peer, Trust};
use crate::pending::Pending;
use crate::proof::{Random, Resume};
use crate::request::{Notice, Request};
use crate::slots::{ConnId, Pool, Slots};
use crate::text::Name;
use crate::time::Instant;
use crate::wheel::Wheel;

/// The hub. See the [crate's documentation](crate) for its states and the order of calls.
///
/// Its methods are of three kinds. *Inputs* (`open`, `inspect`, `forward`, `close`, `handle_timeout` and the rest that
/// take `&mut self`) tell it what happened; *outputs* (`poll_output`, `poll_timeout`) say what to do next, and
/// `poll_output` is drained after every input; *getters* look without changing.
pub struct Hub<C, P, K> {
    pub(crate) config: Config,
    pub(crate) keyring: K,
    pub(crate) conns: Pool<C>,
    pub(crate) calls: Pool<P>,
    pub(crate) ids: IdTable,
    pub(crate) wheel: Wheel,
    pub(crate) browsers: Browsers,
    pub(crate) outbox: Outbox,
    pub(crate) events: Deque<Event, 8>,
    pub(crate) counters: Counters,
    pub(crate) random: Random,
    pub(crate) resume: Resume,
    /// Makes the hub's ids of this start differ from any other's.
    pub(crate) salt: u32,
    /// Owners made so far.
    pub(crate) owners: u64,
    /// Nonces seen lately, as hashes.
    pub(crate) nonces: [u32; 32],
    pub(crate) lists: Lists,
    /// Connections whose hello was accepted.
    pub(crate) joined: usize,
    /// Browsers that are to hear of a new policy, one bit each.
    pub(crate) policy_due: u16,
    pub(crate) phase: Phase,
    pub(crate) started: Option<Instant>,
    pub(crate) latest: Instant,
}

/// The lists that belong to no single connection.
pub(crate) struct Lists {
    /// Every open connection, oldest first.
    pub(crate) live: List,
    /// Those whose hello is due, soonest first, one list for each pool (see `Connection::pool`).
    pub(crate) greeting: [List; 3],
    /// Those whose proof is due, likewise.
    pub(crate) proving: [List; 3],
    /// How many both have.
    pub(crate) waiting: [usize; 3],
    /// Those that are ending.
    pub(crate) closing: List,
    /// Calls that the host keeps back.
    pub(crate) held: List,
    /// Calls that are over and not yet answered.
    pub(crate) over: List,
}

/// How far the hub's own life has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Running,
    /// Nothing new is accepted.
    Draining,
    /// Everything ends.
    Ending,
}

/// What a frame turned out to be.
#[must_use]
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "returned by value once a frame; a box would need a heap")]
pub enum Inspected<'f> {
    /// A client's request for a browser: judge it, then `forward`, `hold`, `answer` or `refuse` it.
    Request(Request<'f>),
    /// A request on a control connection, for the host itself: `answer`, `hold`, `forward` or `refuse` it.
    Host(Request<'f>),
    /// A browser's answer: write it to its `to` now, before anything else for it.
    Forward(Forward<'f>),
    /// A frame of a proven extension for the host (`policy_set`, `event`); no answer is due.
    Notice(Notice<'f>),
    /// Handled; replies, if any, come from `poll_output`.
    Absorbed,
    /// The peer's fault. The error reply or close, if one is due, is queued already.
    Refused(Fault),
    /// No such connection (any more).
    Stale,
}

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    /// A hub in the storage that the host lends.
    pub fn new(config: Config, secrets: &Secrets, keyring: K, conns: C, calls: P) -> Self {
        let mut random = Random::new(secrets.seed);
        let hash_key = random.next();
        let salt = random.next();
        Self {
            config: Config { limits: config.limits.within_reach(), ..config },
            keyring,
            conns: Pool::new(conns),
            calls: Pool::new(calls),
            ids: IdTable::new(&hash_key),
            wheel: Wheel::new(),
            browsers: Browsers::new(),
            outbox: Outbox::new(),
            events: Deque::new(),
            counters: Counters::default(),
            random,
            resume: Resume::new(secrets.resume),
            salt: salt.first_chunk().copied().map(u32::from_le_bytes).unwrap_or_default(),
            owners: 0,
            nonces: [0; 32],
            lists: Lists {
                live: List::EMPTY,
                greeting: [List::EMPTY; 3],
                proving: [List::EMPTY; 3],
                waiting: [0; 3],
                closing: List::EMPTY,
                held: List::EMPTY,
                over: List::EMPTY,
            },
            joined: 0,
            policy_due: 0,
            phase: Phase::Running,
            started: None,
            latest: Instant::from_millis(0),
        }
    }

    /// A new connection. Its hello is due within five seconds.
    ///
    /// Where too many connections of its kind have not said hello, the oldest of them is closed. `Err` if no slot is left
    /// or the hub is ending.
    pub fn open(&mut self, peer: &Peer<'_>, now: Instant) -> Result<ConnId, Full> {
        self.advance(now);
        if self.phase != Phase::Running {
            return Err(Full);
        }
        let (origin, address) =
            match (Name::try_from(peer.origin.unwrap_or("")), Name::try_from(peer.address)) {
                (Ok(origin), Ok(address)) => (origin, address),
                // Longer than any origin or address a door may vouch for.
                _ => return Err(Full),
            };
        let (slot, conn) = self.conns.take().ok_or(Full)?;
        *conn = Connection {
            epoch: conn.epoch,
            door: peer.door,
            trust: peer.trust,
            due: now.saturating_add_ms(self.config.deadlines.hello_ms),
            stage: Stage::Greeting(Greeting { origin, approved: peer.approved, address }),
            ..Connection::vacant()
        };
        let id = ConnId { slot, epoch: conn.epoch };
        let pool = conn.pool();
        self.make_room(pool);
        self.conns.push_back(&mut self.lists.live, ConnList::Live, slot);
        if let (Some(list), Some(count)) =
            (self.lists.greeting.get_mut(pool), self.lists.waiting.get_mut(pool))
        {
            self.conns.push_back(list, ConnList::Stage, slot);
            *count = count.saturating_add(1);
        }
        self.counters.opened = self.counters.opened.saturating_add(1);
        Ok(id)
    }

    /// Closes the oldest connection of a full pool that has not said hello.
    fn make_room(&mut self, pool: usize) {
        let limits = &self.config.limits;
        let limit = match pool {
            0 => limits.greeting_strangers,
            1 => limits.greeting_same_user,
            _ => limits.greeting_local,
        };
        if self.lists.waiting.get(pool).is_none_or(|count| *count < limit.max(1)) {
            return;
        }
        let heads = [self.lists.greeting.get(pool), self.lists.proving.get(pool)];
        let oldest = heads
            .into_iter()
            .flatten()
            .filter_map(|list| {
                self.conns.at::<Connection>(list.head).map(|conn| (conn.due, list.head, conn.epoch))
            })
            .min();
        if let Some((_, slot, epoch)) = oldest {
            self.counters.evicted = self.counters.evicted.saturating_add(1);
            let why = Some((CloseCode::POLICY, "too many connections without a hello"));
            self.begin_close(ConnId { slot, epoch }, why, Lost::Disconnected);
        }
    }

    /// One frame of `conn`: a whole JSON text, from an extension in valid UTF-8 (its door has checked that).
    ///
    /// A reply that was not drained yet refuses the frame with [`Fault::Undrained`]; that is the caller's misuse.
    pub fn inspect<'f>(&mut self, conn: ConnId, frame: &'f [u8], now: Instant) -> Inspected<'f> {
        self.advance(now);
        let Some(connection) = self.conns.open(conn) else { return Inspected::Stale };
        if self.outbox.is_waiting() {
            return Inspected::Refused(Fault::Undrained);
        }
        match &connection.stage {
            Stage::Client(_) => self.client_frame(conn, frame),
            Stage::Extension(at) => {
                let at = *at;
                self.extension_frame(conn, at, frame)
            }
            Stage::Greeting(_) => self.first_frame(conn, frame),
            Stage::Proving(_) => self.proof_frame(conn, frame),
            Stage::Vacant | Stage::Closing(_) => Inspected::Stale,
        }
    }

    /// `inspect` and, for a client's request, `forward`: for hosts without a policy.
    pub fn receive<'f>(&mut self, conn: ConnId, frame: &'f [u8], now: Instant) -> Inspected<'f> {
        match self.inspect(conn, frame, now) {
            Inspected::Request(request) => match self.forward(request, now) {
                Ok(forward) => Inspected::Forward(forward),
                Err(fault) => Inspected::Refused(fault),
            },
            other => other,
        }
    }

    /// The host's policy ([`Keyring::policy`]) changed: every protocol-2 extension is told. Queued.
    pub fn policy_changed(&mut self) {
        self.policy_due = u16::MAX;
    }

    /// The connection is gone. Idempotent; stale handles are ignored.
    pub fn close(&mut self, conn: ConnId, now: Instant) {
        self.advance(now);
        self.begin_close(conn, None, Lost::Disconnected);
        // It may be ending for another reason already: then there is nobody left to tell.
        if let Some(ending) = self.ending_mut(conn) {
            ending.close = None;
        }
    }

    /// The peer will send nothing more but still reads: it gets the answers it waits for, then a close.
    pub fn half_close(&mut self, conn: ConnId, now: Instant) {
        self.advance(now);
        let Some(connection) = self.conns.open_mut(conn) else { return };
        if matches!(connection.stage, Stage::Client(_)) {
            connection.half_closed = true;
            self.close_if_done(conn);
        } else {
            self.begin_close(conn, Some(DONE), Lost::Disconnected);
        }
    }

    /// The door saw something that ends the connection. The close (and error, if one is due) is queued.
    pub fn reject(&mut self, conn: ConnId, why: Violation, now: Instant) {
        self.advance(now);
        let Some(connection) = self.conns.open(conn) else { return };
        if why == Violation::Binary && connection.role().is_none() && !self.outbox.is_waiting() {
            let letter = self.outbox.hello_error(conn, "expected hello message", Code::InvalidHello);
            self.outbox.queue(letter);
        }
        let close = match why {
            Violation::Binary => (CloseCode::BINARY, "binary message"),
            Violation::NotUtf8 => (CloseCode::NOT_UTF8, "not UTF-8"),
            Violation::TooBig => (CloseCode::TOO_BIG, "message too large"),
            Violation::Protocol => (CloseCode::PROTOCOL, "protocol error"),
            Violation::Unfinished => (CloseCode::POLICY, "message not finished in time"),
            Violation::Slow => (CloseCode::SLOW, "reads too slowly"),
            Violation::Silent => (CloseCode::GOING_AWAY, "no answer to pings"),
            Violation::Revoked => (CloseCode::NOT_ALLOWED, "pairing ended"),
        };
        self.begin_close(conn, Some(close), Lost::Disconnected);
    }

    /// How full the connection's write queue is. Matters for extensions only.
    pub fn congested(&mut self, conn: ConnId, how: Congestion) {
        if let Some(Connection { stage: Stage::Extension(at), .. }) = self.conns.open(conn)
            && let Some(browser) = self.browsers.get_mut(*at)
        {
            browser.congestion = how;
        }
    }

    /// From here on no new connection or call is accepted; what is in flight may still be answered.
    pub fn drain(&mut self) {
        if self.phase == Phase::Running {
            self.phase = Phase::Draining;
        }
    }

    /// Answers everything with SHUTTING_DOWN and closes every connection with 1001.
    pub fn shutdown(&mut self, now: Instant) {
        self.advance(now);
        self.phase = Phase::Ending;
        // Browsers go first, so that their askers are answered before they are closed themselves.
        let mut browsers = [ConnId::NOBODY; crate::browsers::BROWSERS];
        for (conn, browser) in browsers.iter_mut().zip(self.browsers.here()) {
            *conn = browser.conn;
        }
        for conn in browsers {
            self.begin_close(conn, Some(SHUTTING_DOWN), Lost::Shutdown);
        }
    }

    pub(crate) fn advance(&mut self, now: Instant) {
        self.latest = self.latest.max(now);
        self.started.get_or_insert(now);
    }

    pub(crate) fn needs_no_proof(&self, conn: ConnId) -> bool {
        self.conns.open(conn).is_some_and(|it| it.trust == Trust::Owner)
    }
}

pub(crate) const DONE: (CloseCode, &str) = (CloseCode::NORMAL, "done");
pub(crate) const SHUTTING_DOWN: (CloseCode, &str) = (CloseCode::GOING_AWAY, "shutting down");
