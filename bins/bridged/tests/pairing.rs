//! Pairing from beginning to end: keys that are pasted, tokens that rotate, several browsers by name, and the end of it all.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::calm::Calm;
use support::extension::{Recorder, install, prove, prove_as};
use support::{Done, Home, Peer, within};

/// What `bridged pair` prints, as a key file would hold it.
fn pasted(home: &Home) -> Value {
    let code = home.bridged(["pair"]).ok();
    let parts: Vec<&str> = code.trim().split('.').collect();
    assert_eq!((parts.len(), parts[0]), (3, "bridged1"));
    json!({"key_id": parts[1], "key": parts[2]})
}

/// Changes the book on the disk, as time would.
fn later(home: &Home, edit: impl FnOnce(&mut Value)) {
    let path = home.state("pairings.json");
    let mut book = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edit(&mut book);
    // By a rename, so that the daemon sees another file.
    std::fs::write(home.state("next"), book.to_string()).unwrap();
    std::fs::set_permissions(home.state("next"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    std::fs::rename(home.state("next"), path).unwrap();
}

fn pairings(home: &Home) -> Vec<Value> {
    let known: Value = serde_json::from_str(&home.bridged(["pairings", "--json"]).ok()).unwrap();
    known["extensions"].as_array().unwrap().clone()
}

/// T46: a key that was printed is for the first browser that pastes it, and for nobody after 120 s.
#[test]
fn a_pasted_key_is_for_one_browser_and_for_two_minutes() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let key = pasted(&home);
    let (first, _) = prove_as(daemon.port, &key, "b-first").unwrap();
    // At once, and also when the disk has it.
    assert_eq!(prove_as(daemon.port, &key, "b-second").unwrap_err()["code"], "NOT_PAIRED");
    within("its use is noted", || pairings(&home)[0]["browser_id"] == "b-first");
    assert_eq!(prove_as(daemon.port, &key, "b-second").unwrap_err()["code"], "NOT_PAIRED");
    drop(first);
    // The same browser comes back for ever, over a restart and after the two minutes.
    drop(daemon);
    later(&home, |book| book["extensions"][0]["created"] = json!(1));
    let daemon = home.serve();
    prove_as(daemon.port, &key, "b-first").unwrap();
    assert_eq!(prove_as(daemon.port, &key, "b-second").unwrap_err()["code"], "NOT_PAIRED");

    let late = pasted(&home);
    later(&home, |book| {
        let entry = book["extensions"].as_array_mut().unwrap().last_mut().unwrap();
        let limit = entry["expires"].as_u64().unwrap();
        assert_eq!(limit - entry["created"].as_u64().unwrap(), 120);
        (entry["created"], entry["expires"]) = (json!(limit - 241), json!(limit - 121));
    });
    assert_eq!(prove(daemon.port, &late).unwrap_err()["code"], "NOT_PAIRED");
    assert!(home.bridged(["pairings"]).ok().contains("too late"));
    calm.again(&daemon, None);
}

/// T119: a clock that goes back lets nothing live longer: neither a printed key nor the token before the last.
#[test]
fn a_clock_that_goes_back_prolongs_no_key_and_no_token() {
    let home = Home::new();
    let daemon = home.serve();
    let key = pasted(&home);
    let year = 365 * 86_400;
    later(&home, |book| {
        let entry = &mut book["extensions"][0];
        for time in ["created", "expires"] {
            entry[time] = json!(entry[time].as_u64().unwrap() + year);
        }
    });
    assert_eq!(prove(daemon.port, &key).unwrap_err()["code"], "NOT_PAIRED");
    let old = home.bridged(["token"]).ok();
    home.bridged(["token", "rotate"]).ok();
    let greeted = |token: &str| {
        let hello =
            json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "token": token.trim()});
        Peer::open(daemon.port, None, &hello).unwrap().next().unwrap()["type"].clone()
    };
    assert_eq!(greeted(&old), "hello_ack");
    later(&home, |book| book["rotated"] = json!(book["rotated"].as_u64().unwrap() + year));
    assert_eq!(greeted(&old), "error");
    assert_eq!(greeted(&home.bridged(["token"]).ok()), "hello_ack");
}

