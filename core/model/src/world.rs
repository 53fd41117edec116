//! A hub and its model side by side: every operation goes to both, and all that comes out must be the same.

use bridge_core::{
    CallId, Congestion, ConnId, Connection, Door, Hub, Instant, Peer, Pending, Secrets, Slots, Ticket, Trust,
    Violation,
};

use std::collections::BTreeSet;

use crate::ledger::{Conn, Ledger, Seen};
use crate::model::Model;
use crate::op::{Hello, HelloRole, Level, Op, Opening, Shows, Then, Why};
use crate::render;
use crate::setup::Setup;
use crate::stage::Keys;

/// The server address that peers on TCP dialled.
pub const ADDRESS: &str = "127.0.0.1:9225";
/// The Origin of the extension.
pub const ORIGIN: &str = "chrome-extension://fdembngelboffhfimppaoglbmaphnhfm";

/// Storage that grows in small steps, up to a limit.
#[derive(Debug)]
pub struct Growing<T> {
    slots: Vec<T>,
    most: usize,
}

impl<T: Default> Growing<T> {
    /// Empty.
    pub fn new(most: usize) -> Self {
        Self { slots: Vec::new(), most }
    }
}

impl<T: Default> Slots<T> for Growing<T> {
    fn get(&self, index: usize) -> Option<&T> {
        self.slots.get(index)
    }
    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.slots.get_mut(index)
    }
    fn len(&self) -> usize {
        self.slots.len()
    }
    fn grow(&mut self) -> bool {
        let more = (self.most - self.slots.len()).min(3);
        self.slots.extend((0..more).map(|_| T::default()));
        more > 0
    }
}

/// A hub as the tests use it.
pub type TestHub = Hub<Growing<Connection>, Growing<Pending>, Keys>;

/// Hub, model, and everything a peer or a host must remember to go on.
pub struct World {
    pub(crate) hub: TestHub,
    pub(crate) model: Model,
    /// What was seen so far.
    pub ledger: Ledger,
    /// The present, in milliseconds.
    pub now: u64,
    /// The hub's handles, by the test's numbers.
    pub(crate) ids: Vec<ConnId>,
    /// Calls that were passed on: to whom, with which id, and the host's name for it.
    pub(crate) calls: Vec<(Conn, String, Option<CallId>)>,
    pub(crate) held: Vec<(Ticket, usize, Vec<u8>)>,
    /// The challenge each connection got last: nonce and proof; and what its hello said.
    pub(crate) challenges: Vec<Option<Challenge>>,
    /// `resume` values as clients got them.
    pub(crate) resumes: Vec<String>,
    /// Connections whose end the hub has told.
    pub(crate) left: BTreeSet<Conn>,
    /// Connections that ended, by their own doing or the hub's.
    pub(crate) ended: BTreeSet<Conn>,
    pub(crate) nonces: u8,
}

/// What a peer needs to prove itself.
#[derive(Debug, Clone)]
pub(crate) struct Challenge {
    pub(crate) hello: Hello,
    pub(crate) nonce: [u8; 32],
    pub(crate) challenge: String,
    pub(crate) proof: String,
}

impl World {
    /// A hub without connections.
    pub fn new(setup: Setup) -> Self {
        let config = setup.config();
        let secrets = Secrets { seed: [3; 32], resume: [4; 32] };
        let (conns, calls) = (Growing::new(setup.connections()), Growing::new(setup.calls()));
        let mut model = Model::new(config, setup.connections(), setup.calls());
        model.at(1_000);
        World {
            hub: Hub::new(config, &secrets, Keys, conns, calls),
            model,
            ledger: Ledger::default(),
            now: 1_000,
            ids: Vec::new(),
            calls: Vec::new(),
            held: Vec::new(),
            challenges: Vec::new(),
            resumes: Vec::new(),
            left: BTreeSet::new(),
            ended: BTreeSet::new(),
            nonces: 0,
        }
    }

