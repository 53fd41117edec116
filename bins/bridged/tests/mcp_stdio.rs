//! `bridged mcp`: starts the daemon if none runs, serves a client on its standard streams, ends with it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use support::extension::{Recorder, done};
use support::{Home, within};

/// An MCP client at the other end of the pipes.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(home: &Home, args: &[&str]) -> Client {
        Client::named(home, args, &json!({"name": "t", "version": "1"}))
    }

    fn named(home: &Home, args: &[&str], info: &Value) -> Client {
        let mut client = Client::silent(home, args);
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        assert_eq!(client.ask("initialize", params)["result"]["serverInfo"]["name"], "bridged");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    /// Has said nothing yet.
    fn silent(home: &Home, args: &[&str]) -> Client {
        let mut command = home.program("bridged");
        command.arg("mcp").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, input, output, id: 0 }
    }

    fn send(&mut self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
        let answer = self.next();
        assert_eq!(answer["id"], self.id, "{answer}");
        answer
    }

    fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    /// A call with arguments as they are written.
    fn call_as_written(&mut self, tool: &str, arguments: &str) -> Value {
        self.id += 1;
        let (id, input) = (self.id, self.input.as_mut().unwrap());
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        input.write_all((line + "\n").as_bytes()).unwrap();
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Closes its end and waits until the process has gone.
    fn end(mut self) {
        drop(self.input.take());
        let mut code = None;
        within("bridged mcp ends", || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        assert!(code.unwrap().success());
    }
}

#[test]
fn it_starts_the_daemon_and_leaves_it_running() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    assert!(client.text("list_tabs", json!({})).starts_with("NO_EXTENSION"));
    client.end();
    assert!(home.bridged(["status"]).ok().contains("runs"));
}

#[test]
fn each_process_is_an_agent_and_an_owner_of_its_own() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| {
        done(json!({"tabs": [{"tab_id": 1, "url": "u", "title": "A title", "active": true, "window_id": 1}]}))
    });
    let (mut one, mut two) = (Client::start(&home, &[]), Client::start(&home, &[]));
    assert!(one.text("list_tabs", json!({})).contains("A title"));
    assert!(two.text("list_tabs", json!({})).contains("A title"));
    let asked = browser.of_method("list_tabs");
    assert_ne!(asked[0]["client_id"], asked[1]["client_id"]);
    assert!(asked.iter().all(|request| request["class"] == "agent"));
    one.end();
    two.end();
}

/// The labels of those who opened a tab, in the audit's order.
fn labels(home: &Home) -> Vec<String> {
    // What is shown is on the disk.
    home.bridged(["audit"]).ok();
    let audit = std::fs::read_to_string(home.state("audit.jsonl")).unwrap();
    let lines = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|l| l["method"] == "new_tab").map(|l| l["label"].as_str().unwrap().to_owned()).collect()
}

fn opens_tabs(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "new_tab" => done(json!({"tab_id": 8, "url": "u", "title": "t", "active": true})),
        _ => None,
    }
}

#[test]
fn the_hub_knows_a_client_by_its_own_name_cut_and_made_harmless() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, opens_tabs);
    let open = |client: &mut Client| client.text("new_tab", json!({"url": "https://a.example/"}));
    let clients: Vec<Client> = [
        json!({"name": "Scout", "version": "1"}),
        json!({"name": format!("\"}}\n\u{1b}[2J\u{202e}{}", "x".repeat(100_000))}),
        // A name that is none is no reason to turn anybody away.
        json!({"name": " "}),
        json!({"name": 5}),
        Value::Null,
    ]
    .iter()
    .map(|info| {
        let mut client = Client::named(&home, &[], info);
        open(&mut client);
        client
    })
    .collect();
    let harmless = format!("\"}}??[2J?{}", "x".repeat(56));
    assert_eq!(labels(&home), ["Scout", &harmless, "mcp", "mcp", "mcp"]);

    // It is still the same name after a restart of the daemon.
    daemon.kill();
    drop(browser);
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, opens_tabs);
    let mut clients = clients.into_iter();
    let mut scout = clients.next().unwrap();
    within("it is connected again", || {
        open(&mut scout);
        !browser.of_method("new_tab").is_empty()
    });
    assert_eq!(labels(&home).last().unwrap(), "Scout");
    scout.end();
    clients.for_each(Client::end);
}

#[test]
fn a_stateless_client_is_known_by_the_name_in_its_requests_too() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = Recorder::new(&daemon, opens_tabs);
    for info in [json!({"name": "Rover", "version": "1"}), Value::Null] {
        let mut client = Client::silent(&home, &[]);
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": info});
        let arguments = json!({"url": "https://a.example/"});
        let answer =
            client.ask("tools/call", json!({"name": "new_tab", "arguments": arguments, "_meta": meta}));
        assert_eq!(answer["result"]["isError"], Value::Null, "{answer}");
        client.end();
    }
    assert_eq!(labels(&home), ["Rover", "mcp"]);
}

#[test]
fn a_call_that_is_called_off_reaches_the_hub() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| None);
    let mut client = Client::start(&home, &[]);
    client.send(
        &json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": {"name": "list_tabs"}}),
    );
    browser.only("list_tabs");
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}),
    );
    within("the call is given up", || daemon.client().call("status", json!({}))["result"]["in_flight"] == 0);
    // So does an end in the middle of one.
    client.send(
        &json!({"jsonrpc": "2.0", "id": "late", "method": "tools/call", "params": {"name": "list_tabs"}}),
    );
    within("the second call", || browser.of_method("list_tabs").len() == 2);
    client.end();
    within("the call is given up", || daemon.client().call("status", json!({}))["result"]["in_flight"] == 0);
}

