//! Protocol 2: mutual proof, tokens, hello_ack (T38-T46).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::{Value, json};

fn origin_peer() -> Peer<'static> {
    Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) }
}

fn hello(nonce: Value) -> Value {
    json!({"type":"hello","role":"extension","name":"c","protocol":2,"browser_id":"b-1","key_id":KEY_ID,"nonce":nonce})
}

/// A challenged extension, its nonce and the challenge.
fn challenged(w: &mut World) -> (ConnId, [u8; 32], Value) {
    let conn = w.open(origin_peer());
    let nonce = w.fresh_nonce(conn);
    assert_eq!(w.send(conn, hello(json!(b64(&nonce)))), Did::Absorbed);
    let challenge = w.one(conn);
    (conn, nonce, challenge)
}

#[test]
fn daemon_and_extension_prove_themselves_to_each_other() {
    let mut w = World::new();
    let (conn, nonce, challenge) = challenged(&mut w);
    let proof = Proof::of("extension", "b-1", &nonce, &challenge, ORIGIN);
    assert_eq!(challenge["proof"], proof.server(&KEY));
    assert_eq!(w.hub.connection(conn).unwrap().role, None, "nothing is believed before the proof");
    assert_eq!(w.send(conn, proof.confirm(&KEY)), Did::Absorbed);
    let ack = w.one(conn);
    assert_eq!((&ack["type"], &ack["protocol"]), (&json!("hello_ack"), &json!(2)));
    assert_eq!((&ack["browser_id"], &ack["policy"]), (&json!("b-1"), &json!({"paused":false})));
    assert_eq!(ack["server"]["name"], "bridged");
    assert_eq!(ack["limits"]["frame_bytes"], 64 << 20);
    assert!(ack.get("client_id").is_none());
    let browser = w.hub.browsers().next().unwrap();
    assert!(browser.proven && browser.protocol == 2 && browser.key_id == KEY_ID);
}

#[test]
fn what_the_extension_says_of_itself_is_kept() {
    let mut w = World::new();
    w.proven("b-1");
    let browser = w.hub.browsers().next().unwrap();
    assert_eq!((browser.version, browser.build, browser.methods), ("1.0", "abc", 2));
    assert_eq!(browser.fingerprint, methods_fingerprint(["navigate", "click"]));
    assert_ne!(browser.fingerprint, methods_fingerprint(["navigate"]));
}

#[test]
fn no_command_is_sent_before_the_proof() {
    let mut w = World::new();
    let (conn, _, _) = challenged(&mut w);
    let client = w.client();
    w.send(client, json!({"id":"1","method":"set_value","params":{"value":"hunter2"}}));
    w.error(client, "1", "no extension connected", "NO_EXTENSION");
    w.nothing(conn);
}

/// T38, T44.
#[test]
fn a_wrong_proof_fails_alike_wherever_it_differs() {
    for byte in [0, 42] {
        let mut w = World::new();
        let calm = w.client();
        let (conn, nonce, challenge) = challenged(&mut w);
        let mut confirm = Proof::of("extension", "b-1", &nonce, &challenge, ORIGIN).confirm(&KEY);
        let mut signature = confirm["signature"].as_str().unwrap().to_owned().into_bytes();
        signature[byte] = if signature[byte] == b'A' { b'E' } else { b'A' };
        confirm["signature"] = json!(String::from_utf8(signature).unwrap());
        assert_eq!(w.send(conn, confirm), Did::Refused(Fault::AuthFailed));
        w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
        assert!(w.pings(calm), "nothing else is affected");
    }
}

#[test]
fn anything_but_a_proof_fails_the_proof() {
    for frame in [
        json!({"id":"1","method":"ping"}),
        json!({"type":"pair_confirm"}),
        json!({"type":"pair_confirm","challenge":"x","signature":"y"}),
        json!([]),
    ] {
        let mut w = World::new();
        let (conn, _, _) = challenged(&mut w);
        w.send(conn, frame);
        w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
    }
}

