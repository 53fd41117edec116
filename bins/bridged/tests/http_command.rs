//! `/command`: OpenBridge's tools and our own methods, whose call it is, and what becomes of calls that nobody waits for.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::extension::{Recorder, done, failed};
use support::{Home, within};

/// Answers like a browser with one tab, and says what it was asked.
fn browser(request: &Value) -> Option<Value> {
    let tab = json!({"tab_id": 7, "url": "https://e.example/", "title": "E", "active": true});
    match request["method"].as_str()? {
        "list_tabs" => {
            done(json!({"tabs": [{"tab_id": 7, "url": "u", "title": "t", "active": true, "window_id": 1}]}))
        }
        "new_tab" | "activate_tab" | "navigate" => done(tab),
        "close_tab" => done(json!({"closed": true, "tab_id": request["params"]["tab_id"]})),
        "click" if request["params"]["tab_id"] == 8 => failed("TAB_NOT_FOUND", "no such tab: 8"),
        "click" => done(json!({"clicked": {"tag": "button"}, "tab_id": 7})),
        "set_value" => {
            done(json!({"element": {"tag": "input"}, "value": request["params"]["value"], "tab_id": 7}))
        }
        "close_auto_tabs" => done(json!({"closed": [1, 2]})),
        "get_page_content" => done(json!({"title": "half an emoji \u{d7ff}", "url": "u", "text": "t"})),
        _ => None,
    }
}

#[test]
fn an_openbridge_script_gets_what_it_expects() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, browser);
    let tabs = web.command("browser_list_tabs", json!({})).data();
    assert_eq!(
        tabs,
        json!({"tabs": [{"tabId": 7, "url": "u", "title": "t", "active": true, "windowId": 1}]})
    );

    let args = json!({"url": "https://e.example/", "newTab": true, "waitUntil": "load", "sessionId": "s", "groupTitle": "T"});
    let went = web.command("browser_navigate", args).data();
    assert_eq!(
        (&went["tabId"], &went["loaded"], &went["url"]),
        (&json!(7), &json!(true), &json!("https://e.example/"))
    );
    let asked = browser.only("navigate");
    assert_eq!(asked["params"]["new_tab"], true);
    assert_eq!(asked["params"]["wait_until"], "load");
    assert_eq!(asked["params"]["session_id"], "s");
    assert_eq!(asked["class"], "person");

    // A group without a session is one of the caller's own.
    web.command("browser_new_tab", json!({"groupTitle": "Mine", "groupColor": "blue"})).data();
    let params = &browser.only("new_tab")["params"];
    assert_eq!((&params["group_title"], &params["session_id"]), (&json!("Mine"), &json!("default")));

    // It names no tab from here on: it means the one it opened.
    let filled = web.command("browser_fill", json!({"selector": "#name", "value": "alice"})).data();
    assert_eq!(
        (&filled["success"], &filled["selector"], &filled["value"]),
        (&json!(true), &json!("#name"), &json!("alice"))
    );
    assert_eq!(browser.only("set_value")["params"]["tab_id"], 7);
    let clicked = web.command("browser_click", json!({"selector": "#go"})).data();
    assert_eq!((&clicked["success"], &clicked["selector"]), (&json!(true), &json!("#go")));
    assert_eq!(
        web.command("browser_close_tab", json!({"tabId": 7})).data(),
        json!({"closed": true, "tabId": 7})
    );
    web.command("browser_fill", json!({"selector": "#name", "value": "bob"})).data();
    assert_eq!(browser.of_method("set_value")[1]["params"].get("tab_id"), None, "that tab is gone");
    let closed = web.command("browser_close_all_managed_tabs", json!({})).data();
    assert_eq!(closed["closedTabCount"], 2);
    assert_eq!(web.get("/health", &[]).json()["connectedSessions"], json!(["default"]));
}

#[test]
fn our_own_names_take_and_give_our_own_shapes() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, browser);
    assert_eq!(web.command("list_tabs", json!({})).data()["tabs"][0]["tab_id"], 7);
    assert_eq!(
        web.command("click", json!({"target": {"by": "text", "value": "Go"}})).data()["clicked"]["tag"],
        "button"
    );
    assert_eq!(browser.only("click")["params"], json!({"target": {"by": "text", "value": "Go"}}));
    assert_eq!(web.command("ping", json!({})).data(), json!({"pong": true}));
    assert!(web.command("list_browsers", json!({})).data()["browsers"].is_array());
    let posted = json!({"toolName": "click", "args": {"selector": "#a"}, "timeoutMs": 1234, "once": "abc"});
    web.post("/command", &[], &posted).data();
    let asked = browser.of_method("click").remove(1);
    assert!(asked["timeout_ms"].as_u64().unwrap() <= 1234);
    assert_eq!(asked["once"], "abc");
}

