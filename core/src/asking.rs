//! What clients ask: their frames, and a request's way on to a browser.

use crate::browsers::BrowserRef;
use crate::client_frame::{Asked, Said, Wrong, read};
use crate::code::{CloseCode, Code, Fault};
use crate::connection::{Client, Connection, Lost, Stage};
use crate::forward::Forward;
use crate::hub::{Hub, Inspected, Phase};
use crate::ids::wire_id;
use crate::outbox::Insert;
use crate::output::Congestion;
use crate::peer::{Class, Keyring, Role};
use crate::pending::{CallList, CallState, NO_BUCKET, Outcome, Pending};
use crate::request::Request;
use crate::slots::{CallId, ConnId, Slots, Ticket};

/// What only a control connection may ask.
const CONTROL_METHODS: [&str; 11] = [
    "policy_get",
    "policy_set",
    "pair",
    "pairings",
    "revoke",
    "approve",
    "token_rotate",
    "reset_pairing",
    "audit",
    "watch",
    "shutdown",
];

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    pub(crate) fn client_frame<'f>(&mut self, conn: ConnId, frame: &'f [u8]) -> Inspected<'f> {
        if frame.len() > self.config.limits.client_bytes {
            return self.wrong(conn, Wrong::frame(Fault::TooLarge));
        }
        match read(frame, &self.config.limits) {
            Ok(Said::Request(asked)) => self.asked(conn, asked),
            Ok(Said::Cancel(id)) => {
                let hash = self.ids.hash(conn, id.as_bytes());
                if let Some(slot) = self.ids.find(&self.calls, conn, hash, id.as_bytes()) {
                    self.end_call(slot, Outcome::Cancelled);
                }
                Inspected::Absorbed
            }
            Err(wrong) => self.wrong(conn, wrong),
        }
    }

    fn asked<'f>(&mut self, conn: ConnId, asked: Asked<'f>) -> Inspected<'f> {
        let Some(connection) = self.conns.open(conn) else { return Inspected::Stale };
        let Stage::Client(client) = &connection.stage else { return Inspected::Stale };
        let Asked { id, method, params, browser, once, timeout_ms } = asked;
        let wrong = |fault, text| Wrong { id, fault, text };
        let most = self.config.deadlines.call_max_ms;
        let timeout_ms = match timeout_ms.map(u32::try_from) {
            None => self.config.deadlines.call_ms,
            Some(Ok(ms)) if (1..=most).contains(&ms) => ms,
            Some(_) => {
                return self.wrong(conn, wrong(Fault::InvalidRequest, "invalid timeout_ms: 1 to 600000"));
            }
        };
        let hash = self.ids.hash(conn, id.as_bytes());
        if connection.in_flight > 0 && self.ids.find(&self.calls, conn, hash, id.as_bytes()).is_some() {
            return self.wrong(conn, wrong(Fault::DuplicateId, "duplicate id"));
        }
        let (result, insert): (&[u8], _) = match method {
            "ping" => (b"{\"pong\":true}", Insert::Nothing),
            "list_browsers" => (b"", Insert::Browsers),
            "status" => (b"", Insert::Status),
            _ => {
                let role = if client.control { Role::Control } else { Role::Client };
                if role == Role::Client && CONTROL_METHODS.contains(&method) {
                    return self.wrong(
                        conn,
                        wrong(Fault::PermissionDenied, "forbidden: only 'bridged' may do this"),
                    );
                }
                let request = Request {
                    conn,
                    id,
                    hash,
                    method,
                    params: params.as_bytes(),
                    browser,
                    once,
                    timeout_ms,
                    role,
                    class: client.class,
                    door: connection.door,
                    owner: client.owner.clone(),
                };
                return if role == Role::Control {
                    Inspected::Host(request)
                } else {
                    Inspected::Request(request)
                };
            }
        };
        let letter = self.outbox.result(conn, id.as_bytes(), result, insert);
        self.outbox.queue(letter);
        Inspected::Absorbed
    }

    /// Answers a faulty frame, and closes the connection at its tenth protocol error.
    pub(crate) fn wrong<'f>(&mut self, conn: ConnId, wrong: Wrong<'_>) -> Inspected<'f> {
        let code = code_of(wrong.fault);
        let letter = self.outbox.error(conn, wrong.id.as_bytes(), wrong.text, code, false);
        self.outbox.queue(letter);
        if is_protocol_error(wrong.fault) {
            self.protocol_error(conn);
        } else {
            self.counters.refused = self.counters.refused.saturating_add(1);
        }
        Inspected::Refused(wrong.fault)
    }

    pub(crate) fn protocol_error(&mut self, conn: ConnId) {
        self.counters.protocol_errors = self.counters.protocol_errors.saturating_add(1);
        let Some(connection) = self.conns.open_mut(conn) else { return };
        connection.errors = connection.errors.saturating_add(1);
        if connection.errors >= self.config.limits.protocol_errors {
            self.begin_close(conn, Some((CloseCode::POLICY, "too many protocol errors")), Lost::Disconnected);
        }
    }

    /// Accepts a request: picks the browser and builds the envelope. On `Err` the error answer is queued.
    pub fn forward<'f>(&mut self, request: Request<'f>, now: crate::Instant) -> Result<Forward<'f>, Fault> {
        self.advance(now);
        let (at, browser) = self.accept(&request).map_err(|fault| self.unaccepted(&request, fault))?;
        let slot = self.enter(&request, CallState::Sent).map_err(|fault| self.unaccepted(&request, fault))?;
        self.bind(request.conn, at);
        self.send(slot, browser, request.method, request.params, request.once)
    }

    /// Accepts a request but keeps it back; its deadline runs. On `Err` the error answer is queued.
    pub fn hold(&mut self, request: Request<'_>, now: crate::Instant) -> Result<Ticket, Fault> {
        self.advance(now);
        // What is for the host itself needs no browser.
        let at = match self.accept(&request) {
            Ok((at, _)) => Some(at),
            Err(Fault::NoExtension) if request.role == Role::Control => None,
            Err(fault) => return Err(self.unaccepted(&request, fault)),
        };
        let slot = self.enter(&request, CallState::Held).map_err(|fault| self.unaccepted(&request, fault))?;
        self.calls.push_back(&mut self.lists.held, CallList::Asked, slot);
        if let (Some(at), Role::Client) = (at, request.role) {
            self.bind(request.conn, at);
        }
        let call = self.calls.at_mut(slot).ok_or(Fault::Gone)?;
        let generation = call.generation;
        call.browser = at;
        if let Some(asker) = self.conns.open_mut(request.conn) {
            asker.held = asker.held.saturating_add(1);
        }
        Ok(Ticket { slot, generation })
    }

    /// Whether a held request still waits (its client may have left, cancelled, or its time may have run out).
    pub fn is_held(&self, ticket: &Ticket) -> bool {
        self.calls.call(ticket).is_some_and(|call| call.state == CallState::Held)
    }

    /// Passes a held request on, with the method, params and `once` that the host kept (or made: it vouches for them).
    /// On `Err` the error answer, if one was still due, is queued.
    pub fn release<'f>(
        &mut self,
        ticket: Ticket,
        method: &'f str,
        params: &'f [u8],
        once: Option<&'f str>,
        now: crate::Instant,
    ) -> Result<Forward<'f>, Fault> {
        self.advance(now);
        let Some(call) = self.calls.call(&ticket).filter(|call| call.state == CallState::Held) else {
            return Err(Fault::Gone);
        };
        let at = call.browser.and_then(|at| self.browsers.get(at)).filter(|it| it.is_here());
        let Some(conn) = at.map(|it| it.conn) else {
            self.fail(ticket, Code::NoExtension, "no extension connected");
            return Err(Fault::NoExtension);
        };
        self.calls.unlink(&mut self.lists.held, CallList::Asked, ticket.slot);
        if let Some(call) = self.calls.at_mut(ticket.slot) {
            call.state = CallState::Sent;
            if let Some(asker) = self.conns.open_mut(call.asker) {
                asker.held = asker.held.saturating_sub(1);
            }
        }
        self.send(ticket.slot, conn, method, params, once)
    }

    /// Answers a held request with the host's own `result`, one JSON value. Write it now.
    pub fn complete<'f>(&mut self, ticket: Ticket, result: &'f [u8]) -> Result<Forward<'f>, Fault> {
        let call =
            self.calls.call(&ticket).filter(|call| call.state == CallState::Held).ok_or(Fault::Gone)?;
        let forward = answer_with(call.asker, Some(ticket.call()), call.id(), result);
        self.counters.answers = self.counters.answers.saturating_add(1);
        self.drop_call(ticket.slot);
        Ok(forward)
    }

    /// Answers a held request with an error. Queued; nothing happens if it is gone.
    pub fn fail(&mut self, ticket: Ticket, code: Code, text: &str) {
        let Some(call) = self.calls.call(&ticket).filter(|call| call.state == CallState::Held) else {
            return;
        };
        let letter = self.outbox.error(call.asker, call.id(), text, code, false).of(ticket.call());
        self.outbox.queue(letter);
        self.counters.refused = self.counters.refused.saturating_add(1);
        self.drop_call(ticket.slot);
    }

    /// Answers a request with an error instead of passing it on. Queued.
    pub fn refuse(&mut self, request: Request<'_>, code: Code, text: &str, maybe_executed: bool) {
        let letter = self.outbox.error(request.conn, request.id.as_bytes(), text, code, maybe_executed);
        self.outbox.queue(letter);
        self.counters.refused = self.counters.refused.saturating_add(1);
    }

    /// Answers a request with the host's own `result`, one JSON value. Write it now.
    pub fn answer<'f>(&mut self, request: Request<'f>, result: &'f [u8]) -> Forward<'f> {
        self.counters.answers = self.counters.answers.saturating_add(1);
        answer_with(request.conn, None, request.id.as_bytes(), result)
    }

    /// Whether the hub takes on this request, and which browser it is for.
    fn accept(&self, request: &Request<'_>) -> Result<(BrowserRef, ConnId), Fault> {
        if self.outbox.is_waiting() {
            return Err(Fault::Undrained);
        }
        let connection = self.conns.open(request.conn).ok_or(Fault::Gone)?;
        let Stage::Client(client) = &connection.stage else { return Err(Fault::Gone) };
        if self.phase != Phase::Running {
            return Err(Fault::ShuttingDown);
        }
        let limits = &self.config.limits;
        if usize::from(connection.in_flight) >= limits.in_flight_client
            || self.calls.used() >= limits.in_flight
        {
            return Err(Fault::Overloaded);
        }
        if connection.in_flight > 0
            && self.ids.find(&self.calls, request.conn, request.hash, request.id.as_bytes()).is_some()
        {
            return Err(Fault::DuplicateId);
        }
        let at = match (request.browser, client.browser) {
            (Some(named), _) => match self.browsers.by_id(named) {
                None if self.browsers.newest().is_some() => return Err(Fault::NoSuchBrowser),
                at => at,
            },
            (None, Some(bound)) => Some(bound),
            (None, None) => self.browsers.newest(),
        };
        let here = at.and_then(|at| Some((at, self.browsers.get(at).filter(|it| it.is_here())?)));
        match here {
            None => Err(Fault::NoExtension),
            Some((_, browser)) if browser.congestion == Congestion::Full => Err(Fault::Congested),
            Some((at, browser)) => Ok((at, browser.conn)),
        }
    }

    /// Queues the answer to a request that was not accepted.
    fn unaccepted(&mut self, request: &Request<'_>, fault: Fault) -> Fault {
        let id = request.id.as_bytes();
        let text = match fault {
            Fault::Undrained | Fault::Gone => return fault,
            Fault::ShuttingDown => "shutting down",
            Fault::Overloaded => "busy: too many calls in flight",
            Fault::Congested => "busy: the browser does not keep up",
            Fault::DuplicateId => "duplicate id",
            _ => "no extension connected",
        };
        let letter = match (fault, request.browser) {
            (Fault::NoSuchBrowser, Some(named)) => {
                self.outbox.no_such_browser(request.conn, id, named, &self.browsers)
            }
            _ => self.outbox.error(request.conn, id, text, code_of(fault), false),
        };
        self.outbox.queue(letter);
        self.counters.refused = self.counters.refused.saturating_add(1);
        fault
    }

    /// Gives an accepted request its slot.
    fn enter(&mut self, request: &Request<'_>, state: CallState) -> Result<u16, Fault> {
        let (slot, call) = self.calls.take().ok_or(Fault::Overloaded)?;
        call.state = state;
        call.bucket = NO_BUCKET;
        call.asker = request.conn;
        call.asked = ConnId::NOBODY;
        call.browser = None;
        call.hash = request.hash;
        call.timeout_ms = request.timeout_ms;
        call.deadline = self.latest.saturating_add_ms(u64::from(request.timeout_ms));
        call.set_id(request.id.as_bytes());
        self.wheel.insert(&mut self.calls, slot, self.latest);
        self.ids.insert(&mut self.calls, slot);
        if let Some(asker) = self.conns.open_mut(request.conn) {
            self.calls.push_back(&mut asker.calls, CallList::Asker, slot);
            asker.in_flight = asker.in_flight.saturating_add(1);
        }
        self.counters.requests = self.counters.requests.saturating_add(1);
        Ok(slot)
    }

    fn bind(&mut self, conn: ConnId, at: BrowserRef) {
        if let Some(Connection { stage: Stage::Client(client), .. }) = self.conns.open_mut(conn) {
            client.browser = Some(at);
        }
    }

    /// Builds the envelope of a call that stands in its slot, and notes who is asked.
    fn send<'f>(
        &mut self,
        slot: u16,
        browser: ConnId,
        method: &'f str,
        params: &'f [u8],
        once: Option<&str>,
    ) -> Result<Forward<'f>, Fault> {
        let asked = self.conns.open_mut(browser).ok_or(Fault::NoExtension)?;
        self.calls.push_back(&mut asked.calls, CallList::Asked, slot);
        asked.in_flight = asked.in_flight.saturating_add(1);
        let call = self.calls.at_mut(slot).ok_or(Fault::Gone)?;
        call.asked = browser;
        let name = CallId { slot, generation: call.generation };
        let id = wire_id(name, self.salt);
        let left = call.deadline.saturating_since(self.latest).max(1);
        let asker = self.conns.open(call.asker).ok_or(Fault::Gone)?;
        let Stage::Client(Client { owner, class, .. }) = &asker.stage else { return Err(Fault::Gone) };
        Ok(Forward::build(browser, Some(name), [b"", method.as_bytes(), params], |w| {
            w.put(b"{\"id\":\"");
            w.put(&id);
            w.put(b"\",\"method\":\"");
            let head = w.len();
            w.put(b"\",\"params\":");
            let middle = w.len();
            w.put(b",\"client_id\":\"");
            w.escaped(owner);
            w.put(match class {
                Class::Agent => b"\",\"class\":\"agent\",\"timeout_ms\":",
                Class::Person => b"\",\"class\":\"person\",\"timeout_ms\":",
            });
            w.number(left);
            if let Some(once) = once {
                w.put(b",\"once\":\"");
                w.put(once.as_bytes());
                w.put(b"\"");
            }
            w.put(b"}");
            (head, middle)
        }))
    }
}

