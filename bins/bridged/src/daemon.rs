//! What the daemon decides around the hub: keys, the owner's control requests, and what it tells the log.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use bridge_core::{
    CallId, Code, ConnId, Door, Event, Fault, Keyring, Notice, NoticeKind, Request, Role, Violation,
};
use bridge_driver::{Driver, Held, Host, Judgement};
use bridge_reactor::Clock;
use serde_json::{Value, json};
use smol::LocalExecutor;
use smol::channel::Sender;
use smol::lock::Semaphore;

use crate::audit::{Audit, Gaps};
use crate::config::Compat;
use crate::control::{self, Ends};
use crate::keys::Keys;
use crate::knocks::Flood;
use crate::policy::{self, Change, Policy};
use crate::trouble::{Outcome, Trouble, USAGE};
use crate::uploads::{Uploads, Waiting};

/// The driver of this process.
pub(crate) type Hub = Driver<Daemon, Clock>;

/// The keys and the policy as the hub asks for them.
pub(crate) struct Ring {
    keys: Rc<RefCell<Keys>>,
    taken: Rc<RefCell<BTreeMap<String, String>>>,
    /// The policy for clients: without the user's lists of sites.
    policy: String,
    /// The policy for browsers: all of it, with the names of clients that one of them asked for.
    told: String,
    gaps: Gaps,
}

impl Keyring for Ring {
    fn key(&self, role: Role, key_id: &str) -> Option<[u8; 32]> {
        self.key_of(role, key_id, "")
    }

    fn key_of(&self, role: Role, key_id: &str, browser_id: &str) -> Option<[u8; 32]> {
        match role {
            Role::Extension if self.taken.borrow().get(key_id).is_some_and(|by| by != browser_id) => None,
            Role::Extension => self.keys.borrow_mut().extension_key(key_id, browser_id),
            Role::Client => self.keys.borrow_mut().client_key(key_id),
            Role::Control => None,
        }
    }

    fn token_matches(&self, token: &str) -> bool {
        self.keys.borrow_mut().token_matches(token)
    }

    fn policy(&self) -> &str {
        &self.policy
    }

    fn policy_for_browsers(&self) -> &str {
        &self.told
    }

    fn more_status(&self) -> &str {
        match self.gaps.there_are() {
            true => r#","audit_degraded":true"#,
            false => r#","audit_degraded":false"#,
        }
    }
}

/// Why the daemon ends or reads its configuration again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// End.
    Stop(&'static str),
    /// Read the configuration again.
    Reload,
}

/// The host of the hub.
pub(crate) struct Daemon {
    keys: Rc<RefCell<Keys>>,
    policy: RefCell<Policy>,
    wishes: Sender<Wish>,
    executor: Rc<LocalExecutor<'static>>,
    /// Set once the driver exists; it needs this host to be made.
    driver: OnceCell<Hub>,
    /// What is written down of all calls.
    pub audit: Audit,
    /// Extension ids that may connect, besides those approved for the base protocol.
    pinned: RefCell<Vec<String>>,
    /// Ids of extensions that were turned away, for `bridged doctor`; the door bounds how many it tells.
    refused: RefCell<Vec<String>>,
    /// Which connected browsers may run user scripts, as they said themselves.
    switches: RefCell<Vec<(ConnId, bool)>>,
    /// Where files for uploads may come from.
    uploads: RefCell<Option<Uploads>>,
    /// How many uploads may be read at once; each holds its files in memory.
    reading: Rc<Semaphore>,
    /// What those that wait for their turn hold.
    waiting: Waiting,
    warned_of_legacy: Cell<bool>,
    /// Those who did not prove themselves, whom nothing keeps from trying again at once.
    unproven: Flood,
    /// Which browser has taken a key that is for one alone, until that stands in the book on the disk.
    taken: Rc<RefCell<BTreeMap<String, String>>>,
}

