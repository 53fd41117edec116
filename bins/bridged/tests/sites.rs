//! The user's lists of sites and what agents may do in the user's tabs: set by the user alone, kept, told to browsers; where an address
//! that a call names is on no site that it may go to, no browser hears of the call, whichever door it comes by.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::extension::{Recorder, done, install, prove};
use support::http::Web;
use support::{Home, Lines, Peer};

const LEADING: [&str; 3] = ["navigate", "new_tab", "get_page_markdown"];

fn set<const N: usize>(home: &Home, args: [&str; N]) -> support::Done {
    home.bridged(["policy", "set"].iter().chain(&args))
}

fn shown(home: &Home) -> Value {
    serde_json::from_str(&home.bridged(["policy", "show", "--json"]).ok()).unwrap()
}

#[track_caller]
fn refused(answer: &Value, said: &str) {
    assert_eq!(answer["code"], "PERMISSION_DENIED", "{answer}");
    let error = answer["error"].as_str().unwrap();
    assert!(error.starts_with(said) && error.contains("bridged policy show"), "{answer}");
}

/// What a tool answers over HTTP.
fn over_mcp(web: &Web, tool: &str, arguments: Value) -> String {
    const BOTH: &str = "Accept: application/json, text/event-stream";
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let session = web.post("/mcp", &[BOTH], &hello).header("mcp-session-id").unwrap().to_owned();
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    web.post("/mcp", &[BOTH, &format!("Mcp-Session-Id: {session}")], &call).text()
}

/// T125, T126: as far as the address that a call names tells.
#[test]
fn a_denied_site_is_refused_at_every_door_however_it_is_written() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |_| done(json!({"tab_id": 7})));
    set(&home, ["deny", "example.com, *.evil.example", "10.0.0.5", "dev.example:8443"]).ok();
    let token =
        json!({"type": "hello", "role": "client", "protocol": 2, "name": "agent", "token": home.token()});
    let mut agent = Peer::open(daemon.port, None, &token).unwrap();
    assert_eq!(agent.next().unwrap()["type"], "hello_ack");
    for (url, host) in [
        ("HTTPS://EXAMPLE.com.", "example.com"),
        ("https://allowed.example@example.com/", "example.com"),
        ("https:\\\\evil.example\\@allowed.example", "evil.example"),
        ("http://a.b.evil.example:81/", "a.b.evil.example"),
        ("http://167772165/", "10.0.0.5"),
        ("view-source:https://ex%61mple.com", "example.com"),
        ("dev.example:8443/x", "dev.example"),
    ] {
        let said = format!("forbidden: domain {host} is on the user's deny list");
        for method in LEADING {
            let step = json!({"method": method, "params": {"url": url}});
            let request = json!({"id": "1", "method": method, "params": {"url": url}});
            refused(&daemon.client().call(method, json!({"url": url})), &said);
            refused(&agent.call(method, json!({"url": url})), &said);
            refused(&daemon.client().call("batch", json!({"steps": [{"method": "list_tabs"}, step]})), &said);
            refused(&daemon.lines().ask(&request), &said);
        }
        for tool in ["browser_navigate", "browser_new_tab"] {
            let answer = web.command(tool, json!({"url": url}));
            assert_eq!((answer.status, answer.code().as_str()), (400, "PERMISSION_DENIED"), "{tool} {url}");
        }
    }
    let answer = over_mcp(&web, "navigate", json!({"url": "https://example.com"}));
    assert!(answer.contains("forbidden: domain example.com is on the user's deny list"), "{answer}");
    assert_eq!(web.get("/read?url=https://example.com/", &[]).status, 403);
    home.bridge(["navigate", "https://example.com/"])
        .fails(1, &["domain example.com is on the user's deny list"]);
    for method in LEADING.into_iter().chain(["batch"]) {
        assert_eq!(browser.of_method(method).len(), 0, "{method}");
    }
    for url in [
        "https://www.example.com",
        "https://notevil.example",
        "https://dev.example",
        "https://b\u{fc}cher.example",
    ] {
        assert_eq!(daemon.client().call("navigate", json!({"url": url}))["success"], true, "{url}");
    }
    let steps = json!({"steps": [{"method": "navigate", "params": {"url": "$0.url"}}]});
    assert_eq!(daemon.client().call("batch", steps)["success"], true, "where it leads the browser judges");

    // Each refusal is a line of the audit.
    let audit = home.bridged(["audit"]).ok();
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let denied = |line: &&Value| line["method"] == "navigate" && line["decision"] == "deny";
    let line = lines.iter().find(denied).unwrap();
    assert_eq!((&line["code"], &line["outcome"]), (&json!("PERMISSION_DENIED"), &json!("denied")), "{line}");
}

