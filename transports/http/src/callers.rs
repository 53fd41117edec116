//! Whoever calls over HTTP as the hub knows them: one connection inside the process for each owner, shared by all of that
//! owner's requests, kept while it is used.

use crate::json::{mend, quoted};
use bridge_core::{Door, Instant, Peer};
use bridge_driver::{Clock, Driver, Host, Local};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// How many owners there may be at once; the one idle for longest makes room.
const OWNERS: usize = 256;
/// How long an owner's connection is kept without a call, in milliseconds.
const IDLE_MS: u64 = 60 * 60 * 1000;

/// All of them.
pub(crate) struct Callers<H: Host, C: Clock> {
    driver: Driver<H, C>,
    known: RefCell<BTreeMap<String, Rc<Caller<H, C>>>>,
}

/// One owner's connection.
pub(crate) struct Caller<H: Host, C: Clock> {
    local: Local<H, C>,
    /// The owner's name, as the hub stamps it.
    pub(crate) owner: String,
    calls: Cell<u64>,
    waiting: RefCell<BTreeMap<u64, Waiting>>,
    seen: Cell<Instant>,
    /// The tab that this owner's last OpenBridge call opened or chose: what the next ones without a tab work on.
    pub(crate) tab: Cell<Option<i64>>,
}

#[derive(Default)]
struct Waiting {
    answer: Option<Vec<u8>>,
    waker: Option<Waker>,
}

/// Why there is no connection for an owner.
#[derive(Debug)]
pub(crate) struct Crowded;

impl<H: Host, C: Clock> Callers<H, C> {
    pub(crate) fn new(driver: Driver<H, C>) -> Self {
        Self { driver, known: RefCell::default() }
    }

    /// The owner that stands for a credential and a session; `kind` keeps the doors' owners apart. It keeps the label
    /// that it was first asked for with: who it is does not hang on what it calls itself.
    pub(crate) fn caller(
        &self,
        (door, label): (Door, &str),
        kind: &str,
        credential: &str,
        session: Option<&str>,
    ) -> Result<Rc<Caller<H, C>>, Crowded> {
        let owner = name(kind, credential, session);
        let now = self.driver.now();
        let mut known = self.known.borrow_mut();
        if let Some(caller) = known.get(&owner).filter(|caller| caller.local.conn().is_some()) {
            caller.seen.set(now);
            return Ok(caller.clone());
        }
        let keeps =
            |caller: &Caller<H, C>| caller.is_busy() || caller.seen.get().saturating_add_ms(IDLE_MS) > now;
        known.retain(|_, caller| caller.local.conn().is_some() && keeps(caller));
        if known.len() >= OWNERS {
            let idle = known.iter().filter(|(_, caller)| !caller.is_busy());
            let oldest = idle.min_by_key(|(_, caller)| caller.seen.get()).map(|(owner, _)| owner.clone());
            known.remove(&oldest.ok_or(Crowded)?);
        }
        let caller = self.open(door, label, owner.clone())?;
        known.insert(owner, caller.clone());
        Ok(caller)
    }

    /// A connection for an owner that exists only once.
    pub(crate) fn open(&self, door: Door, label: &str, owner: String) -> Result<Rc<Caller<H, C>>, Crowded> {
        let local = self.driver.local(&Peer::in_process(door)).map_err(|_| Crowded)?;
        let class = if door == Door::Mcp { "agent" } else { "person" };
        let hello = format!(
            r#"{{"type":"hello","role":"client","protocol":2,"class":"{class}","name":{},"client_id":"{owner}"}}"#,
            quoted(label)
        );
        local.send(hello.as_bytes());
        // The hub answers before `send` returns; what it says other than the acknowledgement closes the connection.
        let _ = local.try_recv();
        if local.conn().is_none() {
            return Err(Crowded);
        }
        Ok(Rc::new(Caller {
            local,
            owner,
            calls: Cell::new(0),
            waiting: RefCell::default(),
            seen: Cell::new(self.driver.now()),
            tab: Cell::new(None),
        }))
    }

    /// Forgets an owner whose session has ended, unless it is still calling.
    pub(crate) fn forget(&self, kind: &str, credential: &str, session: Option<&str>) {
        let owner = name(kind, credential, session);
        let mut known = self.known.borrow_mut();
        if known.get(&owner).is_some_and(|caller| !caller.is_busy()) {
            known.remove(&owner);
        }
    }
}

/// The hub's name for an owner: nobody can tell the session from it, and it fits whatever the session is called.
pub(crate) fn name(kind: &str, credential: &str, session: Option<&str>) -> String {
    let mut hash = Sha256::new();
    hash.update(credential);
    hash.update([0]);
    hash.update(session.unwrap_or_default());
    let hash: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    match session {
        None => format!("c-{kind}-{credential}"),
        Some(_) => format!("c-{kind}-{hash}"),
    }
}

