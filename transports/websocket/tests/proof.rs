//! The client's half of the proof against the hub's own (T38 to T41).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{
    Config, ConnId, Connection, Door, Hub, Instant, Keyring, Output, Peer, Pending, Role, Secrets, Trust,
};
use bridge_driver::Growing;
use bridge_websocket::proof::{Prover, Unproven};

struct Keys;

impl Keyring for Keys {
    fn key(&self, role: Role, key_id: &str) -> Option<[u8; 32]> {
        (role == Role::Extension && key_id == "k-1").then_some([7; 32])
    }
    fn token_matches(&self, _: &str) -> bool {
        false
    }
}

struct Conversation {
    hub: Hub<Growing<Connection>, Growing<Pending>, Keys>,
    conn: ConnId,
}

const ORIGIN: &str = "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh";

impl Conversation {
    fn open(address: &str) -> Self {
        let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
        let mut hub = Hub::new(Config::default(), &secrets, Keys, Growing::new(64), Growing::new(64));
        let peer = Peer {
            door: Door::WebSocket,
            trust: Trust::Unknown,
            origin: Some(ORIGIN),
            approved: false,
            address,
        };
        let conn = hub.open(&peer, Instant::default()).unwrap();
        Self { hub, conn }
    }

    fn say(&mut self, frame: &str) -> String {
        let _ = self.hub.inspect(self.conn, frame.as_bytes(), Instant::default());
        let mut said = Vec::new();
        while let Some(output) = self.hub.poll_output() {
            if let Output::Send { message, .. } = output {
                message.each(|piece| said.extend_from_slice(piece));
            }
        }
        String::from_utf8(said).unwrap()
    }
}

fn prover() -> Prover {
    Prover {
        role: Role::Extension,
        key_id: "k-1".into(),
        key: [7; 32],
        browser_id: "b-1".into(),
        nonce: [9; 32],
        server: ([127, 0, 0, 1], 9225).into(),
        origin: ORIGIN.into(),
    }
}

fn hello(prover: &Prover) -> String {
    format!(
        r#"{{"type":"hello","role":"extension","name":"t","protocol":2,"browser_id":"{}","key_id":"{}","nonce":"{}"}}"#,
        prover.browser_id,
        prover.key_id,
        prover.nonce()
    )
}

fn field<'a>(frame: &'a str, name: &str) -> &'a str {
    frame.split(&format!(r#""{name}":""#)).nth(1).unwrap_or_default().split('"').next().unwrap_or_default()
}

#[test]
fn both_sides_agree_on_the_transcript() {
    let prover = prover();
    let mut hub = Conversation::open("127.0.0.1:9225");
    let asked = hub.say(&hello(&prover));
    let challenge = field(&asked, "challenge");
    let signature = prover.confirm(challenge, field(&asked, "proof")).unwrap();
    let answer =
        hub.say(&format!(r#"{{"type":"pair_confirm","challenge":"{challenge}","signature":"{signature}"}}"#));
    assert!(answer.contains(r#""type":"hello_ack""#), "{answer}");
}

/// T41.
#[test]
fn a_bridge_at_another_address_or_with_another_key_is_not_believed() {
    let honest = prover();
    // A relay on another port passes on what the real one says.
    let mut elsewhere = Conversation::open("127.0.0.1:9226");
    let asked = elsewhere.say(&hello(&honest));
    assert_eq!(honest.confirm(field(&asked, "challenge"), field(&asked, "proof")), Err(Unproven));
    let mut right = Conversation::open("127.0.0.1:9225");
    let asked = right.say(&hello(&honest));
    let other = Prover { key: [8; 32], ..honest.clone() };
    assert_eq!(other.confirm(field(&asked, "challenge"), field(&asked, "proof")), Err(Unproven));
    // Reflected, cut, or no proof at all.
    for proof in [honest.nonce().as_str(), "", "AAAA", "!"] {
        assert_eq!(honest.confirm(field(&asked, "challenge"), proof), Err(Unproven));
    }
}

#[test]
fn a_wrong_signature_is_refused() {
    let prover = prover();
    let mut hub = Conversation::open("127.0.0.1:9225");
    let asked = hub.say(&hello(&prover));
    let challenge = field(&asked, "challenge");
    // The server's own proof, reflected.
    let proof = field(&asked, "proof");
    let answer =
        hub.say(&format!(r#"{{"type":"pair_confirm","challenge":"{challenge}","signature":"{proof}"}}"#));
    assert!(answer.contains("AUTH_FAILED"), "{answer}");
}