    /// A hub where the usual peers are connected: two proven browsers, a client on TCP, one on the Unix socket.
    pub fn furnished(setup: Setup) -> Self {
        let mut world = Self::new(setup);
        let plain = Hello {
            role: HelloRole::Extension,
            two: true,
            browser: 1,
            shows: Shows::Nothing,
            client: 0,
            class: 0,
            odd_name: false,
        };
        let old = Hello { role: HelloRole::Client, two: false, client: 1, shows: Shows::Token, ..plain };
        for (opening, hello) in [
            (Opening::Unix, plain),
            (Opening::SameUser, old),
            (Opening::Unix, Hello { role: HelloRole::Client, ..plain }),
            (Opening::Unix, Hello { browser: 2, ..plain }),
        ] {
            world.step(&Op::Open(opening));
            world.step(&Op::Hello(0, hello));
        }
        world
    }

    /// As the setup has it: furnished or empty.
    pub fn start(setup: Setup) -> Self {
        if setup.furnished { Self::furnished(setup) } else { Self::new(setup) }
    }

    /// Gives a frame to both, and compares all that comes of it.
    pub fn say_and_settle(&mut self, conn: Conn, frame: &[u8], then: Then) {
        self.say(conn, frame, then);
        self.settle_outputs();
        self.compare_state();
    }

    /// Does one operation to both.
    pub fn step(&mut self, op: &Op) {
        match op {
            Op::Open(opening) => self.open(&peer(*opening)),
            Op::Hello(by, hello) => self.hello(*by, hello),
            Op::Confirm(by, confirm) => self.confirm(*by, *confirm),
            Op::Ask(by, ask, then) => {
                let by = self.pick(*by, |model, conn| model.asks(conn));
                self.say(by, &render::ask(ask, &self.hub.config().limits), *then);
            }
            Op::Answer(nth, answer) => self.answer(*nth, *answer),
            Op::Cancel(by, id) => {
                let by = self.pick(*by, |model, conn| model.asks(conn));
                let ids = render::ids(&self.hub.config().limits);
                let id = &ids[usize::from(*id) % ids.len()];
                self.say(by, format!("{{\"type\":\"cancel\",\"id\":{id}}}").as_bytes(), Then::Receive);
            }
            Op::Notice(by, word) => {
                let by = self.pick(*by, |model, conn| model.is_asked(conn));
                self.say(by, &render::word(*word), Then::Receive);
            }
            Op::Nasty(by, n) => {
                let by = self.pick(*by, |_, _| true);
                self.say(by, &render::nasty(*n, &self.hub.config().limits), Then::Receive);
            }
            Op::Raw(by, bytes) => {
                let by = self.pick(*by, |_, _| true);
                self.say(by, bytes, Then::Receive);
            }
            Op::Settle(nth, settle) => self.settle(*nth, *settle),
            Op::Close(by) => {
                let conn = self.pick(*by, |_, _| true);
                self.with(conn, |world, id| world.hub.close(id, world.instant()));
                self.model.close(conn);
            }
            Op::Vanish(by, n) => {
                let conn = self.pick(*by, |_, _| true);
                self.say(conn, &render::nasty(*n, &self.hub.config().limits), Then::Receive);
                self.with(conn, |world, id| world.hub.close(id, world.instant()));
                self.model.close(conn);
            }
            Op::HalfClose(by) => {
                let conn = self.pick(*by, |_, _| true);
                self.with(conn, |world, id| world.hub.half_close(id, world.instant()));
                self.model.half_close(conn);
            }
            Op::Reject(by, why) => {
                let conn = self.pick(*by, |_, _| true);
                let why = violation(*why);
                self.with(conn, |world, id| world.hub.reject(id, why, world.instant()));
                self.model.reject(conn, why);
            }
            Op::Congest(by, level) => {
                let conn = self.pick(*by, |model, conn| model.is_asked(conn));
                let how = congestion(*level);
                self.with(conn, |world, id| world.hub.congested(id, how));
                self.model.congested(conn, how);
            }
            Op::Wait(steps) => self.pass(u64::from(*steps) * 10),
            Op::Wake => {
                if let Some((at, _)) = self.hub.poll_timeout() {
                    self.pass(at.as_millis().saturating_sub(self.now));
                }
            }
            Op::Policy => {
                self.hub.policy_changed();
                self.model.policy_changed();
            }
            Op::Drain => {
                self.hub.drain();
                self.model.drain();
            }
            Op::Shutdown => {
                self.ledger.note(Seen::ShutDown);
                self.hub.shutdown(self.instant());
                self.model.shutdown();
            }
        }
        self.settle_outputs();
        self.compare_state();
    }

