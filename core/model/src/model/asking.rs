//! What clients ask.

use bridge_core::{Class, Code, Congestion, Door, Fault, Limits, Role};

use super::joining::{KEYS, read};
use super::{Call, Connection, Model, Owner, Passed, Read, Said, Stage, State, Why};
use crate::ledger::Conn;
use crate::oracle::{Object, unquote};

/// A request that was read and not yet accepted.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Who asks.
    pub conn: Conn,
    /// The inside of its raw id.
    pub id: String,
    /// The method.
    pub method: String,
    /// The raw params, or `{}`.
    pub params: String,
    /// Whether the client sent any.
    pub has_params: bool,
    /// The browser it names.
    pub browser: Option<String>,
    /// The checked `once`.
    pub once: Option<String>,
    /// How long it waits.
    pub timeout_ms: u32,
    /// Client or control.
    pub role: Role,
    /// Person or agent.
    pub class: Class,
    /// The door.
    pub door: Door,
}

/// What a frame that is neither hello nor answer says.
#[derive(Debug)]
pub enum Frame {
    /// A request.
    Request {
        /// The inside of its raw id.
        id: String,
        /// Its method.
        method: String,
        /// Its raw params, if it has any.
        params: Option<String>,
        /// The browser it names.
        browser: Option<String>,
        /// Its checked `once`.
        once: Option<String>,
        /// How long it waits.
        timeout: Timeout,
    },
    /// `cancel` for this id.
    Cancel(String),
    /// The id to answer to, the fault, and the text where it is fixed.
    Wrong(String, Vec<Fault>, Option<&'static str>),
}

/// A request's `timeout_ms`.
#[derive(Debug)]
pub enum Timeout {
    /// None.
    Default,
    /// A whole number, perhaps out of range.
    Ms(u64),
    /// Something else.
    Odd,
}

/// The faults of a frame that cannot be read at all; which one depends on what is met first.
pub(super) const UNREADABLE: [Fault; 6] = [
    Fault::NotJson,
    Fault::TooDeep,
    Fault::DuplicateKey,
    Fault::EscapedKey,
    Fault::TooManyKeys,
    Fault::LoneSurrogate,
];

const CONTROL: [&str; 11] = [
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

/// The inside of a raw string without escapes.
fn plain(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"').filter(|it| !it.contains('\\'))
}

/// Reads a frame as a client may send it.
pub fn frame(frame: &[u8], limits: &Limits) -> Frame {
    let unreadable = || Frame::Wrong(String::new(), UNREADABLE.to_vec(), None);
    let Some(object) = read(frame, limits.depth) else { return unreadable() };
    let field = |name: &str| object.get(name).filter(|raw| *raw != "null");
    // The first level of the params is read by key as well.
    if let Some(raw) = field("params").filter(|raw| raw.starts_with('{')) {
        let Ok(params) = Object::read(raw.as_bytes(), usize::MAX) else { return unreadable() };
        let keys: std::collections::BTreeSet<&str> = params.members().iter().map(|(key, _)| *key).collect();
        if params.has_escaped_key() || keys.len() < params.members().len() || keys.len() > KEYS {
            return unreadable();
        }
    }
    let kind = field("type").and_then(plain);
    let has_method = object.count("method") > 0;
    if kind == Some("hello") || (kind == Some("pair_confirm") && !has_method) {
        return Frame::Wrong(
            String::new(),
            vec![Fault::AlreadyRegistered],
            Some("protocol: already registered"),
        );
    }
    let id = match field("id") {
        None | Some("\"\"") => {
            return Frame::Wrong(String::new(), vec![Fault::MissingId], Some("missing id"));
        }
        Some(raw) if raw.starts_with('"') && raw.len() - 2 <= usize::from(limits.id_bytes) => {
            raw[1..raw.len() - 1].to_owned()
        }
        Some(_) => return Frame::Wrong(String::new(), vec![Fault::InvalidId], Some("invalid id")),
    };
    if kind == Some("cancel") && !has_method {
        return Frame::Cancel(id);
    }
    let wrong = |fault, text| Frame::Wrong(id.clone(), vec![fault], text);
    let Some(raw) = object.get("method").filter(|raw| raw.starts_with('"')) else {
        return wrong(Fault::MethodRequired, Some("invalid message: method required"));
    };
    let method = match plain(raw) {
        Some(it) if (1..=64).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_graphic()) => it.to_owned(),
        _ => return wrong(Fault::UnknownMethod, None),
    };
    let params = match field("params") {
        None => None,
        Some(raw) if raw.starts_with('{') => Some(raw.to_owned()),
        Some(_) => return wrong(Fault::InvalidParams, None),
    };
    let named = params.as_ref().and_then(|raw| {
        Object::read(raw.as_bytes(), usize::MAX)
            .ok()?
            .get("browser_id")
            .filter(|raw| *raw != "null")
            .map(str::to_owned)
    });
    let browser = match named.as_deref().map(plain) {
        None | Some(Some("")) => None,
        Some(Some(id)) if id.len() <= 64 => Some(id.to_owned()),
        Some(_) => return wrong(Fault::InvalidParams, None),
    };
    let once = match field("once").map(plain) {
        None => None,
        Some(Some(it))
            if (1..=64).contains(&it.len())
                && it.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) =>
        {
            Some(it.to_owned())
        }
        Some(_) => return wrong(Fault::InvalidRequest, None),
    };
    let timeout = match field("timeout_ms") {
        None => Timeout::Default,
        Some(raw) => raw.parse().map_or(Timeout::Odd, Timeout::Ms),
    };
    Frame::Request { id, method, params, browser, once, timeout }
}

