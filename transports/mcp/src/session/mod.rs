//! The session: messages of a client in, actions for the host out, no I/O and no clock.

mod flight;
mod output;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

pub use flight::{AskId, CallId, Lane};
use flight::{Batch, Flight, Progress, To};
pub use output::{Config, Eras, Output, Sent};

use crate::message::{
    META_CAPABILITIES, META_VERSION, Malformed, Message, Meta, Text, client_name, elements,
};
use crate::provider::{Answer, Body, Cache, Outcome, Provider, Reply, Request, RpcError};
use crate::version::Version;
use crate::wire;

/// One client's session. See the crate's documentation for the loop around it.
#[derive(Debug)]
pub struct Session<P: Provider> {
    config: Config,
    provider: P,
    handshake: Option<Handshake>,
    client: Option<Arc<str>>,
    flights: BTreeMap<CallId, Flight<P::Call>>,
    batches: BTreeMap<u64, Batch>,
    asks: BTreeMap<AskId, CallId>,
    numbers: u64,
    out: VecDeque<Output>,
}

#[derive(Debug)]
struct Handshake {
    version: Version,
    capabilities: Box<str>,
}

impl<P: Provider> Session<P> {
    /// A session that nothing has been said in yet.
    pub fn new(config: Config, provider: P) -> Self {
        Self {
            config,
            provider,
            handshake: None,
            client: None,
            flights: BTreeMap::new(),
            batches: BTreeMap::new(),
            asks: BTreeMap::new(),
            numbers: 0,
            out: VecDeque::new(),
        }
    }

    // ---- getters

    /// The revision that a handshake chose.
    pub fn version(&self) -> Option<Version> {
        self.handshake.as_ref().map(|handshake| handshake.version)
    }

    /// What the client calls itself: its own word, cut and otherwise as it came. A session that many share has none.
    pub fn client(&self) -> Option<&Arc<str>> {
        self.client.as_ref()
    }

    /// How many calls are under way.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// The limits it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    // ---- inputs

