//! The audit: what is a line and what is not, what it never holds, and what happens when it cannot be written. (T84, T132)

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};
use support::extension::{Recorder, done, failed, prove};
use support::{Home, Peer, within};

/// Stands for everything that is nobody's business.
const CANARY: &str = "cAnArY-5f0c";

fn browser(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "list_tabs" => done(json!({"tabs": []})),
        "navigate" => done(json!({"tab_id": 9, "url": request["params"]["url"], "title": CANARY})),
        "click" if request["params"]["target"]["value"] == "#gone" => failed("ELEMENT_NOT_FOUND", CANARY),
        "click" => done(json!({"clicked": {"tag": "button", "text": CANARY}, "tab_id": 7})),
        "run_script" => done(json!({"result": CANARY})),
        "get_page_content" => done(json!({"title": CANARY, "url": "u", "text": CANARY})),
        _ => done(json!({"value": CANARY, "results": []})),
    }
}

fn pieces(home: &Home) -> Vec<PathBuf> {
    let names = ["audit.jsonl.4", "audit.jsonl.3", "audit.jsonl.2", "audit.jsonl.1", "audit.jsonl"];
    names.iter().map(|name| home.state(name)).filter(|path| path.exists()).collect()
}

/// All lines; each is JSON without raw control characters, and no number is missing.
fn lines(home: &Home) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for path in pieces(home) {
        assert_eq!(support::mode(&path), 0o600);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.ends_with('\n') && !text.contains(CANARY), "{text}");
        for line in text.lines() {
            assert!(!line.chars().any(char::is_control), "{line}");
            all.push(serde_json::from_str(line).unwrap());
        }
    }
    for (at, line) in all.iter().enumerate() {
        assert_eq!(line["seq"].as_u64(), Some(at as u64), "{line}");
    }
    all
}

fn of<'a>(lines: &'a [Value], method: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["method"] == method).collect()
}