#[test]
fn what_cannot_be_done_says_so() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let code = |tool: &str, args: Value| {
        let answer = web.command(tool, args);
        assert_eq!(answer.status, 400, "{tool}");
        (answer.code(), answer.json()["error"]["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(code("browser_list_tabs", json!({})).0, "NO_EXTENSION");
    let browser = Recorder::new(&daemon, browser);
    let (unknown, text) = code("browser_clck", json!({}));
    assert!(unknown == "UNKNOWN_METHOD" && text.contains("browser_clck"), "{text}");
    assert!(code("clik", json!({})).1.contains("did you mean click?"));
    assert_eq!(code("shutdown", json!({})).0, "UNKNOWN_METHOD");
    assert_eq!(code("policy_set", json!({"paused": false})).0, "UNKNOWN_METHOD");
    for (tool, args) in [
        ("browser_fill", json!({"selector": "#a"})),
        ("browser_fill", json!({"selector": "#a", "value": 5})),
        ("browser_close_tab", json!({"tabId": "seven"})),
        ("click", json!({"target": {"by": "css", "value": "#a", "wrong": 1}})),
        ("click", json!({"target": {"by": "css", "value": "#a"}, "x\"y": 1})),
        ("browser_navigate", json!({"url": "https://e.example/", "timeoutMs": "soon"})),
    ] {
        assert!(matches!(code(tool, args).0.as_str(), "INVALID_PARAMS"), "{tool}");
    }
    assert!(browser.of_method("set_value").is_empty() && browser.of_method("click").is_empty());
    let posted = json!({"toolName": "ping", "once": "no spaces"});
    assert_eq!(web.post("/command", &[], &posted).code(), "INVALID_REQUEST");
    // Names that the hub would have to unescape are not sent to it; the next call works.
    assert_eq!(web.command("ping", json!({})).status, 200);
}

#[test]
fn a_tool_whose_method_is_not_there_yet_is_told_apart_from_one_that_never_was() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web();
    let offered = web.get("/health", &[]).json()["enabledTools"].clone();
    let all = [
        "browser_snapshot",
        "browser_type",
        "browser_send_keys",
        "browser_evaluate",
        "browser_close_session",
        "browser_find_tab",
        "browser_mouse_click",
        "browser_key_type",
        "browser_upload",
        "browser_save_as_pdf",
        "browser_network",
    ];
    for tool in all {
        let code = web.command(tool, json!({})).code();
        let there = offered.as_array().unwrap().contains(&json!(tool));
        assert_eq!(code == "UNSUPPORTED", !there, "{tool}: {code}");
    }
}

#[test]
fn each_credential_and_session_is_an_owner_of_its_own() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, browser);
    let token = format!("Authorization: Bearer {}", home.token());
    let call = |lines: &[&str], session: Option<&str>| {
        let before = browser.of_method("list_tabs").len();
        web.post("/command", lines, &json!({"toolName": "list_tabs", "sessionId": session})).data();
        browser.of_method("list_tabs")[before]["client_id"].as_str().unwrap().to_owned()
    };
    let plain = call(&[], None);
    assert_eq!(call(&[], None), plain, "one owner a credential");
    let sessions = [
        plain,
        call(&[&token], None),
        call(&[], Some("a")),
        call(&[], Some("b")),
        call(&[&token], Some("a")),
        call(&["Bridged-Session: c"], None),
    ];
    for (at, one) in sessions.iter().enumerate() {
        assert!(one.starts_with("c-http-") && !sessions[..at].contains(one), "{sessions:?}");
    }
    assert_eq!(
        call(&["Bridged-Session: a"], None),
        sessions[2],
        "the header and the field name the same thing"
    );
    assert_eq!(call(&["Bridged-Session: a"], Some("b")), sessions[2], "the header goes first");
    let long = "x".repeat(5000);
    assert!(call(&[], Some(&long)).len() <= 64);
}

#[test]
fn sessions_are_bounded_and_the_oldest_idle_one_goes() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web();
    let mut talk = web.talk();
    for number in 0..600 {
        let body = json!({"toolName": "ping", "sessionId": format!("s{number}")}).to_string();
        talk.send(web.post_bytes("/command", &[])(&body));
        assert_eq!(talk.answer().status, 200);
    }
    let status = web.command("status", json!({})).data();
    assert!(status["connections"].as_u64().is_some_and(|count| (200..300).contains(&count)), "{status}");
}

