//! Streamable HTTP without I/O: requests in, responses and events out.
//!
//! The door around it parses HTTP, checks `Host`, `Origin` and who is calling, and hands over what is left. Revisions
//! with a handshake get a session of their own each (`Mcp-Session-Id`); stateless requests share one. An answer is one
//! JSON text unless something has to be said before it (progress): then, and only then, it becomes a stream of events.

mod headers;
mod kept;
mod output;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::message::Message;
use crate::provider::{Answer, Provider, RpcError};
use crate::seed::Seed;
use crate::session::{AskId, Config, Eras, Lane, Output, Sent, Session};
use crate::wire;
use headers::{Era, Headers, check_modern, era};
use kept::{Kept, makes_room};
pub use output::{CallKey, Exchange, FrontConfig, HttpOutput, HttpRequest, Response};

/// The sessions behind one MCP endpoint.
pub struct Front<P: Provider> {
    config: FrontConfig,
    make: Box<dyn FnMut() -> P>,
    names: Seed,
    stateless: Session<P>,
    sessions: BTreeMap<u64, Kept<P>>,
    open: BTreeMap<Exchange, Open>,
    numbers: u64,
    out: VecDeque<HttpOutput>,
}

/// A request that has no whole answer yet.
struct Open {
    session: u64,
    caller: Arc<str>,
    /// The session that an `initialize` has just begun.
    named: Option<Arc<str>>,
    json: bool,
    events: bool,
    begun: bool,
    /// When to send something if nothing else was.
    beat: Duration,
}

/// The number of the session that all stateless requests share.
const STATELESS: u64 = 0;

impl<P: Provider> Front<P> {
    /// A front without sessions; `make` makes the provider of each.
    pub fn new(config: FrontConfig, mut make: impl FnMut() -> P + 'static, names: Seed) -> Self {
        // Shared by many, each of whom has a bound of its own.
        let shared = Config { eras: Eras::Modern, max_in_flight: usize::MAX, ..config.session.clone() };
        let stateless = Session::new(shared, make());
        Self {
            config,
            make: Box::new(make),
            names,
            stateless,
            sessions: BTreeMap::new(),
            open: BTreeMap::new(),
            numbers: STATELESS,
            out: VecDeque::new(),
        }
    }

    // ---- getters

    /// How many sessions with a handshake there are.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// How many requests have no whole answer yet.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    // ---- inputs

    /// A request came. Its response comes out of [`Front::poll_output`] under the exchange returned.
    pub fn handle_request(&mut self, request: &HttpRequest<'_>, now: Duration) -> Exchange {
        let exchange = Exchange(self.number());
        let headers = Headers(request.headers);
        let done = match request.method {
            "POST" => self.post(exchange, request, headers, now),
            "DELETE" => self.delete(exchange, request.caller, headers),
            _ => {
                let response = Response {
                    status: 405,
                    headers: vec![("Allow", "POST, DELETE".to_owned())],
                    body: Vec::new(),
                };
                self.respond(exchange, response);
                Ok(())
            }
        };
        if let Err((id, error)) = done {
            self.open.remove(&exchange);
            let body = wire::error(id.as_deref(), &error, true);
            self.respond(exchange, Response { status: error.status, headers: vec![json_type()], body });
        }
        exchange
    }

    /// Whoever made this request has hung up.
    pub fn handle_gone(&mut self, exchange: Exchange, now: Duration) {
        let Some(open) = self.open.remove(&exchange) else { return };
        // Before 2026-07-28 a lost connection is expressly no cancellation: the call ends by itself.
        if open.session == STATELESS {
            self.stateless.handle_gone(Lane(exchange.0));
            self.drain(STATELESS, now);
        }
    }

    /// The answer to a call came.
    pub fn handle_answer(&mut self, key: CallKey, answer: Answer, now: Duration) {
        if let Some(session) = self.session(key.session) {
            session.handle_answer(key.call, answer);
            self.drain(key.session, now);
        }
    }