#[test]
fn an_allow_list_is_all_that_is_left_and_deny_beats_it() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({})));
    set(&home, ["allow", "*.example.org, https://shop.example, about.example"]).ok();
    set(&home, ["deny", "secret.example.org"]).ok();
    let answer = |url: &str| daemon.client().call("navigate", json!({"url": url}));
    for url in ["https://example.org/", "http://a.example.org:8080/", "shop.example", "about:blank"] {
        assert_eq!(answer(url)["success"], true, "{url}");
    }
    refused(
        &answer("https://secret.example.org"),
        "forbidden: domain secret.example.org is on the user's deny list",
    );
    for (url, host) in [
        ("http://shop.example", "shop.example"),
        ("http://localhost:3000", "localhost"),
        ("https://example.org.evil.example", "example.org.evil.example"),
    ] {
        refused(&answer(url), &format!("forbidden: domain {host} is not on the user's allow list"));
    }
    refused(&answer("data:text/html,x"), "forbidden: domain: data: addresses");
    assert_eq!(browser.of_method("navigate").len(), 4);
    // What names no address is the browser's to judge.
    assert_eq!(daemon.client().call("click", json!({"target": "#go"}))["success"], true);
    set(&home, ["allow", "none"]).ok();
    assert_eq!(answer("http://localhost:3000")["success"], true);
}