/// Rotation: sessions live on, the epoch before is honoured for 60 s on both doors that take a token, then refused on both.
#[test]
fn a_rotated_token_ends_after_a_minute_and_no_session_with_it() {
    let home = Home::new();
    let (daemon, web) = home.serve_web_with(&["--compat", "strict"]);
    let hello =
        |token: &str| json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "token": token});
    let over_http = |token: &str| {
        let bearer = format!("Authorization: Bearer {token}");
        web.post("/command", &[&bearer], &json!({"toolName": "ping", "args": {}})).status
    };
    let first = home.token();
    let mut session = Peer::open(daemon.port, None, &hello(&first)).unwrap();
    assert_eq!(session.next().unwrap()["type"], "hello_ack");
    home.bridged(["token", "rotate"]).ok();
    let second = home.token();
    assert_ne!(first, second);
    assert_eq!((over_http(&first), over_http(&second)), (200, 200));
    later(&home, |book| book["rotated"] = json!(book["rotated"].as_u64().unwrap() - 59));
    assert_eq!((over_http(&first), over_http(&second)), (200, 200));
    later(&home, |book| book["rotated"] = json!(book["rotated"].as_u64().unwrap() - 2));
    assert_eq!((over_http(&first), over_http(&second)), (401, 200));
    let refused = Peer::open(daemon.port, None, &hello(&first)).unwrap().next().unwrap();
    assert_eq!((&refused["code"], &refused["error"]), (&json!("AUTH_FAILED"), &json!("auth failed")));
    assert_eq!(session.call("ping", json!({}))["result"]["pong"], true, "an open session lives on");
    // An extension's key does not depend on the token.
    let pairing = install(&home, &daemon);
    home.bridged(["token", "rotate"]).ok();
    prove(daemon.port, &pairing).unwrap();
    assert_eq!(daemon.lines().ask(&json!({"id": "1", "method": "ping"}))["result"]["pong"], true);
}

/// Several browsers: each is listed under its name, and revoking one ends that one's session and no other's.
#[test]
fn several_browsers_are_listed_and_revoked_by_name() {
    let home = Home::new();
    let daemon = home.serve();
    let keys = [pasted(&home), pasted(&home), install(&home, &daemon)];
    let names = ["b-desk", "b-laptop", "b-file"];
    let mut peers: Vec<Peer> =
        keys.iter().zip(names).map(|(key, name)| prove_as(daemon.port, key, name).unwrap().0).collect();
    within("all are noted", || pairings(&home).iter().all(|p| p["last_seen"].is_u64()));
    let listed = home.bridged(["pairings"]).ok();
    for name in names.iter().chain(&["unpacked", "pasted key"]) {
        assert!(listed.contains(name), "{name}: {listed}");
    }
    // A label that fits two is not guessed at.
    home.bridged(["revoke", "pasted key"]).fails(1, &["fits several", keys[0]["key_id"].as_str().unwrap()]);
    home.bridged(["revoke", "b-laptop"]).ok();
    assert_eq!(peers[1].close_code(), Some(4003));
    for at in [0, 2] {
        assert_eq!(peers[at].call("ping", json!({}))["result"]["pong"], true);
    }
    assert_eq!(prove_as(daemon.port, &keys[1], "b-laptop").unwrap_err()["code"], "NOT_PAIRED");
    home.bridged(["revoke", keys[0]["key_id"].as_str().unwrap()]).ok();
    assert_eq!(peers[0].close_code(), Some(4003));
    home.bridged(["revoke", "unpacked"]).ok();
    assert_eq!(peers[2].close_code(), Some(4003));
    assert!(pairings(&home).is_empty());
}

/// T45: after `reset-pairing` everybody has heard 4003, and no key and no token of before is worth anything.
#[test]
fn after_a_reset_everybody_is_a_stranger() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let installed = install(&home, &daemon);
    let printed = pasted(&home);
    let token = home.token();
    home.bridged(["approve", "abcdefghijklmnopabcdefghijklmnop"]).ok();
    let (mut one, _) = prove_as(daemon.port, &installed, "b-1").unwrap();
    let (mut two, _) = prove_as(daemon.port, &printed, "b-2").unwrap();
    let hello = json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "token": token});
    let mut proven = Peer::open(daemon.port, None, &hello).unwrap();
    assert_eq!(proven.next().unwrap()["type"], "hello_ack");
    let mut bare = daemon.client();
    assert_eq!(bare.call("ping", json!({}))["success"], true);
    let said = home.bridged(["reset-pairing"]).ok();
    assert!(said.contains("bridged extension install"), "{said}");
    for peer in [&mut one, &mut two, &mut proven, &mut bare] {
        assert_eq!(peer.close_code(), Some(4003));
    }
    for key in [&installed, &printed] {
        assert_eq!(prove(daemon.port, key).unwrap_err()["code"], "NOT_PAIRED");
    }
    assert_eq!(Peer::open(daemon.port, None, &hello).unwrap().next().unwrap()["code"], "AUTH_FAILED");
    assert!(pairings(&home).is_empty());
    assert!(!home.bridged(["pairings"]).ok().contains("approved"));
    drop((one, two, proven, bare));
    calm.again(&daemon, Some(&web));
}