    /// A file was written at this path, or not, for this reason.
    pub fn handle_saved(&mut self, key: CallKey, path: Result<&str, &str>, now: Duration) {
        if let Some(session) = self.session(key.session) {
            session.handle_saved(key.call, path);
            self.drain(key.session, now);
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        let due = |session: &Session<P>| session.poll_timeout().is_some_and(|at| at <= now);
        if due(&self.stateless) {
            self.stateless.handle_timeout(now);
            self.drain(STATELESS, now);
        }
        let numbers: Vec<u64> = self.sessions.keys().copied().collect();
        for number in numbers {
            let Some(kept) = self.sessions.get_mut(&number) else { continue };
            if due(&kept.session) {
                kept.session.handle_timeout(now);
                self.drain(number, now);
            } else if kept.expires(self.config.idle).is_some_and(|at| at <= now) {
                self.end(number);
            }
        }
        self.beat(now);
    }

    /// Sends an empty comment on every stream that has been quiet for too long.
    fn beat(&mut self, now: Duration) {
        let quiet = self.open.iter().filter(|(_, open)| open.events && open.beat <= now);
        let quiet: Vec<Exchange> = quiet.map(|(exchange, _)| *exchange).collect();
        for exchange in quiet {
            self.write(exchange, b":\n\n".to_vec());
            if let Some(open) = self.open.get_mut(&exchange) {
                open.beat = now.saturating_add(self.config.keep_alive);
            }
        }
    }

    // ---- commands about sessions

    /// Ends every session with a handshake, and gives their calls up.
    pub fn end_sessions(&mut self) {
        let numbers: Vec<u64> = self.sessions.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.end(number));
    }

    // ---- commands about a call under way

    /// Says how far a call is.
    pub fn progress(
        &mut self,
        key: CallKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
        now: Duration,
    ) {
        if let Some(session) = self.session(key.session) {
            session.progress(key.call, progress, total, message);
            self.drain(key.session, now);
        }
    }

    /// Sends a notification that belongs to a call.
    pub fn notify(&mut self, key: CallKey, method: &str, params: &str, now: Duration) {
        if let Some(session) = self.session(key.session) {
            session.notify(key.call, method, params);
            self.drain(key.session, now);
        }
    }

    /// Asks the client something in the course of a call ([`Session::ask`]).
    pub fn ask(&mut self, key: CallKey, method: &str, params: &str, now: Duration) -> Option<AskId> {
        let ask = self.session(key.session)?.ask(key.call, method, params);
        self.drain(key.session, now);
        ask
    }

    // ---- outputs

    /// The next thing to do, if there is one.
    pub fn poll_output(&mut self) -> Option<HttpOutput> {
        self.out.pop_front()
    }

