//! The old handshake: hello without a protocol number (T30-T37, T47, T49, section 3.5).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

/// T47.
#[test]
fn a_hello_of_the_same_user_is_accepted_without_a_word() {
    let mut w = World::new();
    let (browser, client) = (w.extension(), w.client());
    w.nothing(browser);
    w.nothing(client);
    assert!(w.pings(client));
    assert!(w.pings(browser));
}

/// T30.
#[test]
fn without_a_hello_the_connection_is_closed_at_five_seconds() {
    let mut w = World::new();
    let conns = [w.tcp(), w.unix(), w.open(tcp_peer(Trust::Unknown))];
    w.advance(4_999);
    assert!(conns.iter().all(|it| w.is_open(*it)));
    w.advance(1);
    for conn in conns {
        w.closed_with(conn, 1008);
        w.nothing(conn);
    }
}

/// T32, T34.
#[test]
fn what_is_no_hello_is_refused_by_its_own_text() {
    for frame in [
        r#"{"id":"1","method":"ping"}"#,
        r#"{"type":"hi","role":"client"}"#,
        r#"{"role":"client"}"#,
        r#"{"type":["hello"],"role":"client"}"#,
        r#"{"type":"pair_confirm"}"#,
        "{}",
    ] {
        let mut w = World::new();
        let conn = w.tcp();
        assert_eq!(w.send_text(conn, frame), Did::Refused(Fault::Hello), "{frame}");
        w.denied(conn, "expected hello message", "INVALID_HELLO", 1008);
        assert_eq!(w.send_text(conn, r#"{"type":"hello","role":"client"}"#), Did::Stale);
    }
}

/// T31.
#[test]
fn a_binary_first_frame_gets_the_same_text_and_its_own_close_code() {
    let mut w = World::new();
    let conn = w.tcp();
    w.hub.reject(conn, Violation::Binary, w.at());
    w.drain();
    w.denied(conn, "expected hello message", "INVALID_HELLO", 1003);
}

/// T33.
#[test]
fn a_hello_must_declare_one_of_the_roles() {
    for role in ["\"admin\"", "7", "[\"client\"]", "null", "\"Client\"", "\"\""] {
        let mut w = World::new();
        let conn = w.tcp();
        w.send_text(conn, &format!(r#"{{"type":"hello","role":{role}}}"#));
        w.denied(conn, "hello must declare role", "INVALID_HELLO", 1008);
    }
    let mut w = World::new();
    let conn = w.tcp();
    w.send_text(conn, r#"{"type":"hello"}"#);
    w.denied(conn, "hello must declare role", "INVALID_HELLO", 1008);
}

#[test]
fn a_broken_hello_is_an_invalid_hello() {
    for (frame, why) in [
        ("nonsense", "not a JSON object"),
        ("[\"hello\"]", "not a JSON object"),
        (r#"{"type":"hello","role":"client"} x"#, "not a JSON object"),
        (r#"{"type":"hello","type":"hello","role":"client"}"#, "duplicate field"),
        (r#"{"type":"hello","r\u006fle":"client"}"#, "escaped key"),
        (r#"{"type":"hello","role":"client","name":"\ud800"}"#, "lone surrogate"),
        (r#"{"type":"hello","role":"client","name":7}"#, "name"),
        (r#"{"type":"hello","role":"client","protocol":3}"#, "protocol"),
        (r#"{"type":"hello","role":"extension","browser_id":"a\nb"}"#, "browser_id"),
        (r#"{"type":"hello","role":"client","client_id":7}"#, "client_id"),
    ] {
        let mut w = World::new();
        let conn = w.tcp();
        w.send_text(conn, frame);
        w.denied(conn, &format!("invalid hello: {why}"), "INVALID_HELLO", 1008);
    }
}

#[test]
fn a_hello_over_the_limit_before_anyone_is_known_is_too_big() {
    let mut w = World::new();
    let conn = w.tcp();
    w.send(conn, json!({"type":"hello","role":"client","name":"x".repeat(17_000)}));
    w.denied(conn, "invalid hello: too large", "INVALID_HELLO", 1009);
}

/// T35.
#[test]
fn a_second_hello_changes_nothing() {
    let mut w = World::new();
    let client = w.client();
    let did = w.send(client, json!({"type":"hello","role":"extension"}));
    assert_eq!(did, Did::Refused(Fault::AlreadyRegistered));
    w.error(client, "", "protocol: already registered", "INVALID_REQUEST");
    assert_eq!(w.hub.connection(client).unwrap().role, Some(Role::Client));
    let browser = w.extension();
    w.send(browser, json!({"type":"hello","role":"client"}));
    w.error(browser, "", "protocol: already registered", "INVALID_REQUEST");
    assert_eq!(w.hub.connection(browser).unwrap().role, Some(Role::Extension));
}

/// T37.
#[test]
fn a_long_or_deceptive_name_is_cut_and_cleaned() {
    let mut w = World::new();
    let conn = w.tcp();
    w.send(
        conn,
        json!({"type":"hello","role":"client","name":format!("a\n\u{1b}[31m\u{202e}\u{61c}\u{e0041}{}", "é".repeat(5_000))}),
    );
    let name = w.hub.connection(conn).unwrap().name.to_owned();
    assert!(name.len() <= 64);
    assert!(name.starts_with("a??[31m???éé"), "{name}");
}

/// T49.
#[test]
fn an_unknown_user_needs_a_token_or_a_proof() {
    for role in ["client", "extension"] {
        let mut w = World::new();
        let conn = w.open(tcp_peer(Trust::Unknown));
        w.send(conn, json!({"type":"hello","role":role}));
        let text = "auth required: use the Unix socket, or put the token of 'bridged token' into the hello";
        w.denied(conn, text, "UNAUTHORIZED", 4003);

        let conn = w.open(tcp_peer(Trust::Unknown));
        assert_eq!(w.send(conn, json!({"type":"hello","role":role,"token":TOKEN})), Did::Absorbed);
        w.nothing(conn);
        assert!(w.pings(conn));
    }
}

#[test]
fn a_wrong_token_is_refused_even_where_none_was_needed() {
    for peer in [tcp_peer(Trust::Unknown), tcp_peer(Trust::SameUser), unix_peer()] {
        let mut w = World::new();
        let conn = w.open(peer);
        let did = w.send(conn, json!({"type":"hello","role":"client","token":"guess"}));
        assert_eq!(did, Did::Refused(Fault::AuthFailed));
        w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
        assert!(w.events.contains(&Event::AuthFailed { conn }));
    }
}

/// T5.
#[test]
fn an_extension_is_never_a_client() {
    for protocol in [json!(null), json!(2)] {
        let mut w = World::with(Config { compat: Compat::Open, ..Config::default() });
        let conn = w.open(Peer { origin: Some(ORIGIN), approved: true, ..tcp_peer(Trust::SameUser) });
        w.send(conn, json!({"type":"hello","role":"client","protocol":protocol,"token":TOKEN}));
        w.denied(conn, "an extension is never a client", "PERMISSION_DENIED", 4003);
    }
}

#[test]
fn an_old_extension_needs_approval_once() {
    let text = "pairing required: run 'bridged approve' with this extension's id";
    let hello = json!({"type":"hello","role":"extension"});
    let peer = Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) };
    let mut w = World::new();
    let conn = w.open(peer);
    w.send(conn, hello.clone());
    w.denied(conn, text, "NOT_PAIRED", 4003);
    let conn = w.open(Peer { approved: true, ..peer });
    assert_eq!(w.send(conn, hello.clone()), Did::Absorbed);
    // In strict mode approval is not enough, and neither is the user.
    let mut w = World::with(Config { compat: Compat::Strict, ..Config::default() });
    let conn = w.open(Peer { approved: true, ..peer });
    w.send(conn, hello.clone());
    w.denied(conn, text, "NOT_PAIRED", 4003);
    let conn = w.tcp();
    w.send(conn, hello.clone());
    assert_eq!(w.one(conn)["code"], "UNAUTHORIZED");
    // The Unix socket has checked its peer already.
    let conn = w.unix();
    assert_eq!(w.send(conn, hello), Did::Absorbed);
}

#[test]
fn on_the_unix_socket_a_request_is_hello_enough() {
    let mut w = World::new();
    let browser = w.extension();
    let conn = w.unix();
    assert_eq!(w.send(conn, json!({"id":"1","method":"list_tabs"})), Did::Forwarded(browser));
    let envelope = w.one(browser);
    assert_eq!(envelope["class"], "person");
    assert!(envelope["client_id"].as_str().unwrap().starts_with("c1-"));
    w.answer(browser, envelope["id"].as_str().unwrap(), json!({"tabs":[]}));
    assert_eq!(w.one(conn), json!({"id":"1","success":true,"result":{"tabs":[]}}));
    // A faulty one is answered as a request, after it.
    let conn = w.unix();
    assert_eq!(w.send(conn, json!({"id":7,"method":"list_tabs"})), Did::Refused(Fault::InvalidId));
    assert!(w.is_open(conn));
}

#[test]
fn role_control_needs_the_unix_socket() {
    let mut w = World::new();
    let conn = w.tcp();
    w.send(conn, json!({"type":"hello","role":"control","token":TOKEN}));
    w.denied(conn, "role control needs the Unix socket", "PERMISSION_DENIED", 4003);
    let conn = w.unix();
    assert_eq!(w.send(conn, json!({"type":"hello","role":"control"})), Did::Absorbed);
    assert_eq!(w.hub.connection(conn).unwrap().role, Some(Role::Control));
}

/// T36.
#[test]
fn strangers_without_a_hello_are_few_and_the_oldest_goes() {
    let mut w = World::new();
    let local = w.unix();
    let first = w.open(tcp_peer(Trust::Unknown));
    let others: Vec<_> = (0..31).map(|_| w.open(tcp_peer(Trust::Unknown))).collect();
    assert!(w.is_open(first));
    let last = w.open(tcp_peer(Trust::Unknown));
    w.closed_with(first, 1008);
    assert!(others.iter().all(|it| w.is_open(*it)) && w.is_open(last) && w.is_open(local));
    let open = |w: &World| w.hub.connections().count();
    for _ in 0..1_000 {
        w.open(tcp_peer(Trust::Unknown));
    }
    assert_eq!(open(&w), 33);
    assert!(w.is_open(local), "the Unix socket has a pool of its own");
}