#[test]
fn a_session_that_is_a_browsers_name_chooses_that_browser() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let hello = |id: &str| json!({"type": "hello", "role": "extension", "name": "fake", "browser_id": id});
    let [one, two] = ["b-one", "b-two"].map(|id| Recorder::of(&daemon, &hello(id), browser));
    assert_eq!(web.get("/health", &[]).json()["connectedSessions"].as_array().unwrap().len(), 2);
    for (name, asked, other) in [("b-one", &one, &two), ("b-two", &two, &one)] {
        let before = other.of_method("list_tabs").len();
        let posted = json!({"toolName": "browser_list_tabs", "sessionId": name});
        web.post("/command", &[], &posted).data();
        assert_eq!(asked.of_method("list_tabs").len(), 1);
        assert_eq!(other.of_method("list_tabs").len(), before);
    }
}

#[test]
fn many_calls_at_once_each_get_their_own_answer() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let _browser = Recorder::new(&daemon, |request| {
        done(json!({"title": "", "url": "", "text": request["params"]["n"]}))
    });
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let web = &web;
            scope.spawn(move || {
                let mut talk = web.talk();
                for turn in 0..50 {
                    let n = thread * 1000 + turn;
                    let body = json!({"toolName": "get_page_content", "args": {"n": n}}).to_string();
                    talk.send(web.post_bytes("/command", &[])(&body));
                    assert_eq!(talk.answer().data()["text"], n);
                }
            });
        }
    });
}

#[test]
fn a_client_that_hangs_up_ends_its_call_and_nobody_elses() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |request| match request["params"]["n"].as_u64() {
        Some(1) => None,
        _ => done(json!({"text": "two"})),
    });
    let call = |n: u32| {
        web.post_bytes("/command", &[])(
            &json!({"toolName": "get_page_content", "args": {"n": n}}).to_string(),
        )
    };
    let mut first = web.talk();
    first.send(call(1));
    browser.only("get_page_content");
    drop(first);
    within("the hub has given the call up", || web.command("status", json!({})).data()["in_flight"] == 0);
    assert_eq!(web.raw(call(2)).data()["text"], "two");
}

#[test]
fn a_large_picture_comes_as_it_is() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    // Twice the picture, whose 5 MiB came and went in one piece.
    daemon.keeps(12);
    let base64 = "iVBORw0KGgo/+".repeat(400_000);
    let picture = base64.clone();
    let _browser = Recorder::new(&daemon, move |_| {
        done(json!({"tab_id": 7, "url": "u", "title": "t", "mime": "image/png", "format": "png", "width": 1,
            "height": 1, "size": 1, "data": format!("data:image/png;base64,{picture}")}))
    });
    let data = web.command("browser_screenshot", json!({})).data();
    assert_eq!(data["mimeType"], "image/png");
    assert!(data["base64"] == base64.as_str(), "{} bytes", data["base64"].as_str().unwrap().len());
    assert_eq!(data.as_object().unwrap().len(), 2);
    let whole = web.command("screenshot", json!({})).data();
    assert!(whole["data"].as_str().unwrap().ends_with(&base64) && whole["width"] == 1);
}

#[test]
fn text_cut_in_the_middle_of_a_character_does_not_spoil_an_answer() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let mut peer =
        support::Peer::open(daemon.port, None, &json!({"type": "hello", "role": "extension"})).unwrap();
    peer.call("ping", json!({}));
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            let id = peer.next().unwrap()["id"].as_str().unwrap().to_owned();
            peer.send_text(&format!(
                r#"{{"id":"{id}","success":true,"result":{{"tabs":[{{"tab_id":1,"title":"\ud83d!"}}]}}}}"#
            ));
        }
        peer
    });
    assert_eq!(web.command("browser_list_tabs", json!({})).data()["tabs"][0]["title"], "\u{fffd}!");
    assert_eq!(web.command("list_tabs", json!({})).data()["tabs"][0]["title"], "\u{fffd}!");
    answering.join().unwrap();
}

#[test]
fn a_daemon_that_ends_answers_what_is_under_way() {
    let home = Home::new();
    let (mut daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |_| None);
    let mut talk = web.talk();
    talk.send(web.post_bytes("/command", &[])(r#"{"toolName":"list_tabs"}"#));
    browser.only("list_tabs");
    daemon.signal(rustix::process::Signal::TERM);
    let answer = talk.answer();
    assert_eq!((answer.status, answer.code().as_str()), (400, "SHUTTING_DOWN"));
    assert!(daemon.ended().success());
}