impl<H: Host, C: Clock> Caller<H, C> {
    fn is_busy(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Makes a call. `params` is a JSON object that has been read before, so that the hub can read it too. Dropped, the call
    /// is given up, and the page stops working on it.
    pub(crate) fn call(
        self: &Rc<Self>,
        method: &str,
        params: &str,
        timeout_ms: Option<u64>,
        once: Option<&str>,
    ) -> Calling<H, C> {
        let id = self.calls.get() + 1;
        self.calls.set(id);
        let mut frame = String::with_capacity(params.len() + 96);
        frame.push_str(&format!(r#"{{"id":"{id}","method":{},"params":"#, quoted(method)));
        frame.push_str(params);
        if let Some(timeout) = timeout_ms {
            frame.push_str(&format!(r#","timeout_ms":{}"#, timeout.clamp(1, 600_000)));
        }
        if let Some(once) = once {
            frame.push_str(&format!(r#","once":{}"#, quoted(once)));
        }
        frame.push('}');
        self.waiting.borrow_mut().insert(id, Waiting::default());
        self.local.send(frame.as_bytes());
        // What the hub has to say about the frame itself is here already. It may have been unable to read the id, so an
        // answer without one can only be this call's.
        while let Some(answer) = self.local.try_recv() {
            let of = id_of(&answer).unwrap_or(id);
            self.deliver(of, answer);
        }
        Calling { caller: self.clone(), id, done: false }
    }

    fn deliver(&self, id: u64, answer: Vec<u8>) {
        if let Some(waiting) = self.waiting.borrow_mut().get_mut(&id) {
            waiting.answer = Some(answer);
            if let Some(waker) = waiting.waker.take() {
                waker.wake();
            }
        }
    }

    /// All who wait poll the same connection, which wakes the last of them only: when that one is done, another must
    /// take its place.
    fn hand_over(&self) {
        if let Some(waker) = self.waiting.borrow_mut().values_mut().find_map(|waiting| waiting.waker.take()) {
            waker.wake();
        }
    }
}

/// A call under way: ready with its answer, or with nothing if the hub is gone.
pub(crate) struct Calling<H: Host, C: Clock> {
    caller: Rc<Caller<H, C>>,
    id: u64,
    done: bool,
}

impl<H: Host, C: Clock> Future for Calling<H, C> {
    type Output = Option<Vec<u8>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let caller = self.caller.clone();
        let answer = loop {
            let own = caller.waiting.borrow_mut().get_mut(&self.id).and_then(|own| own.answer.take());
            if let Some(answer) = own {
                break Some(answer);
            }
            match caller.local.poll_recv(cx) {
                Poll::Ready(Some(answer)) => {
                    if let Some(id) = id_of(&answer) {
                        caller.deliver(id, answer);
                    }
                }
                Poll::Ready(None) => break None,
                Poll::Pending => {
                    if let Some(own) = caller.waiting.borrow_mut().get_mut(&self.id) {
                        own.waker = Some(cx.waker().clone());
                    }
                    return Poll::Pending;
                }
            }
        };
        self.done = true;
        Poll::Ready(answer)
    }
}

impl<H: Host, C: Clock> Drop for Calling<H, C> {
    fn drop(&mut self) {
        let caller = &self.caller;
        let waited = caller.waiting.borrow_mut().remove(&self.id);
        if !self.done && waited.is_some_and(|own| own.answer.is_none()) {
            caller.local.send(format!(r#"{{"type":"cancel","id":"{}"}}"#, self.id).as_bytes());
        }
        caller.hand_over();
    }
}

/// The number in an answer's id.
fn id_of(frame: &[u8]) -> Option<u64> {
    // As the hub and our extension write it.
    let digits = frame.strip_prefix(br#"{"id":""#).and_then(|rest| {
        let end = rest.iter().take(21).position(|byte| *byte == b'"')?;
        rest.get(..end)
    });
    let text = match digits {
        Some(digits) => Cow::Borrowed(std::str::from_utf8(digits).ok()?),
        None => serde_json::from_slice::<Answer<'_>>(frame).ok()?.id?,
    };
    text.parse().ok()
}

/// An answer as it came.
#[derive(Deserialize)]
pub(crate) struct Answer<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) success: bool,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) code: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) maybe_executed: bool,
}

/// A call that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) text: String,
    pub(crate) maybe_executed: bool,
}

impl Failure {
    pub(crate) fn new(code: &str, text: impl Into<String>) -> Self {
        Self { code: code.to_owned(), text: text.into(), maybe_executed: false }
    }

    /// As `/command` answers it.
    pub(crate) fn body(&self) -> String {
        let doubt = if self.maybe_executed { r#","maybeExecuted":true"# } else { "" };
        format!(r#"{{"error":{{"code":{},"message":{}{doubt}}}}}"#, quoted(&self.code), quoted(&self.text))
    }
}

/// Where the result lies in an answer, or why there is none. The answer may be changed: lone surrogates go.
pub(crate) fn result_in(answer: Option<&mut Vec<u8>>) -> Result<std::ops::Range<usize>, Failure> {
    let Some(answer) = answer else {
        let gone = Failure::new("SHUTTING_DOWN", "the bridge is going down");
        return Err(Failure { maybe_executed: true, ..gone });
    };
    mend(answer);
    let not_read = || Failure {
        maybe_executed: true,
        ..Failure::new("INVALID_RESPONSE", "the browser's answer cannot be read")
    };
    let frame: Answer<'_> = serde_json::from_slice(answer).map_err(|_| not_read())?;
    if !frame.success {
        let code = frame.code.as_deref().unwrap_or("INTERNAL_ERROR").to_owned();
        let text = frame.error.as_deref().unwrap_or("the call failed").to_owned();
        return Err(Failure { code, text, maybe_executed: frame.maybe_executed });
    }
    let result = frame.result.ok_or_else(not_read)?.get();
    // It borrows from the answer, so this is where it lies.
    let from = (result.as_ptr() as usize).wrapping_sub(answer.as_ptr() as usize);
    let end = from.saturating_add(result.len());
    if answer.get(from..end).is_some() { Ok(from..end) } else { Err(not_read()) }
}