impl Daemon {
    /// A host without its driver yet.
    pub(crate) fn new(
        keys: Keys,
        policy: Policy,
        audit: Audit,
        pinned: Vec<String>,
        wishes: Sender<Wish>,
        executor: Rc<LocalExecutor<'static>>,
    ) -> Rc<Daemon> {
        Rc::new(Daemon {
            keys: Rc::new(RefCell::new(keys)),
            policy: RefCell::new(policy),
            wishes,
            executor,
            driver: OnceCell::new(),
            audit,
            pinned: RefCell::new(pinned),
            refused: RefCell::default(),
            switches: RefCell::default(),
            uploads: RefCell::default(),
            reading: Rc::new(Semaphore::new(2)),
            waiting: Waiting::default(),
            warned_of_legacy: Cell::new(false),
            unproven: Flood::new(),
            taken: Rc::default(),
        })
    }

    /// The keys for the hub.
    pub(crate) fn ring(&self) -> Ring {
        Ring {
            keys: self.keys.clone(),
            taken: self.taken.clone(),
            policy: self.policy.borrow().text_for_clients(),
            told: self.policy.borrow().text(),
            gaps: self.audit.gaps(),
        }
    }

    /// Whether this is the clients' token.
    pub(crate) fn token_matches(&self, token: &str) -> bool {
        self.keys.borrow_mut().token_matches(token)
    }

    /// Whether the user paused the bridge.
    pub(crate) fn is_paused(&self) -> bool {
        self.policy.borrow().rules().paused
    }

    /// Changes the policy and tells the browsers. It is on the disk before this returns: a pause must survive whatever
    /// comes next, and is rare enough to be waited for.
    pub(crate) fn change_policy(&self, change: &Change, who: &str) -> Outcome<()> {
        if self.policy.borrow_mut().change(change)? {
            self.tell_policy(who);
        }
        Ok(())
    }

    /// Takes the policy from the disk, where somebody wrote it, and tells the browsers.
    pub(crate) fn read_policy_again(&self) -> Outcome<()> {
        if self.policy.borrow_mut().read_again()? {
            self.tell_policy("policy.json");
        }
        Ok(())
    }

    fn tell_policy(&self, who: &str) {
        let (text, told) = (self.policy.borrow().text_for_clients(), self.policy.borrow().text());
        log::info!("policy by {who}: {text}");
        self.audit.policy_changed(who);
        if let Some(driver) = self.driver.get() {
            driver.with_hub(|hub| {
                hub.keyring_mut().policy = text;
                hub.keyring_mut().told = told;
                hub.policy_changed();
            });
        }
    }

    /// Tells the browsers what the clients of this owner call themselves: their person is shown an id otherwise. Goes with
    /// the policy, which is the one frame that a browser takes unasked, and not to clients, who are not told of each other.
    fn introduce(&self, owner: &str) {
        let Some(driver) = self.driver.get() else { return };
        let mut policy = self.policy.borrow().whole();
        driver.with_hub(|hub| {
            let Some(client) = hub.connections().find(|c| c.role == Some(Role::Client) && c.owner == owner)
            else {
                return;
            };
            policy["clients"] = json!({owner: {"name": client.name}});
            hub.keyring_mut().told = policy.to_string();
            hub.policy_changed();
        });
    }

    /// What the owner asks about the policy; none if it is about something else.
    fn policy_control(&self, method: &str, params: &Value) -> Option<Outcome<String>> {
        let text = || self.policy.borrow().text();
        Some(match method {
            "policy_get" => Ok(text()),
            "policy_set" => policy::change_in(params)
                .and_then(|change| self.change_policy(&change, "the command line"))
                .map(|()| text()),
            _ => return None,
        })
    }

    /// Hands the driver over, once.
    pub(crate) fn attach(&self, driver: Hub) {
        let (executor, hub) = (self.executor.clone(), driver.clone());
        self.audit.watchers.on_news(Box::new(move || {
            let hub = hub.clone();
            let task = executor.spawn(async move {
                let (watchers, frames) = hub.host().audit.watchers.take();
                watchers.iter().for_each(|conn| {
                    frames.iter().for_each(|frame| {
                        hub.push(*conn, frame.as_bytes());
                    })
                });
            });
            task.detach();
        }));
        let _ = self.driver.set(driver);
    }

    /// Says where files for uploads may come from.
    pub(crate) fn allow_uploads(&self, uploads: Uploads) {
        *self.uploads.borrow_mut() = Some(uploads);
    }