impl Model {
    pub(super) fn client_frame(&mut self, conn: Conn, bytes: &[u8]) -> Read {
        let Connection { door, stage, .. } = self.conns[&conn].clone();
        let Stage::Client { class, control, .. } = stage else { unreachable!("a client") };
        if bytes.len() > self.config.limits.client_bytes {
            return self.wrong(conn, "", vec![Fault::TooLarge], None);
        }
        match frame(bytes, &self.config.limits) {
            Frame::Wrong(id, faults, text) => self.wrong(conn, &id, faults, text),
            Frame::Cancel(id) => {
                if let Some(call) = self.find(conn, &id) {
                    self.over(call, Code::Cancelled, None);
                }
                Read::Absorbed
            }
            Frame::Request { id, method, params, browser, once, timeout } => {
                let timeout_ms = match timeout {
                    Timeout::Default => self.config.deadlines.call_ms,
                    Timeout::Ms(ms @ 1..) if ms <= u64::from(self.config.deadlines.call_max_ms) => ms as u32,
                    _ => return self.wrong(conn, &id, vec![Fault::InvalidRequest], None),
                };
                if self.find(conn, &id).is_some() {
                    return self.wrong(conn, &id, vec![Fault::DuplicateId], Some("duplicate id"));
                }
                let raw = format!("\"{id}\"");
                match method.as_str() {
                    "ping" => self.send(conn, Said::Pong(raw)),
                    "list_browsers" => self.send(conn, Said::Browsers(raw)),
                    "status" => self.send(conn, Said::Status(raw)),
                    it if CONTROL.contains(&it) && !control => {
                        return self.wrong(conn, &id, vec![Fault::PermissionDenied], None);
                    }
                    _ => {
                        let has_params = params.is_some();
                        let params = params.unwrap_or_else(|| "{}".into());
                        let role = if control { Role::Control } else { Role::Client };
                        let ask = Ask {
                            conn,
                            id,
                            method,
                            params,
                            has_params,
                            browser,
                            once,
                            timeout_ms,
                            role,
                            class,
                            door,
                        };
                        return if control { Read::Host(ask) } else { Read::Request(ask) };
                    }
                }
                Read::Absorbed
            }
        }
    }

    /// An error answer; too many errors that no working peer makes end the connection.
    pub(super) fn wrong(&mut self, conn: Conn, id: &str, faults: Vec<Fault>, text: Option<&str>) -> Read {
        let (code, counts) = match faults[0] {
            Fault::TooLarge => (Code::TooLarge, true),
            Fault::InvalidParams => (Code::InvalidParams, false),
            Fault::UnknownMethod => (Code::UnknownMethod, false),
            Fault::PermissionDenied => (Code::PermissionDenied, false),
            Fault::DuplicateId => (Code::DuplicateId, false),
            Fault::InvalidRequest => (Code::InvalidRequest, false),
            _ => (Code::InvalidRequest, true),
        };
        self.error(conn, id, code, text, false);
        let connection = self.conns.get_mut(&conn).unwrap();
        connection.errors += u8::from(counts);
        if counts && connection.errors >= self.config.limits.protocol_errors {
            self.end(conn, Some(1008), Why::Gone);
        }
        Read::Refused(faults)
    }

