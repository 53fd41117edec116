//! The end: nothing new, everything answered, everyone closed (T115).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

#[test]
fn shutdown_answers_every_call_and_closes_everyone_with_1001() {
    let mut w = World::new();
    let (a, b) = (w.proven("b-1"), w.proven("b-2"));
    let clients: Vec<_> = (0..5).map(|_| w.client()).collect();
    for client in &clients {
        for n in 0..10 {
            let browser = if n % 2 == 0 { "b-1" } else { "b-2" };
            w.send(*client, json!({"id":n.to_string(),"method":"click","params":{"browser_id":browser}}));
        }
    }
    let greeting = w.tcp();
    w.take(a);
    w.take(b);
    w.hub.shutdown(w.at());
    w.drain();
    for client in clients {
        let answers = w.take(client);
        assert_eq!(answers.len(), 10);
        assert!(answers.iter().all(|it| it["error"] == "shutting down" && it["code"] == "SHUTTING_DOWN"));
        assert!(answers.iter().all(|it| it["maybe_executed"] == true));
        w.closed_with(client, 1001);
    }
    for conn in [a, b, greeting] {
        w.closed_with(conn, 1001);
    }
    assert_eq!((w.hub.in_flight(), w.hub.connections().count()), (0, 0));
    assert_eq!(w.hub.poll_timeout(), None);
    assert_eq!(w.hub.open(&tcp_peer(Trust::SameUser), w.at()), Err(Full));
}

#[test]
fn held_calls_are_answered_too_and_did_not_run() {
    let mut w = World::new();
    w.proven("b-1");
    let client = w.client();
    let frame = br#"{"id":"1","method":"click"}"#;
    let Inspected::Request(request) = w.hub.inspect(client, frame, w.at()) else { panic!() };
    let ticket = w.hub.hold(request, w.at()).unwrap();
    w.hub.shutdown(w.at());
    w.drain();
    w.error(client, "1", "shutting down", "SHUTTING_DOWN");
    w.closed_with(client, 1001);
    assert!(!w.hub.is_held(&ticket));
}

#[test]
fn while_draining_nothing_new_is_accepted_and_answers_still_come() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    w.hub.drain();
    w.drain();
    w.send(client, json!({"id":"2","method":"click"}));
    w.error(client, "2", "shutting down", "SHUTTING_DOWN");
    assert!(w.pings(client));
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Forwarded(client));
    assert_eq!(w.hub.open(&tcp_peer(Trust::SameUser), w.at()), Err(Full));
    w.hub.shutdown(w.at());
    w.drain();
    w.closed_with(client, 1001);
}

#[test]
fn a_second_shutdown_is_nothing() {
    let mut w = World::new();
    w.client();
    w.hub.shutdown(w.at());
    w.drain();
    w.hub.shutdown(w.at());
    w.drain();
    assert_eq!(w.closed.len(), 1);
}