#[test]
fn each_write_is_a_line_and_a_flood_of_reads_is_not() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let named = json!({"type": "hello", "role": "extension", "name": "fake", "browser_id": "b-one"});
    let _browser = Recorder::of(&daemon, &named, browser);
    let hello = json!({"type": "hello", "role": "client", "name": "\"},{\"x\":\"\u{1b}[2J\u{202e}\n", "client_id": "scout"});
    let mut peer = Peer::open(daemon.port, None, &hello).unwrap();
    for _ in 0..3 {
        assert_eq!(peer.call("click", json!({"tab_id": 7, "target": {"value": "#go"}}))["success"], true);
    }
    assert_eq!(peer.call("click", json!({"target": {"value": "#gone"}}))["success"], false);
    for _ in 0..200 {
        assert_eq!(peer.call("list_tabs", json!({}))["success"], true);
    }
    let code = format!("fetch('https://e.example/{CANARY}')");
    peer.call("run_script", json!({"code": code}));
    peer.call("set_value", json!({"target": {"value": "#password"}, "value": CANARY}));
    peer.call(
        "navigate",
        json!({"url": format!("https://u:{CANARY}@shop.example:8443/{CANARY}?q={CANARY}#{CANARY}")}),
    );
    peer.call("batch", json!({"steps": [{"method": "click", "params": {"target": {"value": CANARY}}}, {"method": "set_value", "params": {}}]}));
    peer.call("get_page_content", json!({}));
    web.command("browser_fill", json!({"selector": "#a", "value": CANARY})).data();
    home.bridge(["click", "#go"]).ok();
    home.bridged(["policy", "set", "pause", "on"]).ok();
    for _ in 0..50 {
        assert_eq!(peer.call("click", json!({"target": {"value": "#go"}}))["code"], "PAUSED");
    }
    home.bridged(["policy", "set", "pause", "off"]).ok();
    // Nobody who is turned away at a door, in thousands, makes more than a line a second.
    for _ in 0..50 {
        assert_eq!(Peer::open(daemon.port, Some("https://evil.example"), &json!({})).err(), Some(403));
    }
    assert_eq!(web.post("/command", &["Authorization: Bearer wrong"], &json!({})).status, 401);

    // It is on the disk before `bridged audit` shows it.
    let shown = home.bridged(["audit"]).ok();
    let written = lines(&home);
    assert_eq!(shown.lines().count(), written.len());
    drop(peer);

    let clicks = of(&written, "click");
    let (refused, done): (Vec<&Value>, Vec<&Value>) =
        clicks.into_iter().partition(|line| line["decision"] == "deny");
    assert_eq!(done.len(), 5, "{done:#?}");
    let first = done[0];
    assert_eq!(
        [
            &first["client_id"],
            &first["transport"],
            &first["auth"],
            &first["decision"],
            &first["outcome"],
            &first["tab_id"]
        ],
        [&json!("scout"), &json!("websocket"), &json!("same-user"), &json!("allow"), &json!("ok"), &json!(7)]
    );
    assert_eq!(first["uid"], rustix::process::geteuid().as_raw());
    assert!(
        first["ms"].is_u64() && first["bytes"].as_u64().unwrap() > 40 && first["mono_ms"].is_u64(),
        "{first}"
    );
    assert!(first["conn"].is_string() && first["browser_id"] == "b-one", "{first}");
    assert!(first["label"].as_str().unwrap().starts_with("\"},{\"x\":\""), "{first}");
    let failed = done.iter().find(|line| line["outcome"] == "error").unwrap();
    assert_eq!(failed["code"], "ELEMENT_NOT_FOUND");
    let typed = done.iter().find(|line| line["transport"] == "unix").unwrap();
    assert!(
        typed["pid"].as_i64().unwrap() > 0 && typed["exe"].as_str().unwrap().contains("bridged"),
        "{typed}"
    );

    assert!((1..=10).contains(&of(&written, "list_tabs").len()), "one a second");
    let collapsed: u64 = refused.iter().filter_map(|line| line["collapsed"].as_u64()).sum();
    assert!((1..=10).contains(&refused.len()) && refused[0]["code"] == "PAUSED" && collapsed < 50);
    let script = of(&written, "run_script")[0];
    assert_eq!(script["script"]["length"], code.len());
    assert_eq!(script["script"]["sha256"].as_str().unwrap().len(), 16);
    assert_eq!(of(&written, "batch")[0]["steps"], json!(["click", "set_value"]));
    let went = of(&written, "navigate")[0];
    assert_eq!((&went["origin"], &went["tab_id"]), (&json!("https://shop.example:8443"), &json!(9)));
    assert_eq!(of(&written, "set_value").len(), 2);
    assert_eq!(of(&written, "policy_set").len(), 2);
    let knocks = of(&written, "hello");
    assert!(
        knocks
            .iter()
            .any(|line| line["origin"] == "https://evil.example" && line["transport"] == "websocket")
    );
    assert!(knocks.iter().any(|line| line["code"] == "UNAUTHORIZED" && line["transport"] == "http"));
    assert!(knocks.len() <= 20, "{}", knocks.len());

    // The numbers go on after a restart.
    daemon.log();
    let before = lines(&home).len();
    let daemon = home.serve();
    let _browser = Recorder::new(&daemon, browser);
    daemon.client().call("click", json!({"target": {"value": "#go"}}));
    daemon.log();
    assert!(lines(&home).len() > before);
}

