//! Every limit of the hub at another value than its default: the last that is allowed passes, the first that is not has
//! its answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::{Value, json};

fn limited(change: impl FnOnce(&mut Limits)) -> World {
    let mut limits = Limits::default();
    change(&mut limits);
    World::with(Config { limits, ..Config::default() })
}

/// So many containers within each other, every third an object.
fn nested(levels: usize) -> String {
    let open = |n: usize| if n % 3 == 2 { "{\"k\":" } else { "[" };
    let close = |n: usize| if n % 3 == 2 { "}" } else { "]" };
    let (front, back): (String, String) =
        ((0..levels).map(open).collect(), (0..levels).rev().map(close).collect());
    format!("{front}1{back}")
}

/// T58, at other depths: in params, in a field that nobody knows, in an answer, and in a hello.
#[test]
fn a_message_nests_as_deep_as_was_set() {
    for depth in [4, 63, 64, 65, 127, 128, 129, 200, 1024] {
        let mut w = limited(|it| it.depth = depth);
        let (browser, client) = (w.extension(), w.client());
        let levels = usize::from(depth);
        let places = |levels: usize| {
            [
                format!(r#"{{"id":"1","method":"m","params":{{"x":{}}}}}"#, nested(levels - 2)),
                format!(r#"{{"id":"1","method":"m","params":{}}}"#, nested_object(levels - 1)),
                format!(r#"{{"id":"1","method":"m","x":{}}}"#, nested(levels - 1)),
            ]
        };
        for frame in places(levels) {
            assert_eq!(w.send_text(client, &frame), Did::Forwarded(browser), "{depth}: {frame}");
            let envelope = w.texts(browser).remove(0);
            // Its envelope has the params where they were; what nobody knows was left out.
            let wire = &envelope[7..19];
            let answer = format!(r#"{{"id":"{wire}","success":true,"result":{}}}"#, nested(levels - 1));
            assert_eq!(w.send_text(browser, &answer), Did::Forwarded(client));
            assert!(w.texts(client)[0].ends_with(&format!("{}}}", nested(levels - 1))));
        }
        for frame in places(levels + 1) {
            assert_eq!(w.send_text(client, &frame), Did::Refused(Fault::TooDeep), "{depth}: {frame}");
            w.error(client, "", "invalid message: too deep", "INVALID_REQUEST");
        }
        let wire = w.ask(client, "1", browser);
        let answer = format!(r#"{{"id":"{wire}","success":true,"result":{}}}"#, nested(levels));
        assert_eq!(w.send_text(browser, &answer), Did::Refused(Fault::TooDeep));
        w.error(browser, "", "invalid message: too deep", "INVALID_REQUEST");
        w.late_error(client, "1", "invalid response from extension", "INVALID_RESPONSE");
        let stranger = w.tcp();
        w.send_text(stranger, &format!(r#"{{"type":"hello","role":"client","x":{}}}"#, nested(levels)));
        w.denied(stranger, "invalid hello: too deep", "INVALID_HELLO", 1008);
        assert!(w.pings(client));
    }
}

/// An object so many levels deep.
fn nested_object(levels: usize) -> String {
    format!("{{\"k\":{}}}", nested(levels - 1))
}

/// Wherever in the depth it stands.
#[test]
fn a_bracket_of_the_wrong_kind_is_seen_at_every_level() {
    let mut w = limited(|it| (it.depth, it.protocol_errors) = (210, 255));
    let (browser, client) = (w.extension(), w.client());
    let good = nested(200);
    for at in (good.len() / 2..good.len()).filter(|at| matches!(good.as_bytes()[*at], b']' | b'}')) {
        let mut bad = good.clone().into_bytes();
        bad[at] = if bad[at] == b']' { b'}' } else { b']' };
        let bad = String::from_utf8(bad).unwrap();
        let frame = format!(r#"{{"id":"1","method":"m","params":{{"x":{bad}}}}}"#);
        assert_eq!(w.send_text(client, &frame), Did::Refused(Fault::NotJson), "{bad}");
        w.error(client, "", "invalid message", "INVALID_REQUEST");
        let wire = w.ask(client, "1", browser);
        let answer = format!(r#"{{"id":"{wire}","success":true,"result":{bad}}}"#);
        assert_eq!(w.send_text(browser, &answer), Did::Refused(Fault::NotJson), "{bad}");
        w.error(browser, "", "invalid message", "INVALID_REQUEST");
        w.late_error(client, "1", "invalid response from extension", "INVALID_RESPONSE");
    }
    assert!(w.pings(client));
}

/// T65, at other lengths; a slot has room for 256 bytes, so that is the most.
#[test]
fn an_id_is_as_long_as_was_set() {
    for (set, longest) in [(16, 16), (40, 40), (256, 256), (1_000, 256)] {
        let mut w = limited(|it| it.id_bytes = set);
        let (browser, client) = (w.extension(), w.client());
        let id = "i".repeat(longest);
        let wire = w.ask(client, &id, browser);
        assert_eq!(w.answer(browser, &wire, json!(1)), Did::Forwarded(client));
        assert_eq!(w.one(client)["id"], json!(id));
        let longer = "i".repeat(longest + 1);
        assert_eq!(w.send(client, json!({"id":longer,"method":"m"})), Did::Refused(Fault::InvalidId));
        w.error(client, "", "invalid id", "INVALID_REQUEST");
        assert!(w.pings(client));
    }
}

#[test]
fn the_hello_ack_says_what_was_set() {
    let mut w = limited(|it| {
        (it.client_bytes, it.id_bytes, it.depth, it.in_flight_client) = (5_000, 32, 9, 7);
    });
    let (_, ack) = w.agent();
    assert_eq!(
        ack["limits"],
        json!({"frame_bytes":5_000,"id_bytes":32,"depth":9,"in_flight":7,"timeout_ms":600_000})
    );
    let mut w = limited(|it| (it.id_bytes, it.depth) = (u16::MAX, u16::MAX));
    let (_, ack) = w.agent();
    assert_eq!((&ack["limits"]["id_bytes"], &ack["limits"]["depth"]), (&json!(256), &json!(1024)));
}

#[test]
fn a_hello_is_as_large_as_was_set() {
    let hello = |bytes: usize| {
        let empty = json!({"type":"hello","role":"client","x":""}).to_string().len();
        json!({"type":"hello","role":"client","x":"y".repeat(bytes - empty)})
    };
    let mut w = limited(|it| it.hello_bytes = 2_000);
    let conn = w.tcp();
    assert_eq!(w.send(conn, hello(2_000)), Did::Absorbed);
    assert!(w.pings(conn));
    let conn = w.tcp();
    w.send(conn, hello(2_001));
    w.closed_with(conn, 1009);
    assert_eq!(w.one(conn)["type"], "error");
}

#[test]
fn a_client_has_as_many_calls_in_flight_as_was_set() {
    let mut w = limited(|it| it.in_flight_client = 3);
    let (browser, client, other) = (w.extension(), w.client(), w.client());
    let wires: Vec<_> = (0..3).map(|n| w.ask(client, &n.to_string(), browser)).collect();
    w.send(client, json!({"id":"more","method":"click"}));
    w.error(client, "more", "busy: too many calls in flight", "OVERLOADED");
    w.ask(other, "1", browser);
    w.answer(browser, &wires[1], json!(1));
    w.take(client);
    w.ask(client, "more", browser);
}

#[test]
fn as_many_protocol_errors_as_were_set_end_a_connection() {
    let mut w = limited(|it| it.protocol_errors = 3);
    let client = w.client();
    for _ in 0..2 {
        w.send_text(client, "{");
        w.error(client, "", "invalid message", "INVALID_REQUEST");
        assert!(w.pings(client));
    }
    w.send_text(client, "{");
    w.error(client, "", "invalid message", "INVALID_REQUEST");
    w.closed_with(client, 1008);
}

/// T36: the oldest of its kind goes, and no other kind is touched.
#[test]
fn as_many_wait_for_their_hello_as_was_set() {
    let mut w = limited(|it| {
        (it.greeting_strangers, it.greeting_same_user, it.greeting_local) = (2, 3, 4);
    });
    let kinds: [(Peer<'_>, usize); 3] =
        [(tcp_peer(Trust::Unknown), 2), (tcp_peer(Trust::SameUser), 3), (unix_peer(), 4)];
    let waiting: Vec<Vec<ConnId>> =
        kinds.iter().map(|(peer, most)| (0..*most).map(|_| w.open(*peer)).collect()).collect();
    assert!(waiting.iter().flatten().all(|conn| w.is_open(*conn)));
    for (kind, (peer, _)) in kinds.into_iter().enumerate() {
        let newest = w.open(peer);
        w.closed_with(waiting[kind][0], 1008);
        assert!(waiting[kind][1..].iter().all(|conn| w.is_open(*conn)) && w.is_open(newest));
    }
    assert_eq!(w.closed.len(), 3);
}

/// T105.
#[test]
fn as_many_takeovers_as_were_set_and_the_newcomer_is_refused() {
    let mut w = limited(|it| it.takeovers = 2);
    let mut browser = w.browser("b-1");
    for _ in 0..2 {
        let newer = w.browser("b-1");
        w.closed_with(browser, 4001);
        browser = newer;
    }
    let late = w.tcp();
    w.send(late, json!({"type":"hello","role":"extension","name":"chrome","browser_id":"b-1"}));
    let text = "too many takeovers of this browser_id: two browsers use it; retry in 10 s";
    let said: Value = w.one(late);
    assert_eq!((&said["error"], &said["code"]), (&json!(text), &json!("OVERLOADED")));
    w.closed_with(late, 4003);
    assert!(w.is_open(browser));
}

/// T30.
#[test]
fn a_hello_and_a_proof_take_as_long_as_was_set() {
    let deadlines = Deadlines { hello_ms: 700, proof_ms: 300, ..Deadlines::default() };
    let mut w = World::with(Config { deadlines, ..Config::default() });
    let conn = w.tcp();
    w.advance(699);
    assert!(w.is_open(conn));
    w.advance(1);
    w.closed_with(conn, 1008);
    let conn = w.open(Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) });
    let nonce = w.fresh_nonce(conn);
    w.send(
        conn,
        json!({"type":"hello","role":"extension","protocol":2,"browser_id":"b","key_id":KEY_ID,"nonce":b64(&nonce)}),
    );
    w.advance(299);
    assert!(w.is_open(conn));
    w.advance(1);
    w.closed_with(conn, 1008);
}