fn answer_with<'f>(to: ConnId, call: Option<CallId>, id: &[u8], result: &'f [u8]) -> Forward<'f> {
    Forward::build(to, call, [b"", result, b""], |w| {
        w.put(b"{\"id\":\"");
        w.put(id);
        w.put(b"\",\"success\":true,\"result\":");
        let head = w.len();
        w.put(b"}");
        (head, w.len())
    })
}

/// The code of the answer that a fault gets.
const fn code_of(fault: Fault) -> Code {
    match fault {
        Fault::TooLarge => Code::TooLarge,
        Fault::InvalidParams => Code::InvalidParams,
        Fault::UnknownMethod => Code::UnknownMethod,
        Fault::PermissionDenied => Code::PermissionDenied,
        Fault::DuplicateId => Code::DuplicateId,
        Fault::NoExtension => Code::NoExtension,
        Fault::NoSuchBrowser => Code::NoSuchBrowser,
        Fault::Overloaded | Fault::Congested => Code::Overloaded,
        Fault::ShuttingDown => Code::ShuttingDown,
        _ => Code::InvalidRequest,
    }
}

/// Faults that a working peer never shows; ten of them end its connection.
const fn is_protocol_error(fault: Fault) -> bool {
    !matches!(
        fault,
        Fault::InvalidRequest
            | Fault::InvalidParams
            | Fault::UnknownMethod
            | Fault::PermissionDenied
            | Fault::DuplicateId
            | Fault::NoExtension
            | Fault::NoSuchBrowser
            | Fault::Overloaded
            | Fault::Congested
            | Fault::ShuttingDown
    )
}
