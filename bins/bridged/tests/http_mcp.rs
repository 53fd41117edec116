//! MCP over HTTP on the real binary: both eras, sessions that nobody else can use, calls that end with their request.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::extension::{Recorder, done};
use support::http::{Answer, Web};
use support::{Home, within};

const BOTH: &str = "Accept: application/json, text/event-stream";

fn tabs(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "list_tabs" => done(
            json!({"tabs": [{"tab_id": 7, "url": "u", "title": "A title", "active": true, "window_id": 1}]}),
        ),
        "new_tab" => done(json!({"tab_id": 8, "url": "u", "title": "t", "active": true})),
        _ => None,
    }
}

fn begin(web: &Web, lines: &[&str]) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let answer = web.post("/mcp", &[lines, &[BOTH]].concat(), &hello);
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25", "{}", answer.text());
    answer.header("mcp-session-id").unwrap().to_owned()
}

fn call(web: &Web, session: &str, lines: &[&str], tool: &str) -> Answer {
    let session = format!("Mcp-Session-Id: {session}");
    let message =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {}}});
    web.post("/mcp", &[lines, &[BOTH, &session, "MCP-Protocol-Version: 2025-11-25"]].concat(), &message)
}

#[test]
fn a_session_lists_calls_and_ends() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, tabs);
    let session = begin(&web, &[]);
    let line = format!("Mcp-Session-Id: {session}");
    let told =
        web.post("/mcp", &[BOTH, &line], &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!((told.status, told.body.len()), (202, 0));
    let listed =
        web.post("/mcp", &[BOTH, &line], &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).json();
    assert!(listed["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "list_tabs"));
    let text = call(&web, &session, &[], "list_tabs").json()["result"]["content"][0]["text"].to_string();
    assert!(text.contains("A title") && text.contains("[[page:"), "{text}");
    let asked = browser.only("list_tabs");
    assert_eq!(asked["class"], "agent");
    assert!(asked["client_id"].as_str().unwrap().starts_with("c-mcp-"));
    let end = |line: &str| web.raw(web.head("DELETE /mcp", &[line])).status;
    assert_eq!((end(&line), end(&line)), (204, 404));
    assert_eq!(call(&web, &session, &[], "list_tabs").status, 404);
}

#[test]
fn a_stateless_request_needs_no_session() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, tabs);
    let modern = |method: &str, name: Option<&str>, lines: &[&str]| {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
        let mut params = json!({"_meta": meta});
        let method_line = format!("Mcp-Method: {method}");
        let mut all = vec![BOTH, "MCP-Protocol-Version: 2026-07-28", &method_line];
        let name_line = format!("Mcp-Name: {}", name.unwrap_or_default());
        if let Some(name) = name {
            params["name"] = name.into();
            params["arguments"] = json!({});
            all.push(&name_line);
        }
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        web.post("/mcp", &[&all, lines].concat(), &message)
    };
    let found = modern("server/discover", None, &[]);
    assert_eq!(found.status, 200, "{}", found.text());
    let answer = modern("tools/call", Some("list_tabs"), &[]).json();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("A title"), "{answer}");
    modern("tools/call", Some("list_tabs"), &["Bridged-Session: other"]);
    let asked = browser.of_method("list_tabs");
    assert_ne!(asked[0]["client_id"], asked[1]["client_id"]);
    let unknown = modern("tools/none", None, &[]);
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
}

/// The labels of those who opened a tab, in the audit's order.
fn labels(home: &Home) -> Vec<String> {
    // What is shown is on the disk.
    home.bridged(["audit"]).ok();
    let audit = std::fs::read_to_string(home.state("audit.jsonl")).unwrap();
    let lines = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|l| l["method"] == "new_tab").map(|l| l["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_hub_knows_a_client_by_its_own_name() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let _browser = Recorder::new(&daemon, tabs);
    let begin = |info: &Value| {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}});
        web.post("/mcp", &[BOTH], &hello).header("mcp-session-id").unwrap().to_owned()
    };
    for info in [json!({"name": "Scout \"1\"\n", "version": "1"}), json!({"name": []})] {
        assert_eq!(call(&web, &begin(&info), &[], "new_tab").status, 200);
    }
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "Rover"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "new_tab", "arguments": {}, "_meta": meta}});
    let lines = [BOTH, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: new_tab"];
    assert_eq!(web.post("/mcp", &lines, &message).status, 200);
    assert_eq!(labels(&home), ["Scout \"1\"", "mcp over http", "Rover"]);
}

