//! Bodies at the HTTP door that are no JSON, or say two things at once: what the policy reads is what the browser gets.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::Home;
use support::calm::Calm;
use support::extension::{Recorder, done};
use support::http::{Answer, Web};

/// A body for `/command`, byte for byte.
fn command(web: &Web, body: &str) -> Answer {
    web.raw(web.post_bytes("/command", &[])(body))
}

/// A call of a tool over `/mcp`, with its arguments byte for byte.
fn mcp(web: &Web, arguments: &str) -> Answer {
    let version = ["MCP-Protocol-Version: 2025-06-18", "Accept: application/json, text/event-stream"];
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let session = web.post("/mcp", &version, &hello).header("mcp-session-id").unwrap().to_owned();
    let session = format!("Mcp-Session-Id: {session}");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"navigate","arguments":{arguments}}}}}"#
    );
    web.raw(web.post_bytes("/mcp", &[version[0], version[1], &session])(&call))
}

/// T25, T57, T58, T59, T61, T63, T66, T68: refused with 400, and nothing is asked of the browser.
#[test]
fn what_cannot_be_read_in_one_way_is_refused() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let bodies = [
        r#"{"toolName":"navigate","toolName":"ping","args":{}}"#.to_owned(),
        r#"{"toolName":"navigate","args":{"url":"https://a.example"},"args":{"url":"https://b.example"}}"#
            .to_owned(),
        r#"["ping"]"#.to_owned(),
        r#"[["toolName","ping"]]"#.to_owned(),
        r#"{"toolName":"navigate","args":[]}"#.to_owned(),
        r#"{"toolName":7}"#.to_owned(),
        r#"{"toolName":null}"#.to_owned(),
        r#"{"toolName":"navigate","args":{"url":"\ud800"}}"#.to_owned(),
        r#"{"toolName":"navigate","sessionId":"\udc00"}"#.to_owned(),
        "\u{feff}{\"toolName\":\"ping\"}".to_owned(),
        r#"{"toolName":"ping"} {"toolName":"ping"}"#.to_owned(),
        r#"{"toolName":"ping"}x"#.to_owned(),
        format!(r#"{{"toolName":"navigate","args":{{"url":{}}}}}"#, deep(127)),
        format!(r#"{{"toolName":"navigate","args":{{"url":{}}}}}"#, deep(1_000_000)),
        format!(r#"{{"toolName":"navigate","x":{}}}"#, deep(1_000_000)),
        r#"{"toolName":"navigate","args":{"tab_id":1e400,"url":"https://a.example"}}"#.to_owned(),
    ];
    for body in bodies {
        let answer = command(&web, &body);
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{body:.80}");
    }
    for arguments in
        [deep(1_000_000), format!(r#"{{"url":{}}}"#, deep(127)), r#"{"url":"\ud800"}"#.to_owned()]
    {
        let answer = mcp(&web, &arguments);
        let said = answer.json();
        assert!(said["error"].is_object() || said["result"]["isError"] == true, "{arguments:.80}: {said}");
        assert!(!answer.text().contains("no extension"), "it went as far as the hub: {said}");
    }
    // Compressed: refused by its name, never unpacked.
    daemon.forget_peak();
    let before = daemon.peak();
    let bomb = web.post_bytes("/command", &["Content-Encoding: gzip"])("\u{1f}");
    assert_eq!(web.raw(bomb).status, 415);
    let large = web.post_bytes("/command", &[])("").replace("Length: 0", "Length: 8388609");
    assert_eq!(web.raw(large).status, 413);
    let grown = daemon.peak().saturating_sub(before);
    assert!(grown < 1 << 10, "{grown} KiB for what was not read");
    calm.again(&daemon, Some(&web));
}

/// T67: numbers that no tab has.
#[test]
fn a_number_that_no_tab_has_is_refused_before_the_browser() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web();
    for number in
        ["0", "-0", "-1", "0.1", "1.5", "1e300", "9007199254740992", "18446744073709551616", "1e-99999999"]
    {
        for (tool, name) in [("close_tab", "tab_id"), ("browser_close_tab", "tabId")] {
            let answer = command(&web, &format!(r#"{{"toolName":"{tool}","args":{{"{name}":{number}}}}}"#));
            assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_PARAMS"), "{tool} {number}");
        }
    }
}

/// T60, T62, T69, T70: the daemon writes what it read anew, so a name stands there once, unescaped, and means the same to all.
#[test]
fn what_is_sent_on_was_written_anew() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let recorder =
        Recorder::new(&daemon, |_| done(json!({"tab_id": 1, "url": "", "title": "", "loaded": true})));
    let body = r#"{"toolName":"navigate","client_id":"victim","class":"agent","owner":"victim","args":
        {"url":"https://a.example/","u\u0072l":"https://b.example/","__proto__":{"x":1},"constructor":2}}"#;
    let answer = command(&web, body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let asked = recorder.only("navigate");
    // serde_json keeps the last; the browser is sent that one alone, and the policy judged it.
    assert_eq!(asked["params"]["url"], "https://b.example/");
    assert_ne!(asked["client_id"], "victim");
    assert_eq!(asked["class"], "person");
    recorder.asked.lock().unwrap().clear();
    let answer = mcp(&web, r#"{"url":"https://a.example/","u\u0072l":"https://b.example/"}"#);
    let urls: Vec<Value> =
        recorder.of_method("navigate").iter().map(|asked| asked["params"]["url"].clone()).collect();
    // One of them or an answer that says why not; never both.
    assert!(urls.len() <= 1, "{urls:?}");
    assert!(
        !urls.is_empty() || answer.json()["error"].is_object() || answer.json()["result"]["isError"] == true
    );
}
