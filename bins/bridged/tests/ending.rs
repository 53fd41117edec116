//! Ending and reloading: every caller answered, everybody told, nobody waited for.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use support::{Home, within};

/// T115: SIGTERM with fifty calls under way.
#[test]
fn calls_in_flight_are_answered_at_sigterm_and_everybody_is_told() {
    let home = Home::new();
    let mut daemon = home.serve();
    let (seen, arrived) = std::sync::mpsc::channel();
    let _browser = daemon.extension(move |_, _| {
        let _ = seen.send(());
        None
    });
    let mut clients: Vec<_> = (0..5).map(|_| daemon.client()).collect();
    for client in &mut clients {
        for call in 0..10 {
            client.send(&json!({"id": format!("{call}"), "method": "list_tabs"}));
        }
    }
    (0..50).for_each(|_| arrived.recv_timeout(support::CEILING).unwrap());
    daemon.signal(Signal::TERM);
    for client in &mut clients {
        for _ in 0..10 {
            let answer = client.next().unwrap();
            assert_eq!(
                (&answer["success"], &answer["code"]),
                (&json!(false), &json!("SHUTTING_DOWN")),
                "{answer}"
            );
            assert_eq!(answer["maybe_executed"], true);
        }
        assert_eq!(client.close_code(), Some(1001));
    }
    assert_eq!(daemon.ended().code(), Some(0));
    assert!(!home.socket().exists());
}

#[test]
fn ctrl_c_ends_it_in_order_too() {
    let home = Home::new();
    let mut daemon = home.serve();
    daemon.signal(Signal::INT);
    assert_eq!(daemon.ended().code(), Some(0));
}

/// T115, T116: a peer that never lets go; a second signal.
#[test]
fn a_peer_that_never_answers_does_not_keep_it_alive_and_a_second_signal_ends_it_at_once() {
    let home = Home::new();
    let second = || {
        let mut daemon = home.serve();
        // Connected, and deaf from here on: its close frame is never answered.
        let deaf = daemon.client();
        daemon.signal(Signal::TERM);
        within("the socket is gone", || !home.socket().exists());
        daemon.signal(Signal::TERM);
        let code = daemon.ended().code();
        drop(deaf);
        code
    };
    // The second signal comes within the two seconds that the deaf one is given, unless the machine slept over it.
    assert!((0..5).any(|_| second() == Some(128 + 15)), "a second signal changes nothing");

    let mut daemon = home.serve();
    let deaf = daemon.client();
    let began = Instant::now();
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.ended().code(), Some(0));
    // Two seconds, of which a test may ask for ten times as much.
    assert!(began.elapsed() < Duration::from_secs(20));
    drop(deaf);
}

#[test]
fn bridged_stop_answers_what_is_in_flight() {
    let home = Home::new();
    let mut daemon = home.serve();
    let (seen, arrived) = std::sync::mpsc::channel();
    let _browser = daemon.extension(move |_, _| {
        let _ = seen.send(());
        None
    });
    let mut lines = daemon.lines();
    lines.send(&json!({"id": "1", "method": "list_tabs"}));
    arrived.recv_timeout(support::CEILING).unwrap();
    home.bridged(["stop"]).ok();
    let answer = lines.next().unwrap();
    assert_eq!((&answer["id"], &answer["code"]), (&json!("1"), &json!("SHUTTING_DOWN")), "{answer}");
    assert_eq!((&answer["success"], &answer["maybe_executed"]), (&json!(false), &json!(true)), "{answer}");
    assert!(lines.next().is_none());
    assert_eq!(daemon.ended().code(), Some(0));
}

/// T117: SIGHUP and the policy.
#[test]
fn sighup_reads_the_policy_again_and_keeps_the_old_one_if_it_is_bad() {
    let home = Home::new();
    home.bridged(["start"]).ok();
    let status: serde_json::Value = serde_json::from_str(&home.bridged(["status", "--json"]).ok()).unwrap();
    let pid = rustix::process::Pid::from_raw(status["pid"].as_i64().unwrap() as i32).unwrap();
    let mut lines = support::Lines::open(&home.socket());
    let mut code = || lines.ask(&json!({"id": "1", "method": "list_tabs"}))["code"].clone();
    assert_eq!(code(), "NO_EXTENSION");
    let write = |text: &str| {
        std::fs::write(home.state("policy.json"), text).unwrap();
        std::fs::set_permissions(home.state("policy.json"), PermissionsExt::from_mode(0o600)).unwrap();
        rustix::process::kill_process(pid, Signal::HUP).unwrap();
    };
    write(r#"{"paused": true}"#);
    within("it rests", || code() == "PAUSED");
    write("{");
    within("the complaint is in the log", || {
        home.bridged(["logs"]).ok().contains("the policy stays as it was")
    });
    assert_eq!(code(), "PAUSED");
    write("{}");
    within("it goes on", || code() == "NO_EXTENSION");
    home.bridged(["stop"]).ok();
}

/// T117: SIGHUP.
#[test]
fn sighup_reads_the_configuration_again_and_keeps_the_old_one_if_it_is_bad() {
    let home = Home::new();
    let config = home.path("config/bridged/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    let id = "abcdefghijklmnopabcdefghijklmnop";
    let origin = format!("chrome-extension://{id}");
    let hello = json!({"type": "hello", "role": "extension", "name": "other", "protocol": 2});
    let mut command = home.program("bridged");
    command.args(["start"]).env_remove("BRIDGED_PORT");
    std::fs::write(&config, format!("port = {}\n", support::free_port())).unwrap();
    support::Done::of(&mut command).ok();
    let status: serde_json::Value = serde_json::from_str(&home.bridged(["status", "--json"]).ok()).unwrap();
    let port: u16 = status["address"].as_str().unwrap().rsplit_once(':').unwrap().1.parse().unwrap();
    let pid = rustix::process::Pid::from_raw(status["pid"].as_i64().unwrap() as i32).unwrap();
    let knock = || support::Peer::open(port, Some(&origin), &hello).err();
    assert_eq!(knock(), Some(403));

    std::fs::write(&config, format!("port = {port}\nallow_extension = [\"{id}\"]\n")).unwrap();
    rustix::process::kill_process(pid, Signal::HUP).unwrap();
    within("the new id is let in", || knock().is_none());

    std::fs::write(&config, "allow_extension = 3").unwrap();
    rustix::process::kill_process(pid, Signal::HUP).unwrap();
    within("the complaint is in the log", || home.bridged(["logs"]).ok().contains("stays as it was"));
    assert_eq!(knock(), None);

    // The log was moved away: what comes next is in a new file.
    std::fs::rename(home.state("bridged.log"), home.state("old.log")).unwrap();
    std::fs::write(&config, "").unwrap();
    rustix::process::kill_process(pid, Signal::HUP).unwrap();
    within("a new log begins", || home.state("bridged.log").exists());
    home.bridged(["stop"]).ok();
}