#[test]
fn an_owner_outlives_a_restart_of_the_daemon() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({"tabs": []})));
    let mut client = Client::start(&home, &[]);
    client.text("list_tabs", json!({}));
    let before = browser.only("list_tabs")["client_id"].clone();
    drop(daemon);
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({"tabs": []})));
    // The loss may show in one call; it is told, not tried again.
    within("it is connected again", || {
        client.text("list_tabs", json!({}));
        !browser.of_method("list_tabs").is_empty()
    });
    assert_eq!(browser.of_method("list_tabs")[0]["client_id"], before);
    client.end();
}

#[test]
fn a_large_picture_goes_to_a_file() {
    let home = Home::new();
    let daemon = home.serve();
    let base64 = "AAAA".repeat(600_000);
    let picture = base64.clone();
    let _browser = Recorder::new(&daemon, move |_| {
        done(json!({"tab_id": 7, "url": "u", "title": "t", "mime": "image/png", "format": "png", "width": 1,
            "height": 1, "size": 1, "data": format!("data:image/png;base64,{picture}")}))
    });
    let mut client = Client::start(&home, &[]);
    let text = client.text("screenshot", json!({}));
    let path = text.rsplit_once("saved as ").unwrap_or_else(|| panic!("{text}")).1;
    assert_eq!(std::fs::metadata(path).unwrap().len() as usize, base64.len() / 4 * 3);
    assert_eq!(support::mode(path.as_ref()), 0o600);
    assert_eq!(support::mode(&home.state("captures")), 0o700);
    client.end();
}

#[test]
fn tools_can_be_chosen() {
    let home = Home::new();
    let _daemon = home.serve();
    let names = |args: &[&str]| -> Vec<String> {
        let mut client = Client::start(&home, args);
        let listed = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        client.end();
        listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let (core, all, some) = (names(&[]), names(&["--tools", "all"]), names(&["--tools", "tabs,click"]));
    assert!(core.len() < all.len() && all.contains(&"click_at".to_owned()));
    assert!(
        some.contains(&"list_tabs".to_owned())
            && some.contains(&"click".to_owned())
            && !some.contains(&"scroll".to_owned())
    );
    home.bridged(["mcp", "--tools", "nonsense"]).fails(2, &["--tools", "nonsense"]);
}

/// T58, T60, T62, T63: arguments that the hub could not read, in which case it cannot say whose call it was either. Each is answered,
/// however many there are, and costs no other call its connection.
#[test]
fn arguments_that_cannot_be_read_are_answered_and_cost_no_other_call() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--limit", "depth=100", "--limit", "client_bytes=100000"]);
    let (let_go, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let browser = Recorder::new(&daemon, move |request| {
        if request["method"] == "wait_for" {
            held.lock().unwrap().recv().unwrap();
        }
        done(json!({"tabs": [], "waited_ms": 1}))
    });
    let mut client = Client::start(&home, &["--tools", "all"]);
    client.id += 1;
    let waits = client.id;
    client.send(&json!({"jsonrpc": "2.0", "id": waits, "method": "tools/call",
        "params": {"name": "wait_for", "arguments": {"text": "x"}}}));
    browser.only("wait_for");
    let nested = |depth: usize| format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let large = format!(r#"{{"x":"{}"}}"#, "y".repeat(100_000));
    let named = |count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!(r#""x{n}":1"#)).collect();
        format!("{{{}}}", names.join(","))
    };
    for _ in 0..3 {
        for (arguments, code, said) in [
            (r#"{"url":"\ud83d"}"#, -32602, "cannot be read"),
            (r#"{"url":"a","url":"b"}"#, -32602, "twice"),
            (r#"{"url":"a","\u0075rl":"b"}"#, -32602, "twice"),
            (r#"{"tab_id":1e400}"#, -32602, "cannot be read"),
            (&nested(5000), -32602, "cannot be read"),
            (&named(65), -32602, "more than 64 names"),
        ] {
            let error = &client.call_as_written("list_tabs", arguments)["error"];
            assert_eq!(error["code"], code, "{error}");
            assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        }
        // What only this daemon does not take.
        for (arguments, said) in [(&nested(99), "INVALID_PARAMS: too deep"), (&large, "TOO_LARGE")] {
            let result = &client.call_as_written("list_tabs", arguments)["result"];
            assert_eq!(result["isError"], true, "{result}");
            assert!(result["content"][0]["text"].as_str().unwrap().contains(said), "{result}");
        }
    }
    assert!(browser.of_method("list_tabs").is_empty());
    let_go.send(()).unwrap();
    assert_eq!(client.next()["id"], waits, "the call under way has lost nothing");
    // An escaped name is the same name; the levels and the names that fit go through.
    for arguments in [r#"{"\u0074ab_id":7}"#, &nested(97), &nested(98), &named(64)] {
        assert_eq!(client.call_as_written("list_tabs", arguments)["result"]["isError"], Value::Null);
    }
    assert_eq!(browser.of_method("list_tabs")[0]["params"], json!({"tab_id": 7}));
    client.end();
}
