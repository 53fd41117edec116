//! The hub: one machine for all connections.

use crate::*;

/// The hub. See the crate's documentation for the order of calls.
pub struct Hub<C, P, K> {
    _conns: C,
    _calls: P,
    keyring: K,
    config: Config,
    counters: Counters,
}

/// What a frame turned out to be.
#[must_use]
#[derive(Debug)]
pub enum Inspected<'f> {
    /// A client's request for a browser: judge it, then `forward`, `hold` or `refuse` it.
    Request(Request<'f>),
    /// A request on a control connection: `answer`, `hold`, `forward` or `refuse` it.
    Host(Request<'f>),
    /// A browser's answer: write it to its `to` now.
    Forward(Forward<'f>),
    /// A frame of a proven extension for the host (`policy_set`, `event`); no answer is due.
    Notice(Notice<'f>),
    /// Handled; replies, if any, come from `poll_output`.
    Absorbed,
    /// The peer's fault. The error reply or close is queued already.
    Refused(Fault),
    /// No such connection (any more).
    Stale,
}

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    /// A hub in the storage that the host lends.
    pub fn new(config: Config, _secrets: &Secrets, keyring: K, conns: C, calls: P) -> Self {
        Self { _conns: conns, _calls: calls, keyring, config, counters: Counters::default() }
    }

    // ---- inputs

    /// A new connection. Its hello is due within five seconds.
    pub fn open(&mut self, _peer: &Peer<'_>, _now: Instant) -> Result<ConnId, Full> {
        Err(Full)
    }

    /// One frame of `conn`: a whole JSON text.
    pub fn inspect<'f>(&mut self, _conn: ConnId, _frame: &'f [u8], _now: Instant) -> Inspected<'f> {
        Inspected::Stale
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

    /// Accepts a request: picks the browser and builds the envelope. On `Err` the error answer is queued.
    pub fn forward<'f>(&mut self, _request: Request<'f>, _now: Instant) -> Result<Forward<'f>, Fault> {
        Err(Fault::NoExtension)
    }

    /// Answers a request with an error instead of passing it on. Queued.
    pub fn refuse(&mut self, _request: Request<'_>, _code: Code, _text: &str, _maybe_executed: bool) {}

    /// Answers a request with the host's own `result`, one JSON value. Write it now.
    pub fn answer<'f>(&mut self, request: Request<'f>, result: &'f [u8]) -> Forward<'f> {
        Forward::build(request.conn, [b"", result, b"}"], |w| (w.len(), w.len()))
    }

    /// Accepts a request but keeps it back; its deadline runs. On `Err` the error answer is queued.
    pub fn hold(&mut self, _request: Request<'_>, _now: Instant) -> Result<Ticket, Fault> {
        Err(Fault::NoExtension)
    }

    /// Whether a held request still waits (its client may have left, cancelled, or its time may have run out).
    pub fn is_held(&self, _ticket: &Ticket) -> bool {
        false
    }

    /// Passes a held request on, with the method, params and `once` that the host kept (or made).
    /// On `Err` the error answer, if one was still due, is queued.
    pub fn release<'f>(
        &mut self,
        _ticket: Ticket,
        _method: &'f str,
        _params: &'f [u8],
        _once: Option<&'f str>,
        _now: Instant,
    ) -> Result<Forward<'f>, Fault> {
        Err(Fault::Gone)
    }

    /// Answers a held request with the host's own `result`, one JSON value. Write it now.
    pub fn complete<'f>(&mut self, _ticket: Ticket, _result: &'f [u8]) -> Result<Forward<'f>, Fault> {
        Err(Fault::Gone)
    }

    /// Answers a held request with an error. Queued; nothing happens if it is gone.
    pub fn fail(&mut self, _ticket: Ticket, _code: Code, _text: &str) {}

    /// The host's policy (`Keyring::policy`) changed: every protocol-2 extension is told. Queued.
    pub fn policy_changed(&mut self) {}

    /// The connection is gone. Idempotent; stale handles are ignored.
    pub fn close(&mut self, _conn: ConnId, _now: Instant) {}

    /// The peer will send nothing more but still reads: it gets the answers it waits for, then a close.
    pub fn half_close(&mut self, _conn: ConnId, _now: Instant) {}

    /// The door saw something that ends the connection. The close (and error) is queued.
    pub fn reject(&mut self, _conn: ConnId, _why: Violation, _now: Instant) {}

    /// How full the connection's write queue is.
    pub fn congested(&mut self, _conn: ConnId, _how: Congestion) {}

    /// Time has passed. Call it at the latest when `poll_timeout` says.
    pub fn handle_timeout(&mut self, _now: Instant) {}

    /// From here on no new connection or call is accepted; what is in flight may still be answered.
    pub fn drain(&mut self) {}

    /// Answers everything with SHUTTING_DOWN and closes every connection with 1001.
    pub fn shutdown(&mut self, _now: Instant) {}

    // ---- outputs

    /// The next thing to do. Drain until `None` after every input.
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        None
    }

    /// When `handle_timeout` is due, and why. With queued output: the beginning of time, [`Wake::Output`].
    pub fn poll_timeout(&self) -> Option<(Instant, Wake)> {
        None
    }

    // ---- getters

    /// Whether to read from this connection: not while its browser's link is congested.
    pub fn wants_read(&self, _conn: ConnId) -> bool {
        true
    }

    /// One connection.
    pub fn connection(&self, _conn: ConnId) -> Option<ConnInfo<'_>> {
        None
    }

    /// All open connections, oldest first.
    pub fn connections(&self) -> impl Iterator<Item = ConnInfo<'_>> {
        core::iter::empty()
    }

    /// The connected browsers.
    pub fn browsers(&self) -> impl Iterator<Item = BrowserInfo<'_>> {
        core::iter::empty()
    }

    /// Calls that wait for an answer.
    pub fn in_flight(&self) -> usize {
        0
    }

    /// Numbers since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The host's keys.
    pub fn keyring(&self) -> &K {
        &self.keyring
    }

    /// The host's keys, to change them.
    pub fn keyring_mut(&mut self) -> &mut K {
        &mut self.keyring
    }
}