/// What never comes to be judged, for the hub itself turns it away, is told all the same, and by the thousand it is a line a second.
#[test]
fn what_the_hub_refuses_by_itself_is_told_too() {
    let home = Home::new();
    let daemon = home.serve();
    let hello = json!({"type": "hello", "role": "client", "name": "prober", "client_id": "prober"});
    let mut peer = Peer::open(daemon.port, None, &hello).unwrap();
    assert_eq!(peer.call("ping", json!({}))["success"], true);
    let began = Instant::now();
    for _ in 0..100 {
        peer.send(&json!({"id": "1", "method": "reset_pairing", "params": {"secret": CANARY}}));
        assert_eq!(peer.next().unwrap()["success"], false);
    }
    // One a second, and so many seconds begin in one more and may end in another.
    let most = began.elapsed().as_secs() as usize + 2;
    peer.send_text(&format!("{{\"id\":\"{CANARY}"));
    assert_eq!(peer.next().unwrap()["error"], "invalid message");
    for (first, code) in [
        (json!({"type": "hello", "role": CANARY}), "INVALID_HELLO"),
        (json!({"type": "hello", "role": "client", "token": CANARY}), "AUTH_FAILED"),
        (json!({"type": "hello", "role": "control", "protocol": 2}), "PERMISSION_DENIED"),
    ] {
        let said = Peer::open(daemon.port, None, &first).unwrap().next().unwrap();
        assert_eq!(said["code"], code, "{said}");
    }
    let unpaired = json!({"key_id": "k-none", "key": "A".repeat(43)});
    assert_eq!(prove(daemon.port, &unpaired).unwrap_err()["code"], "NOT_PAIRED");
    let wrong = json!({"type": "hello", "role": "client", "token": CANARY});
    assert_eq!(daemon.lines().ask(&wrong)["code"], "AUTH_FAILED");

    home.bridged(["audit"]).ok();
    let written = lines(&home);
    let messages = of(&written, "message");
    let of_code = |code: &str| messages.iter().filter(|line| line["code"] == code).count();
    assert!((1..=most).contains(&of_code("PERMISSION_DENIED")), "{messages:#?}");
    assert_eq!(of_code("INVALID_REQUEST"), 1, "{messages:#?}");
    for line in &messages {
        assert_eq!(
            [&line["client_id"], &line["label"], &line["transport"], &line["decision"], &line["outcome"]],
            ["prober", "prober", "websocket", "deny", "denied"],
        );
        assert_eq!(line["uid"], rustix::process::geteuid().as_raw());
    }
    let knocks = of(&written, "hello");
    for line in &knocks {
        assert_eq!(line["uid"], rustix::process::geteuid().as_raw(), "{line}");
        assert!(line["conn"].is_string(), "{line}");
        let who = (line["pid"].as_u64(), line["exe"].as_str().map(std::path::Path::new));
        let tests_own = (Some(u64::from(std::process::id())), std::env::current_exe().unwrap());
        let expected = (line["transport"] == "unix").then_some(tests_own);
        let expected = expected.as_ref().map_or((None, None), |(pid, exe)| (*pid, Some(exe.as_path())));
        assert_eq!(who, expected, "the process is known where the kernel says it: {line}");
    }
    let denied: Vec<(&str, &str)> = knocks
        .iter()
        .map(|line| (line["transport"].as_str().unwrap(), line["code"].as_str().unwrap()))
        .collect();
    for expected in [
        ("websocket", "INVALID_HELLO"),
        ("websocket", "AUTH_FAILED"),
        ("websocket", "PERMISSION_DENIED"),
        ("websocket", "NOT_PAIRED"),
        ("unix", "AUTH_FAILED"),
    ] {
        assert!(denied.contains(&expected), "{expected:?} is not in {denied:?}");
    }
    assert_eq!(denied.len(), 5, "each once: {denied:?}");
}

#[test]
fn a_call_that_nobody_waits_for_any_more_is_told_as_such() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| None);
    let mut peer = daemon.client();
    peer.send(&json!({"id": "1", "method": "click", "params": {"target": {"value": "#go"}}}));
    within("the click to arrive", || browser.of_method("click").len() == 1);
    drop(peer);
    let short =
        json!({"id": "1", "method": "click", "params": {"target": {"value": "#go"}}, "timeout_ms": 50});
    assert_eq!(daemon.lines().ask(&short)["code"], "TIMEOUT");
    within("the lines", || {
        home.bridged(["audit"]).ok();
        of(&lines(&home), "click").len() == 2
    });
    let all = lines(&home);
    let ends: Vec<(&Value, &Value)> =
        of(&all, "click").iter().map(|line| (&line["outcome"], &line["code"])).collect();
    assert!(ends.contains(&(&json!("gone"), &Value::Null)), "{ends:?}");
    assert!(ends.contains(&(&json!("error"), &json!("TIMEOUT"))), "{ends:?}");
    assert_eq!(daemon.client().call("click", json!({"browser_id": "none-such"}))["code"], "NO_SUCH_BROWSER");
    home.bridged(["audit"]).ok();
    assert!(of(&lines(&home), "click").iter().any(|line| line["code"] == "NO_SUCH_BROWSER"));
    // Looking whether all is well is no attack.
    home.bridged(["doctor"]);
    home.bridged(["audit"]).ok();
    assert!(of(&lines(&home), "hello").is_empty());
}

