//! `bridged doctor`: names what is wrong and what to do, mends what is safe, and disturbs nobody.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use support::{Daemon, Done, Home, Peer, mode};

/// A built extension as far as the doctor cares.
fn dist(home: &Home) {
    fs::create_dir_all(home.path("dist")).unwrap();
    fs::write(home.path("dist/manifest.json"), r#"{"name":"x","key":"ours"}"#).unwrap();
    fs::write(home.path("dist/worker.js"), "// worker").unwrap();
}

fn run(home: &Home, daemon: Option<&Daemon>, args: &[&str]) -> Done {
    let mut command = home.program("bridged");
    command.args(args).env("BRIDGED_EXTENSION_DIST", home.path("dist"));
    if let Some(daemon) = daemon {
        command.env("BRIDGED_PORT", daemon.port.to_string());
    }
    Done::of(&mut command)
}

fn doctor(home: &Home, daemon: Option<&Daemon>, fix: bool) -> (i32, Value) {
    let args: &[&str] = if fix { &["doctor", "--json", "--fix"] } else { &["doctor", "--json"] };
    let done = run(home, daemon, args);
    (done.code, serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}{}", done.out, done.err)))
}

#[track_caller]
fn check(report: &Value, check: &str, status: &str, says: &[&str]) {
    let found: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().filter(|c| c["check"] == check).collect();
    let fits = |c: &&&Value| c["status"] == status && says.iter().all(|s| c.to_string().contains(s));
    assert!(found.iter().any(|c| fits(&c)), "{check} {status} {says:?}: {found:?}");
}

#[test]
fn on_a_new_machine_it_says_what_comes_first_and_makes_nothing() {
    let home = Home::new();
    dist(&home);
    let (code, report) = doctor(&home, None, false);
    assert_eq!((code, &report["ok"]), (1, &json!(false)));
    check(&report, "daemon", "fail", &["bridged start", "fixable"]);
    check(&report, "key", "fail", &["bridged extension install DIR"]);
    check(&report, "state", "ok", &[]);
    check(&report, "settings", "ok", &["the defaults, but for ", "BRIDGED_PORT"]);
    assert!(!home.path("state").exists());
    let told = run(&home, None, &["doctor"]);
    assert_eq!(told.code, 1);
    assert!(
        told.out.contains("FAIL  daemon") && told.out.lines().last().unwrap().ends_with("fail"),
        "{}",
        told.out
    );
}

#[test]
fn it_counts_at_least_ten_things_when_a_daemon_runs() {
    let home = Home::new();
    dist(&home);
    let daemon = home.serve();
    run(&home, Some(&daemon), &["extension", "install", "unpacked"]).ok();
    let (_, report) = doctor(&home, Some(&daemon), false);
    for one in [
        "program",
        "settings",
        "state",
        "daemon",
        "socket",
        "port",
        "http",
        "extension",
        "key",
        "browser",
        "chrome",
        "mcp",
    ] {
        assert!(report["checks"].as_array().unwrap().iter().any(|c| c["check"] == one), "{one}");
    }
    for one in ["daemon", "socket", "port", "extension", "key"] {
        check(&report, one, "ok", &[]);
    }
    check(&report, "browser", "fail", &["no browser is connected"]);
}

#[test]
fn a_browser_that_is_connected_notices_nothing() {
    let home = Home::new();
    dist(&home);
    let daemon = home.serve();
    let hello = json!({"type": "hello", "role": "extension", "name": "old"});
    let mut browser = Peer::open(daemon.port, None, &hello).unwrap();
    assert_eq!(browser.call("ping", json!({}))["result"]["pong"], true);
    let (_, report) = doctor(&home, Some(&daemon), true);
    check(&report, "browser", "warn", &["base protocol"]);
    // The next thing it hears is the answer to its own question.
    assert_eq!(browser.call("ping", json!({}))["result"]["pong"], true);
}

#[test]
fn an_extension_that_was_turned_away_is_named_with_the_way_to_let_it_in() {
    let home = Home::new();
    let daemon = home.serve();
    let stranger = "abcdefghijklmnopabcdefghijklmnop";
    let hello = json!({"type": "hello", "role": "extension", "name": "other"});
    let origin = format!("chrome-extension://{stranger}");
    assert_eq!(Peer::open(daemon.port, Some(&origin), &hello).err(), Some(403));
    let (_, report) = doctor(&home, Some(&daemon), false);
    check(&report, "strangers", "warn", &["bridged approve abcdefghijklmnopabcdefghijklmnop"]);
    home.bridged(["approve", stranger]).ok();
    let (_, report) = doctor(&home, Some(&daemon), false);
    assert!(!report.to_string().contains("strangers"), "{report}");
}

#[test]
fn keys_that_others_could_read_are_closed() {
    let home = Home::new();
    dist(&home);
    run(&home, None, &["extension", "install", "unpacked"]).ok();
    fs::set_permissions(home.state("root.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let (code, report) = doctor(&home, None, false);
    assert_eq!(code, 1);
    check(&report, "state", "fail", &["root.key", "reset-pairing"]);
    let (_, report) = doctor(&home, None, true);
    check(&report, "state", "ok", &["fixed"]);
    assert_eq!(mode(&home.state("root.key")), 0o600);
    check(&report, "daemon", "ok", &["fixed"]);
}

#[test]
fn an_extension_of_another_build_is_renewed_and_keeps_its_key() {
    let home = Home::new();
    dist(&home);
    run(&home, None, &["extension", "install", "unpacked"]).ok();
    let key = fs::read(home.path("unpacked/pairing.json")).unwrap();
    fs::write(home.path("dist/worker.js"), "// newer").unwrap();
    let (_, report) = doctor(&home, None, false);
    check(&report, "extension", "fail", &["another build", "bridged extension upgrade"]);
    let (_, report) = doctor(&home, None, true);
    check(&report, "extension", "ok", &["fixed"]);
    assert_eq!(fs::read(home.path("unpacked/worker.js")).unwrap(), b"// newer");
    assert_eq!(fs::read(home.path("unpacked/pairing.json")).unwrap(), key);
    assert!(run(&home, None, &["extension", "upgrade"]).ok().contains("up to date"));
}

#[test]
fn a_key_that_was_revoked_and_a_port_that_is_not_dialled_are_told_apart() {
    let home = Home::new();
    dist(&home);
    let daemon = home.serve();
    run(&home, Some(&daemon), &["extension", "install", "unpacked", "--port", "4711"]).ok();
    let (_, report) = doctor(&home, Some(&daemon), false);
    check(&report, "key", "fail", &["dials ws://127.0.0.1:4711"]);
    let pairing: Value =
        serde_json::from_slice(&fs::read(home.path("unpacked/pairing.json")).unwrap()).unwrap();
    home.bridged(["revoke", pairing["key_id"].as_str().unwrap()]).ok();
    let (_, report) = doctor(&home, Some(&daemon), false);
    check(&report, "key", "fail", &["no longer"]);
}

#[test]
fn a_port_that_another_program_holds_is_told() {
    let home = Home::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let mut command = home.program("bridged");
    let done = Done::of(command.args(["doctor", "--json"]).env("BRIDGED_PORT", port.to_string()));
    let report: Value = serde_json::from_str(&done.out).unwrap();
    check(&report, "port", "fail", &["is taken by", "bridged extension install"]);
}

#[test]
fn a_wrong_configuration_is_one_finding_among_the_others() {
    let home = Home::new();
    fs::create_dir_all(home.path("config/bridged")).unwrap();
    fs::write(home.path("config/bridged/config.toml"), "prot = 1\n").unwrap();
    let (code, report) = doctor(&home, None, false);
    assert_eq!(code, 1);
    check(&report, "settings", "fail", &["config.toml line 1"]);
    check(&report, "daemon", "fail", &[]);
}

#[test]
fn a_pause_is_told() {
    let home = Home::new();
    let daemon = home.serve();
    home.bridged(["policy", "set", "pause", "on"]).ok();
    let (_, report) = doctor(&home, Some(&daemon), false);
    check(&report, "pause", "warn", &["bridged policy set pause off"]);
}

#[test]
fn security_shows_who_may_come_in_and_what_guards_that() {
    let home = Home::new();
    let folder = home.path("extension");
    dist(&home);
    run(&home, None, &["extension", "install", folder.to_str().unwrap()]).ok();
    let daemon = home.serve();
    home.bridged(["approve", "abcdefghijklmnopabcdefghijklmnop"]).ok();
    home.bridged(["policy", "set", "evaluate", "on"]).ok();
    let checks = |code: i32| {
        let done = run(&home, None, &["doctor", "--security", "--json"]);
        assert_eq!(done.code, code, "{}", done.out);
        serde_json::from_str::<Value>(&done.out).unwrap()["checks"].as_array().unwrap().clone()
    };
    let all = checks(0);
    let of = |name: &str| {
        let found: Vec<&Value> = all.iter().filter(|check| check["check"] == name).collect();
        assert!(!found.is_empty(), "no {name} in {all:#?}");
        found
    };
    assert!(of("unix")[0]["about"].as_str().unwrap().contains("bridged.sock"));
    assert!(of("websocket")[0]["about"].as_str().unwrap().contains(&format!("127.0.0.1:{}", daemon.port)));
    assert!(of("compat")[0]["about"].as_str().unwrap().starts_with("same-user"));
    let files = of("file");
    for name in ["root.key", "client.token", "pairings.json", "policy.json", "bridged.sock", "pairing.json"] {
        let found = files.iter().find(|file| file["about"].as_str().unwrap().contains(name));
        let found = found.unwrap_or_else(|| panic!("no {name} in {files:#?}"));
        assert!(found["status"] == "ok" && found["about"].as_str().unwrap().contains("mode 0600"), "{found}");
    }
    assert_eq!(
        (&of("approved")[0]["status"], &of("evaluate")[0]["status"]),
        (&"warn".into(), &"warn".into())
    );
    assert!(of("approved")[0]["todo"].as_str().unwrap().contains("bridged revoke"));
    assert_eq!(of("pairing").len(), 1);
    assert!(of("policy")[0]["about"].as_str().unwrap().contains("read_only off"));
    assert_eq!((&of("core-dumps")[0]["status"], &of("audit")[0]["status"]), (&"ok".into(), &"ok".into()));
    assert_eq!(of("pinned").len(), 1);

    // What is wrong is said, with what to do, and the exit code tells it.
    fs::set_permissions(home.state("policy.json"), PermissionsExt::from_mode(0o644)).unwrap();
    let wrong: Vec<Value> = checks(1).into_iter().filter(|check| check["status"] == "fail").collect();
    assert!(wrong.iter().any(|check| check["todo"].as_str().unwrap().starts_with("chmod 600")), "{wrong:#?}");
    assert_eq!(daemon.client().call("ping", json!({}))["result"]["pong"], true);
}

/// What the daemon was started with is what holds, whatever another one would be started with.
#[test]
fn security_tells_of_the_daemon_that_runs() {
    let home = Home::new();
    dist(&home);
    let id = "abcdefghijklmnopabcdefghijklmnop";
    let flags = ["--compat", "open", "--insecure-compat", "--allow-extension", id];
    let _daemon = home.serve_with(&[&["--port", "0"], flags.as_slice()].concat());
    let done = run(&home, None, &["doctor", "--security", "--json"]);
    assert_eq!(done.code, 1, "{}", done.out);
    let report: Value = serde_json::from_str(&done.out).unwrap();
    check(&report, "compat", "fail", &["--compat open"]);
    check(&report, "pinned", "warn", &[]);
    assert!(done.out.contains(&format!("{id} may pair too")), "{}", done.out);
}

/// A daemon that was stopped is told as such, at once: whoever waits for it waits in vain.
#[test]
fn a_daemon_that_was_stopped_is_told_with_what_continues_it() {
    let home = Home::new();
    dist(&home);
    let daemon = home.serve();
    daemon.signal(rustix::process::Signal::STOP);
    support::within("it stands still", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", daemon.child.id())).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    });
    let (code, report) = doctor(&home, None, false);
    assert_eq!(code, 1);
    check(&report, "daemon", "fail", &["stopped", &format!("kill -CONT {}", daemon.child.id())]);
    daemon.signal(rustix::process::Signal::CONT);
}