    /// Replaces the set of extension ids that may connect.
    pub(crate) fn pin(&self, ids: Vec<String>) {
        *self.pinned.borrow_mut() = ids;
    }

    /// Whether an extension with this id may connect at all.
    pub(crate) fn is_pinned(&self, id: &str) -> bool {
        self.pinned.borrow().iter().any(|known| known == id)
    }

    /// Whether the user let this id in on the base protocol.
    pub(crate) fn is_approved(&self, id: &str) -> bool {
        self.keys.borrow_mut().book().approved.iter().any(|known| known == id)
    }

    /// Notes an extension that was turned away.
    pub(crate) fn refused_extension(&self, id: &str) {
        self.refused.borrow_mut().push(id.to_owned());
    }

    /// What only this process knows: who was turned away and still would be, and what browsers said of their switches.
    fn findings(&self) -> Value {
        let refused = self.refused.borrow();
        let refused: Vec<&String> =
            refused.iter().filter(|id| !self.is_approved(id) && !self.is_pinned(id)).collect();
        let switches = self.switches.borrow();
        let scripts: BTreeMap<String, bool> = self.driver.get().map_or_else(BTreeMap::new, |driver| {
            driver.with_hub(|hub| {
                let said = |conn| switches.iter().find(|(of, _)| *of == conn).map(|(_, on)| *on);
                hub.browsers().filter_map(|b| Some((b.browser_id.to_owned(), said(b.conn)?))).collect()
            })
        });
        let pinned = self.pinned.borrow();
        let others: Vec<&String> = pinned.iter().filter(|id| *id != crate::extension::ID).collect();
        let compat = self.driver.get().map(|driver| match driver.with_hub(|hub| hub.config().compat) {
            bridge_core::Compat::Strict => Compat::Strict,
            bridge_core::Compat::SameUser => Compat::SameUser,
            bridge_core::Compat::Open => Compat::Open,
        });
        let required = self.audit.is_required();
        json!({"refused": refused, "user_scripts": scripts, "compat": compat, "pinned": others, "audit_required": required})
    }