/// T45: what was given out for coming back as who one was is worth nothing after a reset either, without a restart: neither the
/// `resume` of a protocol-2 client nor a session of MCP, and whoever waits in one is answered.
#[test]
fn after_a_reset_nobody_comes_back_as_who_they_were() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |_| None);
    let hello = |resume: &Value| {
        let hello = json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "resume": resume});
        let mut lines = daemon.lines();
        lines.ask(&hello)
    };
    let before = hello(&Value::Null);
    assert_eq!(hello(&before["resume"])["client_id"], before["client_id"], "{before}");
    let accept = "Accept: application/json, text/event-stream";
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let begun = web.post("/mcp", &[accept], &begin);
    let session = format!("Mcp-Session-Id: {}", begun.header("mcp-session-id").unwrap());
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_tabs", "arguments": {}}});
    let mut waiting = web.talk();
    waiting.send(web.post_bytes("/mcp", &[accept, &session])(&call.to_string()));
    browser.only("list_tabs");
    home.bridged(["reset-pairing"]).ok();
    let again = hello(&before["resume"]);
    assert_eq!(again["type"], "hello_ack");
    assert_ne!(again["client_id"], before["client_id"]);
    assert_ne!(again["resume"], before["resume"]);
    assert_eq!(hello(&again["resume"])["client_id"], again["client_id"], "what is given out now counts");
    let lost = waiting.answer();
    assert_eq!((lost.status, lost.text().contains("initialize again")), (404, true), "{}", lost.text());
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    assert_eq!(web.post("/mcp", &[accept, &session], &list).status, 404);
    assert_eq!(web.post("/mcp", &[accept], &begin).status, 200);
}

/// Sessions are over by the time the command says so: it is answered after them.
#[test]
fn a_reset_is_said_to_be_done_when_it_is() {
    let home = Home::new();
    let daemon = home.serve();
    let (mut paired, _) = prove(daemon.port, &install(&home, &daemon)).unwrap();
    let mut client = daemon.client();
    assert_eq!(client.call("ping", json!({}))["success"], true);
    let mut owner = daemon.lines();
    owner.send(&json!({"type": "hello", "role": "control", "name": "x", "protocol": 2}));
    assert_eq!(owner.next().unwrap()["type"], "hello_ack");
    let reset = json!({"id": "1", "method": "reset_pairing"});
    assert_eq!(owner.ask(&reset)["result"]["reset"], true);
    client.send(&json!({"id": "2", "method": "ping"}));
    assert_eq!((client.close_code(), paired.close_code()), (Some(4003), Some(4003)));
}

