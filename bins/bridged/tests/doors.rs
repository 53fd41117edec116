//! Who gets in, seen from outside: small scripts at once, pages and strangers never, extensions by their key.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};
use support::extension::{install, prove};
use support::{Home, Peer};

/// T47.
#[test]
fn a_script_of_ten_lines_without_a_token_gets_its_answer() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser =
        daemon.extension(|method, _| Some(json!({"success": true, "result": {"tabs": [], "asked": method}})));
    let (mut socket, _) = tungstenite::connect(format!("ws://127.0.0.1:{}", daemon.port)).unwrap();
    socket.send(r#"{"type":"hello","role":"client","name":"script"}"#.into()).unwrap();
    socket.send(r#"{"id":"abc","method":"list_tabs"}"#.into()).unwrap();
    let answer: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
    assert_eq!(answer, json!({"id": "abc", "success": true, "result": {"tabs": [], "asked": "list_tabs"}}));
}

/// T110: whoever has said all they have to say still gets their answer, and then the end.
#[test]
fn one_line_into_the_unix_socket_gets_one_line_back() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = daemon.extension(|_, _| Some(json!({"success": true, "result": {"tabs": []}})));
    let mut stream = UnixStream::connect(home.socket()).unwrap();
    stream.write_all(b"{\"id\":\"1\",\"method\":\"list_tabs\"}\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let lines: Vec<String> = BufReader::new(stream).lines().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains(r#""id":"1""#) && lines[0].contains(r#""tabs":[]"#));
}

#[test]
fn without_a_browser_the_answer_is_the_base_protocols_own() {
    let home = Home::new();
    let daemon = home.serve();
    let answer = daemon.client().call("list_tabs", json!({}));
    assert_eq!(answer["error"], "no extension connected");
}

#[test]
fn pages_and_unknown_extensions_are_refused_before_the_upgrade() {
    let home = Home::new();
    let daemon = home.serve();
    let hello = json!({"type": "hello", "role": "client"});
    for origin in
        ["https://evil.example", "null", "file://", "chrome-extension://abcdefghijklmnopabcdefghijklmnop"]
    {
        assert_eq!(Peer::open(daemon.port, Some(origin), &hello).err(), Some(403), "{origin}");
    }
    assert!(daemon.log().contains("bridged approve abcdefghijklmnopabcdefghijklmnop"));
}

#[test]
fn the_installed_key_opens_the_door_and_the_daemon_proves_itself_first() {
    let home = Home::new();
    let daemon = home.serve();
    let pairing = install(&home, &daemon);
    let (mut peer, ack) = prove(daemon.port, &pairing).unwrap();
    assert_eq!((&ack["type"], &ack["protocol"]), (&json!("hello_ack"), &json!(2)));
    let listed: Value = serde_json::from_str(&home.bridge(["list-browsers", "--json"]).ok()).unwrap();
    assert_eq!(listed["browsers"][0]["browser_id"], "b-test");
    assert_eq!(listed["browsers"][0]["proven"], true);

    let wrong = json!({"key_id": pairing["key_id"], "key": Base64UrlUnpadded::encode_string(&[1; 32])});
    assert_eq!(prove(daemon.port, &wrong).unwrap_err()["code"], "AUTH_FAILED");
    support::within("the pairing is noted as used", || !home.bridged(["pairings"]).ok().contains("never"));
    assert!(home.bridged(["pairings"]).ok().contains("b-test"));

    home.bridged(["revoke", "b-test"]).ok();
    assert_eq!(peer.close_code(), Some(4003));
    assert_eq!(prove(daemon.port, &pairing).unwrap_err()["code"], "NOT_PAIRED");
}

/// T45.
#[test]
fn a_key_survives_a_restart_and_ends_with_a_reset() {
    let home = Home::new();
    let daemon = home.serve();
    let pairing = install(&home, &daemon);
    drop(daemon);
    let daemon = home.serve();
    let (mut extension, _) = prove(daemon.port, &pairing).unwrap();
    let mut client = daemon.client();
    assert_eq!(client.call("ping", json!({}))["success"], true);
    home.bridged(["reset-pairing"]).ok();
    assert_eq!(extension.close_code(), Some(4003));
    assert_eq!(client.close_code(), Some(4003));
    assert_eq!(prove(daemon.port, &pairing).unwrap_err()["code"], "NOT_PAIRED");
}

#[test]
fn a_pasted_key_is_a_key() {
    let home = Home::new();
    let daemon = home.serve();
    let code = home.bridged(["pair"]).ok();
    let parts: Vec<&str> = code.trim().split('.').collect();
    assert_eq!((parts.len(), parts[0]), (3, "bridged1"));
    prove(daemon.port, &json!({"key_id": parts[1], "key": parts[2]})).unwrap();
}

#[test]
fn an_extension_of_the_base_protocol_is_let_in_by_its_id_once_approved() {
    let home = Home::new();
    let daemon = home.serve();
    let id = "ponmlkjihgfedcbaponmlkjihgfedcba";
    let origin = format!("chrome-extension://{id}");
    let hello = json!({"type": "hello", "role": "extension", "name": "v1"});
    assert_eq!(Peer::open(daemon.port, Some(&origin), &hello).err(), Some(403));
    home.bridged(["approve", id]).ok();
    let mut extension = Peer::open(daemon.port, Some(&origin), &hello).unwrap();
    assert_eq!(extension.call("ping", json!({}))["result"]["pong"], true);
    home.bridged(["revoke", id]).ok();
    assert_eq!(extension.close_code(), Some(4003));
    assert_eq!(Peer::open(daemon.port, Some(&origin), &hello).err(), Some(403));
    home.bridged(["approve", "not-an-id"]).fails(1, &["32 letters"]);
    home.bridged(["revoke", "nothing"]).fails(1, &["bridged pairings"]);
}

#[test]
fn a_token_is_good_until_it_is_rotated_away() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--compat", "strict"]);
    let hello = |token: &str| json!({"type": "hello", "role": "client", "name": "x", "protocol": 2, "token": token.trim()});
    let first = home.bridged(["token"]).ok();
    let greeted =
        |token: &str| Peer::open(daemon.port, None, &hello(token)).unwrap().next().unwrap()["type"].clone();
    assert_eq!(greeted(&first), "hello_ack");
    home.bridged(["token", "rotate"]).ok();
    let second = home.bridged(["token"]).ok();
    assert_ne!(first, second);
    assert_eq!(greeted(&second), "hello_ack");
    assert_eq!(greeted(&first), "hello_ack", "the one before works a little longer");
    home.bridged(["token", "rotate"]).ok();
    assert_eq!(greeted(&first), "error");
    let bare = json!({"type": "hello", "role": "client", "name": "x"});
    assert_eq!(Peer::open(daemon.port, None, &bare).unwrap().next().unwrap()["type"], "error");
}

#[test]
fn only_the_owner_may_control() {
    let home = Home::new();
    let daemon = home.serve();
    let mut client = daemon.client();
    assert_eq!(client.call("reset_pairing", json!({}))["success"], false);
    let hello = json!({"type": "hello", "role": "control", "protocol": 2});
    let refused = Peer::open(daemon.port, None, &hello).unwrap().next().unwrap();
    assert_eq!(refused["type"], "error");
    let mut control = daemon.lines().control();
    assert_eq!(control.ask(&json!({"id": "1", "method": "frobnicate"}))["code"], "UNKNOWN_METHOD");
    assert_eq!(control.ask(&json!({"id": "2", "method": "approve", "params": {}}))["code"], "INVALID_PARAMS");
    assert_eq!(control.ask(&json!({"id": "3", "method": "pairings"}))["success"], true);
}
