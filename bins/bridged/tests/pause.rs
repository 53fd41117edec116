//! Pause: everything rests through every door, reading too; it is kept; and only the user's own hands end it.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::extension::{Recorder, done, install, prove};
use support::{Home, within};

/// T122: paused, every method at every door, over a restart too.
#[test]
fn a_pause_holds_at_every_door_and_over_a_restart() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |_| done(json!({"tabs": []})));
    home.bridged(["policy", "set", "pause", "on"]).ok();
    let refused = |answer: Value| (answer["code"].clone(), answer["error"].clone());
    let paused = (json!("PAUSED"), json!("paused by user"));
    for method in ["list_tabs", "screenshot", "get_page_content", "click", "no_such_method"] {
        assert_eq!(refused(daemon.client().call(method, json!({}))), paused, "{method}");
        let mut lines = daemon.lines();
        assert_eq!(refused(lines.ask(&json!({"id": "1", "method": method}))), paused, "{method}");
    }
    let answer = web.command("browser_list_tabs", json!({}));
    assert_eq!((answer.status, answer.code().as_str()), (400, "PAUSED"));
    assert_eq!(web.get("/read?url=https://e.example/", &[]).status, 403);
    home.bridge(["list-tabs"]).fails(1, &["paused by user"]);
    // What the daemon itself answers goes on.
    assert_eq!(daemon.client().call("ping", json!({}))["result"]["pong"], true);
    assert_eq!(daemon.client().call("status", json!({}))["success"], true);
    assert_eq!(web.get("/health", &[]).json()["paused"], true);
    let status = |json: bool| home.bridged(["status", "--json"].iter().take(1 + usize::from(json))).ok();
    assert!(status(false).contains("paused: every call is refused"));
    assert_eq!(serde_json::from_str::<Value>(&status(true)).unwrap()["paused"], true);
    assert_eq!(browser.of_method("list_tabs").len(), 0);
    assert_eq!(support::mode(&home.state("policy.json")), 0o600);
    drop(daemon);

    let daemon = home.serve();
    assert_eq!(daemon.client().call("list_tabs", json!({}))["code"], "PAUSED");
    assert!(home.bridged(["policy", "show"]).ok().contains("on: every call is refused"));
    home.bridged(["policy", "set", "pause", "off"]).ok();
    assert!(!home.bridged(["status"]).ok().contains("paused"));
    assert_eq!(daemon.client().call("list_tabs", json!({}))["code"], "NO_EXTENSION");
}

/// T122: nobody but the user lifts a pause.
#[test]
fn a_program_may_pause_but_never_go_on() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let config = |body: Value| {
        let answer = web.post("/config", &[], &body);
        (answer.status, answer.json())
    };
    assert_eq!(config(json!({})), (200, json!({"ok": true, "paused": false})));
    assert_eq!(config(json!({"paused": false})).0, 403);
    assert_eq!(config(json!({"paused": true})), (200, json!({"ok": true, "paused": true})));
    assert_eq!(config(json!({"paused": false})).0, 403);
    assert_eq!(config(json!({"paused": "no"})).0, 400);
    assert_eq!(config(json!([])).0, 400);
    assert_eq!(config(json!({})), (200, json!({"ok": true, "paused": true})));
    for params in [json!({"paused": false}), json!({})] {
        assert_eq!(daemon.client().call("policy_set", params.clone())["code"], "PERMISSION_DENIED");
        assert_eq!(
            daemon.lines().ask(&json!({"id": "1", "method": "policy_set", "params": params}))["code"],
            "PERMISSION_DENIED"
        );
    }
    let mut control = daemon.lines().control();
    assert_eq!(control.ask(&json!({"id": "1", "method": "policy_get"}))["result"]["paused"], true);
    assert_eq!(
        control.ask(&json!({"id": "2", "method": "policy_set", "params": {"pausd": false}}))["code"],
        "INVALID_PARAMS"
    );
    assert_eq!(
        control.ask(&json!({"id": "3", "method": "policy_set", "params": {"paused": false}}))["result"]["paused"],
        false
    );
}

