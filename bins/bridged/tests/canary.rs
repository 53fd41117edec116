//! T94: secrets planted in everything that passes the bridge appear in nothing that it says, keeps or shows of itself.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use support::extension::{install, prove};
use support::{Done, Home, Peer};

/// What is planted, each in a place of its own, so that a leak says where it came from.
const PASSWORD: &str = "cAnArY-typed-5f0c";
const USERINFO: &str = "cAnArY-userinfo-5f0c";
const QUERY: &str = "cAnArY-query-5f0c";
const FRAGMENT: &str = "cAnArY-fragment-5f0c";
const SCRIPT: &str = "cAnArY-script-5f0c";
const CONTENT: &str = "cAnArY-content-5f0c";
const PAGE: &str = "cAnArY-page-5f0c";
const WRONG: &str = "cAnArY-wrong-token-5f0c";
const BROKEN: &str = "cAnArY-broken-frame-5f0c";

/// What each door is asked to do.
fn calls(upload: &Path) -> Vec<(&'static str, Value)> {
    let url = format!("https://u:{USERINFO}@site.example/?q={QUERY}#{FRAGMENT}");
    vec![
        ("set_value", json!({"target": {"value": "#pw"}, "value": PASSWORD})),
        ("type_text", json!({"text": PASSWORD})),
        ("navigate", json!({"url": url})),
        ("run_script", json!({"code": format!("return '{SCRIPT}'")})),
        ("evaluate", json!({"expression": format!("'{SCRIPT}'")})),
        ("upload", json!({"target": {"value": "#f"}, "paths": [upload]})),
        ("get_page_content", json!({})),
        ("click", json!({"target": {"value": "#gone"}})),
        (
            "batch",
            json!({"steps": [{"method": "set_value", "params": {"target": {"value": "#pw"}, "value": PASSWORD}}]}),
        ),
    ]
}

/// Every text file beneath a folder but those that are the secret's own place.
fn files(folder: &Path, out: &mut String) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), out);
        } else if !["root.key", "client.token", "pairing.json"].contains(&name.as_str())
            && name != "bridged.sock"
        {
            out.push_str(&String::from_utf8_lossy(&fs::read(entry.path()).unwrap_or_default()));
        }
    }
}

