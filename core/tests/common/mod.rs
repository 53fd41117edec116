//! A hub in simulated time, with every peer's inbox. What must hold after every input is checked after every input.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::{HashMap, HashSet};

use base64ct::{Base64UrlUnpadded, Encoding};
use bridge_core::*;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

pub const ADDRESS: &str = "127.0.0.1:9225";
pub const ORIGIN: &str = "chrome-extension://fdembngelboffhfimppaoglbmaphnhfm";
pub const KEY_ID: &str = "k-1";
pub const KEY: [u8; 32] = [0x4b; 32];
pub const TOKEN: &str = "the-token";

/// Slots that grow one by one, up to a limit.
pub struct Growing<T> {
    slots: Vec<T>,
    most: usize,
}

impl<T> Growing<T> {
    pub fn new(most: usize) -> Self {
        Self { slots: Vec::new(), most }
    }
}

impl<T: Default> Slots<T> for Growing<T> {
    fn get(&self, index: usize) -> Option<&T> {
        self.slots.get(index)
    }
    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.slots.get_mut(index)
    }
    fn len(&self) -> usize {
        self.slots.len()
    }
    fn grow(&mut self) -> bool {
        let more = self.slots.len() < self.most;
        if more {
            self.slots.push(T::default());
        }
        more
    }
}

pub struct Keys {
    pub keys: HashMap<String, [u8; 32]>,
    /// Keys that are good for one browser only.
    pub claimed: HashMap<String, String>,
    pub policy: String,
}

impl Keyring for Keys {
    fn key(&self, _role: Role, key_id: &str) -> Option<[u8; 32]> {
        self.keys.get(key_id).copied()
    }
    fn key_of(&self, role: Role, key_id: &str, browser_id: &str) -> Option<[u8; 32]> {
        let others = self.claimed.get(key_id).is_some_and(|by| by != browser_id);
        self.key(role, key_id).filter(|_| !others)
    }
    fn token_matches(&self, token: &str) -> bool {
        token == TOKEN
    }
    fn policy(&self) -> &str {
        self.policy.lines().next().unwrap_or("{}")
    }
    // A second line is for browsers only.
    fn policy_for_browsers(&self) -> &str {
        self.policy.lines().last().unwrap_or("{}")
    }
}

pub type TestHub = Hub<Growing<Connection>, Growing<Pending>, Keys>;

/// What one frame led to, by name.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Did {
    Forwarded(ConnId),
    Absorbed,
    Refused(Fault),
    Notice(NoticeKind),
    Host,
    Stale,
}

pub struct World {
    pub hub: TestHub,
    pub now: u64,
    pub inbox: HashMap<ConnId, Vec<String>>,
    pub closed: HashMap<ConnId, (u16, String)>,
    pub events: Vec<Event>,
    gone: HashSet<ConnId>,
}

impl World {
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    pub fn with(config: Config) -> Self {
        Self::sized(config, 4096, 16384)
    }

    pub fn sized(config: Config, conns: usize, calls: usize) -> Self {
        let keys = Keys {
            keys: HashMap::from([(KEY_ID.to_owned(), KEY)]),
            claimed: HashMap::new(),
            policy: r#"{"paused":false}"#.to_owned(),
        };
        let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
        Self {
            hub: Hub::new(config, &secrets, keys, Growing::new(conns), Growing::new(calls)),
            now: 1_000,
            inbox: HashMap::new(),
            closed: HashMap::new(),
            events: Vec::new(),
            gone: HashSet::new(),
        }
    }

    pub fn at(&self) -> Instant {
        Instant::from_millis(self.now)
    }

    // ---- peers

    pub fn open(&mut self, peer: Peer<'_>) -> ConnId {
        let conn = self.hub.open(&peer, self.at()).unwrap();
        self.drain();
        conn
    }

    /// A TCP peer of our own user, with no hello yet.
    pub fn tcp(&mut self) -> ConnId {
        self.open(tcp_peer(Trust::SameUser))
    }

    pub fn unix(&mut self) -> ConnId {
        self.open(unix_peer())
    }

    /// A v1 client that said hello.
    pub fn client(&mut self) -> ConnId {
        let conn = self.tcp();
        assert_eq!(self.send(conn, json!({"type":"hello","role":"client","name":"test"})), Did::Absorbed);
        conn
    }

    /// A v1 extension that said hello.
    pub fn extension(&mut self) -> ConnId {
        let conn = self.tcp();
        assert_eq!(
            self.send(conn, json!({"type":"hello","role":"extension","name":"chrome"})),
            Did::Absorbed
        );
        conn
    }

    /// A v1 extension with an id of its own.
    pub fn browser(&mut self, id: &str) -> ConnId {
        let conn = self.tcp();
        let hello = json!({"type":"hello","role":"extension","name":"chrome","browser_id":id});
        assert_eq!(self.send(conn, hello), Did::Absorbed);
        conn
    }

    /// A protocol-2 client on the Unix socket, and its `hello_ack`.
    pub fn agent(&mut self) -> (ConnId, Value) {
        let conn = self.unix();
        assert_eq!(
            self.send(conn, json!({"type":"hello","role":"client","name":"agent","protocol":2})),
            Did::Absorbed
        );
        let ack = self.one(conn);
        (conn, ack)
    }