    /// When to call [`Front::handle_timeout`] next, if ever.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let kept = self.sessions.values();
        let times = kept.flat_map(|kept| [kept.session.poll_timeout(), kept.expires(self.config.idle)]);
        let beats = self.open.values().filter(|open| open.events).map(|open| Some(open.beat));
        times.chain(beats).chain([self.stateless.poll_timeout()]).flatten().min()
    }

    // ---- the inside

    fn post(
        &mut self,
        exchange: Exchange,
        request: &HttpRequest<'_>,
        headers: Headers<'_>,
        now: Duration,
    ) -> Result<(), Refusal> {
        let refuse = |error: RpcError| (None, error);
        if request.body.len() > self.config.session.max_message {
            let text = format!("the message is larger than {} bytes", self.config.session.max_message);
            return Err(refuse(RpcError::invalid_request(text).at(413)));
        }
        if !headers.is_json() {
            return Err(refuse(RpcError::invalid_request("Content-Type must be application/json").at(415)));
        }
        let (json, events) = headers.accepts();
        if !json && !events {
            let text = "Accept must allow application/json or text/event-stream";
            return Err(refuse(RpcError::invalid_request(text).at(406)));
        }
        if self.open.len() >= self.config.max_exchanges {
            return Err(refuse(RpcError::new(-32603, "OVERLOADED: too many requests are open").at(503)));
        }
        let text = std::str::from_utf8(request.body).map_err(|_| refuse(RpcError::parse()))?;
        let is_batch = text.trim_ascii_start().starts_with('[');
        let message = if is_batch { None } else { Message::read(text).ok() };
        let id = match &message {
            Some(Message::Request { id, .. }) => Some((*id).to_owned()),
            _ => None,
        };
        let refuse = |error: RpcError| (id.clone(), error);
        let caller: Arc<str> = request.caller.into();
        let beat = now.saturating_add(self.config.keep_alive);
        let mut open = Open { session: STATELESS, caller, named: None, json, events, begun: false, beat };

        if era(headers, message.as_ref()).map_err(refuse)? == Era::Modern {
            if let Some(message) = &message {
                check_modern(headers, message).map_err(refuse)?;
                if matches!(message, Message::Response { .. }) {
                    return Err(refuse(RpcError::invalid_request("a client sends no responses here")));
                }
            }
            let own = |other: &&Open| other.session == STATELESS && other.caller == open.caller;
            let under_way = self.open.values().filter(own).count();
            let calls = matches!(&message, Some(Message::Request { method, .. }) if method == "tools/call");
            if calls && under_way >= self.config.session.max_in_flight {
                return Err(refuse(RpcError::overloaded(under_way)));
            }
            self.open.insert(exchange, open);
            self.stateless.handle_message(Lane(exchange.0), request.body, now);
            self.drain(STATELESS, now);
            return Ok(());
        }

        let number = match headers.get("mcp-session-id").map_err(refuse)? {
            Some(name) => self.find(name, request.caller).ok_or_else(|| refuse(no_session()))?,
            None if matches!(&message, Some(Message::Request { method, .. }) if method == "initialize") => {
                let lane = Lane(exchange.0);
                let number = self.begin(&open.caller, lane, request.body, now).map_err(refuse)?;
                open.named = self.sessions.get(&number).map(|kept| Arc::clone(&kept.name));
                number
            }
            // What cannot be read is answered as such; nothing else is served without a session.
            None if message.is_none() && !is_batch => STATELESS,
            None => {
                return Err(refuse(RpcError::invalid_request("Mcp-Session-Id is missing: initialize first")));
            }
        };
        open.session = number;
        let begins = open.named.is_some();
        self.open.insert(exchange, open);
        if let Some(session) = self.session(number) {
            if !begins {
                session.handle_message(Lane(exchange.0), request.body, now);
            }
            let failed = begins && session.version().is_none();
            self.drain(number, now);
            if failed {
                self.end(number);
            }
        }
        Ok(())
    }

    fn delete(&mut self, exchange: Exchange, caller: &str, headers: Headers<'_>) -> Result<(), Refusal> {
        let refuse = |error: RpcError| (None, error);
        let name = headers
            .get("mcp-session-id")
            .map_err(refuse)?
            .ok_or_else(|| refuse(RpcError::invalid_request("Mcp-Session-Id is missing")))?;
        let number = self.find(name, caller).ok_or_else(|| refuse(no_session()))?;
        self.end(number);
        self.respond(exchange, Response { status: 204, headers: Vec::new(), body: Vec::new() });
        Ok(())
    }

    /// Begins a session with its first message, if need be in the place of another one.
    fn begin(
        &mut self,
        caller: &Arc<str>,
        lane: Lane,
        message: &[u8],
        now: Duration,
    ) -> Result<u64, RpcError> {
        let config = Config { eras: Eras::Legacy, ..self.config.session.clone() };
        let mut session = Session::new(config, (self.make)());
        session.handle_message(lane, message, now);
        let name = self.names.name(32).into();
        let new = Kept { session, name, caller: Arc::clone(caller), seen: now, called: false };
        // One whose handshake failed does not stay, so nobody has to go for it.
        if new.session.version().is_some()
            && let Some(went) = makes_room(&self.sessions, &new, &self.config)?
        {
            self.end(went);
        }
        let number = self.number();
        self.sessions.insert(number, new);
        Ok(number)
    }

    fn end(&mut self, number: u64) {
        // Whoever still waits for an answer is told why none comes, as whoever asks next will be.
        let waiting = self.open.iter().filter(|(_, open)| open.session == number);
        let waiting: Vec<Exchange> = waiting.map(|(exchange, _)| *exchange).collect();
        for exchange in waiting {
            let body = wire::error(None, &no_session(), true);
            self.reply(exchange, body, no_session().status);
        }
        let Some(kept) = self.sessions.get_mut(&number) else { return };
        kept.session.close();
        let seen = kept.seen;
        self.drain(number, seen);
        if let Some(kept) = self.sessions.remove(&number) {
            self.out.push_back(HttpOutput::Ended { session: kept.name, caller: kept.caller });
        }
    }

    fn find(&self, name: &str, caller: &str) -> Option<u64> {
        let mine = |kept: &Kept<P>| *kept.name == *name && *kept.caller == *caller;
        self.sessions.iter().find(|(_, kept)| mine(kept)).map(|(number, _)| *number)
    }

    fn session(&mut self, number: u64) -> Option<&mut Session<P>> {
        match number {
            STATELESS => Some(&mut self.stateless),
            number => self.sessions.get_mut(&number).map(|kept| &mut kept.session),
        }
    }

    /// Turns what a session wants into what the door is to do.
    fn drain(&mut self, number: u64, now: Duration) {
        if let Some(kept) = self.sessions.get_mut(&number) {
            kept.seen = kept.seen.max(now);
        }
        while let Some(output) = self.session(number).and_then(Session::poll_output) {
            let key = |call| CallKey { session: number, call };
            match output {
                Output::Send { lane, message, kind: Sent::Reply(status) } => {
                    self.reply(Exchange(lane.0), message, status)
                }
                Output::Send { lane, message, kind: Sent::Notice } => self.notice(Exchange(lane.0), &message),
                Output::Silent { lane } => self.silent(Exchange(lane.0)),
                Output::Call { call, lane, client, request } => {
                    let caller = self.open.get(&Exchange(lane.0)).map(|open| Arc::clone(&open.caller));
                    let session = self.sessions.get_mut(&number).map(|kept| {
                        kept.called = true;
                        Arc::clone(&kept.name)
                    });
                    let caller = caller.unwrap_or_else(|| "".into());
                    let key = key(call);
                    self.out.push_back(HttpOutput::Call { key, caller, session, client, request });
                }
                Output::Cancel { call } => self.out.push_back(HttpOutput::Cancel { key: key(call) }),
                Output::Save { call, file } => self.out.push_back(HttpOutput::Save { key: key(call), file }),
                Output::Told { call, ask, answer } => {
                    self.out.push_back(HttpOutput::Told { key: key(call), ask, answer });
                }
            }
        }
    }

    fn reply(&mut self, exchange: Exchange, message: Vec<u8>, status: u16) {
        let Some(open) = self.open.get(&exchange) else { return };
        // A refusal keeps its status, so it is never a stream that has not begun.
        if !open.begun && (open.json || status != 200) {
            let Some(open) = self.open.remove(&exchange) else { return };
            let mut headers = vec![json_type()];
            headers.extend(open.named.map(|name| ("Mcp-Session-Id", name.to_string())));
            return self.respond(exchange, Response { status, headers, body: message });
        }
        self.event(exchange, &message);
        self.open.remove(&exchange);
        self.out.push_back(HttpOutput::End { exchange });
    }

    fn notice(&mut self, exchange: Exchange, message: &[u8]) {
        if self.open.get(&exchange).is_some_and(|open| open.events) {
            self.event(exchange, message);
        }
    }

    fn event(&mut self, exchange: Exchange, message: &[u8]) {
        let mut data = b"event: message\ndata: ".to_vec();
        data.extend_from_slice(message);
        data.extend_from_slice(b"\n\n");
        self.write(exchange, data);
    }

    /// Writes to a request's stream, which begins with the first of it.
    fn write(&mut self, exchange: Exchange, data: Vec<u8>) {
        let Some(open) = self.open.get_mut(&exchange) else { return };
        if !std::mem::replace(&mut open.begun, true) {
            let mut headers = vec![
                ("Content-Type", "text/event-stream".to_owned()),
                ("Cache-Control", "no-cache".to_owned()),
                ("X-Accel-Buffering", "no".to_owned()),
            ];
            headers.extend(open.named.as_ref().map(|name| ("Mcp-Session-Id", name.to_string())));
            self.out.push_back(HttpOutput::Begin { exchange, headers });
        }
        self.out.push_back(HttpOutput::Event { exchange, data });
    }

    /// Nothing comes for this request (any more).
    fn silent(&mut self, exchange: Exchange) {
        let Some(open) = self.open.remove(&exchange) else { return };
        if open.begun {
            self.out.push_back(HttpOutput::End { exchange });
        } else {
            self.respond(exchange, Response { status: 202, headers: Vec::new(), body: Vec::new() });
        }
    }

    fn respond(&mut self, exchange: Exchange, response: Response) {
        self.out.push_back(HttpOutput::Respond { exchange, response });
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}

/// Why a request was refused, and its id where one was read.
type Refusal = (Option<String>, RpcError);

impl<P: Provider> fmt::Debug for Front<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front")
            .field("sessions", &self.sessions.len())
            .field("open", &self.open.len())
            .finish()
    }
}

fn no_session() -> RpcError {
    RpcError::invalid_request("no such session: initialize again").at(404)
}

fn json_type() -> (&'static str, String) {
    ("Content-Type", "application/json".to_owned())
}