#[test]
fn no_secret_that_passes_the_bridge_is_said_kept_or_shown() {
    let home = Home::new();
    let (daemon, web) = home.serve_web_with(&["--log", "trace"]);
    let pid = daemon.child.id();
    home.bridged(["policy", "set", "evaluate", "on"]).ok();
    home.bridged(["policy", "set", "uploads", "on"]).ok();
    let pairing = install(&home, &daemon);
    let printed = home.bridged(["pair"]).ok();
    let printed = printed.trim().rsplit('.').next().unwrap();
    fs::create_dir(home.path("Downloads")).unwrap();
    let upload = home.path("Downloads/tax.txt");
    fs::write(&upload, CONTENT).unwrap();

    let (mut browser, _) = prove(daemon.port, &pairing).unwrap();
    daemon.hangs_up_on(&browser);
    let thread = std::thread::spawn(move || {
        let mut asked = 0;
        while let Some(request) = browser.next() {
            if request["method"].is_null() || request["id"].is_null() {
                continue;
            }
            asked += 1;
            let answer = if request["method"] == "click" {
                json!({"id": request["id"], "success": false, "error": PAGE, "code": "ELEMENT_NOT_FOUND"})
            } else {
                json!({"id": request["id"], "success": true, "result": {"text": PAGE, "title": PAGE, "url": "u", "tab_id": 1}})
            };
            browser.send(&answer);
        }
        asked
    });

    // Every door: WebSocket bare and with the token, the Unix socket, HTTP, MCP, the command line.
    let token = home.token();
    let hello =
        |token: &str| json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "token": token});
    let mut with_token = Peer::open(daemon.port, None, &hello(&token)).unwrap();
    assert_eq!(with_token.next().unwrap()["type"], "hello_ack");
    let mut bare = daemon.client();
    let mut lines = daemon.lines();
    for (at, (method, params)) in calls(&upload).into_iter().enumerate() {
        bare.call(method, params.clone());
        with_token.call(method, params.clone());
        lines.ask(&json!({"id": at.to_string(), "method": method, "params": params}));
        let bearer = format!("Authorization: Bearer {token}");
        web.post("/command", &[&bearer], &json!({"toolName": method, "args": params}));
    }
    let mut input = String::new();
    let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for (at, (method, params)) in [("initialize", initialize)]
        .into_iter()
        .chain(
            calls(&upload)
                .into_iter()
                .map(|(name, arguments)| ("tools/call", json!({"name": name, "arguments": arguments}))),
        )
        .enumerate()
    {
        input += &format!("{}\n", json!({"jsonrpc": "2.0", "id": at, "method": method, "params": params}));
    }
    let mut mcp = home.program("bridged");
    mcp.args(["mcp", "--tools", "all"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut mcp = mcp.spawn().unwrap();
    let mut said = fs::read_to_string(format!("/proc/{}/cmdline", mcp.id())).unwrap();
    mcp.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let mcp = mcp.wait_with_output().unwrap();
    assert!(mcp.status.success() && String::from_utf8_lossy(&mcp.stdout).contains("\"id\":9"));
    said += &String::from_utf8_lossy(&mcp.stderr);
    let mut cli = home.program("bridge");
    let mut cli =
        cli.args(["set-value", "#pw", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    said += &fs::read_to_string(format!("/proc/{}/cmdline", cli.id())).unwrap();
    cli.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    cli.wait_with_output().unwrap();

    // What fails is no occasion to repeat it either.
    Peer::open(daemon.port, None, &hello(WRONG)).unwrap().close_code();
    web.post(
        "/command",
        &[&format!("Authorization: Bearer {WRONG}")],
        &json!({"toolName": "ping", "args": {}}),
    );
    web.get(&format!("/read?url=http://u:{USERINFO}@127.0.0.1:1/&q={QUERY}"), &[]);
    let mut broken = daemon.client();
    broken.send_text(&format!("{{\"id\":\"1\",\"method\":\"click\",\"{BROKEN}"));
    broken.next();
    home.bridge(["screenshot", "-o", "no/such/file"]);
    home.bridge(["call", "set_value", &format!("{{\"value\":\"{PASSWORD}\",\"tab_id\":\"x\"}}")]);

    let shown = [
        &["status", "--json"][..],
        &["status"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--security"],
        &["pairings", "--json"],
        &["pairings"],
        &["policy", "show", "--json"],
        &["audit"],
    ];
    for command in shown {
        let done = Done::of(home.program("bridged").args(command));
        said += &done.out;
        said += &done.err;
    }
    said += &home.bridge(["list-browsers", "--json"]).ok();
    said += &web.get("/health", &[]).text();
    for of in ["cmdline", "environ"] {
        said += &String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{of}")).unwrap());
    }
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    // One byte is the limit that holds for pipes too; where no more than none was allowed, none.
    let allowed = rustix::process::getrlimit(rustix::process::Resource::Core).maximum;
    let limit = if allowed == Some(0) { "0" } else { "1" };
    let found: Vec<&str> = core.split_whitespace().skip(4).take(2).collect();
    assert_eq!(found, [limit, limit], "no core is dumped");

    drop((bare, with_token, lines, broken));
    said += &daemon.log();
    let asked = thread.join().unwrap();
    assert!(asked > 30, "only {asked} calls came through");
    files(&home.path("state"), &mut said);
    assert!(said.contains("audit") || said.contains("navigate"), "something was said at all");
    let root = fs::read(home.state("root.key")).unwrap();
    let root: String = root.iter().map(|byte| format!("{byte:02x}")).collect();
    let key = pairing["key"].as_str().unwrap();
    for secret in [
        PASSWORD, USERINFO, QUERY, FRAGMENT, SCRIPT, CONTENT, PAGE, WRONG, BROKEN, &token, key, printed,
        &root,
    ] {
        if let Some(at) = said.find(secret) {
            let from = said[..at].rfind('\n').map_or(0, |from| from + 1);
            panic!("{secret} is in: {}", said[from..].lines().next().unwrap_or_default());
        }
    }
}