    /// Carries out what only the owner may ask for.
    fn control(&self, request: &Request<'_>) -> Judgement {
        if request.method() == "shutdown" {
            self.wish(Wish::Stop("asked to"));
            return Judgement::Answer(br#"{"stopping":true}"#.to_vec());
        }
        match request.method() {
            "doctor" => return Judgement::Answer(self.findings().to_string().into_bytes()),
            "audit" => {
                let state = json!({"degraded": self.audit.degraded(), "waits": self.audit.hurry()});
                return Judgement::Answer(state.to_string().into_bytes());
            }
            "watch" => {
                self.audit.watchers.add(request.conn());
                return Judgement::Answer(br#"{"watching":true}"#.to_vec());
            }
            _ => {}
        }
        let params = serde_json::from_slice(request.params()).unwrap_or(Value::Null);
        match self.policy_control(request.method(), &params) {
            Some(Ok(text)) => return Judgement::Answer(text.into_bytes()),
            Some(Err(trouble)) => return refused(&trouble),
            None => {}
        }
        let done = control::perform(&mut self.keys.borrow_mut(), request.method(), &params);
        match done {
            Some(Ok((result, ends))) => {
                log::info!("control: {}", request.method());
                self.end(ends, request.conn());
                Judgement::Answer(result.to_string().into_bytes())
            }
            Some(Err(trouble)) => refused(&trouble),
            None => {
                Judgement::Refuse(Code::UnknownMethod, format!("unknown method: {}", request.method()), false)
            }
        }
    }

    /// Ends sessions whose right to be here is gone, after the present answer is on its way.
    fn end(&self, ends: Ends, asker: ConnId) {
        let Some(driver) = self.driver.get().cloned().filter(|_| ends != Ends::Nobody) else { return };
        let task = self.executor.spawn(async move {
            let leaving: Vec<ConnId> = driver.with_hub(|hub| match &ends {
                Ends::Key(key) => hub.browsers().filter(|b| b.key_id == key).map(|b| b.conn).collect(),
                // Whoever was let in by its id alone has proved nothing.
                Ends::Origin => hub.browsers().filter(|b| !b.proven).map(|b| b.conn).collect(),
                Ends::Everybody => hub.connections().map(|c| c.conn).filter(|c| *c != asker).collect(),
                Ends::Nobody => Vec::new(),
            });
            for conn in leaving {
                let now = driver.now();
                driver.with_hub(|hub| hub.reject(conn, Violation::Revoked, now));
            }
        });
        task.detach();
    }

    /// What becomes of a request.
    fn decide(&self, request: &Request<'_>) -> Judgement {
        if request.role() == Role::Control {
            return self.control(request);
        }
        match self.audit.forbids(request) {
            Some(refusal) => refusal,
            None => match self.policy.borrow().forbids(request) {
                Some((code, text)) => Judgement::Refuse(code, text, false),
                // The browser gets the files themselves, read here.
                None if request.method() == "upload" && request.param("paths").is_some() => Judgement::Hold,
                None => Judgement::Pass,
            },
        }
    }

    /// Tells the audit who that is, the first time that it matters.
    fn meet(&self, conn: ConnId) {
        if let Some(driver) = self.driver.get().filter(|_| !self.audit.knows(conn)) {
            driver.look(|hub| hub.connection(conn).iter().for_each(|info| self.audit.introduce(info)));
        }
    }

    fn wish(&self, wish: Wish) {
        // A full channel holds the same wish already.
        let _ = self.wishes.try_send(wish);
    }

    fn joined(&self, conn: ConnId, role: Role, protocol: u8) {
        let Some(driver) = self.driver.get() else { return };
        let (browser, legacy) = driver.with_hub(|hub| {
            let browser = hub.browsers().find(|b| b.conn == conn).map(|b| Joined {
                browser_id: b.browser_id.to_owned(),
                key_id: b.key_id.to_owned(),
                name: b.name.to_owned(),
                version: b.version.to_owned(),
                stale: protocol >= 2 && b.methods > 0 && b.fingerprint != our_methods(),
            });
            if let Some(browser) = &browser {
                self.audit.browser_joined(conn, &browser.browser_id);
            }
            let info = hub.connection(conn);
            let legacy = info.is_some_and(|c| c.protocol < 2 && c.door == Door::WebSocket);
            (browser, legacy)
        });
        if legacy && !self.warned_of_legacy.replace(true) {
            log::warn!("a peer uses the base protocol, without a proof (`--compat strict` refuses those)");
        }
        match browser {
            Some(browser) => self.browser_joined(browser),
            None => log::debug!("{} joined (protocol {protocol})", role.as_str()),
        }
    }

    fn browser_joined(&self, browser: Joined) {
        log::info!("browser {} connected ({} {})", browser.browser_id, browser.name, browser.version);
        if browser.stale {
            log::warn!(
                "its extension knows other methods than this daemon: `bridged extension install` again, then reload it"
            );
        }
        if browser.key_id.is_empty() {
            return;
        }
        let folder = self.keys.borrow().folder().to_owned();
        let (key_id, browser_id) = (browser.key_id, browser.browser_id);
        if self.keys.borrow_mut().is_for_one(&key_id) {
            self.taken.borrow_mut().insert(key_id.clone(), browser_id.clone());
        }
        let (taken, key) = (self.taken.clone(), key_id.clone());
        // To the disk and back takes longer than a call may be held up.
        let noted =
            smol::unblock(move || Keys::open(&folder).and_then(|mut keys| keys.seen(&key_id, &browser_id)));
        let task = self.executor.spawn(async move {
            match noted.await {
                Ok(()) => drop(taken.borrow_mut().remove(&key)),
                Err(e) => log::error!("{e}"),
            }
        });
        task.detach();
    }
}

struct Joined {
    browser_id: String,
    key_id: String,
    name: String,
    version: String,
    stale: bool,
}

/// The fingerprint of the methods that an extension of this version has.
fn our_methods() -> u64 {
    let methods = bridge_catalogue::catalogue().methods().iter();
    let names = methods.filter(|m| m.scope != bridge_catalogue::Scope::Hub).map(|m| m.name.as_str());
    bridge_core::methods_fingerprint(names)
}

fn refused(trouble: &Trouble) -> Judgement {
    let code = if trouble.code() == USAGE { Code::InvalidParams } else { Code::InvalidRequest };
    Judgement::Refuse(code, trouble.to_string(), false)
}

impl Host for Daemon {
    type Keys = Ring;

    fn judge(&self, request: &Request<'_>) -> Judgement {
        self.meet(request.conn());
        let judgement = self.decide(request);
        self.audit.judged(request, &judgement);
        judgement
    }

    fn accepted(&self, call: CallId, browser: Option<ConnId>) {
        self.audit.accepted(call, browser);
    }

    fn declined(&self, why: Fault) {
        self.audit.declined(why);
    }

    fn refused(&self, conn: ConnId, why: Fault) {
        // Told as events, or no request of anybody's.
        if matches!(
            why,
            Fault::Hello
                | Fault::AuthFailed
                | Fault::Stray
                | Fault::InvalidResponse
                | Fault::Gone
                | Fault::Undrained
        ) {
            return;
        }
        self.meet(conn);
        self.audit.refused_message(conn, why);
    }

    fn answered(&self, call: CallId, answer: &[&[u8]]) {
        self.audit.answered(call, answer);
    }

    fn held<C: bridge_driver::Clock>(&self, driver: &Driver<Self, C>, held: Held, request: &Request<'_>) {
        let (Some(hub), Some(uploads)) = (self.driver.get().cloned(), self.uploads.borrow().clone()) else {
            return held.fail(driver, Code::Unsupported, "this daemon reads no files");
        };
        let Some(share) = self.waiting.share(request.params().len()) else {
            return held.fail(driver, Code::Overloaded, "busy: too many uploads wait for their files");
        };
        // Folders are added by another process at any time, so they are looked up for each call.
        let uploads = uploads.sparing(&self.keys.borrow_mut().book().folders);
        let (params, once) = (request.params().to_vec(), request.once().map(str::to_owned));
        let reading = self.reading.clone();
        let task = self.executor.spawn(async move {
            let (_share, _turn) = (share, reading.acquire().await);
            if !held.is_wanted(&hub) {
                return;
            }
            // Disks are slow, and base64 of many megabytes takes longer than a call may be held up.
            match smol::unblock(move || uploads.fill(&params)).await {
                Ok(params) => held.release(&hub, "upload", &params, once.as_deref()),
                Err((code, text)) => held.fail(&hub, code, &text),
            }
        });
        task.detach();
    }

    fn notice(&self, notice: &Notice<'_>) {
        let frame: Value = serde_json::from_slice(notice.frame).unwrap_or(Value::Null);
        if notice.kind != NoticeKind::PolicySet {
            if let (Some("who"), Some(owner)) = (frame["event"].as_str(), frame["owner"].as_str()) {
                self.introduce(owner);
            }
            if let (Some("switches"), Some(on)) = (frame["event"].as_str(), frame["user_scripts"].as_bool()) {
                let mut switches = self.switches.borrow_mut();
                switches.retain(|(conn, _)| *conn != notice.conn);
                switches.push((notice.conn, on));
            }
            return;
        }
        // The popup is the user's own hand: it may end a pause too.
        let changed = policy::change_in(&frame["policy"]).and_then(|c| self.change_policy(&c, "the popup"));
        if let Err(e) = changed {
            log::error!("the popup's change of the policy: {e}");
        }
    }

    fn event(&self, event: &Event) {
        if let Event::Left { conn, .. } = *event {
            self.audit.left(conn);
            self.switches.borrow_mut().retain(|(of, _)| *of != conn);
        }
        match *event {
            Event::Joined { conn, role, protocol } => self.joined(conn, role, protocol),
            Event::Replaced { .. } => log::info!("a newer connection of the same browser took over"),
            Event::Denied { conn, door, trust, code } => {
                self.audit.denied(conn, door, trust, code);
                log::debug!("{event:?}");
            }
            Event::AuthFailed { .. } => {
                if let Some(more) = self.unproven.more() {
                    log::warn!("a peer failed to prove itself and was closed{more}");
                }
            }
            Event::Left { role: Some(Role::Extension), .. } => log::info!("a browser disconnected"),
            Event::StrayAnswers { .. } => log::warn!("a browser keeps sending answers that nobody waits for"),
            _ => log::debug!("{event:?}"),
        }
    }
}