#[test]
fn a_session_belongs_to_the_credential_it_began_with_and_is_an_owner_of_its_own() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, tabs);
    let token = format!("Authorization: Bearer {}", home.token());
    let [one, two, theirs] = [begin(&web, &[]), begin(&web, &[]), begin(&web, &[&token])];
    for (session, lines) in [(&one, vec![]), (&two, vec![]), (&theirs, vec![token.as_str()])] {
        assert_eq!(call(&web, session, &lines, "list_tabs").status, 200);
    }
    let owners: Vec<Value> =
        browser.of_method("list_tabs").iter().map(|asked| asked["client_id"].clone()).collect();
    assert!(owners[0] != owners[1] && owners[1] != owners[2] && owners[0] != owners[2], "{owners:?}");
    assert_eq!(call(&web, &theirs, &[], "list_tabs").status, 404, "not without the token it began with");
    assert_eq!(call(&web, &one, &[&token], "list_tabs").status, 404);
    assert_eq!(call(&web, "made-up", &[], "list_tabs").status, 404);
}

#[test]
fn a_slow_call_becomes_a_stream_of_events() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |request| {
        std::thread::sleep(std::time::Duration::from_millis(2500));
        tabs(request)
    });
    let session = format!("Mcp-Session-Id: {}", begin(&web, &[]));
    let message = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
        {"name": "list_tabs", "arguments": {}, "_meta": {"progressToken": "p"}}});
    let answer = web.post("/mcp", &[BOTH, &session, "MCP-Protocol-Version: 2025-11-25"], &message);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{}", answer.text());
    let text = answer.text();
    let events: Vec<Value> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    assert_eq!(events[0]["method"], "notifications/progress");
    assert!(events.last().unwrap()["result"]["content"][0]["text"].as_str().unwrap().contains("A title"));
    assert_eq!(browser.of_method("list_tabs").len(), 1);
}

#[test]
fn a_stateless_client_that_hangs_up_ends_its_call() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |_| None);
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_tabs", "arguments": {},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}});
    let lines = [BOTH, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: list_tabs"];
    let mut talk = web.talk();
    talk.send(web.post_bytes("/mcp", &lines)(&message.to_string()));
    browser.only("list_tabs");
    drop(talk);
    within("the call is given up", || web.command("status", json!({})).data()["in_flight"] == 0);
}

#[test]
fn strangers_and_pages_get_nothing() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    assert_eq!(web.post("/mcp", &[BOTH, "Origin: http://localhost:3000"], &hello).status, 403);
    assert_eq!(web.post("/mcp", &[BOTH, "Sec-Fetch-Mode: cors"], &hello).status, 401);
    let get = web.get("/mcp", &["Accept: text/event-stream"]);
    assert_eq!((get.status, get.header("allow")), (405, Some("POST, DELETE")));
}

#[test]
fn a_client_chooses_its_tools_by_the_address() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web();
    let listed = |path: &str| -> Vec<String> {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        let begun = web.post(path, &[BOTH], &hello);
        let session = format!("Mcp-Session-Id: {}", begun.header("mcp-session-id").unwrap());
        let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
        let answer = web.post(path, &[BOTH, &session], &ask).json();
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        // The session belongs to this choice alone.
        assert_eq!(web.post("/mcp?tools=console", &[BOTH, &session], &ask).status, 404);
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (core, all) = (listed("/mcp"), listed("/mcp?tools=all"));
    assert!(all.len() > core.len() && core.iter().all(|name| all.contains(name)), "{all:?}");
    assert!(all.contains(&"evaluate".to_owned()) && !core.contains(&"evaluate".to_owned()));
    assert_eq!(listed("/mcp?tools=list-tabs%2Cget_value"), ["list_tabs", "get_value"]);
    assert_eq!(listed("/mcp?tools=core"), core);

    let wrong = web.post("/mcp?tools=tabs,nonsense", &[BOTH], &json!({}));
    assert_eq!(wrong.status, 400);
    let text = wrong.json()["error"]["message"].to_string();
    assert!(text.contains("nonsense") && text.contains("core, all") && text.contains("tabs"), "{text}");

    // However many choices were asked for once, the next one is served.
    let names: Vec<String> = bridge_names();
    for name in &names {
        assert_eq!(web.post(&format!("/mcp?tools={name}"), &[BOTH], &json!({})).status, 400, "{name}");
    }
    assert_eq!(listed(&format!("/mcp?tools={}", names[0])), [names[0].clone()]);
}

/// More methods than there may be choices at once.
fn bridge_names() -> Vec<String> {
    let methods = bridge_catalogue::catalogue().methods();
    methods.iter().take(24).map(|method| method.name.clone()).collect()
}
