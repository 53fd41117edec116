//! Who serves a browser, and what a newcomer may do (T104, T105, T106, T107).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

#[test]
fn a_proven_browser_that_comes_back_takes_over() {
    let mut w = World::new();
    let old = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", old);
    let new = w.proven("b-1");
    w.closed_with(old, 4001);
    w.late_error(client, "1", "extension replaced by a new connection", "EXTENSION_REPLACED");
    assert_eq!(w.answer(old, &wire, json!(1)), Did::Stale);
    assert_eq!(w.answer(new, &wire, json!(1)), Did::Refused(Fault::Stray));
    w.nothing(client);
    w.ask(client, "2", new);
    assert!(w.events.contains(&Event::Replaced { old, new }));
}

#[test]
fn an_old_extension_replaces_an_old_one_as_in_v1() {
    let mut w = World::new();
    let old = w.extension();
    let new = w.extension();
    w.closed_with(old, 4001);
    let client = w.client();
    w.ask(client, "1", new);
}

#[test]
fn the_unproven_never_displace_the_proven() {
    let mut w = World::new();
    let proven = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", proven);
    for id in [json!(null), json!("b-1"), json!("b-2")] {
        let conn = w.tcp();
        w.send(conn, json!({"type":"hello","role":"extension","browser_id":id}));
        w.denied(conn, "a paired extension is connected; this one is not paired", "PERMISSION_DENIED", 4003);
    }
    assert_eq!(w.answer(proven, &wire, json!(1)), Did::Forwarded(client));
    // Once it is gone they may come.
    w.close(proven);
    w.extension();
}

#[test]
fn a_proven_one_displaces_an_unproven_one() {
    let mut w = World::new();
    let old = w.browser("b-1");
    let other = w.browser("b-2");
    let new = w.proven("b-1");
    w.closed_with(old, 4001);
    assert!(w.is_open(other), "another browser is another matter");
    let client = w.client();
    w.ask(client, "1", new);
}

#[test]
fn a_wrong_proof_displaces_nobody() {
    let mut w = World::new();
    let proven = w.proven("b-1");
    let conn = w.open(Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) });
    let nonce = w.fresh_nonce(conn);
    w.send(
        conn,
        json!({"type":"hello","role":"extension","protocol":2,"browser_id":"b-1","key_id":KEY_ID,"nonce":b64(&nonce)}),
    );
    let challenge = w.one(conn);
    assert!(w.is_open(proven), "a hello alone displaces nobody either");
    w.send(conn, Proof::of("extension", "b-1", &nonce, &challenge, ORIGIN).confirm(&[0; 32]));
    w.denied(conn, "auth failed", "AUTH_FAILED", 4003);
    assert!(w.is_open(proven));
}

#[test]
fn two_browsers_with_one_id_do_not_throw_each_other_out_for_ever() {
    let mut w = World::new();
    let mut last = w.proven("b-1");
    let client = w.client();
    for n in 0..10 {
        w.ask(client, &n.to_string(), last);
        let next = w.proven("b-1");
        w.closed_with(last, 4001);
        assert_eq!(w.one(client)["code"], "EXTENSION_REPLACED");
        last = next;
        w.advance(100);
    }
    let wire = w.ask(client, "x", last);
    let conn = w.open(Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) });
    w.prove(conn, "b-1");
    let text = "too many takeovers of this browser_id: two browsers use it; retry in 10 s";
    w.denied(conn, text, "OVERLOADED", 4003);
    assert_eq!(w.answer(last, &wire, json!(1)), Did::Forwarded(client));
    w.advance(10_000);
    w.proven("b-1");
    w.closed_with(last, 4001);
}

#[test]
fn browsers_without_an_id_are_exempt_from_the_limit() {
    let mut w = World::new();
    for _ in 0..100 {
        w.extension();
    }
    assert_eq!(w.hub.browsers().count(), 1);
    assert_eq!(w.hub.counters().takeovers, 99);
}

#[test]
fn a_takeover_between_call_and_answer_loses_and_doubles_nothing() {
    let mut w = World::new();
    let mut browser = w.extension();
    let client = w.client();
    for n in 0..1_000 {
        let wire = w.ask(client, "x", browser);
        if n % 3 == 0 {
            w.answer(browser, &wire, json!(n));
        }
        browser = w.extension();
        if n % 3 == 1 {
            w.answer(browser, &wire, json!(n));
        }
        let got = w.one(client);
        assert_eq!(got["success"], n % 3 == 0);
    }
}

#[test]
fn the_newcomers_own_calls_do_not_mix_with_the_old_ones() {
    let mut w = World::new();
    let old = w.proven("b-1");
    let client = w.client();
    let before = w.ask(client, "1", old);
    let new = w.proven("b-1");
    w.take(client);
    let after = w.ask(client, "1", new);
    assert_ne!(before, after, "the same slot, another generation");
}