    fn find(&self, asker: Conn, id: &str) -> Option<usize> {
        self.calls.iter().find(|(_, call)| call.asker == asker && call.id == id).map(|(n, _)| *n)
    }

    /// Whether a request is taken on, and by which browser.
    fn accept(&self, ask: &Ask) -> Result<(String, Conn), Fault> {
        let Stage::Client { bound, .. } = &self.conns[&ask.conn].stage else { unreachable!("a client") };
        if self.draining {
            return Err(Fault::ShuttingDown);
        }
        let mine = self.calls.values().filter(|call| call.asker == ask.conn).count();
        let limits = &self.config.limits;
        if mine >= limits.in_flight_client || self.calls.len() >= limits.in_flight {
            return Err(Fault::Overloaded);
        }
        if self.find(ask.conn, &ask.id).is_some() {
            return Err(Fault::DuplicateId);
        }
        // Proven ones come first, then the newest.
        let newest = self
            .browsers_here()
            .max_by_key(|(_, _, it)| (it.proven, it.arrival))
            .map(|(id, ..)| id.to_owned());
        let wanted = match &ask.browser {
            Some(named) if !self.browsers.contains_key(named) && newest.is_some() => {
                return Err(Fault::NoSuchBrowser);
            }
            Some(named) => Some(named.clone()),
            None => bound.clone().or(newest),
        };
        let here = wanted.and_then(|id| Some((self.browsers.get(&id)?, id)));
        match here.map(|(browser, id)| (browser.here, browser.congestion, id)) {
            Some((Some(_), Congestion::Full, _)) => Err(Fault::Congested),
            Some((Some(conn), _, id)) => Ok((id, conn)),
            _ => Err(Fault::NoExtension),
        }
    }

    fn unaccepted(&mut self, ask: &Ask, fault: Fault) -> Fault {
        let (code, text) = match fault {
            Fault::ShuttingDown => (Code::ShuttingDown, None),
            Fault::Overloaded | Fault::Congested => (Code::Overloaded, None),
            Fault::DuplicateId => (Code::DuplicateId, Some("duplicate id")),
            Fault::NoSuchBrowser => (Code::NoSuchBrowser, None),
            _ => (Code::NoExtension, Some("no extension connected")),
        };
        self.error(ask.conn, &ask.id, code, text, false);
        fault
    }

    fn enter(&mut self, ask: &Ask, state: State) -> Result<usize, Fault> {
        if self.calls.len() >= self.call_slots {
            return Err(self.unaccepted(ask, Fault::Overloaded));
        }
        let call = self.accepted;
        self.accepted += 1;
        self.calls.insert(
            call,
            Call {
                asker: ask.conn,
                id: ask.id.clone(),
                timeout_ms: ask.timeout_ms,
                deadline: self.now + u64::from(ask.timeout_ms),
                state,
            },
        );
        Ok(call)
    }

    fn bind(&mut self, conn: Conn, browser: &str) {
        if let Some(Stage::Client { bound, .. }) = self.conns.get_mut(&conn).map(|it| &mut it.stage) {
            *bound = Some(browser.to_owned());
        }
    }

    /// The request is passed on, perhaps with other params.
    pub fn forward(&mut self, ask: Ask, params: Option<&[u8]>) -> Result<Passed, Fault> {
        let (browser, to) = self.accept(&ask).map_err(|fault| self.unaccepted(&ask, fault))?;
        let call = self.enter(&ask, State::Sent { asked: to, wire: String::new() })?;
        self.bind(ask.conn, &browser);
        let params = params.map_or_else(|| ask.params.clone().into_bytes(), <[u8]>::to_vec);
        Ok(Passed {
            to,
            call,
            method: ask.method,
            params,
            timeout_ms: u64::from(ask.timeout_ms),
            once: ask.once,
        })
    }

    /// The request is refused by the host.
    pub fn refuse(&mut self, ask: Ask, code: Code, text: &str, maybe_executed: bool) {
        self.error(ask.conn, &ask.id, code, Some(text), maybe_executed);
    }

    /// The request is answered by the host.
    pub fn answer(&mut self, ask: Ask, result: &[u8]) -> Vec<u8> {
        success(&ask.id, result)
    }

