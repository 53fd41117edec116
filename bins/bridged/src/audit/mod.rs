//! The audit: one line for each call that changes something or is refused, one a second for each kind of reading. Here is what the
//! hub's thread does for it, which must cost next to nothing; the file is another thread's business ([`book`]).

mod book;
mod entry;
mod print;
mod seen;
mod watch;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use bridge_catalogue::{Access, catalogue};
use bridge_core::{CallId, Code, ConnId, ConnInfo, Door, Fault, Request, Role, Trust};
use bridge_driver::Judgement;
use serde::Deserialize;

pub(crate) use book::NAME;
pub(crate) use entry::{Entry, Who};
pub(crate) use print::run as print;
pub(crate) use watch::Watchers;

use crate::permit::changes;
use crate::places::our_uid;
use book::Book;
use seen::Seen;

/// An answer up to this size is looked into for what it says of tab and page.
const SMALL: usize = 64 << 10;
/// Methods whose params say more than may be kept.
const TOLD_OTHERWISE: &[&str] = &["run_script", "evaluate", "wait_for", "batch"];
/// Control methods that only look.
const LOOKING: &[&str] = &["policy_get", "pairings", "doctor", "audit", "watch"];
/// Told by whoever changes the policy, whatever the way.
const TOLD_ELSEWHERE: &str = "policy_set";

/// What the hub's thread knows.
pub(crate) struct Audit {
    book: Book,
    /// Those who watch calls as they pass.
    pub watchers: Watchers,
    /// Whether nothing may be changed that cannot be written down.
    required: Cell<bool>,
    began: Instant,
    /// Those who asked for something, by the hub's slots.
    peers: RefCell<Vec<Option<Box<Peer>>>>,
    /// What is refused before it is anybody's.
    knocks: RefCell<Seen>,
    /// The request that was judged last, until it is known what becomes of it.
    judged: RefCell<Option<Call>>,
    calls: RefCell<HashMap<CallId, Call>>,
    browsers: RefCell<Vec<(ConnId, String)>>,
}

/// A call that will be a line, or is watched.
struct Call {
    entry: Entry,
    conn: ConnId,
    since: Instant,
    /// Whether it is written, or only watched.
    kept: bool,
}

/// A connection.
struct Peer {
    conn: ConnId,
    /// Whether it is known who that is.
    introduced: bool,
    label: String,
    auth: &'static str,
    who: Who,
    seen: Seen,
}

impl Audit {
    pub(crate) fn new(state: &Path, required: bool) -> Audit {
        Audit {
            book: Book::new(state),
            watchers: Watchers::default(),
            required: Cell::new(required),
            began: Instant::now(),
            peers: RefCell::default(),
            knocks: RefCell::default(),
            judged: RefCell::default(),
            calls: RefCell::default(),
            browsers: RefCell::default(),
        }
    }

    /// Says whether nothing may be changed that cannot be written down.
    pub(crate) fn require(&self, required: bool) {
        self.required.set(required);
    }

    /// Why lines are missing, if they are.
    pub(crate) fn degraded(&self) -> Option<String> {
        self.book.degraded()
    }

    /// For `bridged audit`: whether lines wait to be written, and are written soon.
    pub(crate) fn hurry(&self) -> bool {
        self.book.hurry()
    }

    /// Writes what is left.
    pub(crate) fn close(&self) {
        self.book.close();
    }

    // ---- who there is

    /// The process behind a connection that has just come.
    pub(crate) fn arrived(&self, conn: ConnId, pid: Option<i32>) {
        self.with_peer(conn, |peer| peer.who.pid = pid);
    }

    /// Whether it is known who that is.
    pub(crate) fn knows(&self, conn: ConnId) -> bool {
        let peers = self.peers.borrow();
        let peer = peers.get(usize::from(conn.slot())).and_then(Option::as_ref);
        peer.is_some_and(|peer| peer.conn == conn && peer.introduced)
    }

