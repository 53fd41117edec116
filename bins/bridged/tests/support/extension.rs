//! An extension that proves itself, and one that keeps what it was asked.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Daemon, Done, Home, Peer, within};

pub const OURS: &str = "chrome-extension://fdembngelboffhfimppaoglbmaphnhfm";

/// An extension of the base protocol that keeps every request as the hub sent it.
pub struct Recorder {
    pub asked: Arc<Mutex<Vec<Value>>>,
}

impl Recorder {
    /// `answer` makes the reply, without its id; none leaves the call without one.
    pub fn new(daemon: &Daemon, answer: impl Fn(&Value) -> Option<Value> + Send + 'static) -> Recorder {
        Recorder::of(daemon, &json!({"type": "hello", "role": "extension", "name": "fake"}), answer)
    }

    pub fn of(
        daemon: &Daemon,
        hello: &Value,
        answer: impl Fn(&Value) -> Option<Value> + Send + 'static,
    ) -> Recorder {
        let mut peer = Peer::open(daemon.port, None, hello).unwrap();
        assert_eq!(peer.call("ping", json!({}))["result"]["pong"], true);
        daemon.hangs_up_on(&peer);
        let recorder = Recorder { asked: Arc::default() };
        let asked = recorder.asked.clone();
        std::thread::spawn(move || {
            while let Some(request) = peer.next() {
                asked.lock().unwrap().push(request.clone());
                if request["id"].is_null() {
                    continue;
                }
                if let Some(mut reply) = answer(&request) {
                    reply["id"] = request["id"].clone();
                    peer.send(&reply);
                }
            }
        });
        recorder
    }

    /// Everything asked so far by this method.
    pub fn of_method(&self, method: &str) -> Vec<Value> {
        self.asked.lock().unwrap().iter().filter(|asked| asked["method"] == method).cloned().collect()
    }

    /// The one request of this method, once it is there.
    #[track_caller]
    pub fn only(&self, method: &str) -> Value {
        within(&format!("{method} reaches the browser"), || !self.of_method(method).is_empty());
        let mut all = self.of_method(method);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }
}

/// An answer.
pub fn done(result: Value) -> Option<Value> {
    Some(json!({"success": true, "result": result}))
}

/// A failure.
pub fn failed(code: &str, text: &str) -> Option<Value> {
    Some(json!({"success": false, "error": text, "code": code}))
}

/// Unpacks a stand-in for the extension and returns what is in its key file.
pub fn install(home: &Home, daemon: &Daemon) -> Value {
    let dist = home.path("dist");
    std::fs::create_dir_all(&dist).unwrap();
    std::fs::write(dist.join("manifest.json"), r#"{"key":"ours"}"#).unwrap();
    let mut command = home.program("bridged");
    command.args(["extension", "install", "unpacked"]).env("BRIDGED_EXTENSION_DIST", &dist);
    Done::of(&mut command).ok();
    let pairing: Value =
        serde_json::from_slice(&std::fs::read(home.path("unpacked/pairing.json")).unwrap()).unwrap();
    assert_eq!(pairing["url"], format!("ws://127.0.0.1:{}", daemon.port));
    pairing
}

/// The proof as an extension does it, written from its description and not from the daemon's code.
pub fn prove(port: u16, pairing: &Value) -> Result<(Peer, Value), Value> {
    prove_as(port, pairing, "b-test")
}

/// The same for a browser of this id.
pub fn prove_as(port: u16, pairing: &Value, browser_id: &str) -> Result<(Peer, Value), Value> {
    let key = Base64UrlUnpadded::decode_vec(pairing["key"].as_str().unwrap()).unwrap();
    let key_id = pairing["key_id"].as_str().unwrap();
    // A nonce that was seen before is refused, as it must be.
    static NONCES: AtomicU8 = AtomicU8::new(1);
    let ours = [NONCES.fetch_add(1, Ordering::Relaxed); 32];
    let hello = json!({
        "type": "hello", "role": "extension", "name": "test", "protocol": 2, "browser_id": browser_id,
        "key_id": key_id, "nonce": Base64UrlUnpadded::encode_string(&ours), "version": "0.0.1"
    });
    let mut peer = Peer::open(port, Some(OURS), &hello).unwrap();
    let challenge = peer.next().unwrap();
    if challenge["type"] != "pair_challenge" {
        return Err(challenge);
    }
    let theirs = Base64UrlUnpadded::decode_vec(challenge["challenge"].as_str().unwrap()).unwrap();
    let address = format!("127.0.0.1:{port}");
    let fields: [&[u8]; 8] = [
        b"bridged-proof-v2",
        b"extension",
        key_id.as_bytes(),
        browser_id.as_bytes(),
        &ours,
        &theirs,
        address.as_bytes(),
        OURS.as_bytes(),
    ];
    let sign = |side: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(side);
        for field in fields {
            mac.update(&(field.len() as u32).to_be_bytes());
            mac.update(field);
        }
        Base64UrlUnpadded::encode_string(&mac.finalize().into_bytes())
    };
    let genuine = challenge["proof"] == sign(b"S").as_str();
    peer.send(&json!({"type": "pair_confirm", "challenge": challenge["challenge"], "signature": sign(b"C")}));
    let ack = peer.next().unwrap();
    if ack["type"] == "hello_ack" {
        assert!(genuine, "the daemon's own proof");
        return Ok((peer, ack));
    }
    Err(ack)
}
