//! Extensions' frames: answers, the few frames of their own, and faults (T95, T98, T99, T100, T101).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

#[test]
fn an_answer_passes_through_untouched_but_for_its_id() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    for answer in [
        r#"{"id":"ID","success":true,"result":{"a":[1,2,{"b":"\u00e9\"x"}]}}"#,
        r#"{"success":true,"result":{"id":"inner"},"id":"ID"}"#,
        r#" { "success" : false , "error" : "no" , "id" : "ID" , "code" : "STALE_REF" } "#,
        r#"{"id":"ID","success":true}"#,
        r#"{"id":"ID","success":true,"result":null,"error":null,"replayed":true}"#,
        r#"{"type":"response","id":"ID","success":true,"result":1}"#,
    ] {
        let wire = w.ask(client, "mine", browser);
        let did = w.send_text(browser, &answer.replace("ID", &wire));
        assert_eq!(did, Did::Forwarded(client), "{answer}");
        assert_eq!(w.texts(client), [answer.replace("ID", "mine")]);
    }
}

#[test]
fn an_answer_without_success_or_with_both_is_an_invalid_response() {
    for answer in [
        r#"{"id":"ID"}"#,
        r#"{"id":"ID","result":1}"#,
        r#"{"id":"ID","success":1}"#,
        r#"{"id":"ID","success":"true","result":1}"#,
        r#"{"id":"ID","success":null,"result":1}"#,
        r#"{"id":"ID","success":true,"result":1,"error":"x"}"#,
        r#"{"id":"ID","success":false,"result":1,"error":"x"}"#,
        r#"{"id":"ID","success":true,"error":"x"}"#,
    ] {
        let mut w = World::new();
        let browser = w.proven("b-1");
        let client = w.client();
        let wire = w.ask(client, "1", browser);
        assert_eq!(w.send_text(browser, &answer.replace("ID", &wire)), Did::Refused(Fault::InvalidResponse));
        w.late_error(client, "1", "invalid response from extension", "INVALID_RESPONSE");
        w.nothing(browser);
        assert_eq!(w.hub.in_flight(), 0);
    }
}

/// T58.
#[test]
fn a_broken_answer_ends_its_call_at_once() {
    let deep =
        format!(r#"{{"id":"ID","success":true,"result":{}1{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
    for (answer, text) in [
        (deep.as_str(), "invalid message: too deep"),
        (r#"{"id":"ID","success":true,"result":{"a":]}"#, "invalid message"),
        (r#"{"id":"ID","success":true,"result":"never ends}"#, "invalid message"),
        (r#"{"id":"ID","success":true,"id":"other"}"#, "invalid message: duplicate field"),
        (r#"{"id":"ID","success":true,"\u0069d":"x"}"#, "invalid message: escaped key"),
        (r#"{"id":"ID","success":true} {}"#, "invalid message"),
    ] {
        let mut w = World::new();
        let browser = w.proven("b-1");
        let client = w.client();
        let wire = w.ask(client, "1", browser);
        assert!(matches!(w.send_text(browser, &answer.replace("ID", &wire)), Did::Refused(_)));
        w.late_error(client, "1", "invalid response from extension", "INVALID_RESPONSE");
        w.error(browser, "", text, "INVALID_REQUEST");
        assert_eq!(w.hub.in_flight(), 0);
    }
}

#[test]
fn answers_for_nobody_are_dropped_and_counted() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    for id in
        ["nothing", "", "00000000000", "0000000000000", "zzzzzzzzzzzz", &wire.to_uppercase(), "ffffffffffff"]
    {
        if id != wire {
            assert_eq!(w.answer(browser, id, json!(1)), Did::Refused(Fault::Stray), "{id}");
        }
    }
    w.nothing(browser);
    w.nothing(client);
    assert!(w.is_open(browser), "no protocol error");
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Forwarded(client));
}

#[test]
fn the_hubs_ids_have_one_width_and_tell_nothing_of_the_clients() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    for id in ["1", "a-much-longer-id-of-the-client"] {
        let wire = w.ask(client, id, browser);
        assert_eq!(wire.len(), 12);
        assert!(wire.bytes().all(|b| b.is_ascii_hexdigit()));
    }
}

#[test]
fn an_answer_for_an_earlier_daemon_finds_nothing_here() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    // The same place in a hub with another seed.
    let mut other = World::new();
    let secrets = Secrets { seed: [77; 32], resume: [2; 32] };
    let keys = Keys { keys: Default::default(), claimed: Default::default(), policy: "{}".to_owned() };
    other.hub = Hub::new(Config::default(), &secrets, keys, Growing::new(8), Growing::new(8));
    let browser = other.extension();
    let client = other.client();
    let theirs = other.ask(client, "1", browser);
    assert_ne!(wire, theirs);
    assert_eq!(other.answer(browser, &wire, json!(1)), Did::Refused(Fault::Stray));
}

#[test]
fn an_extension_may_ask_for_ping_and_nothing_else() {
    let mut w = World::new();
    for browser in [w.extension(), w.proven("b-1")] {
        assert!(w.pings(browser));
        for method in ["list_tabs", "status", "list_browsers", "shutdown", "policy_get"] {
            w.send(browser, json!({"id":"1","method":method}));
            w.error(browser, "1", "unknown method", "UNKNOWN_METHOD");
        }
        w.send(browser, json!({"type":"cancel","id":"1","method":"x"}));
        assert_eq!(w.one(browser)["code"], "UNKNOWN_METHOD");
        assert!(w.is_open(browser));
    }
}

#[test]
fn policy_set_and_event_of_a_proven_extension_are_the_hosts() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    assert_eq!(
        w.send(browser, json!({"type":"policy_set","paused":true})),
        Did::Notice(NoticeKind::PolicySet)
    );
    assert_eq!(w.send(browser, json!({"type":"event","name":"x"})), Did::Notice(NoticeKind::Event));
    w.nothing(browser);
    w.send(browser, json!({"type":"pairings"}));
    w.error(browser, "", "unknown method", "UNKNOWN_METHOD");
}

#[test]
fn policy_set_of_an_old_extension_is_refused() {
    let mut w = World::new();
    let browser = w.extension();
    for kind in ["policy_set", "event", "policy", "cancel"] {
        w.send(browser, json!({"type":kind}));
        w.error(browser, "", "unknown method", "UNKNOWN_METHOD");
    }
}

#[test]
fn what_only_browsers_may_know_is_in_what_they_are_told_and_in_no_clients_ack() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    w.hub.keyring_mut().policy = "{\"paused\":false}\n{\"paused\":false,\"clients\":{}}".to_owned();
    w.hub.policy_changed();
    w.drain();
    assert_eq!(w.one(browser), json!({"type":"policy","policy":{"paused":false,"clients":{}}}));
    let client = w.tcp();
    w.send(client, json!({"type":"hello","role":"client","protocol":2,"name":"x","token":TOKEN}));
    assert_eq!(w.one(client)["policy"], json!({"paused":false}));
    let other = w.open(Peer { origin: Some(ORIGIN), ..tcp_peer(Trust::SameUser) });
    w.prove(other, "b-2");
    assert_eq!(w.one(other)["policy"], json!({"paused":false,"clients":{}}));
}