    pub fn control(&mut self) -> ConnId {
        let conn = self.unix();
        let hello = json!({"type":"hello","role":"control","name":"cli","protocol":2});
        assert_eq!(self.send(conn, hello), Did::Absorbed);
        self.take(conn);
        conn
    }

    /// A paired extension that went through the whole proof.
    pub fn proven(&mut self, browser_id: &str) -> ConnId {
        let conn = self.open(Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) });
        self.prove(conn, browser_id);
        let ack = self.one(conn);
        assert_eq!(ack["type"], "hello_ack", "{ack}");
        conn
    }

    /// Hello and proof of a paired extension.
    pub fn prove(&mut self, conn: ConnId, browser_id: &str) {
        let nonce = self.fresh_nonce(conn);
        let hello = json!({"type":"hello","role":"extension","name":"chrome","protocol":2,"browser_id":browser_id,
            "key_id":KEY_ID,"nonce":b64(&nonce),"version":"1.0","build":"abc","methods":["click","navigate"]});
        assert_eq!(self.send(conn, hello), Did::Absorbed);
        let challenge = self.one(conn);
        let proof = Proof::of("extension", browser_id, &nonce, &challenge, ORIGIN);
        assert_eq!(challenge["proof"], proof.server(&KEY), "the daemon proves itself first");
        self.send(conn, proof.confirm(&KEY));
    }

    pub fn fresh_nonce(&self, conn: ConnId) -> [u8; 32] {
        let mut nonce = [9; 32];
        nonce[..2].copy_from_slice(&conn.slot().to_le_bytes());
        nonce[2..6].copy_from_slice(&conn.epoch().to_le_bytes());
        nonce
    }

    // ---- inputs

    pub fn send(&mut self, conn: ConnId, frame: Value) -> Did {
        self.send_text(conn, &frame.to_string())
    }

    pub fn send_text(&mut self, conn: ConnId, frame: &str) -> Did {
        self.send_bytes(conn, frame.as_bytes())
    }

    pub fn send_bytes(&mut self, conn: ConnId, frame: &[u8]) -> Did {
        let did = match self.hub.inspect(conn, frame, self.at()) {
            Inspected::Request(request) => match self.hub.forward(request, self.at()) {
                Ok(forward) => self.write(&forward),
                Err(fault) => Did::Refused(fault),
            },
            Inspected::Forward(forward) => self.write(&forward),
            Inspected::Host(request) => {
                self.hub.refuse(request, Code::Unsupported, "not in this test", false);
                Did::Host
            }
            Inspected::Notice(notice) => {
                assert_eq!((notice.conn, notice.frame), (conn, frame));
                Did::Notice(notice.kind)
            }
            Inspected::Absorbed => Did::Absorbed,
            Inspected::Refused(fault) => Did::Refused(fault),
            Inspected::Stale => Did::Stale,
        };
        self.drain();
        did
    }

    pub fn write(&mut self, forward: &Forward<'_>) -> Did {
        let bytes = forward.parts().concat();
        assert_eq!(bytes.len(), forward.len());
        self.deliver(forward.to(), bytes);
        Did::Forwarded(forward.to())
    }

    /// A client asks; returns the hub's id in the envelope that reached `browser`.
    pub fn ask(&mut self, client: ConnId, id: &str, browser: ConnId) -> String {
        let did = self.send(client, json!({"id":id,"method":"click","params":{"n":id}}));
        assert_eq!(did, Did::Forwarded(browser), "{:?}", self.inbox.get(&client));
        self.one(browser)["id"].as_str().unwrap().to_owned()
    }

    pub fn answer(&mut self, browser: ConnId, wire_id: &str, result: Value) -> Did {
        self.send(browser, json!({"id":wire_id,"success":true,"result":result}))
    }

    pub fn close(&mut self, conn: ConnId) {
        self.hub.close(conn, self.at());
        self.gone.insert(conn);
        self.drain();
    }

    /// Lets time pass, waking whenever the hub wants to be woken.
    pub fn advance(&mut self, ms: u64) {
        let end = self.now + ms;
        while let Some((due, _)) = self.hub.poll_timeout().filter(|(due, _)| due.as_millis() <= end) {
            assert!(due.as_millis() > self.now, "woken for the past");
            self.now = due.as_millis();
            self.hub.handle_timeout(self.at());
            self.drain();
        }
        self.now = end;
        self.hub.handle_timeout(self.at());
        self.drain();
    }

    pub fn drain(&mut self) {
        while let Some(output) = self.hub.poll_output() {
            match output {
                Output::Send { to, message } => {
                    let mut bytes = Vec::new();
                    message.each(|piece| bytes.extend_from_slice(piece));
                    assert_eq!(bytes.len(), message.len());
                    self.deliver(to, bytes);
                }
                Output::Close { conn, code, reason } => {
                    assert!(!self.gone.contains(&conn), "closed twice, or after the host closed it");
                    assert!(reason.len() <= 123);
                    self.closed.insert(conn, (code.0, reason.to_owned()));
                    self.gone.insert(conn);
                }
                Output::Event(event) => self.events.push(event),
            }
        }
        if let Some((due, wake)) = self.hub.poll_timeout() {
            assert_ne!(wake, Wake::Output);
            assert!(due.as_millis() + 8 > self.now, "drained, yet due in the past");
        }
    }

    fn deliver(&mut self, to: ConnId, bytes: Vec<u8>) {
        assert!(!self.gone.contains(&to), "sent to a closed connection");
        let text = String::from_utf8(bytes).unwrap();
        if let Err(why) = serde_json::from_str::<Value>(&text) {
            // serde_json gives up one level before the hub does.
            assert!(why.to_string().starts_with("recursion limit"), "{why}: {text}");
        }
        self.inbox.entry(to).or_default().push(text);
    }

    // ---- what peers got

    pub fn texts(&mut self, conn: ConnId) -> Vec<String> {
        self.inbox.remove(&conn).unwrap_or_default()
    }

    pub fn take(&mut self, conn: ConnId) -> Vec<Value> {
        self.texts(conn).iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// The only message that came since the last look.
    #[track_caller]
    pub fn one(&mut self, conn: ConnId) -> Value {
        let mut all = self.take(conn);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    #[track_caller]
    pub fn nothing(&mut self, conn: ConnId) {
        let all = self.texts(conn);
        assert!(all.is_empty(), "{all:?}");
    }

    #[track_caller]
    pub fn error(&mut self, conn: ConnId, id: &str, text: &str, code: &str) {
        assert_eq!(self.one(conn), json!({"id":id,"success":false,"error":text,"code":code}));
    }

    #[track_caller]
    pub fn late_error(&mut self, conn: ConnId, id: &str, text: &str, code: &str) {
        let want = json!({"id":id,"success":false,"error":text,"code":code,"maybe_executed":true});
        assert_eq!(self.one(conn), want);
    }

    #[track_caller]
    pub fn denied(&mut self, conn: ConnId, text: &str, code: &str, close: u16) {
        assert_eq!(self.one(conn), json!({"type":"error","error":text,"code":code}));
        assert_eq!(self.closed.get(&conn).map(|it| it.0), Some(close));
    }

    #[track_caller]
    pub fn closed_with(&self, conn: ConnId, code: u16) {
        assert_eq!(self.closed.get(&conn).map(|it| it.0), Some(code));
    }

    pub fn is_open(&self, conn: ConnId) -> bool {
        self.hub.connection(conn).is_some()
    }

    /// Whether this client's ping is answered.
    pub fn pings(&mut self, conn: ConnId) -> bool {
        self.take(conn);
        self.send(conn, json!({"id":"p","method":"ping"})) == Did::Absorbed
            && self.one(conn) == json!({"id":"p","success":true,"result":{"pong":true}})
    }
}

pub fn tcp_peer(trust: Trust) -> Peer<'static> {
    Peer { door: Door::WebSocket, trust, origin: None, approved: false, address: ADDRESS }
}

