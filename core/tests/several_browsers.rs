//! Several browsers at once: which one a call goes to, and that it is never silently another.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

fn ask(w: &mut World, client: ConnId, browser_id: Option<&str>) -> Did {
    match browser_id {
        Some(id) => w.send(client, json!({"id":"1","method":"click","params":{"browser_id":id}})),
        None => w.send(client, json!({"id":"1","method":"click"})),
    }
}

/// Lets the browser answer what it was asked last.
fn settle(w: &mut World, client: ConnId, browser: ConnId) {
    let wire = w.one(browser)["id"].as_str().unwrap().to_owned();
    w.answer(browser, &wire, json!(1));
    w.take(client);
}

#[test]
fn a_client_stays_with_the_browser_of_its_first_call() {
    let mut w = World::new();
    let a = w.browser("a");
    let client = w.client();
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(a));
    settle(&mut w, client, a);
    let b = w.browser("b");
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(a), "the newer one is not this client's");
    settle(&mut w, client, a);
    let other = w.client();
    assert_eq!(ask(&mut w, other, None), Did::Forwarded(b), "a new client gets the one that came last");
}

#[test]
fn naming_another_binds_to_it() {
    let mut w = World::new();
    let (a, b) = (w.browser("a"), w.browser("b"));
    let client = w.client();
    assert_eq!(ask(&mut w, client, Some("a")), Did::Forwarded(a));
    settle(&mut w, client, a);
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(a));
    settle(&mut w, client, a);
    assert_eq!(ask(&mut w, client, Some("b")), Did::Forwarded(b));
    settle(&mut w, client, b);
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(b));
}

#[test]
fn if_its_browser_is_gone_a_client_gets_no_other() {
    let mut w = World::new();
    let a = w.browser("a");
    let client = w.client();
    ask(&mut w, client, None);
    settle(&mut w, client, a);
    w.browser("b");
    w.close(a);
    ask(&mut w, client, None);
    w.error(client, "1", "no extension connected", "NO_EXTENSION");
    let a = w.browser("a");
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(a), "it is back");
}

#[test]
fn an_unknown_browser_is_answered_with_the_list() {
    let mut w = World::new();
    w.browser("a");
    w.browser("b");
    let client = w.client();
    ask(&mut w, client, Some("c"));
    w.error(client, "1", "no such browser: c; connected: a, b", "NO_SUCH_BROWSER");
    let long = "x".repeat(64);
    ask(&mut w, client, Some(&long));
    assert_eq!(w.one(client)["code"], "NO_SUCH_BROWSER");
}

#[test]
fn a_known_browser_that_is_gone_and_any_where_none_is_are_no_extension() {
    let mut w = World::new();
    let client = w.client();
    ask(&mut w, client, Some("a"));
    w.error(client, "1", "no extension connected", "NO_EXTENSION");
    let a = w.browser("a");
    w.browser("b");
    w.close(a);
    ask(&mut w, client, Some("a"));
    w.error(client, "1", "no extension connected", "NO_EXTENSION");
}

#[test]
fn a_refused_call_binds_to_nothing() {
    let mut w = World::new();
    w.browser("a");
    let client = w.client();
    ask(&mut w, client, Some("c"));
    w.take(client);
    let b = w.browser("b");
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(b));
}

#[test]
fn a_browser_id_is_a_plain_string_or_absent() {
    let mut w = World::new();
    let a = w.browser("a");
    let client = w.client();
    for bad in ["7", "[\"a\"]", r#""\u0061""#, "true"] {
        w.send_text(client, &format!(r#"{{"id":"1","method":"click","params":{{"browser_id":{bad}}}}}"#));
        w.error(client, "1", "invalid params: browser_id", "INVALID_PARAMS");
    }
    for absent in ["null", "\"\""] {
        let frame =
            format!(r#"{{"id":"{}","method":"click","params":{{"browser_id":{absent}}}}}"#, absent.len());
        assert_eq!(w.send_text(client, &frame), Did::Forwarded(a));
    }
}

#[test]
fn the_newest_proven_browser_comes_before_a_newer_unproven_one() {
    // An old extension cannot join while a proven one is here; but it can have been here before.
    let mut w = World::new();
    w.browser("old");
    let proven = w.proven("new");
    let client = w.client();
    assert_eq!(ask(&mut w, client, None), Did::Forwarded(proven));
}

#[test]
fn loss_of_one_browser_disturbs_no_call_of_another() {
    let mut w = World::new();
    let (a, b) = (w.browser("a"), w.browser("b"));
    let (x, y) = (w.client(), w.client());
    ask(&mut w, x, Some("a"));
    ask(&mut w, y, Some("b"));
    w.close(a);
    w.late_error(x, "1", "extension disconnected", "EXTENSION_DISCONNECTED");
    w.nothing(y);
    settle(&mut w, y, b);
}
