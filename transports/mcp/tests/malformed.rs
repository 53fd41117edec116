//! What is no message gets an error and nothing else: never a panic, never silence, never a second answer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use bridge_mcp::Config;
use bridge_mcp::tools::ToolsConfig;
use common::Rig;
use serde_json::{Value, json};

/// The code and the id of the one error that these bytes get.
fn error(rig: &mut Rig, bytes: &[u8]) -> (i64, Value) {
    let before = rig.sent.len();
    rig.say_bytes(bytes);
    assert_eq!(rig.sent.len(), before + 1, "one answer to {:?}", String::from_utf8_lossy(bytes));
    let answer = rig.last();
    (answer["error"]["code"].as_i64().unwrap(), answer.get("id").cloned().unwrap_or(json!("absent")))
}

#[test]
fn bytes_that_are_no_json_are_a_parse_error() {
    let mut rig = Rig::open("2024-11-05");
    for bytes in [
        &b"\xff\xfe{}"[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}",
        b"{",
        b"nope",
        b"{\"a\":1}}",
    ] {
        assert_eq!(error(&mut rig, bytes), (-32700, Value::Null));
    }
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() {
    let mut rig = Rig::open("2024-11-05");
    let lines = [
        "5",
        "null",
        r#""x""#,
        "{}",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"1.0","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
    ];
    for line in lines {
        assert_eq!(error(&mut rig, line.as_bytes()), (-32600, Value::Null), "{line}");
    }
    let line = r#"{"jsonrpc":"2.0","id":3,"method":7}"#;
    assert_eq!(error(&mut rig, line.as_bytes()), (-32600, json!(3)));
    let line = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":[1]}"#;
    assert_eq!(error(&mut rig, line.as_bytes()), (-32602, json!(3)));
}

#[test]
fn an_id_that_nobody_should_have_to_keep_is_refused() {
    let mut rig = Rig::open("2024-11-05");
    let line = json!({"jsonrpc": "2.0", "id": "x".repeat(300), "method": "ping"}).to_string();
    assert_eq!(error(&mut rig, line.as_bytes()), (-32600, Value::Null));
}

#[test]
fn the_newest_handshake_leaves_out_an_id_it_cannot_know() {
    let mut rig = Rig::open("2025-11-25");
    assert_eq!(error(&mut rig, b"{"), (-32700, json!("absent")));
}

#[test]
fn a_message_larger_than_the_limit_is_refused_unread() {
    let mut rig = Rig::with(Config { max_message: 1000, ..Config::default() }, ToolsConfig::default());
    let line =
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y".repeat(1000)}}).to_string();
    assert_eq!(error(&mut rig, line.as_bytes()), (-32600, Value::Null));
}

#[test]
fn nesting_without_end_is_an_error() {
    let mut rig = Rig::open("2025-06-18");
    let deep = "[".repeat(100_000);
    assert_eq!(error(&mut rig, deep.as_bytes()).0, -32700);
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(error(&mut rig, deep.as_bytes()).0, -32600);
    let arguments = format!("{}{}", r#"{"a":"#.repeat(1000), "1".to_owned() + &"}".repeat(1000));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"click","arguments":{arguments}}}}}"#
    );
    rig.say(&line);
    // Either is fine: refused here, or handed on to the hub, which bounds depth itself.
    assert!(rig.calls.len() == 1 || rig.last()["error"].is_object());
}

#[test]
fn batches_are_refused_where_the_revision_has_none() {
    for version in ["2025-06-18", "2025-11-25"] {
        let mut rig = Rig::open(version);
        assert_eq!(error(&mut rig, br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).0, -32600);
    }
    assert_eq!(error(&mut Rig::new(), br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).0, -32600);
}

/// T120.
#[test]
fn a_batch_within_a_batch_is_an_invalid_request_beside_its_neighbours() {
    let mut rig = Rig::open("2025-03-26");
    rig.say(r#"[[{"jsonrpc":"2.0","id":1,"method":"ping"}],{"jsonrpc":"2.0","id":2,"method":"ping"},7]"#);
    let codes: Vec<i64> =
        rig.last().as_array().unwrap().iter().filter_map(|one| one["error"]["code"].as_i64()).collect();
    assert_eq!(codes, [-32600, -32600]);
    assert_eq!(error(&mut rig, b"[]").0, -32600);
    let many = format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 1000].join(","));
    assert_eq!(error(&mut rig, many.as_bytes()).0, -32600);
}

#[test]
fn initialize_is_never_part_of_a_batch() {
    let mut rig = Rig::open("2025-03-26");
    rig.say(r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}]"#);
    assert_eq!(rig.last()[0]["error"]["code"], -32600);
    assert_eq!(rig.session.version().unwrap().name(), "2025-03-26");
}

#[test]
fn responses_and_notifications_nobody_asked_for_are_ignored() {
    let mut rig = Rig::open("2025-11-25");
    for line in [
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"ask-1","error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
    ] {
        rig.say(line);
    }
    assert_eq!(rig.sent.len(), 0);
}

#[test]
fn nothing_but_ping_is_served_before_the_handshake() {
    let mut rig = Rig::new();
    rig.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(rig.last()["result"], json!({}));
    for method in ["tools/list", "tools/call", "server/discover", "logging/setLevel"] {
        let line = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": {}}).to_string();
        assert_eq!(error(&mut rig, line.as_bytes()), (-32602, json!(2)));
    }
}
