//! Messages that are none, or say two things at once: the same error over WebSocket and over the Unix socket, and no browser
//! ever hears of it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::calm::Calm;
use support::extension::{Recorder, done};
use support::{Daemon, Home, Peer};

/// What `frame` is answered at both sockets, each on a connection of its own that goes on afterwards.
#[track_caller]
fn both(daemon: &Daemon, frame: &str) -> Value {
    let mut client = daemon.client();
    client.send_text(frame);
    let said = client.next().unwrap_or_else(|| panic!("closed by {frame:.80}"));
    assert_eq!(client.call("ping", json!({}))["success"], true, "{frame:.80}");
    let mut lines = daemon.lines();
    assert_eq!(lines.ask(&json!({"id": "hello", "method": "ping"}))["success"], true);
    lines.send_text(frame);
    let again = lines.next().unwrap_or_else(|| panic!("closed by {frame:.80}"));
    assert_eq!(said, again, "{frame:.80}");
    assert_eq!(lines.ask(&json!({"id": "2", "method": "ping"}))["success"], true);
    said
}

/// It is refused with this text and an empty id.
#[track_caller]
fn refused(daemon: &Daemon, frame: &str, text: &str) {
    let said = both(daemon, frame);
    assert_eq!((&said["id"], &said["success"]), (&json!(""), &json!(false)), "{frame:.80}: {said}");
    assert_eq!((&said["error"], &said["code"]), (&json!(text), &json!("INVALID_REQUEST")), "{frame:.80}");
}

/// An extension that is asked nothing, for as long as its own ping is answered by the next message that it gets.
fn browser(daemon: &Daemon) -> Peer {
    let hello = json!({"type": "hello", "role": "extension", "name": "fake"});
    let mut browser = Peer::open(daemon.port, None, &hello).unwrap();
    assert_eq!(browser.call("ping", json!({}))["success"], true);
    browser
}

/// T57, T59, T60, T61, T62, T63, T65, T66, T68.
#[test]
fn what_is_no_request_is_answered_and_goes_nowhere() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let mut browser = browser(&daemon);
    let invalid = "invalid message";
    for (frame, text) in [
        ("nonsense", invalid),
        ("{", invalid),
        (r#"["a",null,null,null,null,"ping"]"#, invalid),
        (r#""ping""#, invalid),
        ("1", invalid),
        ("\u{feff}{\"id\":\"1\",\"method\":\"list_tabs\"}", invalid),
        (r#"{"id":"1","method":"list_tabs"} x"#, invalid),
        (r#"{"id":"1","method":"list_tabs"}{"id":"2","method":"list_tabs"}"#, invalid),
        (r#"{"id":"1","id":"2","method":"list_tabs"}"#, "invalid message: duplicate field"),
        (r#"{"id":"1","method":"ping","method":"list_tabs"}"#, "invalid message: duplicate field"),
        (
            r#"{"id":"1","method":"navigate","params":{"url":"https://a.example","url":"https://b.example"}}"#,
            "invalid message: duplicate field",
        ),
        (r#"{"\u0069d":"k","method":"list_tabs"}"#, "invalid message: escaped key"),
        (
            r#"{"id":"1","method":"navigate","params":{"url":"https://a.example","u\u0072l":"https://b.example"}}"#,
            "invalid message: escaped key",
        ),
        (r#"{"id":"\ud800","method":"list_tabs"}"#, "invalid message: lone surrogate"),
        (r#"{"id":"1","method":"list_tabs","params":{"a":["\ud800"]}}"#, "invalid message: lone surrogate"),
        (r#"{"id":7,"method":"list_tabs"}"#, "invalid id"),
        (r#"{"id":{},"method":"list_tabs"}"#, "invalid id"),
        (r#"{"id":null,"method":"list_tabs"}"#, "missing id"),
        (r#"{"id":"","method":"list_tabs"}"#, "missing id"),
        (r#"{"method":"list_tabs"}"#, "missing id"),
    ] {
        refused(&daemon, frame, text);
    }
    let id = |length: usize| json!({"id": "i".repeat(length), "method": "ping"}).to_string();
    assert_eq!(both(&daemon, &id(256))["success"], true);
    refused(&daemon, &id(257), "invalid id");
    assert_eq!(browser.call("ping", json!({}))["success"], true, "and was asked nothing");
    drop(browser);
    calm.again(&daemon, None);
}

/// T57: ten of them end a connection.
#[test]
fn the_tenth_broken_message_ends_its_connection_and_no_other() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let mut calm_one = daemon.client();
    let mut client = daemon.client();
    let mut lines = daemon.lines();
    lines.ask(&json!({"id": "1", "method": "ping"}));
    for _ in 0..10 {
        client.send_text("{");
        assert_eq!(client.next().unwrap()["error"], "invalid message");
        lines.send_text("{");
        assert_eq!(lines.next().unwrap()["error"], "invalid message");
    }
    assert_eq!(client.close_code(), Some(1008));
    assert!(lines.next().is_none());
    assert_eq!(calm_one.call("ping", json!({}))["success"], true);
    drop((calm_one, client, lines));
    calm.again(&daemon, None);
}

/// T58: depth, wherever it is, from either side. The reader does not recurse, so no stack is at stake.
#[test]
fn nesting_without_end_is_refused_on_both_sides() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let mut browser = browser(&daemon);
    for depth in [127, 1_000_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        for frame in [
            format!(r#"{{"id":"1","method":"click","params":{{"x":{text}}}}}"#),
            format!(r#"{{"id":"1","method":"click","x":[{text}]}}"#),
            format!(r#"{{"id":"1","method":"click","x":{}"#, "[".repeat(depth + 2)),
        ] {
            refused(&daemon, &frame, "invalid message: too deep");
        }
    }
    assert_eq!(browser.call("ping", json!({}))["success"], true, "and was asked nothing");
    // From the other side, as bytes: no JSON library of this test could write it.
    let mut client = daemon.client();
    for depth in [128, 1_000_000] {
        client.send(&json!({"id": "1", "method": "click"}));
        let asked = browser.next().unwrap();
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        browser.send_text(&format!(r#"{{"id":{},"success":true,"result":{open}{close}}}"#, asked["id"]));
        assert_eq!(browser.next().unwrap()["error"], "invalid message: too deep");
        let said = client.next().unwrap();
        assert_eq!((&said["id"], &said["code"]), (&json!("1"), &json!("INVALID_RESPONSE")));
    }
    drop((client, browser));
    calm.again(&daemon, None);
}

/// T69: what the hub does not know is not passed on, and whose call it is, it says itself.
#[test]
fn unknown_fields_and_a_claimed_owner_go_no_further() {
    let home = Home::new();
    let daemon = home.serve();
    let recorder = Recorder::new(&daemon, |_| done(json!({})));
    let hello = json!({"type": "hello", "role": "client", "name": "x", "client_id": "mine"});
    let mut client = Peer::open(daemon.port, None, &hello).unwrap();
    client.send_text(
        r#"{"id":"1","method":"click","params":{},"client_id":"victim","class":"agent","owner":"victim","__proto__":{"a":1},"jsonrpc":"2.0"}"#,
    );
    assert_eq!(client.next().unwrap()["success"], true);
    let asked = recorder.only("click");
    assert_eq!((&asked["client_id"], &asked["class"]), (&json!("mine"), &json!("person")));
    let mut keys: Vec<&String> = asked.as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(keys, ["class", "client_id", "id", "method", "params", "timeout_ms"]);
}
