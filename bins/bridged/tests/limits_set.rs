//! Each limit at a value that was set, seen from outside: what is allowed passes, what is one too many has its answer.
//! (`limits.rs` has the queues of all together and the ways to set one, `exhaustion.rs` connections and descriptors, the
//! suite of `transports/runtimes` a browser's queue.)

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use support::{CEILING, Daemon, Home, Lines, Peer, within};

fn with(home: &Home, limits: &[&str]) -> Daemon {
    let mut args = vec!["--port", "0"];
    limits.iter().for_each(|limit| args.extend(["--limit", limit]));
    home.serve_with(&args)
}

/// A browser on the Unix socket that does nothing of itself.
fn browser(home: &Home) -> Lines {
    let mut browser = Lines::open(&home.socket());
    browser.send(&json!({"type": "hello", "role": "extension", "name": "b", "browser_id": "b-1"}));
    within("the browser is there", || {
        let status = Lines::open(&home.socket()).ask(&json!({"id": "1", "method": "list_browsers"}));
        status["result"]["browsers"][0].is_object()
    });
    browser
}

/// How many connections there are once nobody but the browser and whoever asks is there.
fn alone(home: &Home) -> u64 {
    within("whoever asked before is gone", || connections(home) == 2);
    2
}

fn connections(home: &Home) -> u64 {
    let status = Lines::open(&home.socket()).ask(&json!({"id": "1", "method": "status"}));
    status["result"]["connections"].as_u64().unwrap()
}

/// What a client says, and the error that it hears.
#[track_caller]
fn refused(peer: &mut Lines, message: &str, id: &str, text: &str, code: &str) {
    peer.send_text(message);
    assert_eq!(peer.next().unwrap(), json!({"id": id, "success": false, "error": text, "code": code}));
}

fn nested(levels: usize) -> String {
    let (open, close) = ("{\"k\":".repeat(levels - 2), "}".repeat(levels - 2));
    format!(r#"{{"id":"1","method":"ping","params":{open}{{}}{close}}}"#)
}

/// A WebSocket that has said nothing yet.
fn upgraded(daemon: &Daemon) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
    stream.set_read_timeout(Some(CEILING)).unwrap();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        daemon.port
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.extend(byte);
    }
    stream
}

/// The code of the close frame that comes last.
fn close_code(mut stream: TcpStream) -> Option<u16> {
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    let at = said.windows(2).rposition(|pair| pair[0] == 0x88 && pair[1] >= 2)?;
    Some(u16::from_be_bytes([said[at + 2], said[at + 3]]))
}

#[test]
fn depth_ids_and_errors_are_judged_by_what_was_set() {
    let home = Home::new();
    let daemon = with(&home, &["depth=20", "id_bytes=16", "protocol_errors=3"]);
    let mut client = daemon.lines();
    let ack = client.ask(&json!({"type": "hello", "role": "client", "protocol": 2, "name": "t"}));
    assert_eq!((&ack["limits"]["depth"], &ack["limits"]["id_bytes"]), (&json!(20), &json!(16)));
    client.send_text(&nested(20));
    assert_eq!(client.next().unwrap()["result"]["pong"], true);
    refused(&mut client, &nested(21), "", "invalid message: too deep", "INVALID_REQUEST");
    let id = "i".repeat(16);
    assert_eq!(client.ask(&json!({"id": id, "method": "ping"}))["id"], json!(id));
    let long = json!({"id": "i".repeat(17), "method": "ping"}).to_string();
    refused(&mut client, &long, "", "invalid id", "INVALID_REQUEST");
    refused(&mut client, "{", "", "invalid message", "INVALID_REQUEST");
    assert_eq!(client.next(), None, "the third error was the last");
    let mut client = daemon.client();
    (0..3).for_each(|_| client.send_text("{"));
    assert_eq!(client.close_code(), Some(1008));
}

#[test]
fn the_http_door_knows_the_depth_that_was_set() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web_with(&["--limit", "depth=10"]);
    let too_deep: Value = serde_json::from_str(&format!("{}1{}", "[".repeat(9), "]".repeat(9))).unwrap();
    let answer = web.command("ping", json!({"x": too_deep}));
    let error = json!({"code": "INVALID_REQUEST", "message": "the body nests too deep"});
    assert_eq!(answer.json(), json!({"error": error}));
}

#[test]
fn messages_are_as_large_as_was_set() {
    let home = Home::new();
    let daemon = with(&home, &["hello_bytes=1024", "client_bytes=4096", "extension_bytes=65536"]);
    let hello = |fill: usize| json!({"type": "hello", "role": "client", "name": "t", "x": "y".repeat(fill)});
    let mut large = Peer::open(daemon.port, None, &hello(1_100)).unwrap();
    assert_eq!(large.close_code(), Some(1009));
    let mut client = Peer::open(daemon.port, None, &hello(800)).unwrap();
    assert_eq!(client.call("ping", json!({"x": "y".repeat(3_900)}))["success"], true);
    client.send(&json!({"id": "1", "method": "ping", "params": {"x": "y".repeat(4_096)}}));
    assert_eq!(client.close_code(), Some(1009));
    let mut lines = daemon.lines();
    assert_eq!(lines.ask(&json!({"id": "1", "method": "ping"}))["success"], true);
    let last = lines.ask(&json!({"id": "2", "method": "ping", "params": {"x": "y".repeat(4_096)}}));
    assert_eq!((&last["type"], &last["code"]), (&json!("error"), &json!("TOO_LARGE")), "{last}");

    let mut extension =
        Peer::open(daemon.port, None, &json!({"type": "hello", "role": "extension", "name": "b"})).unwrap();
    assert_eq!(extension.call("ping", json!({}))["success"], true);
    let mut client = daemon.client();
    for (size, fits) in [(65_000, true), (66_000, false)] {
        client.send(&json!({"id": "1", "method": "m"}));
        let id = extension.next().unwrap()["id"].clone();
        extension.send(&json!({"id": id, "success": true, "result": "x".repeat(size)}));
        let answer = client.next().unwrap();
        assert_eq!(answer["success"], fits);
        if !fits {
            assert_eq!(answer["code"], "EXTENSION_DISCONNECTED");
        }
    }
    assert_eq!(extension.close_code(), Some(1009));
}

