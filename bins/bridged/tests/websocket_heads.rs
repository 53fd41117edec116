//! The WebSocket's port, attacked with bytes: whatever is no upgrade that may pass is refused before a 101, and the daemon is
//! none the worse for it.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use serde_json::json;
use support::calm::Calm;
use support::extension::OURS;
use support::http::{Talk, Web};
use support::{Daemon, Home, Peer};

const UPGRADE: [&str; 4] = [
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/// The port as one that bytes are sent to.
fn port(daemon: &Daemon) -> Web {
    Web { port: daemon.port }
}

/// An upgrade that would pass, with more lines.
fn upgrade(web: &Web, lines: &[&str]) -> String {
    web.head("GET /", &[&UPGRADE, lines].concat())
}

/// Sends a head; the status of the answer, behind which nothing comes and nothing is read.
#[track_caller]
fn refused(web: &Web, head: impl AsRef<[u8]>) -> u16 {
    let mut talk = web.talk();
    talk.send(head);
    // If what stands behind a refusal were looked at, this would be upgraded.
    talk.send(upgrade(web, &[]));
    let answer = talk.answer();
    assert!(talk.is_closed(), "{answer:?}");
    answer.status
}

/// T1, T2, T3, T4, T20, T21: pages and strangers, and what they send behind it.
#[test]
fn an_origin_that_is_not_exactly_a_pinned_one_gets_403() {
    let home = Home::new();
    let daemon = home.serve();
    let (web, calm) = (port(&daemon), Calm::of(&daemon, None));
    let id = OURS.strip_prefix("chrome-extension://").unwrap();
    for origin in [
        "https://evil.example",
        "http://127.0.0.1",
        "null",
        "file://",
        "",
        &OURS.to_uppercase(),
        &format!("{OURS}/"),
        &format!("{OURS}:443"),
        &format!("{OURS}/popup.html"),
        &format!("x{OURS}"),
        &format!("{OURS}x"),
        &format!("https://{id}"),
        &format!("moz-extension://{id}"),
        &format!("{OURS}, {OURS}"),
        &format!("{OURS}\u{a0}"),
    ] {
        assert_eq!(refused(&web, upgrade(&web, &[&format!("Origin: {origin}")])), 403, "{origin}");
    }
    let ours = format!("Origin: {OURS}");
    assert_eq!(refused(&web, upgrade(&web, &[&ours, &ours])), 403, "two");
    assert_eq!(web.raw(upgrade(&web, &[&ours])).status, 101);
    for path in ["/", "/command"] {
        let preflight = ["Origin: https://evil.example", "Access-Control-Request-Method: GET"];
        assert_eq!(refused(&web, web.head(&format!("OPTIONS {path}"), &preflight)), 403);
        assert_eq!(refused(&web, web.head(&format!("OPTIONS {path}"), &[])), 403);
    }
    calm.again(&daemon, None);
}

/// T5: the extension itself is never a client.
#[test]
fn a_pinned_origin_that_says_it_is_a_client_is_closed_with_4003() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    for hello in [
        json!({"type": "hello", "role": "client", "name": "x"}),
        json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "token": home.bridged(["token"]).ok().trim()}),
    ] {
        let mut peer = Peer::open(daemon.port, Some(OURS), &hello).unwrap();
        assert_eq!(peer.next().unwrap()["code"], "PERMISSION_DENIED");
        assert_eq!(peer.close_code(), Some(4003));
    }
    calm.again(&daemon, None);
}