    /// A message (or a batch) of the client came: the bytes of one JSON text.
    pub fn handle_message(&mut self, lane: Lane, bytes: &[u8], now: Duration) {
        if bytes.len() > self.config.max_message {
            return self.handle_too_large(lane);
        }
        let to = To { lane, batch: None };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.fail(to, None, &RpcError::parse());
        };
        if text.trim_ascii_start().starts_with('[') {
            self.batch(lane, text, now)
        } else {
            self.one(to, text, now)
        }
    }

    /// A message larger than [`Config::max_message`] came and was thrown away.
    pub fn handle_too_large(&mut self, lane: Lane) {
        let limit = self.config.max_message;
        let error = RpcError::invalid_request(format!("the message is larger than {limit} bytes")).at(413);
        self.fail(To { lane, batch: None }, None, &error);
    }

    /// The answer to a call came. One that was given up meanwhile is dropped here.
    pub fn handle_answer(&mut self, call: CallId, answer: Answer) {
        let Some(Flight { id, to, version, keep, progress }) = self.flights.remove(&call) else { return };
        match self.provider.answer(keep, answer, version) {
            Outcome::Done(body) => self.landed(call, to, &id, version, &body),
            Outcome::Fail(error) => {
                self.forget_asks(call);
                self.fail(to, Some(&id), &error);
            }
            Outcome::Save { file, keep } => {
                self.flights.insert(call, Flight { id, to, version, keep, progress });
                self.out.push_back(Output::Save { call, file });
            }
        }
    }

    /// A file was written at this path, or not, for this reason.
    pub fn handle_saved(&mut self, call: CallId, path: Result<&str, &str>) {
        let Some(Flight { id, to, version, keep, .. }) = self.flights.remove(&call) else { return };
        let body = self.provider.saved(keep, path, version);
        self.landed(call, to, &id, version, &body);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Duration) {
        let every = self.config.progress_every;
        let mut notices = Vec::new();
        for flight in self.flights.values_mut() {
            let Some(progress) = &mut flight.progress else { continue };
            if progress.next.is_none_or(|next| next > now) {
                continue;
            }
            progress.next = Some(now + every);
            let seconds = now.saturating_sub(progress.started).as_secs_f64().floor();
            if seconds <= progress.last {
                continue;
            }
            progress.last = seconds;
            let message = flight.version.has_progress_message().then(|| self.provider.progress(&flight.keep));
            let params = wire::progress(&progress.token, seconds, None, message.as_deref());
            notices.push((flight.to.lane, wire::notification("notifications/progress", &params)));
        }
        for (lane, message) in notices {
            self.out.push_back(Output::Send { lane, message, kind: Sent::Notice });
        }
    }

    /// Whoever listened on this lane is gone: its calls are given up.
    pub fn handle_gone(&mut self, lane: Lane) {
        let calls: Vec<CallId> =
            self.flights.iter().filter(|(_, flight)| flight.to.lane == lane).map(|(call, _)| *call).collect();
        for call in calls {
            self.give_up(call);
        }
    }

    /// The client is gone altogether.
    pub fn close(&mut self) {
        let calls: Vec<CallId> = self.flights.keys().copied().collect();
        for call in calls {
            self.give_up(call);
        }
    }

    // ---- commands about a call under way

    /// Says how far a call is. From the first time on the session says nothing of its own.
    pub fn progress(&mut self, call: CallId, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(flight) = self.flights.get_mut(&call) else { return };
        let Some(known) = &mut flight.progress else { return };
        known.next = None;
        if !progress.is_finite() || progress <= known.last {
            return;
        }
        known.last = progress;
        let message = message.filter(|_| flight.version.has_progress_message());
        let params = wire::progress(&known.token, progress, total.filter(|total| total.is_finite()), message);
        let message = wire::notification("notifications/progress", &params);
        self.out.push_back(Output::Send { lane: flight.to.lane, message, kind: Sent::Notice });
    }

    /// Sends a notification that belongs to a call; `params` is a JSON object of the host's own making.
    pub fn notify(&mut self, call: CallId, method: &str, params: &str) {
        let Some(flight) = self.flights.get(&call) else { return };
        let message = wire::notification(method, params);
        self.out.push_back(Output::Send { lane: flight.to.lane, message, kind: Sent::Notice });
    }

    /// Asks the client something (sampling, elicitation) in the course of a call. `None` where the call is over or
    /// the revision knows no such requests; there a result of type `input_required` takes their place.
    pub fn ask(&mut self, call: CallId, method: &str, params: &str) -> Option<AskId> {
        let flight = self.flights.get(&call).filter(|flight| !flight.version.is_modern())?;
        let lane = flight.to.lane;
        let number = self.number();
        self.asks.insert(AskId(number), call);
        let message = wire::request(number, method, params);
        self.out.push_back(Output::Send { lane, message, kind: Sent::Notice });
        Some(AskId(number))
    }

    // ---- outputs

    /// The next thing to do, if there is one.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When to call [`Session::handle_timeout`] next, if ever.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.flights.values().filter_map(|flight| flight.progress.as_ref()?.next).min()
    }

    // ---- the inside

    fn batch(&mut self, lane: Lane, text: &str, now: Duration) {
        let to = To { lane, batch: None };
        if !self.version().is_some_and(Version::has_batches) {
            let error = match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => RpcError::invalid_request("batches are not part of this protocol revision"),
                Err(_) => RpcError::parse(),
            };
            return self.fail(to, None, &error);
        }
        let parts = match elements(text, self.config.max_batch) {
            Ok(parts) => parts,
            Err(error) => return self.fail(to, None, &error),
        };
        // One is missing until all are read, so that no reply closes the batch early.
        let batch = self.number();
        self.batches.insert(batch, Batch { replies: Vec::new(), missing: 1 });
        for part in parts {
            self.one(To { lane, batch: Some(batch) }, part, now);
        }
        self.arrived(lane, batch, None);
    }

    fn one(&mut self, to: To, text: &str, now: Duration) {
        match Message::read(text) {
            Ok(Message::Request { id, method, params }) => {
                self.expect(to);
                if let Err(error) = self.request(to, id, &method, params, now) {
                    self.reply(to, wire::error(Some(id), &error, false), error.status);
                }
            }
            Ok(Message::Notification { method, params }) => {
                if method == "notifications/cancelled" {
                    self.cancelled(params);
                }
                self.quiet(to);
            }
            Ok(Message::Response { id, result }) => {
                self.told(id, result);
                self.quiet(to);
            }
            Err(Malformed { id, error }) => self.fail(to, id, &error),
        }
    }

    fn request(
        &mut self,
        to: To,
        id: &str,
        method: &str,
        params: &str,
        now: Duration,
    ) -> Result<(), RpcError> {
        if self.flights.values().any(|flight| *flight.id == *id && self.same_client(flight.to, to)) {
            return Err(RpcError::invalid_request("this id is still in use"));
        }
        let meta = Meta::of(params)?;
        let version = self.version_of(method, &meta)?;
        if self.config.eras != Eras::Modern && meta.client.is_some() {
            self.client.clone_from(&meta.client);
        }
        if let Some(body) = self.base(method, params, version, to.batch.is_some())? {
            let message = wire::result(id, &body, version, &self.provider.about(version));
            self.reply(to, message, 200);
            return Ok(());
        }
        let handshake = self.handshake.as_ref().map(|handshake| handshake.capabilities.as_ref());
        let capabilities = meta.capabilities.or(handshake).unwrap_or("{}").to_owned();
        let request = Request { method, params, version, capabilities: &capabilities };
        match self.provider.request(&request) {
            Reply::Done(body) => {
                let message = wire::result(id, &body, version, &self.provider.about(version));
                self.reply(to, message, 200);
            }
            Reply::Fail(error) => return Err(error),
            Reply::Unknown => return Err(RpcError::method_not_found()),
            Reply::Call { call: request, keep } => {
                if self.flights.len() >= self.config.max_in_flight {
                    return Err(RpcError::overloaded(self.flights.len()));
                }
                let call = CallId(self.number());
                let progress = meta.progress_token.map(|token| Progress {
                    token: token.into(),
                    started: now,
                    next: Some(now + self.config.progress_after),
                    last: -1.0,
                });
                self.flights.insert(call, Flight { id: id.into(), to, version, keep, progress });
                let client = meta.client.or_else(|| self.client.clone());
                self.out.push_back(Output::Call { call, lane: to.lane, client, request });
            }
        }
        Ok(())
    }

    /// Under which revision a request is served, or why not at all.
    fn version_of(&self, method: &str, meta: &Meta<'_>) -> Result<Version, RpcError> {
        let legacy = || match (&self.handshake, method) {
            (Some(handshake), _) => Ok(handshake.version),
            (None, "initialize" | "ping") if self.config.eras != Eras::Modern => Ok(Version::NEWEST_LEGACY),
            (None, _) => Err(missing(META_VERSION)),
        };
        let Some(wish) = &meta.version else { return legacy() };
        if self.config.eras == Eras::Legacy {
            return legacy();
        }
        match Version::of(wish).filter(|version| version.is_modern()) {
            None => Err(wire::unsupported(wish)),
            Some(_) if meta.capabilities.is_none() => Err(missing(META_CAPABILITIES)),
            Some(version) => Ok(version),
        }
    }

    /// The methods of the base protocol, which need no provider.
    fn base(
        &mut self,
        method: &str,
        params: &str,
        version: Version,
        in_batch: bool,
    ) -> Result<Option<Body>, RpcError> {
        match (method, version.is_modern()) {
            ("server/discover", true) => {
                let about = self.provider.about(version);
                Ok(Some(wire::discovered(&about).cached(Cache { ttl_ms: 3_600_000, public: true })))
            }
            (
                "initialize" | "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe",
                true,
            )
            | ("server/discover", false) => Err(RpcError::method_not_found()),
            ("initialize", false) if in_batch => {
                Err(RpcError::invalid_request("initialize is never part of a batch"))
            }
            ("initialize", false) => self.initialize(params).map(Some),
            ("ping" | "logging/setLevel", false) => Ok(Some(Body::new(""))),
            _ => Ok(None),
        }
    }

    fn initialize(&mut self, params: &str) -> Result<Body, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            protocol_version: Text<'a>,
            #[serde(borrow, default)]
            capabilities: Option<&'a RawValue>,
            #[serde(borrow, default)]
            client_info: Option<&'a RawValue>,
        }
        let params: Params<'_> = serde_json::from_str(params)
            .map_err(|_| RpcError::invalid_params("initialize needs a protocolVersion").at(400))?;
        let version = Version::negotiate(&params.protocol_version.0);
        let capabilities = params.capabilities.map(RawValue::get).filter(|raw| raw.starts_with('{'));
        self.client = params.client_info.and_then(client_name);
        self.handshake = Some(Handshake { version, capabilities: capabilities.unwrap_or("{}").into() });
        Ok(wire::initialized(version, &self.provider.about(version)))
    }

    fn cancelled(&mut self, params: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params<'a> {
            #[serde(borrow)]
            request_id: &'a RawValue,
        }
        // Stateless clients share this session, so an id alone names nobody; they cancel by hanging up.
        if self.config.eras == Eras::Modern {
            return;
        }
        let Ok(params) = serde_json::from_str::<Params<'_>>(params) else { return };
        let id = params.request_id.get();
        let call = self.flights.iter().find(|(_, flight)| *flight.id == *id).map(|(call, _)| *call);
        if let Some(call) = call {
            self.give_up(call);
        }
    }

    fn told(&mut self, id: &str, result: Result<&str, &str>) {
        let Some(ask) = wire::ask_number(id).map(AskId) else { return };
        if let Some(call) = self.asks.remove(&ask) {
            let answer = result.map(str::to_owned).map_err(str::to_owned);
            self.out.push_back(Output::Told { call, ask, answer });
        }
    }

    fn same_client(&self, one: To, other: To) -> bool {
        self.config.eras != Eras::Modern || one.lane == other.lane
    }

    fn landed(&mut self, call: CallId, to: To, id: &str, version: Version, body: &Body) {
        self.forget_asks(call);
        let message = wire::result(id, body, version, &self.provider.about(version));
        self.reply(to, message, 200);
    }

    fn give_up(&mut self, call: CallId) {
        if let Some(flight) = self.flights.remove(&call) {
            self.forget_asks(call);
            self.out.push_back(Output::Cancel { call });
            match flight.to.batch {
                Some(batch) => self.arrived(flight.to.lane, batch, None),
                None => self.out.push_back(Output::Silent { lane: flight.to.lane }),
            }
        }
    }

    fn forget_asks(&mut self, call: CallId) {
        self.asks.retain(|_, asker| *asker != call);
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    // ---- ways of a reply

    /// One more reply is to come on this way.
    fn expect(&mut self, to: To) {
        if let Some(batch) = to.batch.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.missing += 1;
        }
    }

    /// A message that gets no reply.
    fn quiet(&mut self, to: To) {
        if to.batch.is_none() {
            self.out.push_back(Output::Silent { lane: to.lane });
        }
    }

    /// Refuses what was not counted as a request.
    fn fail(&mut self, to: To, id: Option<&str>, error: &RpcError) {
        let omit = self.config.eras == Eras::Modern || self.version().is_some_and(Version::omits_unknown_id);
        self.expect(to);
        self.reply(to, wire::error(id, error, omit), error.status);
    }

    fn reply(&mut self, to: To, message: Vec<u8>, status: u16) {
        match to.batch {
            Some(batch) => self.arrived(to.lane, batch, Some(message)),
            None => self.out.push_back(Output::Send { lane: to.lane, message, kind: Sent::Reply(status) }),
        }
    }

    fn arrived(&mut self, lane: Lane, number: u64, reply: Option<Vec<u8>>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.replies.extend(reply);
        batch.missing = batch.missing.saturating_sub(1);
        if batch.missing > 0 {
            return;
        }
        let Some(batch) = self.batches.remove(&number) else { return };
        if batch.replies.is_empty() {
            self.out.push_back(Output::Silent { lane });
        } else {
            self.out.push_back(Output::Send { lane, message: batch.join(), kind: Sent::Reply(200) });
        }
    }
}

fn missing(key: &str) -> RpcError {
    RpcError::invalid_params(format!("send initialize first, or _meta with {key} in each request")).at(400)
}