    /// Who that is; told at the first request, so that those who only stay cost nothing.
    pub(crate) fn introduce(&self, info: &ConnInfo<'_>) {
        self.with_peer(info.conn, |peer| {
            peer.introduced = true;
            peer.label = info.name.to_owned();
            peer.auth = auth(info);
            // What the kernel has not vouched for is not told.
            peer.who.uid = (info.trust != Trust::Unknown && !info.door.in_process()).then(our_uid);
        });
    }

    /// A browser is here. One of the base protocol may have no id of its own.
    pub(crate) fn browser_joined(&self, conn: ConnId, id: &str) {
        if !id.is_empty() {
            self.browsers.borrow_mut().push((conn, id.to_owned()));
        }
    }

    /// A connection is gone, and with it whoever waited on it.
    pub(crate) fn left(&self, conn: ConnId) {
        if let Some(place) = self.peers.borrow_mut().get_mut(usize::from(conn.slot()))
            && place.as_ref().is_some_and(|peer| peer.conn == conn)
        {
            *place = None;
        }
        self.browsers.borrow_mut().retain(|(of, _)| *of != conn);
        self.watchers.left(conn);
        let gone: Vec<CallId> = {
            let calls = self.calls.borrow();
            calls.iter().filter(|(_, call)| call.conn == conn).map(|(id, _)| *id).collect()
        };
        for id in gone {
            let call = self.calls.borrow_mut().remove(&id);
            if let Some(mut call) = call {
                call.entry.outcome = "gone";
                self.finish(call);
            }
        }
    }

    fn with_peer<R>(&self, conn: ConnId, work: impl FnOnce(&mut Peer) -> R) -> R {
        let mut peers = self.peers.borrow_mut();
        let place = usize::from(conn.slot());
        if peers.len() <= place {
            peers.resize_with(place + 1, || None);
        }
        let fresh = || {
            let (label, who, seen) = Default::default();
            Box::new(Peer { conn, introduced: false, label, auth: "", who, seen })
        };
        match &mut peers[place] {
            Some(peer) if peer.conn == conn => work(peer),
            stale => work(stale.insert(fresh())),
        }
    }

    // ---- what is asked

    /// Why a request that changes something may not be carried out, if it may not.
    pub(crate) fn forbids(&self, request: &Request<'_>) -> Option<Judgement> {
        if !self.required.get() || !is_write(request) {
            return None;
        }
        let why = self.book.degraded()?;
        let text = format!("audit unavailable: nothing is changed that cannot be written down ({why})");
        Some(Judgement::Refuse(Code::InternalError, text, false))
    }

    /// A request was judged.
    pub(crate) fn judged(&self, request: &Request<'_>, judgement: &Judgement) {
        let method = request.method();
        let control = request.role() == Role::Control;
        let denied = match judgement {
            Judgement::Refuse(code, ..) => Some(*code),
            _ => None,
        };
        if control && (method == TOLD_ELSEWHERE && denied.is_none() || LOOKING.contains(&method)) {
            return;
        }
        let second = this_second();
        // By far the most calls: the same reading as a moment ago.
        if denied.is_none()
            && !control
            && self.watchers.none()
            && self.with_peer(request.conn(), |peer| peer.seen.repeats(method, second))
        {
            return;
        }
        let mut kept = true;
        let mut collapsed = 0;
        if denied.is_some() || !(control || is_write(request)) {
            let code = denied.map_or("", Code::as_str);
            let first = self.with_peer(request.conn(), |peer| {
                let first = peer.seen.again(method, code, second);
                // Asked with everything it takes, it would still change nothing.
                if first.is_some()
                    && denied.is_none()
                    && method != "batch"
                    && !changes(method, &|_| Some(b"true"))
                {
                    peer.seen.is_plain(method);
                }
                first
            });
            match first {
                Some(before) => collapsed = before,
                None => kept = false,
            }
        }
        if !kept && self.watchers.none() {
            return;
        }
        let now = Instant::now();
        let mut entry = self.entry_of(request, now);
        entry.collapsed = collapsed;
        let call = Call { entry, conn: request.conn(), since: now, kept };
        match judgement {
            Judgement::Refuse(code, ..) => self.refused(call, *code, control),
            Judgement::Answer(_) => self.over(call, "ok", None),
            Judgement::Pass | Judgement::Replace(_) | Judgement::Hold => {
                self.watchers.tell("asked", &call.entry);
                *self.judged.borrow_mut() = Some(call);
            }
        }
    }