    /// Ends everything, so that no call is left open.
    pub fn finish(&mut self) {
        self.step(&Op::Shutdown);
        assert_eq!(self.hub.in_flight(), 0);
        assert_eq!(self.hub.connections().count(), 0);
    }

    pub(crate) fn instant(&self) -> Instant {
        Instant::from_millis(self.now)
    }

    /// Connection `n`: of those that fit if there are any, else (or for the highest numbers) of all there ever were.
    pub(crate) fn pick(&self, n: u8, fits: impl Fn(&Model, Conn) -> bool) -> Conn {
        let n = usize::from(n);
        let fitting: Vec<Conn> = (0..self.ids.len())
            .filter(|conn| fits(&self.model, *conn) && self.model.is_open(*conn))
            .collect();
        match (fitting.len(), self.ids.len()) {
            (0, 0) => usize::MAX,
            (0, all) => n % all,
            (_, all) if n >= 250 => n % all,
            (fitting_len, _) => fitting[n % fitting_len],
        }
    }

    /// Calls `f` with the hub's handle of `conn`, if there ever was one.
    pub(crate) fn with<R>(&mut self, conn: Conn, f: impl FnOnce(&mut Self, ConnId) -> R) -> Option<R> {
        let id = *self.ids.get(conn)?;
        Some(f(self, id))
    }

    pub(crate) fn open(&mut self, peer: &Peer<'static>) {
        let opened = self.hub.open(peer, self.instant());
        assert_eq!(opened.is_ok(), self.model.takes_more(), "whether a connection is taken in");
        if let Ok(id) = opened {
            let conn = self.model.open(peer, id);
            assert_eq!(conn, self.ids.len());
            assert!(!self.ids.contains(&id), "the handle {id:?} was used before");
            self.ids.push(id);
            self.challenges.push(None);
            self.ledger.note(Seen::Opened(conn));
        }
    }

    /// Time passes, and the hub is woken as often as it asks for on the way.
    fn pass(&mut self, ms: u64) {
        let end = self.now + ms;
        loop {
            let next = self.hub.poll_timeout().map(|(at, _)| at.as_millis()).filter(|at| *at < end);
            self.now = next.map_or(end, |at| at.max(self.now));
            self.hub.handle_timeout(self.instant());
            self.model.handle_timeout(self.now);
            self.settle_outputs();
            let next_wake = self.hub.poll_timeout().map(|(at, _)| at.as_millis());
            self.ledger.note(Seen::Woken(self.now, next_wake, false));
            assert!(
                next_wake.is_none_or(|at| at > self.now),
                "woken at {}, next wake-up at {next_wake:?}",
                self.now
            );
            if self.now >= end {
                return;
            }
        }
    }
}

/// What a door tells the hub about it.
pub fn peer(opening: Opening) -> Peer<'static> {
    let tcp = Peer {
        door: Door::WebSocket,
        trust: Trust::SameUser,
        origin: None,
        approved: false,
        address: ADDRESS,
    };
    match opening {
        Opening::Stranger => Peer { trust: Trust::Unknown, ..tcp },
        Opening::SameUser => tcp,
        Opening::Browser => Peer { origin: Some(ORIGIN), ..tcp },
        Opening::ApprovedBrowser => Peer { origin: Some(ORIGIN), approved: true, ..tcp },
        Opening::StrangeBrowser => Peer { origin: Some(ORIGIN), trust: Trust::Unknown, ..tcp },
        Opening::Unix => {
            Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" }
        }
        Opening::Http => Peer::in_process(Door::Http),
        Opening::Mcp => Peer::in_process(Door::Mcp),
        Opening::Memory => Peer::in_process(Door::Memory),
    }
}

fn violation(why: Why) -> Violation {
    match why {
        Why::Binary => Violation::Binary,
        Why::NotUtf8 => Violation::NotUtf8,
        Why::TooBig => Violation::TooBig,
        Why::Protocol => Violation::Protocol,
        Why::Unfinished => Violation::Unfinished,
        Why::Slow => Violation::Slow,
        Why::Silent => Violation::Silent,
        Why::Revoked => Violation::Revoked,
    }
}

fn congestion(level: Level) -> Congestion {
    match level {
        Level::Clear => Congestion::Clear,
        Level::Slow => Congestion::Slow,
        Level::Full => Congestion::Full,
    }
}