#[test]
fn the_time_for_the_proof_is_five_seconds() {
    let mut w = World::new();
    let conn = w.open(origin_peer());
    w.advance(4_000);
    w.send(conn, hello(json!(b64(&[5; 32]))));
    w.take(conn);
    w.advance(4_999);
    assert!(w.is_open(conn));
    w.advance(1);
    w.closed_with(conn, 1008);
}

/// T39.
#[test]
fn a_recorded_proof_cannot_be_replayed() {
    let mut w = World::new();
    let (conn, nonce, challenge) = challenged(&mut w);
    let recorded = Proof::of("extension", "b-1", &nonce, &challenge, ORIGIN).confirm(&KEY);
    w.send(conn, recorded.clone());
    assert_eq!(w.one(conn)["type"], "hello_ack");
    let (again, _, fresh) = challenged(&mut w);
    assert_ne!(fresh["challenge"], challenge["challenge"]);
    w.send(again, recorded);
    w.denied(again, "auth failed", "AUTH_FAILED", 4003);
}

/// T40.
#[test]
fn the_servers_own_proof_is_none_of_the_clients() {
    let mut w = World::new();
    let (conn, _, challenge) = challenged(&mut w);
    let reflected =
        json!({"type":"pair_confirm","challenge":challenge["challenge"],"signature":challenge["proof"]});
    w.send(conn, reflected);
    w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
}

/// T41, T41b.
#[test]
fn a_proof_relayed_from_another_address_or_origin_fails() {
    for (address, origin) in [("[::1]:9225", ORIGIN), ("127.0.0.1:9226", ORIGIN), (ADDRESS, "")] {
        let mut w = World::new();
        let (conn, nonce, challenge) = challenged(&mut w);
        let proof = Proof::at("extension", "b-1", &nonce, &challenge, origin, address);
        assert_ne!(challenge["proof"], proof.server(&KEY), "the extension notices first");
        w.send(conn, proof.confirm(&KEY));
        w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
    }
}

#[test]
fn the_proof_binds_role_and_browser() {
    for (role, browser_id) in [("client", "b-1"), ("extension", "b-2")] {
        let mut w = World::new();
        let (conn, nonce, challenge) = challenged(&mut w);
        w.send(conn, Proof::of(role, browser_id, &nonce, &challenge, ORIGIN).confirm(&KEY));
        w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
    }
}

/// T43.
#[test]
fn a_nonce_must_be_there_whole_and_new() {
    let used = b64(&[3; 32]);
    for nonce in
        [json!(null), json!("c2hvcnQ"), json!("!".repeat(43)), json!(7), json!(b64(&[3; 33])), json!(used)]
    {
        let mut w = World::new();
        let first = w.open(origin_peer());
        w.send(first, hello(json!(used)));
        let conn = w.open(origin_peer());
        w.send(conn, hello(nonce));
        w.denied(conn, "invalid hello: nonce", "INVALID_HELLO", 1008);
    }
}

#[test]
fn an_unpaired_extension_is_told_how_to_pair() {
    let text = "pairing required: run 'bridged pair'";
    let mut w = World::new();
    let conn = w.open(origin_peer());
    w.send(conn, json!({"type":"hello","role":"extension","protocol":2,"browser_id":"b-1"}));
    w.denied(conn, text, "NOT_PAIRED", 4003);
    // A key that was reset is no key.
    w.hub.keyring_mut().keys.clear();
    let conn = w.open(origin_peer());
    w.send(conn, hello(json!(b64(&[4; 32]))));
    w.denied(conn, text, "NOT_PAIRED", 4003);
}

#[test]
fn a_key_revoked_between_challenge_and_proof_is_refused() {
    let mut w = World::new();
    let (conn, nonce, challenge) = challenged(&mut w);
    w.hub.keyring_mut().keys.clear();
    w.send(conn, Proof::of("extension", "b-1", &nonce, &challenge, ORIGIN).confirm(&KEY));
    w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
}

