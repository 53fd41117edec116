//! Calls side by side: progress, cancellation, limits, and ids given back exactly as they came.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use bridge_mcp::provider::Answer;
use bridge_mcp::tools::ToolsConfig;
use bridge_mcp::{CallId, Config, Lane};
use common::Rig;
use serde_json::json;

#[test]
fn ids_come_back_to_the_letter() {
    let mut rig = Rig::open("2025-11-25");
    for id in ["0", "-7", "12345678901234567890123", "1.50", "1e3", r#""""#, r#""é\/""#, r#""null""#] {
        rig.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert!(rig.sent.last().unwrap().contains(&format!(r#""id":{id},"#)), "{id}");
    }
}

#[test]
fn answers_find_their_requests_in_any_order() {
    let mut rig = Rig::open("2025-11-25");
    for id in 1..=3 {
        rig.call(id, "click", json!({"target": {"value": format!("#b{id}")}}));
    }
    assert_eq!(rig.calls.len(), 3);
    rig.calls.reverse();
    for id in (1..=3).rev() {
        rig.answer(json!({"success": true, "result": {"tab_id": id}}));
        assert_eq!(rig.last()["id"], id);
        assert_eq!(rig.last()["result"]["structuredContent"]["tab_id"], id);
    }
}

#[test]
fn an_id_in_use_is_refused_and_free_again_afterwards() {
    let mut rig = Rig::open("2025-11-25");
    rig.call(1, "click", json!({}));
    rig.call(1, "click", json!({}));
    assert_eq!(rig.last()["error"]["code"], -32600);
    rig.answer(json!({"success": true, "result": {}}));
    rig.call(1, "click", json!({}));
    assert_eq!(rig.calls.len(), 1);
}

#[test]
fn more_calls_than_allowed_are_refused_not_queued() {
    let mut rig = Rig::with(Config { max_in_flight: 2, ..Config::default() }, ToolsConfig::default());
    rig.hello("2025-11-25");
    for id in 1..=3 {
        rig.call(id, "click", json!({}));
    }
    assert_eq!(rig.calls.len(), 2);
    assert!(rig.last()["error"]["message"].as_str().unwrap().starts_with("OVERLOADED"));
    rig.answer(json!({"success": true, "result": {}}));
    rig.call(4, "click", json!({}));
    assert_eq!(rig.calls.len(), 2);
}

#[test]
fn a_cancelled_call_is_given_up_and_never_answered() {
    let mut rig = Rig::open("2025-11-25");
    rig.call(1, "click", json!({}));
    rig.call(2, "click", json!({}));
    rig.say(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#,
    );
    assert_eq!(rig.cancelled, [rig.calls[0].0]);
    rig.answer(json!({"success": true, "result": {}}));
    assert_eq!(rig.sent.len(), 0);
    rig.answer(json!({"success": true, "result": {}}));
    assert_eq!(rig.last()["id"], 2);
}

#[test]
fn when_the_client_goes_all_its_calls_are_given_up() {
    let mut rig = Rig::open("2025-11-25");
    for id in 1..=3 {
        rig.call(id, "click", json!({}));
    }
    rig.session.handle_gone(Lane(0));
    rig.drain();
    assert_eq!((rig.cancelled.len(), rig.session.in_flight(), rig.sent.len()), (3, 0, 0));
}

#[test]
fn a_slow_call_reports_progress_that_only_grows() {
    let mut rig = Rig::open("2025-11-25");
    rig.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"click","arguments":{},"_meta":{"progressToken":"p/1"}}}"#);
    rig.wait(900);
    assert_eq!(rig.sent.len(), 0);
    for _ in 0..10 {
        rig.wait(1000);
    }
    let steps: Vec<f64> = rig
        .sent
        .iter()
        .map(|line| {
            let notice: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(notice["method"], "notifications/progress");
            assert_eq!(notice["params"]["progressToken"], "p/1");
            notice["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(steps, [1.0, 3.0, 5.0, 7.0, 9.0]);
    rig.answer(json!({"success": true, "result": {}}));
    assert_eq!(rig.session.poll_timeout(), None);
    rig.wait(10_000);
    assert_eq!(rig.last()["id"], 1);
}

#[test]
fn no_progress_without_a_token_and_none_of_our_own_once_the_host_reports() {
    let mut rig = Rig::open("2025-11-25");
    rig.call(1, "click", json!({}));
    rig.wait(60_000);
    assert_eq!(rig.sent.len(), 0);
    rig.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"click","arguments":{},"_meta":{"progressToken":5}}}"#);
    let call = rig.calls[1].0;
    rig.session.progress(call, 10.0, Some(100.0), Some("a tenth"));
    rig.session.progress(call, 10.0, Some(100.0), None);
    rig.drain();
    rig.wait(60_000);
    assert_eq!(rig.sent.len(), 1);
    assert_eq!(
        rig.last()["params"],
        json!({"progressToken": 5, "progress": 10, "total": 100, "message": "a tenth"})
    );
}

#[test]
fn a_longer_wait_gets_a_longer_deadline() {
    let mut rig = Rig::open("2025-11-25");
    for (timeout, deadline) in
        [(5000, None), (25_000, None), (60_000, Some(65_000)), (900_000, Some(600_000))]
    {
        rig.call(1, "click", json!({"target": "#x", "timeout": timeout}));
        assert_eq!(rig.calls[0].1.timeout_ms, deadline);
        rig.answer(json!({"success": true, "result": {}}));
    }
}

#[test]
fn answers_to_unknown_calls_are_dropped() {
    let mut rig = Rig::open("2025-11-25");
    rig.session.handle_answer(CallId(99), Answer::Frame(b"{}".to_vec()));
    rig.session.handle_saved(CallId(99), Ok("/x"));
    rig.drain();
    assert_eq!(rig.sent.len(), 0);
}
