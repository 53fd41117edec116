//! A hub and its model side by side: every operation goes to both, and all that comes out must be the same.

use bridge_core::{
    CallId, Code, Congestion, ConnId, Connection, Door, Forward, Hub, Inspected, Instant, Peer, Pending,
    Request, Secrets, Slots, Ticket, Trust, Violation,
};

use std::collections::BTreeSet;

use crate::ledger::{Conn, Ledger, Seen, wire_id};
use crate::loose::Loose;
use crate::model::{Ask, Model, Passed, Read};
use crate::op::{Answer, Confirm, Hello, HelloRole, Level, Op, Opening, Settle, Shows, Then, Why};
use crate::proof::{Transcript, decode};
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
    calls: Vec<(Conn, String, Option<CallId>)>,
    held: Vec<(Ticket, usize, Vec<u8>)>,
    /// The challenge each connection got last: nonce and proof; and what its hello said.
    pub(crate) challenges: Vec<Option<Challenge>>,
    /// `resume` values as clients got them.
    pub(crate) resumes: Vec<String>,
    /// Connections whose end the hub has told.
    pub(crate) left: BTreeSet<Conn>,
    /// Connections that ended, by their own doing or the hub's.
    pub(crate) ended: BTreeSet<Conn>,
    nonces: u8,
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
            Op::Open(opening) => self.open(*opening),
            Op::Hello(by, hello) => self.hello(*by, hello),
            Op::Confirm(by, confirm) => self.confirm(*by, *confirm),
            Op::Ask(by, ask, then) => {
                let by = self.pick(*by, |model, conn| model.asks(conn));
                self.say(by, &render::ask(ask), *then);
            }
            Op::Answer(nth, answer) => self.answer(*nth, *answer),
            Op::Cancel(by, id) => {
                let by = self.pick(*by, |model, conn| model.asks(conn));
                let ids = render::ids();
                let id = &ids[usize::from(*id) % ids.len()];
                self.say(by, format!("{{\"type\":\"cancel\",\"id\":{id}}}").as_bytes(), Then::Receive);
            }
            Op::Notice(by, word) => {
                let by = self.pick(*by, |model, conn| model.is_asked(conn));
                self.say(by, &render::word(*word), Then::Receive);
            }
            Op::Nasty(by, n) => {
                let by = self.pick(*by, |_, _| true);
                self.say(by, &render::nasty(*n), Then::Receive);
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
                self.say(conn, &render::nasty(*n), Then::Receive);
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
    fn pick(&self, n: u8, fits: impl Fn(&Model, Conn) -> bool) -> Conn {
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
    fn with<R>(&mut self, conn: Conn, f: impl FnOnce(&mut Self, ConnId) -> R) -> Option<R> {
        let id = *self.ids.get(conn)?;
        Some(f(self, id))
    }

    fn open(&mut self, opening: Opening) {
        let peer = peer(opening);
        let opened = self.hub.open(&peer, self.instant());
        assert_eq!(opened.is_ok(), self.model.takes_more(), "whether a connection is taken in");
        if let Ok(id) = opened {
            let conn = self.model.open(&peer, id);
            assert_eq!(conn, self.ids.len());
            assert!(!self.ids.contains(&id), "the handle {id:?} was used before");
            self.ids.push(id);
            self.challenges.push(None);
            self.ledger.note(Seen::Opened(conn));
        }
    }

    fn hello(&mut self, by: u8, hello: &Hello) {
        let conn = self.pick(by, |model, conn| model.is_greeting(conn));
        let resume = match hello.shows {
            Shows::Resume(n, _) => nth_last(&self.resumes, n).cloned(),
            _ => None,
        };
        if hello.shows != Shows::OldNonce {
            self.nonces = self.nonces.wrapping_add(1);
        }
        let nonce = [self.nonces; 32];
        if let Some(place) = self.challenges.get_mut(conn) {
            *place = Some(Challenge { hello: *hello, nonce, challenge: String::new(), proof: String::new() });
        }
        self.say(conn, &render::hello(hello, &nonce, resume.as_deref()), Then::Receive);
    }

    fn confirm(&mut self, by: u8, confirm: Confirm) {
        let conn = self.pick(by, |model, conn| model.is_proving(conn));
        let Some(Some(Challenge { hello, nonce, challenge, proof })) = self.challenges.get(conn).cloned()
        else {
            return;
        };
        let Some(nonce_s) = decode(&challenge).filter(|_| self.model.is_proving(conn)) else { return };
        let peer = self.model.peer_of(conn);
        let transcript = Transcript {
            role: render::role(hello.role),
            key_id: render::KEY_ID,
            browser_id: render::browser(hello.browser).unwrap_or(""),
            nonce_c: nonce,
            nonce_s,
            address: peer.0,
            origin: peer.1,
        };
        assert_eq!(transcript.of_hub(&[7; 32]), proof, "the hub's own proof");
        let right = transcript.of_peer(&[7; 32]);
        let off_by_a_bit = right.replacen(['A', 'B', 'C'], "_", 1);
        let wrong = if off_by_a_bit == right { format!("{right}A") } else { off_by_a_bit };
        let frame = match confirm {
            Confirm::Right => render::confirm(&challenge, &right),
            Confirm::Wrong => render::confirm(&challenge, &wrong),
            Confirm::Reflected => render::confirm(&challenge, &proof),
            Confirm::Stale => render::confirm(&crate::proof::encode(&[9; 32]), &right),
            Confirm::Other => br#"{"id":"a","method":"ping"}"#.to_vec(),
        };
        self.model.expect_proof(conn, confirm == Confirm::Right);
        self.say(conn, &frame, Then::Receive);
    }

    fn answer(&mut self, nth: u8, answer: Answer) {
        let Some((asked, wire, _)) = nth_last(&self.calls, nth).cloned() else { return };
        // Someone else is most interesting if it is asked things itself.
        let by =
            answer.by.map_or(asked, |by| self.pick(by, |model, conn| model.is_asked(conn) && conn != asked));
        let wire = match answer.alter {
            None => wire,
            Some(at) => altered(&wire, at),
        };
        let frame = render::answer(answer.form, &wire, self.hub.config().limits.prefix_bytes);
        self.say(by, &frame, Then::Receive);
    }

    /// Gives a frame to both.
    fn say(&mut self, conn: Conn, frame: &[u8], then: Then) {
        let Some(&id) = self.ids.get(conn) else { return };
        let (was_open, was_client, answers) =
            (self.model.is_open(conn), self.model.asks(conn), self.model.is_asked(conn));
        let read = self.model.inspect(conn, frame);
        if was_open && let Some(asked) = self.model.asked_id(conn, frame, was_client) {
            self.ledger.note(Seen::Asked(conn, asked));
        }
        let inspected = self.hub.inspect(id, frame, self.instant());
        let mut passed = None;
        match (inspected, read) {
            (Inspected::Request(request), Read::Request(ask))
            | (Inspected::Host(request), Read::Host(ask)) => {
                self.compare_request(&request, &ask);
                self.go_on(request, ask, frame, then);
            }
            (Inspected::Forward(forward), Read::Answer { to, bytes }) => {
                let written = forward.parts().concat();
                assert_eq!(show(&written), show(&bytes), "the answer as passed on");
                assert_eq!(forward.len(), written.len());
                assert_eq!(forward.to(), self.ids[to], "who gets the answer");
                let named = self.calls.iter().any(|(_, wire, name)| {
                    *name == forward.call()
                        && name.is_some()
                        && frame.windows(wire.len()).any(|it| it == wire.as_bytes())
                });
                assert!(named, "the answer has another name than its call");
                passed = Some((to, written, is_lent(&forward, frame)));
            }
            (Inspected::Notice(notice), Read::Notice(kind)) => {
                assert_eq!((notice.conn, notice.kind), (id, kind));
                assert!(std::ptr::eq(notice.frame, frame));
            }
            (Inspected::Refused(fault), Read::Refused(expected)) => {
                assert!(
                    expected.contains(&fault),
                    "the hub says {fault:?}, the model {expected:?} to {}",
                    show(frame)
                );
            }
            (Inspected::Absorbed, Read::Absorbed) | (Inspected::Stale, Read::Stale) => {}
            (hub, model) => panic!("{conn} said {}: the hub says {hub:?}, the model {model:?}", show(frame)),
        }
        if answers {
            let wire = Loose::read(frame)
                .inside("id")
                .map(|span| String::from_utf8_lossy(&frame[span]).into_owned());
            self.ledger.note(Seen::Answered { by: conn, wire, passed });
        }
    }

    /// What the host does with a request.
    fn go_on(&mut self, request: Request<'_>, ask: Ask, frame: &[u8], then: Then) {
        let now = self.instant();
        let from = ask.conn;
        match then {
            Then::Receive | Then::Forward => {
                let params = request.params();
                let client_params = Some(params.to_vec());
                let lent = !ask.has_params || frame.as_ptr_range().contains(&params.as_ptr());
                let (hub, model) = (self.hub.forward(request, now), self.model.forward(ask, None));
                self.passed(hub, model, from, client_params, lent.then_some(params));
            }
            Then::ForwardChanged => {
                let (hub, model) = (
                    self.hub.forward(request.with_params(CHANGED), now),
                    self.model.forward(ask, Some(CHANGED)),
                );
                self.passed(hub, model, from, None, Some(CHANGED));
            }
            Then::Refuse => {
                self.hub.refuse(request, Code::Paused, "paused \"by\" user\n", true);
                self.model.refuse(ask, Code::Paused, "paused \"by\" user\n", true);
            }
            Then::Answer => {
                let written = self.hub.answer(request, RESULT);
                let bytes = written.parts().concat();
                let expected = self.model.answer(ask, RESULT);
                assert_eq!((show(&bytes), written.to()), (show(&expected), self.ids[from]));
                self.ledger.note(Seen::Sent(from, bytes));
            }
            Then::Hold => {
                let params = request.params().to_vec();
                match (self.hub.hold(request, now), self.model.hold(ask)) {
                    (Ok(ticket), Ok(call)) => self.held.push((ticket, call, params)),
                    (Err(hub), Err(model)) => assert_eq!(hub, model),
                    (hub, model) => panic!("hold: the hub says {hub:?}, the model {model:?}"),
                }
            }
        }
    }

    fn settle(&mut self, nth: u8, settle: Settle) {
        if self.held.is_empty() {
            return;
        }
        let (ticket, call, params) = self.held.remove(usize::from(nth) % self.held.len());
        let asker = self.model.asker_of(call);
        assert_eq!(self.hub.is_held(&ticket), asker.is_some());
        match settle {
            Settle::Release => {
                let hub = self.hub.release(
                    ticket,
                    "navigate",
                    &params,
                    Some("once-1"),
                    Instant::from_millis(self.now),
                );
                let model = self.model.release(call, "navigate", &params, Some("once-1"));
                self.passed(hub, model, asker.unwrap_or(usize::MAX), None, Some(&params));
            }
            Settle::Complete => {
                match (self.hub.complete(ticket, RESULT), self.model.complete(call, RESULT)) {
                    (Ok(written), Ok((to, expected))) => {
                        let bytes = written.parts().concat();
                        assert_eq!((show(&bytes), written.to()), (show(&expected), self.ids[to]));
                        self.ledger.note(Seen::Sent(to, bytes));
                    }
                    (Err(hub), Err(model)) => assert_eq!(hub, model),
                    (hub, model) => panic!("complete: the hub says {hub:?}, the model {model:?}"),
                }
            }
            Settle::Fail => {
                self.hub.fail(ticket, Code::DeniedByUser, "no");
                self.model.fail(call, Code::DeniedByUser, "no");
            }
        }
    }

    /// Compares an envelope, or why there is none.
    fn passed(
        &mut self,
        hub: Result<Forward<'_>, bridge_core::Fault>,
        model: Result<Passed, bridge_core::Fault>,
        from: Conn,
        params: Option<Vec<u8>>,
        lent: Option<&[u8]>,
    ) {
        match (hub, model) {
            (Ok(forward), Ok(passed)) => {
                let envelope = forward.parts().concat();
                assert_eq!(forward.len(), envelope.len());
                assert_eq!(forward.to(), self.ids[passed.to], "which browser is asked");
                let wire = self.model.check_envelope(&passed, &envelope);
                assert_eq!(wire_id(&envelope).unwrap(), wire);
                let borrowed = lent.is_some_and(|lent| {
                    forward.parts().iter().any(|part| std::ptr::eq(*part, lent)) || lent == b"{}"
                });
                self.calls.push((passed.to, wire, forward.call()));
                self.ledger.note(Seen::Passed { from, to: passed.to, params, envelope, borrowed });
            }
            (Err(hub), Err(model)) => assert_eq!(hub, model, "why it is not passed on"),
            (hub, model) => panic!("the hub says {hub:?}, the model {model:?}"),
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

const CHANGED: &[u8] = br#"{"url":"https://checked.example/"}"#;
const RESULT: &[u8] = br#"{"paused":false}"#;

/// Whether everything but the id is the very bytes of the frame.
fn is_lent(forward: &Forward<'_>, frame: &[u8]) -> bool {
    let range = frame.as_ptr_range();
    let lent: usize =
        forward.parts().iter().filter(|part| range.contains(&part.as_ptr())).map(|part| part.len()).sum();
    // The id is at most 256 bytes with its quotes beside it.
    forward.len() - lent <= 258
}

/// The n-th from the end: what happened last is the most telling.
fn nth_last<T>(list: &[T], n: u8) -> Option<&T> {
    if list.is_empty() { None } else { list.get(list.len() - 1 - usize::from(n) % list.len()) }
}

/// An id with another character in one place, or shorter, or longer.
fn altered(wire: &str, at: u8) -> String {
    let place = usize::from(at) % (wire.len() + 2);
    if place >= wire.len() {
        return if place == wire.len() { wire[..wire.len() - 1].to_owned() } else { format!("{wire}0") };
    }
    let other = if &wire[place..=place] == "1" { "2" } else { "1" };
    format!("{}{other}{}", &wire[..place], &wire[place + 1..])
}

pub(crate) fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(2_000).collect()
}

fn peer(opening: Opening) -> Peer<'static> {
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
