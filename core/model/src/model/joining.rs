//! From the first frame to a role.

use bridge_core::{Class, Code, Compat, Congestion, Door, Fault, Keyring, Role, Trust};

use super::{Browser, Connection, Joining, Model, Owner, Read, Said, Stage, Why};
use crate::ledger::Conn;
use crate::oracle::{Object, unquote};
use crate::proof::decode;
use crate::stage::Keys;

/// The most members of an object that the hub reads by key.
pub const KEYS: usize = 64;

/// An error frame and a close.
struct No(Code, Option<&'static str>, u16);

impl No {
    fn hello(text: Option<&'static str>) -> Self {
        No(Code::InvalidHello, text, 1008)
    }
    fn entry(code: Code) -> Self {
        No(code, None, 4003)
    }
}

/// A hello as its frame has it.
struct Said2 {
    role: Role,
    protocol: u8,
    person: bool,
    browser_id: String,
    client_id: Option<Option<String>>,
    token: Option<String>,
    key_id: String,
    nonce: Option<String>,
    resume: Option<String>,
}

/// Reads an object by the rules that hold wherever the hub reads by key.
pub(crate) fn read(frame: &[u8], depth: u16) -> Option<Object<'_>> {
    let object = Object::read(frame, usize::from(depth)).ok()?;
    let keys: std::collections::BTreeSet<&str> = object.members().iter().map(|(key, _)| *key).collect();
    let clear = !object.has_escaped_key() && keys.len() == object.members().len() && keys.len() <= KEYS;
    clear.then_some(object)
}