    fn entry_of(&self, request: &Request<'_>, now: Instant) -> Entry {
        let method = request.method();
        let (label, auth, who) = self.with_peer(request.conn(), |peer| {
            if let (Some(pid), None) = (peer.who.pid, &peer.who.exe) {
                let exe = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
                peer.who.exe = Some(exe.map_or_else(String::new, |path| path.to_string_lossy().into_owned()));
            }
            (peer.label.clone(), peer.auth, peer.who.clone())
        });
        let number = |raw: &[u8]| std::str::from_utf8(raw).ok()?.parse().ok();
        Entry {
            at: Some(SystemTime::now()),
            mono_ms: u64::try_from(now.duration_since(self.began).as_millis()).unwrap_or(u64::MAX),
            conn: Some((request.conn().slot(), request.conn().epoch())),
            client_id: request.owner().to_owned(),
            label,
            who,
            transport: transport(request.door()),
            auth,
            browser_id: request.browser_id().map(str::to_owned).or_else(|| self.only_browser()),
            method: method.to_owned(),
            tab_id: request.param("tab_id").and_then(number),
            decision: "allow",
            params: TOLD_OTHERWISE.contains(&method).then(|| request.params().to_vec()),
            ..Entry::default()
        }
    }

    fn only_browser(&self) -> Option<String> {
        match self.browsers.borrow().as_slice() {
            [(_, only)] => Some(only.clone()),
            _ => None,
        }
    }

    /// The request that was judged last has become this call.
    pub(crate) fn accepted(&self, id: CallId, browser: Option<ConnId>) {
        let Some(mut call) = self.judged.borrow_mut().take() else { return };
        if let Some(asked) = browser {
            let browsers = self.browsers.borrow();
            call.entry.browser_id =
                browsers.iter().find(|(conn, _)| *conn == asked).map(|(_, id)| id.clone());
        }
        self.calls.borrow_mut().insert(id, call);
    }

    /// The request that was judged last was not taken on.
    pub(crate) fn declined(&self, why: Fault) {
        if let Some(call) = self.judged.borrow_mut().take() {
            self.over(call, "error", Some(code_of(why).as_str().to_owned()));
        }
    }

    /// A call was answered.
    pub(crate) fn answered(&self, id: CallId, answer: &[&[u8]]) {
        if self.calls.borrow().is_empty() {
            return;
        }
        let Some(mut call) = self.calls.borrow_mut().remove(&id) else { return };
        let bytes: usize = answer.iter().map(|part| part.len()).sum();
        call.entry.bytes = Some(bytes as u64);
        let (mut outcome, mut code) = ("ok", None);
        if bytes <= SMALL {
            let said = Said::read(&answer.concat());
            if !said.success {
                (outcome, code) = ("error", said.code.or_else(|| Some(String::new())));
            }
            call.entry.tab_id = call.entry.tab_id.or(said.tab_id);
            call.entry.origin = said.origin;
        }
        self.over(call, outcome, code);
    }

    fn refused(&self, mut call: Call, code: Code, control: bool) {
        // What its owner may do and did wrong is an error, not a refusal.
        call.entry.decision = if control { "allow" } else { "deny" };
        self.over(call, if control { "error" } else { "denied" }, Some(code.as_str().to_owned()));
    }

    fn over(&self, mut call: Call, outcome: &'static str, code: Option<String>) {
        call.entry.outcome = outcome;
        call.entry.code = code.filter(|code| !code.is_empty()).map(|code| code.chars().take(64).collect());
        self.finish(call);
    }