/// T6, T7, T8, T9, T10: rebound names and odd spellings of this machine.
#[test]
fn only_three_names_of_this_machine_pass() {
    let home = Home::new();
    let daemon = home.serve();
    let (web, calm) = (port(&daemon), Calm::of(&daemon, None));
    let number = web.port;
    let with = |host: &str| upgrade(&web, &[]).replace(&web.host(), host);
    for name in ["127.0.0.1", "LOCALHOST", "localhost", "[::1]"] {
        assert_eq!(web.raw(with(&format!("{name}:{number}"))).status, 101, "{name}");
    }
    for name in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "0x7f000001",
        "localhost.",
        "user@127.0.0.1",
        "user:pass@localhost",
        "[::]",
        "[::ffff:127.0.0.1]",
        "::1",
    ] {
        assert_eq!(refused(&web, with(&format!("{name}:{number}"))), 403, "{name}");
    }
    for host in ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:1", &format!("127.0.0.1:0{number}")] {
        assert_eq!(refused(&web, with(host)), 403, "{host}");
    }
    let line = format!("Host: {}\r\n", web.host());
    assert_eq!(refused(&web, upgrade(&web, &[]).replace(&line, "")), 400);
    assert_eq!(refused(&web, upgrade(&web, &[]).replace(&line, &line.repeat(2))), 400);
    for (target, status) in [
        ("http://evil/".to_owned(), 403),
        (format!("http://evil.example:{number}/"), 403),
        (format!("ws://0.0.0.0:{number}/"), 403),
        (format!("http://user@127.0.0.1:{number}/"), 403),
        ("ftp://127.0.0.1/".to_owned(), 400),
        ("*".to_owned(), 400),
        (web.host(), 400),
    ] {
        assert_eq!(
            refused(&web, upgrade(&web, &[]).replace("GET /", &format!("GET {target}"))),
            status,
            "{target}"
        );
    }
    calm.again(&daemon, None);
}

/// T11, T12, T13, T16, T17, T19: what is no upgrade, and what could be read in two ways.
#[test]
fn what_is_no_upgrade_is_told_what_this_port_is() {
    let home = Home::new();
    let daemon = home.serve();
    let (web, calm) = (port(&daemon), Calm::of(&daemon, None));
    let without = |line: &str| upgrade(&web, &[]).replace(&format!("{line}\r\n"), "");
    assert_eq!(refused(&web, web.head("GET /", &[])), 426);
    assert_eq!(refused(&web, web.head("GET /health", &[])), 426);
    assert_eq!(refused(&web, without(UPGRADE[0])), 426);
    assert_eq!(refused(&web, without(UPGRADE[1])), 426);
    assert_eq!(refused(&web, without(UPGRADE[2])), 426);
    assert_eq!(refused(&web, without(UPGRADE[3])), 400);
    for (from, to, status) in [
        ("Version: 13", "Version: 12", 426),
        ("Key: dGhlIHNhbXBsZSBub25jZQ==", "Key: short", 400),
        ("Key: dGhlIHNhbXBsZSBub25jZQ==", "Key: ", 400),
        ("HTTP/1.1", "HTTP/1.0", 400),
        ("GET /", "POST /", 405),
        ("GET /", "PUT /", 405),
    ] {
        assert_eq!(refused(&web, upgrade(&web, &[]).replace(from, to)), status, "{to}");
    }
    assert_eq!(refused(&web, upgrade(&web, &[&format!("X: {}", "a".repeat(17 << 10))])), 431);
    let many: Vec<String> = (0..96).map(|n| format!("X-{n}: a")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(refused(&web, upgrade(&web, &many)), 431, "with Host and the four that is 101");
    assert_eq!(web.raw(upgrade(&web, &many[1..])).status, 101);
    for line in [
        "Content-Length: 0",
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
        "X: a\r\n b",
        "X: a\r\n\tb",
        "X: a\nY: b",
        "X: a\rY: b",
        "X: a\0b",
        "X y: z",
        "no colon",
    ] {
        assert_eq!(refused(&web, upgrade(&web, &[line])), 400, "{line:?}");
    }
    // Not even the end of the head is one: that is known without waiting for more.
    assert_eq!(refused(&web, upgrade(&web, &[]).replace("\r\n", "\n")), 400);
    calm.again(&daemon, None);
}

/// T15, T16: other protocols' first bytes, and noise. One line of the log each, in which nothing stands raw.
#[test]
fn other_protocols_and_noise_are_one_line_in_the_log() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--log", "debug"]);
    let (web, calm) = (port(&daemon), Calm::of(&daemon, None));
    for rubbish in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x1b[31m"[..],
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        assert_eq!(web.raw(rubbish).status, 400);
    }
    let noise: Vec<u8> = (0..1u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut talk: Talk = web.talk();
    talk.send(&noise);
    assert!(talk.maybe_answer().is_none_or(|answer| answer.status == 400));
    drop(talk);
    calm.again(&daemon, None);
    let log = daemon.log();
    let refusals = log.lines().filter(|line| line.contains("refused at the WebSocket door")).count();
    assert_eq!(refusals, 4, "{log}");
    assert!(!log.contains("panicked"), "{log}");
    assert!(log.bytes().all(|byte| byte == b'\n' || byte >= b' '), "{log:?}");
}