#[test]
fn a_disk_that_is_full_stops_nothing_unless_the_user_wants_it_to() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("state/bridged")).unwrap();
    std::fs::set_permissions(home.path("state/bridged"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    // Nothing can be written here, and a link is not followed either.
    symlink("/dev/full", home.state("audit.jsonl")).unwrap();
    let daemon = home.serve();
    let _browser = Recorder::new(&daemon, browser);
    let click = json!({"target": {"value": "#go"}});
    let status = || serde_json::from_str::<Value>(&home.bridged(["status", "--json"]).ok()).unwrap();
    assert_eq!(status()["audit_degraded"], false);
    let on_the_wire = || daemon.client().call("status", json!({}))["result"]["audit_degraded"].clone();
    assert_eq!(on_the_wire(), false);
    assert_eq!(daemon.client().call("click", click.clone())["success"], true);
    within("it to be noticed", || status()["audit_degraded"] == true);
    assert_eq!(on_the_wire(), true);
    assert!(home.bridged(["status"]).ok().contains("the audit has gaps"));
    let doctor = home.bridged(["doctor"]).out;
    assert!(doctor.contains("audit") && doctor.contains("lines are missing"), "{doctor}");
    let mut wrong = home.program("bridged");
    wrong.args(["serve", "--port", "0"]).env("BRIDGED_AUDIT_REQUIRED", "perhaps");
    support::Done::of(&mut wrong).fails(2, &["BRIDGED_AUDIT_REQUIRED", "true or false"]);
    assert_eq!(daemon.client().call("click", click.clone())["success"], true);
    drop(daemon);

    std::fs::create_dir_all(home.path("config/bridged")).unwrap();
    std::fs::write(home.path("config/bridged/config.toml"), "[audit]\nrequired = true\n").unwrap();
    let daemon = home.serve();
    let _browser = Recorder::new(&daemon, browser);
    // The first one is what it takes to notice.
    daemon.client().call("click", click.clone());
    within("it to be noticed", || status()["audit_degraded"] == true);
    let refused = daemon.client().call("click", click.clone());
    assert!(refused["error"].as_str().unwrap().starts_with("audit unavailable"), "{refused}");
    assert_eq!(daemon.client().call("list_tabs", json!({}))["success"], true, "reading goes on");

    std::fs::remove_file(home.state("audit.jsonl")).unwrap();
    within("it to be written again", || daemon.client().call("click", click.clone())["success"] == true);
    home.bridged(["audit"]).ok();
    let written = lines(&home);
    assert!(written.iter().any(|line| line["outcome"] == "lost" && line["collapsed"].as_u64() > Some(0)));
}

#[test]
fn the_audit_is_followed_and_calls_are_watched_as_they_pass() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = Recorder::new(&daemon, browser);
    let follow = |name: &str, args: &[&str]| {
        let mut command = home.program(name);
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = std::sync::mpsc::channel();
        let out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            use std::io::BufRead as _;
            for line in out.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        (child, lines)
    };
    let (mut auditing, audited) = follow("bridged", &["audit", "-f"]);
    let (mut watching, watched) = follow("bridge", &["watch", "--json"]);
    let mut client = daemon.client();
    let value = json!({"target": {"value": "#a"}, "value": CANARY});
    // Until both have begun, calls pass by unseen.
    let mut seen: Vec<Value> = Vec::new();
    within("a call to be watched from its beginning to its end", || {
        client.call("set_value", value.clone());
        seen.extend(watched.try_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap()));
        ["asked", "answered"].iter().all(|phase| seen.iter().any(|frame| frame["phase"] == *phase))
    });
    for frame in &seen {
        assert_eq!(frame["call"]["method"], "set_value");
        assert!(!frame.to_string().contains(CANARY));
    }
    within("the line", || {
        client.call("set_value", value.clone());
        audited.try_iter().any(|line| line.contains("\"set_value\"") && !line.contains(CANARY))
    });
    for child in [&mut auditing, &mut watching] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Once nobody watches, reads are collapsed again and nobody waits for anything.
    assert_eq!(client.call("list_tabs", json!({}))["success"], true);
}