    fn finish(&self, mut call: Call) {
        call.entry.ms = Some(u64::try_from(call.since.elapsed().as_millis()).unwrap_or(u64::MAX));
        self.watchers.tell("answered", &call.entry);
        if call.kept {
            self.book.add(call.entry);
        }
    }

    // ---- what is no call

    /// Somebody was turned away at a door, or could not prove themselves.
    pub(crate) fn knocked(&self, transport: &'static str, origin: Option<&str>, code: &str) {
        let second = this_second();
        let Some(collapsed) = self.knocks.borrow_mut().again(transport, code, second) else { return };
        self.book.add(Entry {
            at: Some(SystemTime::now()),
            mono_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            transport,
            method: "hello".to_owned(),
            origin: origin.and_then(entry::origin),
            decision: "deny",
            outcome: "denied",
            code: Some(code.to_owned()),
            collapsed,
            ..Entry::default()
        });
    }

    /// The policy was changed by `who`.
    pub(crate) fn policy_changed(&self, who: &str) {
        self.book.add(Entry {
            at: Some(SystemTime::now()),
            mono_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            method: TOLD_ELSEWHERE.to_owned(),
            client_id: who.to_owned(),
            decision: "allow",
            outcome: "ok",
            ..Entry::default()
        });
    }
}

/// What an answer says that may be kept.
#[derive(Default)]
struct Said {
    success: bool,
    code: Option<String>,
    tab_id: Option<i64>,
    origin: Option<String>,
}

impl Said {
    fn read(answer: &[u8]) -> Said {
        #[derive(Deserialize)]
        struct Frame {
            #[serde(default)]
            success: bool,
            #[serde(default)]
            code: Option<String>,
            #[serde(default)]
            result: Option<Facts>,
        }
        // Of a result only this is looked at, and whatever else it is does no harm.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Facts {
            Some { tab_id: Option<i64>, url: Option<String> },
            Other(serde::de::IgnoredAny),
        }
        let Ok(frame) = serde_json::from_slice::<Frame>(answer) else { return Said::default() };
        let (tab_id, url) = match frame.result {
            Some(Facts::Some { tab_id, url }) => (tab_id, url),
            _ => (None, None),
        };
        let origin = url.as_deref().and_then(entry::origin);
        Said { success: frame.success, code: frame.code, tab_id, origin }
    }
}

/// The second that one line stands for. The coarse clock: each call asks, and a tick more or less is no matter here.
fn this_second() -> u64 {
    rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse).tv_sec.cast_unsigned()
}

/// Whether a call changes anything. A batch does whatever its steps do, so it is written down.
fn is_write(request: &Request<'_>) -> bool {
    static READS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let reads = READS.get_or_init(|| {
        let methods = catalogue().methods().iter();
        methods.filter(|method| method.access == Access::Read).map(|method| method.name.as_str()).collect()
    });
    let method = request.method();
    // Some reads change something as they are asked for.
    method == "batch" || !reads.contains(method) || changes(method, &|key| request.param(key))
}

/// The code of the answer that a request gets that was not taken on.
const fn code_of(why: Fault) -> Code {
    match why {
        Fault::DuplicateId => Code::DuplicateId,
        Fault::NoExtension => Code::NoExtension,
        Fault::NoSuchBrowser => Code::NoSuchBrowser,
        Fault::Overloaded | Fault::Congested => Code::Overloaded,
        Fault::ShuttingDown => Code::ShuttingDown,
        _ => Code::InvalidRequest,
    }
}

const fn transport(door: Door) -> &'static str {
    match door {
        Door::WebSocket => "websocket",
        Door::Unix => "unix",
        Door::Http => "http",
        Door::Mcp => "mcp-http",
        Door::Memory => "inside",
    }
}

/// What let a connection in, as far as it shows.
fn auth(info: &ConnInfo<'_>) -> &'static str {
    match (info.door, info.trust, info.protocol) {
        (Door::Unix, ..) => "socket",
        (Door::WebSocket, _, 2) => "proof",
        (Door::WebSocket, Trust::SameUser, _) => "same-user",
        (Door::WebSocket, ..) => "token",
        _ => "door",
    }
}