pub fn unix_peer() -> Peer<'static> {
    Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" }
}

pub fn b64(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// The two proofs of one handshake, made the way an extension makes them.
pub struct Proof {
    transcript: Vec<u8>,
    challenge: String,
}

impl Proof {
    pub fn of(role: &str, browser_id: &str, nonce: &[u8; 32], challenge: &Value, origin: &str) -> Self {
        Self::at(role, browser_id, nonce, challenge, origin, ADDRESS)
    }

    pub fn at(
        role: &str,
        browser_id: &str,
        nonce: &[u8; 32],
        challenge: &Value,
        origin: &str,
        address: &str,
    ) -> Self {
        assert_eq!(
            (&challenge["type"], &challenge["alg"]),
            (&json!("pair_challenge"), &json!("HMAC-SHA256"))
        );
        let text = challenge["challenge"].as_str().unwrap().to_owned();
        let theirs = Base64UrlUnpadded::decode_vec(&text).unwrap();
        let fields: [&[u8]; 8] = [
            b"bridged-proof-v2",
            role.as_bytes(),
            KEY_ID.as_bytes(),
            browser_id.as_bytes(),
            nonce,
            &theirs,
            address.as_bytes(),
            origin.as_bytes(),
        ];
        let mut transcript = Vec::new();
        for field in fields {
            transcript.extend_from_slice(&u32::try_from(field.len()).unwrap().to_be_bytes());
            transcript.extend_from_slice(field);
        }
        Self { transcript, challenge: text }
    }

    pub fn server(&self, key: &[u8]) -> String {
        self.sign(key, b'S')
    }

    pub fn client(&self, key: &[u8]) -> String {
        self.sign(key, b'C')
    }

    pub fn confirm(&self, key: &[u8]) -> Value {
        json!({"type":"pair_confirm","challenge":self.challenge,"signature":self.client(key)})
    }

    fn sign(&self, key: &[u8], direction: u8) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(&[direction]);
        mac.update(&self.transcript);
        b64(&mac.finalize().into_bytes())
    }
}