#[test]
fn extensions_are_told_and_the_popup_may_do_both() {
    let home = Home::new();
    let daemon = home.serve();
    let pairing = install(&home, &daemon);
    let (mut popup, ack) = prove(daemon.port, &pairing).unwrap();
    assert_eq!(ack["policy"]["paused"], false);
    home.bridged(["policy", "set", "pause", "on"]).ok();
    let told = popup.next().unwrap();
    assert_eq!((&told["type"], &told["policy"]["paused"]), (&json!("policy"), &json!(true)));
    popup.send(&json!({"type": "policy_set", "policy": {"paused": false}}));
    assert_eq!(popup.next().unwrap()["policy"]["paused"], false);
    popup.send(&json!({"type": "policy_set", "policy": {"paused": true}}));
    assert_eq!(popup.next().unwrap()["policy"]["paused"], true);
    within("it is kept", || {
        std::fs::read_to_string(home.state("policy.json")).is_ok_and(|text| text.contains("true"))
    });
    drop(popup);
    let (_, ack) = prove(daemon.port, &pairing).unwrap();
    assert_eq!(ack["policy"]["paused"], true, "whoever comes back hears of it at once");
}

#[test]
fn the_policy_is_kept_without_a_daemon_and_a_damaged_one_is_not_passed_over() {
    let home = Home::new();
    home.bridged(["policy", "set", "pause", "on"]).ok();
    let shown: Value = serde_json::from_str(&home.bridged(["policy", "show", "--json"]).ok()).unwrap();
    assert_eq!(shown["paused"], true);
    home.bridged(["policy", "set", "pause", "maybe"]).fails(2, &["expected on or off"]);
    home.bridged(["policy", "set", "puase", "on"]).fails(2, &["there is no policy `puase`"]);
    let daemon = home.serve();
    assert_eq!(daemon.client().call("list_tabs", json!({}))["code"], "PAUSED");
    drop(daemon);
    std::fs::write(home.state("policy.json"), "{").unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["policy.json", "damaged"]);
}

/// What the user has written into the file by hand is not lost by a change through the daemon that has not read it yet.
#[test]
fn a_change_keeps_what_was_edited_by_hand() {
    let home = Home::new();
    let daemon = home.serve();
    let file = home.state("policy.json");
    home.bridged(["policy", "set", "read-only", "on"]).ok();
    let edited =
        std::fs::read_to_string(&file).unwrap().replace("\"deny\": []", "\"deny\": [\"bank.example\"]");
    std::fs::write(&file, edited).unwrap();
    home.bridged(["policy", "set", "uploads", "on"]).ok();
    let shown = || serde_json::from_str::<Value>(&home.bridged(["policy", "show", "--json"]).ok()).unwrap();
    let now = shown();
    assert_eq!(
        (&now["read_only"], &now["uploads"], &now["deny"]),
        (&json!(true), &json!(true), &json!(["bank.example"]))
    );
    let answer = daemon.client().call("get_page_markdown", json!({"url": "https://bank.example/"}));
    assert_eq!(answer["code"], "PERMISSION_DENIED", "{answer}");

    // A change is refused where the file cannot be understood; a pause holds all the same, and the file stays as it is.
    std::fs::write(&file, "{\"deny\": [").unwrap();
    home.bridged(["policy", "set", "uploads", "off"]).fails(1, &["policy.json is damaged", "mend it"]);
    home.bridged(["policy", "set", "pause", "on"]).ok();
    assert_eq!(daemon.client().call("list_tabs", json!({}))["code"], "PAUSED");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"deny\": [");

    // Once the file is mended, whatever else is changed or read again does not end the pause; only the user does.
    let mended = |paused| json!({"paused": paused, "read_only": true, "deny": ["bank.example"]}).to_string();
    std::fs::write(&file, mended(false)).unwrap();
    home.bridged(["policy", "set", "uploads", "off"]).ok();
    assert_eq!((&shown()["paused"], &shown()["uploads"]), (&json!(true), &json!(false)));
    home.bridged(["policy", "set", "pause", "off"]).ok();
    assert_eq!(shown()["paused"], false);

    // Nor does a program keep the user from it that holds the folder and does not let go.
    let folder = std::fs::File::open(home.state("")).unwrap();
    rustix::fs::flock(&folder, rustix::fs::FlockOperation::LockExclusive).unwrap();
    home.bridged(["policy", "set", "pause", "on"]).ok();
    assert_eq!(daemon.client().call("list_tabs", json!({}))["code"], "PAUSED");
    home.bridged(["policy", "set", "uploads", "on"]).fails(1, &["does not let go"]);
    drop(folder);

    // A file that is gone allows nothing that was forbidden.
    std::fs::remove_file(&file).unwrap();
    home.bridged(["policy", "set", "uploads", "off"]).ok();
    let now = shown();
    assert_eq!(
        (&now["paused"], &now["read_only"], &now["deny"]),
        (&json!(true), &json!(true), &json!(["bank.example"]))
    );
    drop(daemon);
    assert_eq!(shown()["paused"], true, "and is whole again");
}
