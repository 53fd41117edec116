//! What a host decides: keys, judgement of requests, answers of its own, and what it logs.

use crate::clock::Clock;
use crate::driver::Driver;
use crate::input::Input;
use bridge_core::{CallId, Code, ConnId, Event, Fault, Keyring, Notice, Request, Ticket};

/// The policy and the memory of a program around the hub. All calls come from the driver's own thread, at a
/// moment when the host may call the driver in turn.
pub trait Host: Sized + 'static {
    /// The keys the hub asks during handshakes; changed through [`Driver::with_hub`] and `keyring_mut`.
    type Keys: Keyring + 'static;

    /// A client's request for a browser, or one on a control connection ([`Request::role`] tells).
    ///
    /// By default every request for a browser passes, and control requests are refused.
    fn judge(&self, request: &Request<'_>) -> Judgement {
        match request.role() {
            bridge_core::Role::Control => {
                Judgement::Refuse(Code::UnknownMethod, "unknown method".into(), false)
            }
            _ => Judgement::Pass,
        }
    }

    /// A request that [`Host::judge`] wanted held; keep `held` and what is needed of `request`.
    fn held<C: Clock>(&self, driver: &Driver<Self, C>, held: Held, request: &Request<'_>) {
        let _ = request;
        held.fail(driver, Code::InternalError, "nobody decides about held requests here");
    }

    /// The request that was judged last was taken on, and its call is this one; at this browser, if it was passed on already.
    /// The hub must not be called from here.
    #[inline]
    fn accepted(&self, call: CallId, browser: Option<ConnId>) {
        let _ = (call, browser);
    }

    /// The request that was judged last was not taken on; its client is told why.
    #[inline]
    fn declined(&self, why: Fault) {
        let _ = why;
    }

    /// A call that was taken on is answered, with these bytes. The hub must not be called from here.
    #[inline]
    fn answered(&self, call: CallId, answer: &[&[u8]]) {
        let _ = (call, answer);
    }

    /// The hub refused a message by itself; its sender is told why. The hub may be looked at from here.
    fn refused(&self, conn: ConnId, why: Fault) {
        let _ = (conn, why);
    }

    /// A frame of a proven extension that wants no answer.
    fn notice(&self, notice: &Notice<'_>) {
        let _ = notice;
    }

    /// Something for logs.
    fn event(&self, event: &Event) {
        let _ = event;
    }

    /// Something is given to the hub next. For those who write a run down; nobody else needs it.
    #[inline]
    fn input(&self, input: &Input<'_>) {
        let _ = input;
    }
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Judgement {
    /// Forward it.
    Pass,
    /// Forward it with other params: one JSON object.
    Replace(Vec<u8>),
    /// Answer with this code and text; `true` if it may have been carried out.
    Refuse(Code, String, bool),
    /// Answer with this result: one JSON value.
    Answer(Vec<u8>),
    /// Keep it: [`Host::held`] is called next.
    Hold,
}

/// A request that waits for the host. Dropped, it runs into its deadline.
#[derive(Debug)]
#[must_use = "a held request that is dropped waits for its deadline"]
pub struct Held {
    pub(crate) ticket: Ticket,
    pub(crate) conn: ConnId,
}

impl Held {
    /// Who asked.
    #[must_use]
    pub const fn conn(&self) -> ConnId {
        self.conn
    }

    /// Whether the client still waits.
    pub fn is_wanted<H: Host, C: Clock>(&self, driver: &Driver<H, C>) -> bool {
        driver.0.hub.borrow().is_held(&self.ticket)
    }

    /// Forwards it to the browser with this method, params (one JSON object) and `once`.
    pub fn release<H: Host, C: Clock>(
        self,
        driver: &Driver<H, C>,
        method: &str,
        params: &[u8],
        once: Option<&str>,
    ) {
        driver.0.release(self, method, params, once);
    }

    /// Answers with a result: one JSON value.
    pub fn complete<H: Host, C: Clock>(self, driver: &Driver<H, C>, result: &[u8]) {
        driver.0.complete(self.ticket, result);
    }

    /// Answers with an error.
    pub fn fail<H: Host, C: Clock>(self, driver: &Driver<H, C>, code: Code, text: &str) {
        driver.0.fail(self.ticket, code, text);
    }
}
