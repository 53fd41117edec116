//! Cancel: by the client, by its loss, by the deadline; and who hears of it (T109, T110).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

#[test]
fn a_client_cancels_its_own_call() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    assert_eq!(w.send(client, json!({"type":"cancel","id":"1"})), Did::Absorbed);
    w.late_error(client, "1", "cancelled", "CANCELLED");
    assert_eq!(w.one(browser), json!({"type":"cancel","id":wire}));
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Refused(Fault::Stray));
    w.nothing(client);
    // The id is free again.
    w.ask(client, "1", browser);
}

#[test]
fn a_cancel_of_anothers_call_or_of_none_does_nothing() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let (client, other) = (w.client(), w.client());
    let wire = w.ask(client, "1", browser);
    for id in ["1", "2", &wire] {
        assert_eq!(w.send(other, json!({"type":"cancel","id":id})), Did::Absorbed);
    }
    w.nothing(other);
    w.nothing(client);
    w.nothing(browser);
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Forwarded(client));
}

#[test]
fn a_legacy_browser_hears_nothing_of_a_cancel() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.ask(client, "1", browser);
    w.send(client, json!({"type":"cancel","id":"1"}));
    w.late_error(client, "1", "cancelled", "CANCELLED");
    w.nothing(browser);
}

#[test]
fn a_client_that_vanishes_cancels_all_it_asked() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let (client, other) = (w.client(), w.client());
    let mut wires: Vec<_> = (0..5).map(|n| w.ask(client, &n.to_string(), browser)).collect();
    w.ask(other, "1", browser);
    w.close(client);
    let mut cancelled: Vec<_> =
        w.take(browser).iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    wires.sort();
    cancelled.sort();
    assert_eq!(wires, cancelled);
    assert_eq!(w.hub.in_flight(), 1);
}

#[test]
fn a_deadline_cancels_at_the_browser_with_the_calls_own_id() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    w.advance(30_016);
    w.late_error(client, "1", "timeout: extension did not respond in 30s", "TIMEOUT");
    assert_eq!(w.one(browser), json!({"type":"cancel","id":wire}));
}

#[test]
fn a_half_closed_client_still_gets_its_answers_and_then_a_close() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.unix();
    w.send(client, json!({"id":"1","method":"list_tabs"}));
    w.send(client, json!({"id":"2","method":"list_tabs"}));
    let wires: Vec<_> = w.take(browser).iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
    w.hub.half_close(client, w.at());
    w.drain();
    assert!(w.is_open(client));
    w.answer(browser, &wires[1], json!(2));
    assert!(w.is_open(client));
    w.advance(30_016);
    let got = w.take(client);
    assert_eq!((&got[0]["result"], &got[1]["code"]), (&json!(2), &json!("TIMEOUT")));
    w.closed_with(client, 1000);
}

#[test]
fn a_half_closed_client_with_nothing_pending_is_closed_at_once() {
    let mut w = World::new();
    let client = w.client();
    w.hub.half_close(client, w.at());
    w.drain();
    w.closed_with(client, 1000);
    let (greeting, browser) = (w.unix(), w.extension());
    for conn in [greeting, browser] {
        w.hub.half_close(conn, w.at());
        w.drain();
        w.closed_with(conn, 1000);
    }
}

#[test]
fn closing_twice_or_with_a_stale_handle_is_nothing() {
    let mut w = World::new();
    let client = w.client();
    w.close(client);
    let next = w.client();
    assert_eq!(next.slot(), client.slot());
    w.hub.close(client, w.at());
    w.drain();
    assert!(w.is_open(next));
    assert_eq!(w.send(client, json!({"id":"1","method":"ping"})), Did::Stale);
}
