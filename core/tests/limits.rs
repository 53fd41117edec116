//! Limits answer: they never hang, and never drop in silence (T57, T112, T113).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

fn config(change: impl FnOnce(&mut Limits)) -> Config {
    let mut limits = Limits::default();
    change(&mut limits);
    Config { limits, ..Config::default() }
}

#[test]
fn at_1024_in_flight_a_client_is_answered_overloaded() {
    let mut w = World::new();
    let browser = w.extension();
    let (client, other) = (w.client(), w.client());
    let wires: Vec<_> = (0..1024).map(|n| w.ask(client, &n.to_string(), browser)).collect();
    w.send(client, json!({"id":"more","method":"click"}));
    w.error(client, "more", "busy: too many calls in flight", "OVERLOADED");
    w.ask(other, "1", browser);
    w.answer(browser, &wires[500], json!(1));
    w.take(client);
    w.ask(client, "more", browser);
    assert!(w.pings(client));
}

#[test]
fn at_8192_in_flight_in_all_everyone_is() {
    let mut w = World::with(config(|it| it.in_flight = 100));
    let browser = w.extension();
    let (a, b) = (w.client(), w.client());
    for n in 0..100 {
        w.ask(a, &n.to_string(), browser);
    }
    w.send(b, json!({"id":"1","method":"click"}));
    w.error(b, "1", "busy: too many calls in flight", "OVERLOADED");
}

#[test]
fn without_a_free_slot_calls_and_connections_are_refused() {
    let mut w = World::sized(Config::default(), 3, 1);
    let browser = w.extension();
    let (a, b) = (w.client(), w.client());
    assert_eq!(w.hub.open(&tcp_peer(Trust::SameUser), w.at()), Err(Full));
    let wire = w.ask(a, "1", browser);
    w.send(b, json!({"id":"1","method":"click"}));
    w.error(b, "1", "busy: too many calls in flight", "OVERLOADED");
    w.answer(browser, &wire, json!(1));
    w.take(a);
    w.ask(b, "1", browser);
    w.close(a);
    w.client();
}

#[test]
fn a_frame_too_large_is_answered() {
    let mut w = World::with(config(|it| (it.client_bytes, it.extension_bytes) = (1_000, 2_000)));
    let browser = w.proven("b-1");
    let client = w.client();
    let big = "x".repeat(1_500);
    assert_eq!(
        w.send(client, json!({"id":"1","method":"click","params":{"x":big}})),
        Did::Refused(Fault::TooLarge)
    );
    w.error(client, "", "message too large", "TOO_LARGE");
    let wire = w.ask(client, "1", browser);
    assert_eq!(w.answer(browser, &wire, json!(big)), Did::Forwarded(client));
    w.take(client);
    let wire = w.ask(client, "1", browser);
    assert_eq!(w.answer(browser, &wire, json!("x".repeat(3_000))), Did::Refused(Fault::TooLarge));
    assert_eq!(w.one(browser)["code"], "TOO_LARGE");
}

/// T57.
#[test]
fn ten_protocol_errors_end_a_connection() {
    let mut w = World::new();
    let client = w.client();
    for _ in 0..9 {
        w.send_text(client, "{");
        w.error(client, "", "invalid message", "INVALID_REQUEST");
    }
    assert!(w.pings(client));
    w.send_text(client, "{");
    w.error(client, "", "invalid message", "INVALID_REQUEST");
    w.closed_with(client, 1008);
}

#[test]
fn refused_calls_are_no_protocol_errors() {
    let mut w = World::new();
    let client = w.client();
    for n in 0..50 {
        w.send(client, json!({"id":n.to_string(),"method":"click"}));
        w.error(client, &n.to_string(), "no extension connected", "NO_EXTENSION");
        w.send(client, json!({"id":n.to_string(),"method":"shutdown"}));
        w.take(client);
    }
    assert!(w.is_open(client));
}

