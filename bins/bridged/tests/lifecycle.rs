//! What befalls a daemon from outside: stopped and continued, killed in the middle of a write, left by those it serves.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::calm::Calm;
use support::extension::{Recorder, done, install, prove};
use support::{Daemon, Home, within};

fn stop(daemon: &Daemon) {
    daemon.signal(Signal::STOP);
    within("it stands still", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", daemon.child.id())).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    });
}

/// T119: a daemon that was suspended goes on where it was: every call is answered, none is timed out for the time it slept.
#[test]
fn a_daemon_that_was_suspended_answers_everything() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |request| done(request["params"].clone()));
    let mut before = daemon.client();
    assert_eq!(before.call("list_tabs", json!({}))["success"], true);
    stop(&daemon);
    for n in 0..50 {
        before.send(&json!({"id": n.to_string(), "method": "list_tabs", "params": {"n": n}}));
    }
    // Whoever comes meanwhile waits in the kernel's queue.
    let late = std::os::unix::net::UnixStream::connect(home.socket()).unwrap();
    (&late).write_all(b"{\"id\":\"1\",\"method\":\"ping\"}\n").unwrap();
    daemon.signal(Signal::CONT);
    let mut answers: Vec<u64> = (0..50)
        .map(|_| before.next().unwrap())
        .map(|answer| {
            assert_eq!(answer["success"], true, "{answer}");
            answer["result"]["n"].as_u64().unwrap()
        })
        .collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..50).collect::<Vec<u64>>());
    late.shutdown(std::net::Shutdown::Write).unwrap();
    let mut said = String::new();
    (&late).read_to_string(&mut said).unwrap();
    assert!(said.contains("pong"), "{said}");
    assert_eq!(browser.of_method("list_tabs").len(), 51);
    drop((before, late));
    // The browser is still there; its connection is the one descriptor more.
    within("nobody else is left", || daemon.client().call("status", json!({}))["result"]["in_flight"] == 0);
}

/// T80: killed in the middle of writing, over and over: no file is half, no pairing is lost, nothing is in the way.
#[test]
fn a_daemon_that_is_killed_while_it_writes_leaves_whole_files() {
    let home = Home::new();
    let daemon = home.serve();
    let pairing = install(&home, &daemon);
    drop(daemon);
    let mut known = 0;
    for round in 0..8 {
        let mut daemon = home.serve();
        let mut control = daemon.lines().control();
        for n in 0..20 {
            let id: String =
                format!("{round:02}{n:02}").bytes().map(|b| char::from(b'a' + b - b'0')).collect();
            let params = json!({"extension_id": format!("{id}{}", "p".repeat(28))});
            control.send(&json!({"id": n.to_string(), "method": "approve", "params": params}));
        }
        // After a first answer, so that it dies somewhere among the others.
        assert_eq!(control.next().unwrap()["success"], true);
        daemon.child.kill().unwrap();
        daemon.child.wait().unwrap();
        let book: Value =
            serde_json::from_slice(&std::fs::read(home.state("pairings.json")).unwrap()).unwrap();
        let approved = book["approved"].as_array().unwrap().len();
        assert!(approved > known, "what was answered is kept");
        known = approved;
        assert_eq!(std::fs::read(home.state("root.key")).unwrap().len(), 32);
    }
    let daemon = home.serve();
    assert_eq!(daemon.lines().ask(&json!({"id": "1", "method": "ping"}))["success"], true);
    prove(daemon.port, &pairing).unwrap();
}

/// T93: a daemon that a client starts has nothing of what that client loads into its programs, and none of its secrets.
#[test]
fn a_daemon_in_the_background_takes_no_more_along_than_it_needs() {
    let home = Home::new();
    let mut starter = home.program("bridge");
    starter.args(["ping"]).env("LD_PRELOAD", "/nowhere/spy.so").env("LD_LIBRARY_PATH", "/nowhere");
    starter
        .env("MALLOC_PERTURB_", "1")
        .env("GLIBC_TUNABLES", "x=1")
        .env("SHOP_API_KEY", "cAnArY")
        .env("LC_ALL", "C");
    assert_eq!(support::Done::of(&mut starter).ok(), "pong\n");
    let status: Value = serde_json::from_str(&home.bridged(["status", "--json"]).ok()).unwrap();
    let environ = std::fs::read_to_string(format!("/proc/{}/environ", status["pid"])).unwrap();
    let mut names: Vec<&str> = environ.split('\0').filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !name.starts_with("XDG_") && !name.starts_with("BRIDGED_"));
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LC_ALL", "PATH"]);
    assert_eq!(status["socket"], home.socket().to_str().unwrap(), "and finds its places");
    home.bridged(["stop"]).ok();
}

/// T118: an MCP client that closes what it reads ends its own process in order and nothing else.
#[test]
fn a_client_of_mcp_that_goes_away_ends_its_process_alone() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    for _ in 0..5 {
        let mut command = home.program("bridged");
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        // It may be gone already at the second one.
        let mut input = child.stdin.take().unwrap();
        for _ in 0..3 {
            let _ = input.write_all(format!("{ping}\n").as_bytes());
        }
        drop(input);
        let mut status = None;
        within("its process ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(status.unwrap().code().is_some_and(|code| code <= 1), "{status:?} {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    calm.again(&daemon, None);
}

/// T83: a port that is taken is said, and no other one is tried.
#[test]
fn no_other_port_is_tried() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let done = home.bridged(["serve", "--port", &port.to_string()]);
    assert!(done.out.is_empty(), "it listens nowhere: {}", done.out);
    done.fails(1, &["is taken by another program of yours"]);
    // Who only looks is told too.
    let status = |json: &[&str]| {
        let mut command = home.program("bridged");
        let done = support::Done::of(command.arg("status").args(json).env("BRIDGED_PORT", port.to_string()));
        assert_eq!(done.code, 3);
        done.out
    };
    let said = status(&[]);
    assert!(said.contains(&format!("{port} is taken by another program of yours")), "{said}");
    assert!(said.contains("`bridged doctor`"), "{said}");
    let said: Value = serde_json::from_str(&status(&["--json"])).unwrap();
    assert_eq!(said, json!({"running": false, "port_taken_by": "another program of yours"}));
    drop(taken);
    assert!(status(&[]).contains("`bridged start` starts it"));
}
