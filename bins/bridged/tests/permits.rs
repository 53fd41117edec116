//! Read-only and evaluate: off means refused before a browser hears of it, evaluate ends by itself, and both are kept.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::extension::{Recorder, done, install, prove};
use support::{Home, within};

#[test]
fn evaluate_is_off_until_it_is_turned_on_and_then_off_again_by_itself() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({"result": 2, "type": "number"})));
    let asked = || daemon.client().call("evaluate", json!({"expression": "1 + 1"}));
    let refused = |answer: &Value| {
        assert_eq!(answer["code"], "PERMISSION_DENIED");
        assert!(answer["error"].as_str().unwrap().contains("bridged policy set evaluate on"), "{answer}");
    };
    refused(&asked());
    assert_eq!(browser.of_method("evaluate").len(), 0);
    home.bridged(["policy", "set", "evaluate", "on", "--for", "3s"]).ok();
    assert_eq!(asked()["result"]["result"], 2);
    within("it ends", || asked()["code"] == "PERMISSION_DENIED");
    refused(&asked());
    assert!(home.bridged(["policy", "show"]).ok().contains("evaluate   off"));
}

#[test]
fn evaluate_is_on_for_an_hour_over_a_restart_and_never_for_more_than_a_day() {
    let home = Home::new();
    let daemon = home.serve();
    home.bridged(["policy", "set", "evaluate", "on"]).ok();
    assert!(home.bridged(["policy", "show"]).ok().contains("evaluate   on for another"));
    drop(daemon);
    let daemon = home.serve();
    let answer = |method: &str, params: Value| daemon.client().call(method, params)["code"].clone();
    assert_eq!(answer("evaluate", json!({"expression": "1"})), "NO_EXTENSION");
    let shown: Value = serde_json::from_str(&home.bridged(["policy", "show", "--json"]).ok()).unwrap();
    let end = |name: &str| shown["evaluate"][name].as_u64().unwrap();
    assert_eq!(end("until") - end("since"), 3_600_000);
    home.bridged(["policy", "set", "evaluate", "off"]).ok();
    assert_eq!(answer("evaluate", json!({"expression": "1"})), "PERMISSION_DENIED");
    home.bridged(["policy", "set", "evaluate", "on", "--for", "25h"]).fails(1, &["1 s to 24 h"]);
    home.bridged(["policy", "set", "evaluate", "on", "--for", "soon"]).fails(2, &["30m or 1h"]);
    home.bridged(["policy", "set", "evaluate", "off", "--for", "1h"]).fails(2, &["goes with `evaluate on`"]);
    assert_eq!(answer("evaluate", json!({"expression": "1"})), "PERMISSION_DENIED");
}

#[test]
fn extensions_are_told_and_the_popup_may_turn_it_on() {
    let home = Home::new();
    let daemon = home.serve();
    let (mut popup, ack) = prove(daemon.port, &install(&home, &daemon)).unwrap();
    assert_eq!((&ack["policy"]["evaluate"], &ack["policy"]["read_only"]), (&Value::Null, &json!(false)));
    popup.send(&json!({"type": "policy_set", "policy": {"evaluate": true}}));
    let told = popup.next().unwrap()["policy"]["evaluate"].clone();
    assert_eq!(told["until"].as_u64().unwrap() - told["since"].as_u64().unwrap(), 3_600_000);
    popup.send(&json!({"type": "policy_set", "policy": {"evaluate": false}}));
    assert_eq!(popup.next().unwrap()["policy"]["evaluate"], Value::Null);
}

/// T123: read-only.
#[test]
fn read_only_lets_only_readers_pass_and_is_kept() {
    let home = Home::new();
    home.bridged(["policy", "set", "read-only", "on"]).ok();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({})));
    let answer = |method: &str, params: Value| daemon.client().call(method, params);
    for (method, params) in [
        ("click", json!({"selector": "#go"})),
        ("navigate", json!({"url": "https://a.example"})),
        ("activate_tab", json!({"tab_id": 7})),
        ("run_script", json!({"code": "1"})),
        ("get_page_markdown", json!({"url": "https://a.example"})),
        ("screenshot", json!({"foreground": true})),
        ("wait_for", json!({"script": "1"})),
    ] {
        let refused = answer(method, params);
        assert_eq!(refused["code"], "PERMISSION_DENIED", "{method}");
        assert!(refused["error"].as_str().unwrap().starts_with("forbidden: read-only"), "{refused}");
    }
    for method in ["list_tabs", "get_page_markdown", "screenshot", "wait_for"] {
        assert_eq!(answer(method, json!({}))["success"], true, "{method}");
    }
    assert_eq!(browser.of_method("click").len() + browser.of_method("run_script").len(), 0);
    home.bridged(["policy", "set", "read-only", "off"]).ok();
    assert_eq!(answer("click", json!({"selector": "#go"}))["success"], true);
}

#[test]
fn a_batch_with_a_forbidden_step_is_refused_as_a_whole_before_a_browser_hears_of_it() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({"results": [], "done": 0})));
    let asked = |step: Value| {
        daemon
            .client()
            .call("batch", json!({"steps": [{"method": "list_tabs"}, step], "stop_on_error": false}))
    };
    let script = json!({"method": "wait_for", "params": {"script": "document.title = 'x'"}});
    let click = json!({"method": "click", "params": {"selector": "#go"}});
    assert_eq!(
        asked(json!({"method": "evaluate", "params": {"expression": "1"}}))["code"],
        "PERMISSION_DENIED"
    );
    home.bridged(["policy", "set", "read-only", "on"]).ok();
    for step in [&script, &click] {
        let refused = asked(step.clone());
        assert_eq!(refused["code"], "PERMISSION_DENIED");
        assert!(
            refused["error"].as_str().unwrap().contains("step 1 of the batch; none was run"),
            "{refused}"
        );
    }
    assert_eq!(browser.of_method("batch").len(), 0);
    assert_eq!(asked(json!({"method": "screenshot"}))["success"], true);
    home.bridged(["policy", "set", "read-only", "off"]).ok();
    assert_eq!(asked(script)["success"], true);
    assert_eq!(browser.of_method("batch").len(), 2);
}