#[test]
fn connections_over_the_limit_are_refused_at_their_hello() {
    let mut w = World::with(config(|it| it.connections = 2));
    let (a, _) = (w.client(), w.client());
    let conn = w.tcp();
    w.send(conn, json!({"type":"hello","role":"client"}));
    w.denied(conn, "too many connections", "OVERLOADED", 4003);
    w.close(a);
    w.client();
}

#[test]
fn a_slow_browsers_clients_are_not_read_and_others_are() {
    let mut w = World::new();
    let (slow, quick) = (w.browser("slow"), w.browser("quick"));
    let (a, b, idle) = (w.client(), w.client(), w.client());
    for (client, id) in [(a, "slow"), (b, "quick")] {
        w.send(client, json!({"id":"1","method":"click","params":{"browser_id":id}}));
    }
    w.hub.congested(slow, Congestion::Slow);
    let reads = |w: &World| [a, b, idle, slow, quick].map(|it| w.hub.wants_read(it));
    assert_eq!(reads(&w), [false, true, true, true, true]);
    // What was read already still goes through.
    assert_eq!(w.send(a, json!({"id":"2","method":"click"})), Did::Forwarded(slow));
    w.hub.congested(slow, Congestion::Full);
    w.send(a, json!({"id":"3","method":"click"}));
    w.error(a, "3", "busy: the browser does not keep up", "OVERLOADED");
    w.hub.congested(slow, Congestion::Clear);
    assert_eq!(reads(&w), [true; 5]);
}

#[test]
fn a_browser_that_comes_back_is_not_congested_any_more() {
    let mut w = World::new();
    let browser = w.browser("b");
    let client = w.client();
    w.ask(client, "1", browser);
    w.hub.congested(browser, Congestion::Full);
    w.close(browser);
    assert!(w.hub.wants_read(client), "or it would never hear that the browser is gone");
    w.browser("b");
    assert!(w.hub.wants_read(client));
}

#[test]
fn the_seventeenth_browser_is_refused_and_one_that_left_gives_way() {
    let mut w = World::new();
    let browsers: Vec<_> = (0..16).map(|n| w.browser(&format!("b-{n}"))).collect();
    let conn = w.tcp();
    w.send(conn, json!({"type":"hello","role":"extension","browser_id":"b-16"}));
    w.denied(conn, "too many connections", "OVERLOADED", 4003);
    w.close(browsers[3]);
    w.browser("b-16");
    assert_eq!(w.hub.browsers().count(), 16);
}

#[test]
fn a_violation_that_the_door_saw_closes_with_its_code() {
    for (violation, code) in [
        (Violation::Binary, 1003),
        (Violation::NotUtf8, 1007),
        (Violation::TooBig, 1009),
        (Violation::Protocol, 1002),
        (Violation::Unfinished, 1008),
        (Violation::Slow, 4008),
        (Violation::Silent, 1001),
        (Violation::Revoked, 4003),
    ] {
        let mut w = World::new();
        let browser = w.proven("b-1");
        let client = w.client();
        let wire = w.ask(client, "1", browser);
        w.hub.reject(client, violation, w.at());
        w.drain();
        w.closed_with(client, code);
        w.nothing(client);
        assert_eq!(w.one(browser), json!({"type":"cancel","id":wire}));
    }
}

#[test]
fn output_that_was_not_drained_refuses_the_next_frame_and_loses_nothing() {
    let mut w = World::new();
    let client = w.client();
    let ping = br#"{"id":"1","method":"ping"}"#;
    assert!(matches!(w.hub.inspect(client, ping, w.at()), Inspected::Absorbed));
    assert!(matches!(w.hub.inspect(client, ping, w.at()), Inspected::Refused(Fault::Undrained)));
    assert_eq!(w.hub.poll_timeout(), Some((Instant::from_millis(0), Wake::Output)));
    w.drain();
    assert_eq!(w.one(client)["result"], json!({"pong":true}));
}
