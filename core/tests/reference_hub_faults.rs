//! What the public reference hub gets wrong, as tests: each of these failed there.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::{Value, json};

#[test]
fn two_clients_with_the_same_id_each_get_their_own_answer() {
    let mut w = World::new();
    let browser = w.extension();
    let (a, b) = (w.client(), w.client());
    for round in 0..100 {
        let (for_a, for_b) = (w.ask(a, "x", browser), w.ask(b, "x", browser));
        assert_ne!(for_a, for_b);
        if round % 2 == 0 {
            w.answer(browser, &for_b, json!("b"));
            w.answer(browser, &for_a, json!("a"));
        } else {
            w.answer(browser, &for_a, json!("a"));
            w.answer(browser, &for_b, json!("b"));
        }
        assert_eq!(w.one(a), json!({"id":"x","success":true,"result":"a"}));
        assert_eq!(w.one(b), json!({"id":"x","success":true,"result":"b"}));
    }
}

#[test]
fn a_takeover_leaves_no_caller_hanging() {
    let mut w = World::new();
    let old = w.extension();
    let client = w.client();
    w.ask(client, "1", old);
    let new = w.extension();
    w.late_error(client, "1", "extension replaced by a new connection", "EXTENSION_REPLACED");
    w.closed_with(old, 4001);
    let wire = w.ask(client, "2", new);
    assert_eq!(w.answer(new, &wire, json!(2)), Did::Forwarded(client));
}

#[test]
fn a_lost_browser_leaves_no_caller_hanging() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.ask(client, "1", browser);
    w.close(browser);
    w.late_error(client, "1", "extension disconnected", "EXTENSION_DISCONNECTED");
    w.send(client, json!({"id":"2","method":"click"}));
    w.error(client, "2", "no extension connected", "NO_EXTENSION");
}

#[test]
fn a_client_cannot_answer_for_the_browser() {
    let mut w = World::new();
    let browser = w.extension();
    let (victim, thief) = (w.client(), w.client());
    let wire = w.ask(victim, "victim", browser);
    for id in ["victim", &wire] {
        let did = w.send(thief, json!({"id":id,"success":true,"result":"forged"}));
        assert_eq!(did, Did::Refused(Fault::MethodRequired));
        w.error(thief, id, "invalid message: method required", "INVALID_REQUEST");
    }
    w.nothing(victim);
    w.answer(browser, &wire, json!("true"));
    assert_eq!(w.one(victim)["result"], "true");
}

#[test]
fn a_response_shaped_frame_of_a_client_touches_nothing_even_with_its_own_pending_id() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    w.send(client, json!({"id":"1","success":true,"result":1}));
    w.error(client, "1", "invalid message: method required", "INVALID_REQUEST");
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Forwarded(client));
}

#[test]
fn a_forged_client_id_in_a_request_changes_nothing() {
    let mut w = World::new();
    let browser = w.extension();
    let (victim, ack) = w.agent();
    let owner = ack["client_id"].as_str().unwrap().to_owned();
    let thief = w.client();
    w.send(thief, json!({"id":"1","method":"close_tab","client_id":owner,"params":{"client_id":owner}}));
    let envelope = w.one(browser);
    assert_ne!(envelope["client_id"].as_str().unwrap(), owner);
    w.send(victim, json!({"id":"1","method":"close_tab"}));
    assert_eq!(w.one(browser)["client_id"].as_str().unwrap(), owner);
}

#[test]
fn a_dead_clients_calls_do_not_stay_until_their_deadline() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    w.close(client);
    assert_eq!(w.hub.in_flight(), 0);
    assert_eq!(w.answer(browser, &wire, Value::Null), Did::Refused(Fault::Stray));
    w.nothing(browser);
}
