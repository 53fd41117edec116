//! What the daemon decides around the hub, and what it tells the log.

mod browsers;
mod owner;
mod policy;
mod ring;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use bridge_core::{CallId, Code, ConnId, Event, Fault, Notice, NoticeKind, Request, Role};
use bridge_driver::{Driver, Held, Host, Judgement};
use bridge_reactor::Clock;
use serde_json::Value;
use smol::LocalExecutor;
use smol::channel::Sender;
use smol::lock::Semaphore;

use crate::audit::Audit;
use crate::keys::Keys;
use crate::knocks::Flood;
use crate::policy::{Policy, change_in};
use crate::uploads::{Uploads, Waiting};

pub(crate) use ring::Ring;

/// The driver of this process.
pub(crate) type Hub = Driver<Daemon, Clock>;

/// The HTTP door of this process.
pub(crate) type Web = bridge_http::Door<Daemon, Clock>;

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
    /// The HTTP door, which has sessions of its own; set once it exists.
    web: OnceCell<Web>,
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
            web: OnceCell::new(),
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

    /// Whether this is the clients' token.
    pub(crate) fn token_matches(&self, token: &str) -> bool {
        self.keys.borrow_mut().token_matches(token)
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

    /// Hands the HTTP door over, once.
    pub(crate) fn attach_web(&self, web: Web) {
        let _ = self.web.set(web);
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
        let changed = change_in(&frame["policy"]).and_then(|c| self.change_policy(&c, "the popup"));
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