/// A daemon that has read its files but not yet said where it is: what is to hold for it is not written behind its back.
#[test]
fn a_daemon_that_is_just_starting_is_waited_for() {
    let home = Home::new();
    home.bridged(["token"]).ok();
    let before = std::fs::read(home.state("root.key")).unwrap();
    let lock = std::fs::File::create(home.state("bridged.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let commands: [&[&str]; 4] =
        [&["policy", "set", "pause", "on"], &["reset-pairing"], &["token", "rotate"], &["revoke", "x"]];
    std::thread::scope(|scope| {
        for command in commands {
            let home = &home;
            scope.spawn(move || home.bridged(command).fails(1, &["a daemon is starting"]));
        }
    });
    assert!(!home.state("policy.json").exists());
    assert_eq!(std::fs::read(home.state("root.key")).unwrap(), before);
    drop(lock);
    home.bridged(commands[0]).ok();
    assert!(home.state("policy.json").exists());
}

/// Another extension: refused, named by `doctor` with the command that lets it in, though pages knock by the dozen before it.
#[test]
fn doctor_names_a_refused_extension_though_pages_knocked_before_it() {
    let home = Home::new();
    let daemon = home.serve();
    let hello = json!({"type": "hello", "role": "extension", "name": "v1"});
    for page in 0..40 {
        let origin = format!("https://page-{page}.example");
        assert_eq!(Peer::open(daemon.port, Some(&origin), &hello).err(), Some(403));
    }
    let id = "ponmlkjihgfedcbaponmlkjihgfedcba";
    let origin = format!("chrome-extension://{id}");
    assert_eq!(Peer::open(daemon.port, Some(&origin), &hello).err(), Some(403));
    let doctor = || Done::of(home.program("bridged").args(["doctor", "--json"])).out;
    assert!(doctor().contains(&format!("bridged approve {id}")), "{}", doctor());
    home.bridged(["approve", id]).ok();
    assert!(!doctor().contains(&format!("bridged approve {id}")));
    let mut extension = Peer::open(daemon.port, Some(&origin), &hello).unwrap();
    assert_eq!(extension.call("ping", json!({}))["result"]["pong"], true);
}

/// T106: what proved nothing never takes the place of what did, and no call is disturbed by its trying.
#[test]
fn an_unpaired_extension_disturbs_no_paired_one() {
    let home = Home::new();
    let daemon = home.serve();
    let (mut proven, _) = prove(daemon.port, &install(&home, &daemon)).unwrap();
    let mut client = daemon.client();
    client.send(&json!({"id": "1", "method": "list_tabs"}));
    let asked = proven.next().unwrap();
    for _ in 0..20 {
        let hello = json!({"type": "hello", "role": "extension", "name": "old"});
        let mut old = Peer::open(daemon.port, None, &hello).unwrap();
        assert_eq!(old.close_code(), Some(4003));
        assert!(prove(daemon.port, &json!({"key_id": "k-none", "key": "A".repeat(43)})).is_err());
    }
    proven.send(&json!({"id": asked["id"], "success": true, "result": {"tabs": []}}));
    assert_eq!(client.next().unwrap()["success"], true);
}

/// T104: a paired browser that comes back takes over at once; the call under way is answered and may be tried again by hand.
#[test]
fn a_paired_browser_that_comes_back_takes_over() {
    let home = Home::new();
    let daemon = home.serve();
    let pairing = install(&home, &daemon);
    let (mut old, _) = prove(daemon.port, &pairing).unwrap();
    let mut client = daemon.client();
    client.send(&json!({"id": "1", "method": "list_tabs"}));
    assert_eq!(old.next().unwrap()["method"], "list_tabs");
    let began = std::time::Instant::now();
    let (mut new, _) = prove(daemon.port, &pairing).unwrap();
    let answer = client.next().unwrap();
    // Ten times the stated 100 ms.
    assert!(began.elapsed().as_millis() < 1_000, "{:?}", began.elapsed());
    assert_eq!(answer["error"], "extension replaced by a new connection");
    assert_eq!((&answer["code"], &answer["maybe_executed"]), (&json!("EXTENSION_REPLACED"), &json!(true)));
    assert_eq!(old.close_code(), Some(4001));
    client.send(&json!({"id": "2", "method": "list_tabs"}));
    let asked = new.next().unwrap();
    new.send(&json!({"id": asked["id"], "success": true, "result": 2}));
    assert_eq!(client.next().unwrap()["result"], 2);
}

/// Whatever was done, with a daemon or without, the next step is said.
#[test]
fn each_command_says_what_comes_next() {
    let home = Home::new();
    let says = |args: &[&str], next: &[&str]| {
        let done = Done::of(home.program("bridged").args(args));
        let said = done.out + &done.err;
        assert!(next.iter().all(|part| said.contains(part)), "{args:?}: {said}");
        said
    };
    says(&["pairings"], &["`bridged extension install DIR`"]);
    says(&["pair"], &["popup within 120 s", "`bridged start` first"]);
    says(&["logs"], &["`bridged start`"]);
    says(&["revoke", "nothing"], &["`bridged pairings`"]);
    says(&["reset-pairing"], &["`bridged extension install`", "`bridged pair`", "`bridged token`"]);
    let daemon = home.serve();
    assert!(!says(&["pair"], &["popup within 120 s"]).contains("bridged start"));
    install(&home, &daemon);
    says(&["revoke", "unpacked"], &["revoked k-", "`bridged extension install`", "`bridged pair`"]);
    says(&["token", "rotate"], &["another minute", "`bridged token` prints it"]);
    says(
        &["approve", "abcdefghijklmnopabcdefghijklmnop"],
        &["`bridged revoke abcdefghijklmnopabcdefghijklmnop`"],
    );
    says(&["approve", "xyz"], &["chrome://extensions"]);
    says(&["reset-pairing"], &["unpacked`", "`bridged token`"]);
}