    /// The request is kept back.
    pub fn hold(&mut self, ask: Ask) -> Result<usize, Fault> {
        let browser = match self.accept(&ask) {
            Ok((browser, _)) => Some(browser),
            Err(Fault::NoExtension) if ask.role == Role::Control => None,
            Err(fault) => return Err(self.unaccepted(&ask, fault)),
        };
        let call = self.enter(&ask, State::Held { browser: browser.clone() })?;
        if let (Some(browser), Role::Client) = (browser, ask.role) {
            self.bind(ask.conn, &browser);
        }
        Ok(call)
    }

    /// Who asked a held call that still waits.
    pub fn asker_of(&self, call: usize) -> Option<Conn> {
        self.calls.get(&call).filter(|it| matches!(it.state, State::Held { .. })).map(|it| it.asker)
    }

    /// A held call goes on.
    pub fn release(
        &mut self,
        call: usize,
        method: &str,
        params: &[u8],
        once: Option<&str>,
    ) -> Result<Passed, Fault> {
        let Some(Call { state: State::Held { browser }, deadline, .. }) = self.calls.get(&call).cloned()
        else {
            return Err(Fault::Gone);
        };
        let Some(to) = browser.and_then(|id| self.browsers.get(&id)?.here) else {
            self.fail(call, Code::NoExtension, "no extension connected");
            return Err(Fault::NoExtension);
        };
        self.calls.get_mut(&call).unwrap().state = State::Sent { asked: to, wire: String::new() };
        Ok(Passed {
            to,
            call,
            method: method.to_owned(),
            params: params.to_vec(),
            timeout_ms: deadline.saturating_sub(self.now).max(1),
            once: once.map(str::to_owned),
        })
    }

    /// A held call is answered by the host.
    pub fn complete(&mut self, call: usize, result: &[u8]) -> Result<(Conn, Vec<u8>), Fault> {
        let Some(Call { state: State::Held { .. }, asker, id, .. }) = self.calls.get(&call).cloned() else {
            return Err(Fault::Gone);
        };
        self.forget(call);
        Ok((asker, success(&id, result)))
    }

    /// A held call is refused by the host.
    pub fn fail(&mut self, call: usize, code: Code, text: &str) {
        if let Some(Call { state: State::Held { .. }, asker, id, .. }) = self.calls.get(&call).cloned() {
            self.error(asker, &id, code, Some(text), false);
            self.forget(call);
        }
    }

    /// An envelope is as it must be; its id is the hub's choice, and fresh.
    pub fn check_envelope(&mut self, passed: &Passed, envelope: &[u8]) -> String {
        let object = Object::read(envelope, usize::MAX).expect("an envelope is JSON");
        let wire = object.get("id").and_then(unquote).expect("an envelope has an id");
        assert!(self.wires.insert(wire.clone()), "the id {wire} was used before");
        let Some(Call { asker, state, .. }) = self.calls.get_mut(&passed.call) else {
            unreachable!("just made")
        };
        let asker = *asker;
        *state = State::Sent { asked: passed.to, wire: wire.clone() };
        let Stage::Client { owner, class, .. } = &self.conns[&asker].stage else { unreachable!("a client") };
        let owner = match owner {
            Owner::Named(name) | Owner::Minted(Some(name)) => name.clone(),
            Owner::Minted(None) => unreachable!("seen with the request"),
        };
        let class = class.as_str();
        let mut expected = vec![
            ("\"id\"".to_owned(), format!("\"{wire}\"")),
            ("\"method\"".to_owned(), format!("\"{}\"", passed.method)),
            ("\"params\"".to_owned(), String::from_utf8_lossy(&passed.params).into_owned()),
            ("\"client_id\"".to_owned(), serde_json::Value::from(owner).to_string()),
            ("\"class\"".to_owned(), format!("\"{class}\"")),
            ("\"timeout_ms\"".to_owned(), passed.timeout_ms.to_string()),
        ];
        expected.extend(passed.once.as_ref().map(|once| ("\"once\"".to_owned(), format!("\"{once}\""))));
        let members: Vec<(String, String)> =
            object.members().iter().map(|(key, raw)| ((*key).to_owned(), (*raw).to_owned())).collect();
        assert_eq!(members, expected, "the envelope");
        wire
    }
}

fn success(id: &str, result: &[u8]) -> Vec<u8> {
    [b"{\"id\":\"", id.as_bytes(), b"\",\"success\":true,\"result\":", result, b"}"].concat()
}
