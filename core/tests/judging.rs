//! What a host can do with a request: refuse, answer, hold, release, replace; and the control role.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

/// A client's request as the host sees it.
fn request<'f>(w: &mut World, conn: ConnId, frame: &'f [u8]) -> Request<'f> {
    match w.hub.inspect(conn, frame, w.at()) {
        Inspected::Request(request) | Inspected::Host(request) => request,
        other => panic!("{other:?}"),
    }
}

const CLICK: &[u8] =
    br##"{"id":"1","method":"click","params":{"target":"#go","n":[1,2]},"timeout_ms":5000,"once":"o"}"##;

#[test]
fn a_request_shows_all_that_a_policy_needs() {
    let mut w = World::new();
    w.extension();
    let client = w.client();
    let request = request(&mut w, client, CLICK);
    assert_eq!((request.id(), request.method(), request.timeout_ms()), ("1", "click", 5_000));
    assert_eq!(request.params(), br##"{"target":"#go","n":[1,2]}"##);
    assert_eq!(request.param("target"), Some(&br##""#go""##[..]));
    assert_eq!(request.param("n"), Some(&b"[1,2]"[..]));
    assert_eq!(request.param("missing"), None);
    assert_eq!((request.conn(), request.role(), request.class()), (client, Role::Client, Class::Person));
    assert_eq!((request.door(), request.once(), request.browser_id()), (Door::WebSocket, Some("o"), None));
    assert_eq!(Some(request.owner()), w.hub.connection(client).map(|it| it.owner));
}

#[test]
fn a_refused_request_is_answered_and_leaves_nothing() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    w.hub.refuse(it, Code::Paused, "paused by \"user\"\n", false);
    w.drain();
    w.error(client, "1", "paused by \"user\"\n", "PAUSED");
    w.nothing(browser);
    let it = request(&mut w, client, CLICK);
    w.hub.refuse(it, Code::InternalError, &"long ".repeat(1_000), true);
    w.drain();
    let answer = w.one(client);
    assert_eq!(answer["maybe_executed"], true);
    assert!(answer["error"].as_str().unwrap().ends_with('…'));
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn the_host_may_answer_by_itself() {
    let mut w = World::new();
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    let forward = w.hub.answer(it, br#"{"x":1}"#);
    assert_eq!(w.write(&forward), Did::Forwarded(client));
    w.drain();
    assert_eq!(w.one(client), json!({"id":"1","success":true,"result":{"x":1}}));
}

#[test]
fn the_host_may_change_the_params() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let it = request(&mut w, client, CLICK).with_params(br#"{"files":["data"]}"#);
    let forward = w.hub.forward(it, w.at()).unwrap();
    w.write(&forward);
    let envelope = w.one(browser);
    assert_eq!((&envelope["params"], &envelope["method"]), (&json!({"files":["data"]}), &json!("click")));
}

#[test]
fn a_held_request_is_passed_on_later_with_the_time_that_is_left() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    w.drain();
    w.nothing(browser);
    assert_eq!(w.hub.in_flight(), 1);
    w.send(client, json!({"id":"1","method":"click"}));
    w.error(client, "1", "duplicate id", "DUPLICATE_ID");
    w.advance(2_000);
    assert!(w.hub.is_held(&ticket));
    let forward = w.hub.release(ticket, "click", br#"{"target":"x"}"#, Some("o"), w.at()).unwrap();
    w.write(&forward);
    let envelope = w.one(browser);
    assert_eq!((&envelope["timeout_ms"], &envelope["once"]), (&json!(3_000), &json!("o")));
    assert_eq!(envelope["params"], json!({"target":"x"}));
    w.answer(browser, envelope["id"].as_str().unwrap(), json!(1));
    assert_eq!(w.one(client)["result"], 1);
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn a_held_request_fails_without_having_run() {
    let mut w = World::new();
    w.proven("b-1");
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    w.hub.fail(ticket, Code::DeniedByUser, "denied: no confirmation");
    w.drain();
    w.error(client, "1", "denied: no confirmation", "DENIED_BY_USER");
    // By its deadline:
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    w.advance(5_016);
    w.error(client, "1", "timeout: extension did not respond in 5s", "TIMEOUT");
    assert!(!w.hub.is_held(&ticket));
    assert_eq!(w.hub.release(ticket, "click", b"{}", None, w.at()).err(), Some(Fault::Gone));
    // By its client's cancel:
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    w.send(client, json!({"type":"cancel","id":"1"}));
    w.error(client, "1", "cancelled", "CANCELLED");
    assert!(!w.hub.is_held(&ticket));
    w.hub.fail(ticket, Code::Timeout, "too late");
    w.drain();
    w.nothing(client);
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn a_held_request_whose_browser_or_client_left() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    w.close(browser);
    assert!(w.hub.is_held(&ticket), "it was never sent");
    assert_eq!(w.hub.release(ticket, "click", b"{}", None, w.at()).err(), Some(Fault::NoExtension));
    w.drain();
    w.error(client, "1", "no extension connected", "NO_EXTENSION");

    let browser = w.proven("b-1");
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    w.close(client);
    assert!(!w.hub.is_held(&ticket));
    w.nothing(browser);
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn a_held_request_may_be_answered_by_the_host() {
    let mut w = World::new();
    w.proven("b-1");
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    let ticket = w.hub.hold(it, w.at()).unwrap();
    let forward = w.hub.complete(ticket, b"[1]").unwrap();
    w.write(&forward);
    w.drain();
    assert_eq!(w.one(client), json!({"id":"1","success":true,"result":[1]}));
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn control_requests_are_the_hosts_even_without_a_browser() {
    let mut w = World::new();
    let control = w.control();
    let it = request(&mut w, control, br#"{"id":"1","method":"watch"}"#);
    assert_eq!((it.role(), it.class(), it.method()), (Role::Control, Class::Person, "watch"));
    let ticket = w.hub.hold(it, w.at()).unwrap();
    let forward = w.hub.complete(ticket, br#"{"watching":true}"#).unwrap();
    w.write(&forward);
    assert_eq!(w.one(control)["result"], json!({"watching":true}));
    assert!(w.pings(control));
    // It may also ask the browser something.
    let browser = w.extension();
    let it = request(&mut w, control, br#"{"id":"2","method":"list_tabs"}"#);
    let forward = w.hub.forward(it, w.at()).unwrap();
    assert_eq!(w.write(&forward), Did::Forwarded(browser));
}

#[test]
fn control_methods_are_for_no_other_role() {
    let mut w = World::new();
    let browser = w.extension();
    let (agent, _) = w.agent();
    for client in [w.client(), agent] {
        for method in [
            "policy_get",
            "policy_set",
            "pair",
            "pairings",
            "revoke",
            "approve",
            "token_rotate",
            "reset_pairing",
            "audit",
            "watch",
            "shutdown",
        ] {
            w.send(client, json!({"id":"1","method":method}));
            w.error(client, "1", "forbidden: only 'bridged' may do this", "PERMISSION_DENIED");
        }
    }
    w.nothing(browser);
}

#[test]
fn a_request_whose_client_left_before_it_was_judged_goes_nowhere() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    w.close(client);
    assert_eq!(w.hub.forward(it, w.at()).err(), Some(Fault::Gone));
    w.drain();
    w.nothing(browser);
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    w.close(client);
    w.hub.refuse(it, Code::Paused, "paused", false);
    w.drain();
    w.nothing(client);
}

#[test]
fn a_call_has_one_name_from_its_envelope_to_its_answer() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let it = request(&mut w, client, CLICK);
    let forward = w.hub.forward(it, w.at()).unwrap();
    let name = forward.call().unwrap();
    w.write(&forward);
    let wire = w.one(browser)["id"].as_str().unwrap().to_owned();
    let frame = json!({"id":wire,"success":true,"result":1}).to_string();
    let Inspected::Forward(answer) = w.hub.inspect(browser, frame.as_bytes(), w.at()) else { panic!() };
    assert_eq!(answer.call(), Some(name));
    w.write(&answer);
    // Where the hub answers, too; and the next call has another name.
    let it = request(&mut w, client, CLICK);
    let next = w.hub.forward(it, w.at()).unwrap().call();
    assert_ne!(next, Some(name));
    w.hub.close(browser, w.at());
    let mut told = None;
    while let Some(output) = w.hub.poll_output() {
        if let Output::Send { message, .. } = output {
            told = message.call();
        }
    }
    assert_eq!(told, next);
}
