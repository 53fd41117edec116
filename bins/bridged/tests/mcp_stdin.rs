//! What may come on the standard input of `bridged mcp`: whatever it is, the output stays the protocol's and the daemon its own.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::io::{Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};
use support::Home;
use support::calm::Calm;

/// Feeds `input` to a fresh `bridged mcp`, ends it, and returns its answers. Every line of output must be a message.
fn answers(home: &Home, input: Vec<u8>) -> Vec<Value> {
    let mut command = home.program("bridged");
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    writing.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let messages: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let all = messages.iter().flat_map(|message| match message {
        Value::Array(batch) => batch.clone(),
        one => vec![one.clone()],
    });
    let all: Vec<Value> = all.collect();
    assert!(all.iter().all(|message| message["jsonrpc"] == "2.0"), "{said}");
    all
}

fn hello(version: &str) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    format!("{hello}\n{}\n", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
}

/// T120: a line without end, bytes that are no text, an end in the middle, nested batches, an id that is null.
#[test]
fn whatever_comes_on_standard_input_the_output_is_messages_only() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let ping = r#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#;
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(100_000_000));
    for (line, code) in [
        (&b"\xff\xfe{}"[..], -32700),
        (b"nonsense", -32700),
        (b"[", -32700),
        (b"[[]]", -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (b"7", -32600),
        (long.as_bytes(), -32600),
    ] {
        for version in ["2025-03-26", "2025-06-18"] {
            let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
            let input = [hello(version).as_bytes(), line, b"\n", ping.as_bytes(), b"\n"].concat();
            let said = answers(&home, input);
            let codes: Vec<i64> =
                said.iter().filter_map(|message| message["error"]["code"].as_i64()).collect();
            assert_eq!(codes, [code], "{version}: {shown}");
            assert!(
                said.iter().any(|message| message["id"] == "last" && message["result"] == json!({})),
                "{shown}"
            );
        }
    }
    // An end in the middle of a line: an error or nothing, and a clean exit.
    let cut = [hello("2025-06-18").as_bytes(), &ping.as_bytes()[..20]].concat();
    assert!(answers(&home, cut).len() <= 2);
    calm.again(&daemon, None);
}