/// A text that can be kept whole: without control characters, and not too long.
fn exact(text: &str, max: usize) -> Option<String> {
    (text.len() <= max && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

impl Model {
    pub(super) fn first_frame(&mut self, conn: Conn, frame: &[u8]) -> Read {
        let trusted = self.conns[&conn].trust == Trust::Owner;
        let limit = if trusted { self.config.limits.client_bytes } else { self.config.limits.hello_bytes };
        if frame.len() > limit {
            return self.deny(conn, No(Code::InvalidHello, None, 1009));
        }
        let Some(object) = read(frame, self.config.limits.depth) else {
            return self.deny(conn, No::hello(None));
        };
        let field = |name: &str| object.get(name).filter(|raw| *raw != "null");
        match field("type") {
            Some("\"hello\"") => match hello(&field) {
                Ok(said) => self.hello(conn, &said),
                Err(no) => self.deny(conn, no),
            },
            // Over a door that needs no proof a request says enough.
            None if field("method").is_some() && trusted => {
                let joining = Joining {
                    role: Role::Client,
                    protocol: 1,
                    class: Class::Person,
                    who: String::new(),
                    key_id: String::new(),
                };
                match self.join(conn, joining, false) {
                    Ok(()) => self.client_frame(conn, frame),
                    Err(no) => self.deny(conn, no),
                }
            }
            _ => self.deny(conn, No::hello(Some("expected hello message"))),
        }
    }

    fn hello(&mut self, conn: Conn, said: &Said2) -> Read {
        let Connection { door, trust, origin, approved, .. } = self.conns[&conn].clone();
        let prove = match self.admit((door, trust, origin, approved), said) {
            Ok(way) => way,
            Err(no) => return self.deny(conn, no),
        };
        let joining = match meaning(said, door, trust) {
            Ok(joining) => joining,
            Err(no) => return self.deny(conn, no),
        };
        match prove {
            Way::Welcome { proven } => match self.join(conn, joining, proven) {
                Ok(()) => Read::Absorbed,
                Err(no) => self.deny(conn, no),
            },
            Way::Prove(nonce) => {
                // A nonce may serve once; the hub remembers the last 32.
                if self.nonces.iter().rev().take(32).any(|it| *it == nonce) {
                    return self.deny(conn, No::hello(Some("invalid hello: nonce")));
                }
                self.nonces.push(nonce);
                self.send(conn, Said::Challenge);
                let due = self.now + self.config.deadlines.proof_ms;
                let stage = Stage::Proving { due, nth: self.nonces.len(), hello: joining, right: false };
                self.conns.get_mut(&conn).unwrap().stage = stage;
                Read::Absorbed
            }
        }
    }

    /// Security.md section 3.5, and protocol 2.
    fn admit(&self, peer: (Door, Trust, &str, bool), said: &Said2) -> Result<Way, No> {
        let (door, trust, origin, approved) = peer;
        let from_browser = !origin.is_empty();
        if said.role == Role::Control && (trust != Trust::Owner || door == Door::WebSocket) {
            return Err(No::entry(Code::PermissionDenied));
        }
        if from_browser && said.role != Role::Extension {
            return Err(No::entry(Code::PermissionDenied));
        }
        let token = said.token.as_deref();
        if token.is_some_and(|it| !Keys.token_matches(it)) {
            return Err(No::entry(Code::AuthFailed));
        }
        if trust == Trust::Owner && !from_browser {
            return Ok(Way::Welcome { proven: said.protocol == 2 });
        }
        if said.protocol == 2 {
            if token.is_some() && said.role == Role::Client {
                return Ok(Way::Welcome { proven: true });
            }
            if said.key_id.is_empty() {
                let code = if said.role == Role::Extension { Code::NotPaired } else { Code::Unauthorized };
                return Err(No::entry(code));
            }
            let Some(nonce) = said.nonce.clone().filter(|it| decode(it).is_some()) else {
                return Err(No::hello(Some("invalid hello: nonce")));
            };
            if Keys.key(said.role, &said.key_id).is_none() {
                return Err(No::entry(Code::NotPaired));
            }
            return Ok(Way::Prove(nonce));
        }
        let ours = trust != Trust::Unknown || token.is_some();
        let welcome = match self.config.compat {
            Compat::Open => true,
            Compat::SameUser if from_browser => ours && approved,
            Compat::SameUser => ours,
            Compat::Strict => token.is_some() && !from_browser,
        };
        match welcome {
            true => Ok(Way::Welcome { proven: false }),
            false => Err(No::entry(if from_browser { Code::NotPaired } else { Code::Unauthorized })),
        }
    }

    /// The test knows whether the next proof is right.
    pub fn expect_proof(&mut self, conn: Conn, is_right: bool) {
        if let Some(Stage::Proving { right, .. }) = self.conns.get_mut(&conn).map(|it| &mut it.stage) {
            *right = is_right;
        }
    }

    pub(super) fn proof_frame(&mut self, conn: Conn) -> Read {
        let Stage::Proving { hello, right, .. } = self.conns[&conn].stage.clone() else { return Read::Stale };
        if !right || Keys.key(hello.role, &hello.key_id).is_none() {
            return self.deny(conn, No::entry(Code::AuthFailed));
        }
        match self.join(conn, hello, true) {
            Ok(()) => Read::Absorbed,
            Err(no) => self.deny(conn, no),
        }
    }

    fn join(&mut self, conn: Conn, joining: Joining, proven: bool) -> Result<(), No> {
        let Joining { role, protocol, class, who, .. } = joining;
        let joined = self
            .connections()
            .filter(|(_, it)| matches!(it.stage, Stage::Client { .. } | Stage::Extension { .. }));
        if joined.count() >= self.config.limits.connections {
            return Err(No::entry(Code::Overloaded));
        }
        let stage = if role == Role::Extension {
            self.take_seat(conn, &who, proven)?;
            Stage::Extension { browser: who, proven, protocol }
        } else {
            let owner = if who.is_empty() { Owner::Minted(None) } else { Owner::Named(who) };
            Stage::Client { owner, class, control: role == Role::Control, bound: None }
        };
        if protocol == 2 {
            self.send(conn, Said::Ack);
        }
        self.conns.get_mut(&conn).unwrap().stage = stage;
        Ok(())
    }

    /// A browser's newest connection serves it; one that did not prove itself never disturbs one that did.
    fn take_seat(&mut self, conn: Conn, id: &str, proven: bool) -> Result<(), No> {
        if !proven && self.browsers_here().any(|(_, _, it)| it.proven) {
            return Err(No::entry(Code::PermissionDenied));
        }
        let now = self.now;
        let (window_ms, most) = (self.config.deadlines.takeover_window_ms, self.config.limits.takeovers);
        let fresh = Browser {
            here: None,
            proven,
            arrival: 0,
            congestion: Congestion::Clear,
            window: now,
            takeovers: 0,
        };
        let browser = self.browsers.entry(id.to_owned()).or_insert(fresh);
        if browser.here.is_some() && !id.is_empty() {
            if browser.takeovers == 0 || now - browser.window > window_ms {
                (browser.window, browser.takeovers) = (now, 0);
            }
            if browser.takeovers >= most {
                return Err(No::entry(Code::Overloaded));
            }
            browser.takeovers += 1;
        }
        let old = browser.here.replace(conn);
        (browser.proven, browser.congestion) = (proven, Congestion::Clear);
        self.arrivals += 1;
        browser.arrival = self.arrivals;
        if let Some(old) = old {
            self.end(old, Some(4001), Why::Replaced);
        }
        Ok(())
    }

    fn deny(&mut self, conn: Conn, No(code, text, close): No) -> Read {
        self.send(conn, Said::Fatal(code, text));
        self.end(conn, Some(close), Why::Gone);
        Read::Refused(vec![if code == Code::AuthFailed { Fault::AuthFailed } else { Fault::Hello }])
    }
}

enum Way {
    Welcome { proven: bool },
    Prove(String),
}

fn hello<'a>(field: &impl Fn(&str) -> Option<&'a str>) -> Result<Said2, No> {
    let wrong = || No::hello(None);
    let role = match field("role") {
        Some("\"extension\"") => Role::Extension,
        Some("\"client\"") => Role::Client,
        Some("\"control\"") => Role::Control,
        _ => return Err(No::hello(Some("hello must declare role"))),
    };
    let text = |name: &str| match field(name) {
        None => Ok(None),
        Some(raw) => unquote(raw).map(Some).ok_or_else(wrong),
    };
    let whole = |name: &str, max: usize| match text(name)? {
        None => Ok(String::new()),
        Some(it) => exact(&it, max).ok_or_else(wrong),
    };
    for label in ["name", "version", "build"] {
        text(label)?;
    }
    if field("methods").is_some_and(|raw| serde_json::from_str::<Vec<String>>(raw).is_err()) {
        return Err(wrong());
    }
    Ok(Said2 {
        role,
        protocol: match field("protocol") {
            None | Some("1") => 1,
            Some("2") => 2,
            _ => return Err(wrong()),
        },
        person: match field("class") {
            None | Some("\"agent\"") => false,
            Some("\"person\"") => true,
            _ => return Err(wrong()),
        },
        browser_id: whole("browser_id", 64)?,
        client_id: text("client_id")?.map(|it| exact(&it, 64)),
        token: text("token")?,
        key_id: whole("key_id", 32)?,
        nonce: field("nonce").map(|raw| raw.trim_matches('"').to_owned()),
        resume: text("resume")?,
    })
}

fn meaning(said: &Said2, door: Door, trust: Trust) -> Result<Joining, No> {
    let inside = matches!(door, Door::Http | Door::Mcp | Door::Memory) && trust == Trust::Owner;
    let says_person = said.person && trust == Trust::Owner && door != Door::Mcp;
    let person = said.protocol == 1 || said.role == Role::Control || says_person;
    let who = match (&said.client_id, said.protocol) {
        _ if said.role == Role::Extension => said.browser_id.clone(),
        (Some(Some(id)), 1) if !is_reserved(id) => id.clone(),
        (_, 1) => String::new(),
        (Some(named), _) if inside => match named {
            Some(id) if is_reserved(id) => id.clone(),
            _ => return Err(No::hello(None)),
        },
        _ => said.resume.as_deref().and_then(resumed).unwrap_or_default(),
    };
    Ok(Joining {
        role: said.role,
        protocol: said.protocol,
        class: if person { Class::Person } else { Class::Agent },
        who,
        key_id: said.key_id.clone(),
    })
}

/// `c`, any digits, a dash.
fn is_reserved(id: &str) -> bool {
    id.starts_with('c') && id[1..].trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('-')
}

/// The owner that a `resume` value was given to: HMAC-SHA256 over a tag and the owner, with the hub's own key.
fn resumed(value: &str) -> Option<String> {
    use hmac::{Hmac, KeyInit, Mac};
    let (owner, signature) = value.rsplit_once('.')?;
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&[4; 32]).unwrap();
    mac.update(b"bridged-resume-v2");
    mac.update(owner.as_bytes());
    (crate::proof::encode(&mac.finalize().into_bytes()) == signature).then(|| owner.to_owned())
}