#[test]
fn the_lists_are_set_edited_emptied_shown_and_kept() {
    let home = Home::new();
    // Without a daemon the file is written.
    assert!(
        set(&home, ["deny", "Bank.example., *.Mail.example 127.1:8080"])
            .ok()
            .contains("bank.example, *.mail.example")
    );
    set(&home, ["user-tabs", "ask"]).ok();
    assert_eq!(support::mode(&home.state("policy.json")), 0o600);
    let daemon = home.serve();
    let kept = json!(["bank.example", "*.mail.example", "127.0.0.1:8080"]);
    assert_eq!((&shown(&home)["deny"], &shown(&home)["user_tabs"]), (&kept, &json!("ask")));
    set(&home, ["deny", "+shop.example", "-BANK.example"]).ok();
    set(&home, ["deny", "-127.0.0.1:8080"]).ok();
    assert_eq!(shown(&home)["deny"], json!(["*.mail.example", "shop.example"]));
    set(&home, ["allow", "b\u{fc}cher.example"]).ok();
    set(&home, ["user-tabs", "deny"]).ok();
    let text = home.bridged(["policy", "show"]).ok();
    for line in [
        "user-tabs  deny: ",
        "allow      only b\u{fc}cher.example\n",
        "deny       *.mail.example, shop.example\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    drop(daemon);
    let daemon = home.serve();
    refused(
        &daemon.client().call("navigate", json!({"url": "x.mail.example"})),
        "forbidden: domain x.mail.example",
    );
    // What is wrong changes nothing.
    for (args, code, said) in [
        (["deny", "a.example/x"], 2, "without a path: `a.example`"),
        (["deny", "+a.example b.example"], 2, "either a whole list"),
        (["deny", "-a.example"], 2, "a.example is not on the deny list"),
        (["allow", "all"], 2, "`none`, which empties the list"),
        (["allow", "*"], 2, "`none` makes an empty list"),
        (["user-tabs", "on"], 2, "expected allow, ask or deny"),
    ] {
        // The daemon says so as a refusal, without one it is wrong usage.
        let done = set(&home, args);
        assert!(done.code == code || done.code == 1, "{done:?}");
        done.said(said);
    }
    set(&home, ["deny"]).fails(2, &["value"]);
    let many: Vec<String> = (0..257).map(|n| format!("s{n}.example")).collect();
    set(&home, ["deny", &many.join(",")]).said("256 sites at most");
    assert_eq!(shown(&home)["deny"], json!(["*.mail.example", "shop.example"]));
    set(&home, ["deny", &many[1..].join(",")]).ok();
    assert_eq!(shown(&home)["deny"].as_array().unwrap().len(), 256);
    for list in ["allow", "deny"] {
        set(&home, [list, ""]).ok();
        assert_eq!(shown(&home)[list], json!([]));
    }
    drop(daemon);
    std::fs::write(home.state("policy.json"), r#"{"deny": ["a.example/x"]}"#).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["policy.json", "without a path"]);
}

/// No program changes what the user set, nor is it told which sites are on the lists.
#[test]
fn browsers_are_told_at_once_and_programs_can_change_and_read_nothing() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let pairing = install(&home, &daemon);
    let (mut browser, ack) = prove(daemon.port, &pairing).unwrap();
    let told =
        |policy: &Value| [policy["user_tabs"].clone(), policy["allow"].clone(), policy["deny"].clone()];
    assert_eq!(told(&ack["policy"]), [json!("allow"), json!([]), json!([])]);
    set(&home, ["deny", "bank.example"]).ok();
    assert_eq!(
        told(&browser.next().unwrap()["policy"]),
        [json!("allow"), json!([]), json!(["bank.example"])]
    );
    set(&home, ["user-tabs", "deny"]).ok();
    assert_eq!(browser.next().unwrap()["policy"]["user_tabs"], "deny");
    drop(browser);
    let (mut browser, ack) = prove(daemon.port, &pairing).unwrap();
    assert_eq!(
        told(&ack["policy"]),
        [json!("deny"), json!([]), json!(["bank.example"])],
        "also whoever comes later"
    );

    let before = std::fs::read(home.state("policy.json")).unwrap();
    let change = json!({"deny": [], "allow": ["evil.example"], "user_tabs": "allow"});
    let hello =
        json!({"type": "hello", "role": "client", "protocol": 2, "name": "agent", "token": home.token()});
    let mut agent = Peer::open(daemon.port, None, &hello).unwrap();
    let ack = agent.next().unwrap();
    assert_eq!(
        (ack["policy"]["user_tabs"].clone(), ack["policy"].get("deny")),
        (json!("deny"), None),
        "{ack}"
    );
    let mut lines: Lines = daemon.lines();
    for method in ["policy_set", "policy_get"] {
        assert_eq!(agent.call(method, change.clone())["code"], "PERMISSION_DENIED");
        assert_eq!(daemon.client().call(method, change.clone())["code"], "PERMISSION_DENIED");
        let request = json!({"id": "1", "method": method, "params": change});
        assert_eq!(lines.ask(&request)["code"], "PERMISSION_DENIED");
    }
    assert_eq!(web.post("/config", &[], &json!({"deny": []})).json(), json!({"ok": true, "paused": false}));
    assert_ne!(web.command("browser_policy_set", change).status, 200);
    assert_eq!(std::fs::read(home.state("policy.json")).unwrap(), before);
    // The next that the browser hears of is the user's own change.
    set(&home, ["deny", "none"]).ok();
    assert_eq!(told(&browser.next().unwrap()["policy"]), [json!("deny"), json!([]), json!([])]);
}

#[test]
fn sighup_takes_the_lists_from_the_file_and_the_log_keeps_them_to_itself() {
    let home = Home::new();
    let daemon = home.serve();
    let (mut browser, _) = prove(daemon.port, &install(&home, &daemon)).unwrap();
    // Written through the file that is there: one that others could read would be refused.
    set(&home, ["deny", "x.example"]).ok();
    assert_eq!(browser.next().unwrap()["policy"]["deny"], json!(["x.example"]));
    std::fs::write(home.state("policy.json"), r#"{"deny": ["Bank.example"]}"#).unwrap();
    daemon.signal(rustix::process::Signal::HUP);
    assert_eq!(browser.next().unwrap()["policy"]["deny"], json!(["bank.example"]));
    refused(
        &daemon.client().call("navigate", json!({"url": "bank.example"})),
        "forbidden: domain bank.example",
    );
    let log = daemon.log();
    assert!(log.contains("policy by policy.json") && !log.contains("bank.example"), "{log}");
}

#[test]
fn a_browser_that_knows_nothing_of_it_is_named_by_the_doctor() {
    let home = Home::new();
    let daemon = home.serve();
    let doctor = || -> Vec<Value> {
        let report: Value =
            serde_json::from_str(&home.bridged(["doctor", "--security", "--json"]).out).unwrap();
        report["checks"].as_array().unwrap().clone()
    };
    let unaware = || doctor().into_iter().find(|check| check["check"] == "unaware");
    set(&home, ["deny", "bank.example, mail.example"]).ok();
    let policy = doctor().into_iter().find(|check| check["check"] == "policy").unwrap();
    for part in ["allow every site", "deny 2 sites", "user_tabs allow"] {
        assert!(policy["about"].as_str().unwrap().contains(part), "{policy}");
    }
    assert_eq!(unaware(), None);
    let (proven, _) = prove(daemon.port, &install(&home, &daemon)).unwrap();
    assert_eq!(unaware(), None);
    drop(proven);
    let _old = Recorder::new(&daemon, |_| done(json!({})));
    let found = unaware().unwrap();
    assert_eq!(found["status"], "warn");
    assert!(found["todo"].as_str().unwrap().contains("bridged extension install"), "{found}");
    set(&home, ["deny", "none"]).ok();
    assert_eq!(unaware(), None);
    set(&home, ["user-tabs", "ask"]).ok();
    assert!(unaware().is_some());
}

#[test]
fn shells_complete_what_there_is_to_set() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.bridged(["completions", shell]).ok();
        assert!(script.contains("user-tabs") && script.contains("read-only"), "{shell}: {script}");
    }
    let help = home.bridged(["policy", "set", "--help"]).ok();
    for part in ["user-tabs allow|ask|deny", "allow SITES|none", "deny SITES|none", "*.mail.example"] {
        assert!(help.contains(part), "{help}");
    }
}