#[test]
fn a_new_policy_is_told_to_every_protocol_2_extension() {
    let mut w = World::new();
    let old = w.browser("b-0");
    let (a, b) = (w.proven("b-1"), w.proven("b-2"));
    let client = w.client();
    w.hub.keyring_mut().policy = r#"{"paused":true}"#.to_owned();
    w.hub.policy_changed();
    assert_eq!(w.hub.poll_timeout().map(|it| it.1), Some(Wake::Output));
    w.drain();
    for browser in [a, b] {
        assert_eq!(w.one(browser), json!({"type":"policy","policy":{"paused":true}}));
    }
    w.nothing(old);
    w.nothing(client);
}

#[test]
fn ten_broken_frames_end_an_extension_too_and_its_callers_hear_it() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.ask(client, "1", browser);
    for _ in 0..10 {
        w.send_text(browser, "]");
    }
    w.closed_with(browser, 1008);
    w.late_error(client, "1", "extension disconnected", "EXTENSION_DISCONNECTED");
}

/// T95: two clients with the same id at once, answers in either order, ten thousand times.
#[test]
fn two_clients_with_one_id_each_get_their_own_answer() {
    let mut w = World::new();
    let browser = w.extension();
    let (a, b) = (w.client(), w.client());
    for n in 0..10_000 {
        let mut asked = [(a, w.ask(a, "x", browser)), (b, w.ask(b, "x", browser))];
        if n % 2 == 1 {
            asked.reverse();
        }
        for (client, wire) in &asked {
            let mark = if *client == a { "a" } else { "b" };
            assert_eq!(w.answer(browser, wire, json!([mark, n])), Did::Forwarded(*client));
        }
        assert_eq!(w.one(a)["result"], json!(["a", n]));
        assert_eq!(w.one(b)["result"], json!(["b", n]));
    }
}

/// T100: an extension that answers twice is heard once.
#[test]
fn of_two_answers_the_first_counts() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Forwarded(client));
    assert_eq!(w.answer(browser, &wire, json!(2)), Did::Refused(Fault::Stray));
    assert_eq!(w.one(client)["result"], 1);
    w.nothing(client);
    assert!(w.is_open(browser));
}