#[test]
fn as_many_calls_are_in_flight_as_was_set() {
    let home = Home::new();
    let _daemon = with(&home, &["calls_of_client=2", "calls=3"]);
    let _browser = browser(&home);
    let busy = "busy: too many calls in flight";
    let (mut one, mut other) = (Lines::open(&home.socket()), Lines::open(&home.socket()));
    let call = |n: usize| json!({"id": n.to_string(), "method": "m"}).to_string();
    (0..2).for_each(|n| one.send_text(&call(n)));
    refused(&mut one, &call(2), "2", busy, "OVERLOADED");
    other.send_text(&call(0));
    refused(&mut other, &call(1), "1", busy, "OVERLOADED");
    assert_eq!(other.ask(&json!({"id": "p", "method": "ping"}))["success"], true);
}

#[test]
fn as_many_takeovers_are_had_as_was_set() {
    let home = Home::new();
    let _daemon = with(&home, &["takeovers=1"]);
    let mut first = browser(&home);
    let mut second = browser(&home);
    assert_eq!(first.next(), None, "the second took over");
    let mut third = Lines::open(&home.socket());
    let said = third.ask(&json!({"type": "hello", "role": "extension", "name": "b", "browser_id": "b-1"}));
    assert_eq!((&said["type"], &said["code"]), (&json!("error"), &json!("OVERLOADED")), "{said}");
    assert_eq!(third.next(), None);
    assert_eq!(second.ask(&json!({"id": "1", "method": "ping"}))["success"], true, "it stays");
}

#[test]
fn as_many_wait_for_head_and_hello_as_was_set() {
    let home = Home::new();
    let daemon = with(&home, &["strangers=2", "greeting=2"]);
    let mut silent: Vec<TcpStream> =
        (0..3).map(|_| TcpStream::connect(("127.0.0.1", daemon.port)).unwrap()).collect();
    silent.iter().for_each(|stream| stream.set_read_timeout(Some(CEILING)).unwrap());
    // The oldest had to go for the third.
    assert_eq!(silent[0].read(&mut [0; 500]).unwrap_or(0), 0);
    drop(silent);
    let mut waiting: Vec<TcpStream> = (0..3).map(|_| upgraded(&daemon)).collect();
    assert_eq!(close_code(waiting.remove(0)), Some(1008));
    assert_eq!(daemon.client().call("ping", json!({}))["success"], true);
}

#[test]
fn a_head_a_hello_and_a_message_take_as_long_as_was_set() {
    let home = Home::new();
    // Long enough for whoever is honest on a busy machine.
    let daemon = with(&home, &["hello_ms=3000", "message_ms=3000"]);
    let mut silent = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
    silent.set_read_timeout(Some(CEILING)).unwrap();
    let upgraded = upgraded(&daemon);
    let client = daemon.client();
    // The first piece of a message, and no other.
    client.stream().try_clone().unwrap().write_all(&[0x01, 0x81, 0, 0, 0, 0, b'{']).unwrap();
    let mut said = String::new();
    silent.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 408 "), "no head: {said}");
    assert_eq!(close_code(upgraded), Some(1008), "no hello");
    assert_eq!(close_code(client.stream().try_clone().unwrap()), Some(1008), "no end of the message");
}

#[test]
fn a_write_without_progress_takes_as_long_as_was_set() {
    let home = Home::new();
    let _daemon = with(&home, &["write_ms=300"]);
    let mut browser = browser(&home);
    let before = alone(&home);
    let mut deaf = Lines::open(&home.socket());
    deaf.send(&json!({"id": "1", "method": "m"}));
    let mut asked = browser.next().unwrap();
    while asked["method"].is_null() {
        asked = browser.next().unwrap();
    }
    assert_eq!(connections(&home), before + 1);
    browser.send(&json!({"id": asked["id"], "success": true, "result": "x".repeat(2 << 20)}));
    within("it is cut off", || connections(&home) == before);
}

#[test]
fn as_much_waits_for_one_client_as_was_set() {
    let home = Home::new();
    let _daemon = with(&home, &["client_queue=262144"]);
    let mut browser = browser(&home);
    let before = alone(&home);
    let mut deaf = Lines::open(&home.socket());
    (0..20).for_each(|n| deaf.send(&json!({"id": n.to_string(), "method": "m"})));
    let asked: Vec<Value> = (0..20).map(|_| browser.next().unwrap()["id"].clone()).collect();
    for (n, id) in asked.iter().enumerate() {
        browser.send(&json!({"id": id, "success": true, "result": "x".repeat(64 << 10)}));
        if n == 3 {
            // What was sent before it has been dealt with when this is answered.
            assert_eq!(browser.ask(&json!({"id": "1", "method": "ping"}))["success"], true);
            assert_eq!(connections(&home), before + 1, "four of them have room");
        }
    }
    within("it is cut off", || connections(&home) == before);
}