/// T45.
#[test]
fn after_a_pairing_reset_old_sessions_are_closed_with_4003() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    w.ask(client, "1", browser);
    w.hub.reject(browser, Violation::Revoked, w.at());
    w.drain();
    w.closed_with(browser, 4003);
    w.late_error(client, "1", "extension disconnected", "EXTENSION_DISCONNECTED");
}

#[test]
fn a_client_on_tcp_shows_its_token_or_proves() {
    let mut w = World::new();
    let conn = w.tcp();
    w.send(conn, json!({"type":"hello","role":"client","name":"x","protocol":2}));
    assert_eq!(w.one(conn)["code"], "UNAUTHORIZED");
    w.closed_with(conn, 4003);

    let conn = w.open(tcp_peer(Trust::Unknown));
    w.send(conn, json!({"type":"hello","role":"client","name":"x","protocol":2,"token":TOKEN}));
    assert_eq!(w.one(conn)["type"], "hello_ack");

    let conn = w.open(tcp_peer(Trust::Unknown));
    let nonce = [6; 32];
    w.send(conn, json!({"type":"hello","role":"client","protocol":2,"key_id":KEY_ID,"nonce":b64(&nonce)}));
    let challenge = w.one(conn);
    w.send(conn, Proof::of("client", "", &nonce, &challenge, "").confirm(&KEY));
    let ack = w.one(conn);
    assert_eq!(ack["type"], "hello_ack");
    assert!(ack["client_id"].is_string() && ack["resume"].is_string());

    let conn = w.open(tcp_peer(Trust::SameUser));
    w.send(conn, json!({"type":"hello","role":"client","protocol":2,"token":"wrong"}));
    w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
}

#[test]
fn a_token_does_not_make_an_extension() {
    let mut w = World::new();
    let conn = w.open(origin_peer());
    w.send(conn, json!({"type":"hello","role":"extension","protocol":2,"token":TOKEN}));
    w.denied(conn, "pairing required: run 'bridged pair'", "NOT_PAIRED", 4003);
}

/// T38.
#[test]
fn no_number_of_failures_locks_the_user_out() {
    let mut w = World::new();
    for _ in 0..200 {
        let conn = w.tcp();
        w.send(conn, json!({"type":"hello","role":"client","token":"wrong"}));
    }
    let client = w.client();
    assert!(w.pings(client));
    w.proven("b-1");
}

#[test]
fn the_same_seed_and_inputs_repeat_byte_for_byte() {
    let run = || {
        let mut w = World::new();
        let (_, _, challenge) = challenged(&mut w);
        let (_, ack) = w.agent();
        (challenge.to_string(), ack.to_string())
    };
    assert_eq!(run(), run());
}

/// T46: a key that one browser has taken is no key for another, neither at its hello nor at its proof.
#[test]
fn a_key_that_another_browser_has_taken_is_none() {
    let mut w = World::new();
    w.hub.keyring_mut().claimed.insert(KEY_ID.to_owned(), "b-other".to_owned());
    let conn = w.open(origin_peer());
    let nonce = w.fresh_nonce(conn);
    w.send(conn, hello(json!(b64(&nonce))));
    w.denied(conn, "pairing required: run 'bridged pair'", "NOT_PAIRED", 4003);

    w.hub.keyring_mut().claimed.clear();
    let (conn, nonce, challenge) = challenged(&mut w);
    w.hub.keyring_mut().claimed.insert(KEY_ID.to_owned(), "b-other".to_owned());
    w.send(conn, Proof::of("extension", "b-1", &nonce, &challenge, ORIGIN).confirm(&KEY));
    w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
    w.hub.keyring_mut().claimed.insert(KEY_ID.to_owned(), "b-1".to_owned());
    w.proven("b-1");
}
