//! A process without descriptors left rests and recovers.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;

use serde_json::json;
use support::calm::Calm;
use support::{Home, Lines, within};

/// T114: no descriptors left.
#[test]
fn a_daemon_out_of_descriptors_says_so_once_and_goes_on() {
    let home = Home::new();
    let mut shell = Command::new("sh");
    home.settle(&mut shell);
    shell.args(["-c", "ulimit -n 64; exec \"$0\" serve --port 0", env!("CARGO_BIN_EXE_bridged")]);
    let daemon = home.begin(shell);
    let crowd: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(("127.0.0.1", daemon.port)).unwrap()).collect();
    let locals: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(home.socket()).unwrap()).collect();
    within("the process has no descriptor left", || daemon.descriptors() >= 63);
    drop((crowd, locals));
    assert_eq!(daemon.lines().ask(&json!({"id": "1", "method": "ping"}))["success"], true);
    let log = daemon.log();
    let complaints = log.matches("cannot accept connections for now").count();
    assert!((1..=2).contains(&complaints), "once for each door: {log}");
}

/// T113: ten thousand connections of one account, most of them beyond the limit.
#[test]
fn ten_thousand_connections_are_refused_beyond_the_limit_and_disturb_nobody() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--max-connections", "32"]);
    let calm = Calm::of(&daemon, None);
    let ping = json!({"id": "1", "method": "ping"});
    let mut honest = daemon.lines();
    assert_eq!(honest.ask(&ping)["success"], true);
    let mut crowd = Vec::new();
    let mut refused = 0;
    for knock in 0..10_000 {
        let mut lines = Lines::open(&home.socket());
        let answer = lines.ask(&json!({"type": "hello", "role": "client", "protocol": 2}));
        if answer["type"] == "hello_ack" {
            crowd.push(lines);
        } else {
            assert_eq!(answer["code"], "OVERLOADED", "{answer}");
            assert!(lines.next().is_none(), "a refused one is closed");
            refused += 1;
        }
        if knock % 500 == 0 {
            assert_eq!(honest.ask(&ping)["success"], true);
        }
    }
    // One or two of the first clients may still have been leaving.
    assert!((29..=31).contains(&crowd.len()), "{}", crowd.len());
    assert_eq!(crowd.len() + refused, 10_000);
    drop((crowd, honest));
    calm.again(&daemon, None);
}
