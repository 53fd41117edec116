//! Clients' frames: grammar, keys, ids, methods (T57-T70, T96, T97).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use common::*;
use serde_json::json;

/// A client in a world with a browser, and what its frame was answered.
fn refused(frame: &str, id: &str, text: &str) {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    assert!(matches!(w.send_text(client, frame), Did::Refused(_)), "{frame}");
    let code = if text.starts_with("invalid params") { "INVALID_PARAMS" } else { "INVALID_REQUEST" };
    w.error(client, id, text, code);
    w.nothing(browser);
    assert!(w.pings(client));
}

/// T57, T61, T68.
#[test]
fn malformed_json_is_answered_with_an_empty_id() {
    for frame in [
        "",
        " ",
        "{",
        "nonsense",
        "null",
        "1",
        "\"x\"",
        r#"["a",null,null,null,null,"ping"]"#,
        "[]",
        r#"{"id":"1","method":"ping",}"#,
        r#"{"id":"1" "method":"ping"}"#,
        r#"{"id":"1","method":"ping"}{"id":"2","method":"ping"}"#,
        r#"{"id":"1","method":"ping"} x"#,
        "\u{feff}{\"id\":\"1\",\"method\":\"ping\"}",
        r#"{"id":"1","method":"ping","params":{"a":01}}"#,
        r#"{"id":"1","method":"ping","params":{"a":1.}}"#,
        r#"{"id":"1","method":"ping","params":{"a":.5}}"#,
        r#"{"id":"1","method":"ping","params":{"a":+1}}"#,
        r#"{"id":"1","method":"ping","params":{"a":1e}}"#,
        r#"{"id":"1","method":"ping","params":{"a":-}}"#,
        r#"{"id":"1","method":"ping","params":{"a":NaN}}"#,
        r#"{"id":"1","method":"ping","params":{"a":tru}}"#,
        r#"{"id":"1","method":"ping","params":{"a":"\x"}}"#,
        r#"{"id":"1","method":"ping","params":{"a":"\u12g4"}}"#,
        r#"{"id":"1","method":"ping","params":{"a":[1,]}}"#,
        r#"{"id":"1","method":"ping","params":{"a":[1}]}"#,
        r#"{"id":"1","method":"ping","params":{a:1}}"#,
        r#"{'id':'1','method':'ping'}"#,
        "{\"id\":\"1\",\"method\":\"ping\",\"params\":{\"a\":\"\n\"}}",
        "{\"id\":\"1\",\"method\":\"ping\",\"params\":{\"a\":\"\u{0}\"}}",
        r#"{"id":"1","method":"ping","params":{"a":"#,
    ] {
        refused(frame, "", "invalid message");
    }
}

#[test]
fn bytes_that_are_no_utf8_are_no_message() {
    let mut w = World::new();
    let client = w.client();
    w.send_bytes(client, b"{\"id\":\"1\",\"method\":\"ping\",\"x\":\"\xff\"}");
    w.error(client, "", "invalid message", "INVALID_REQUEST");
}

#[test]
fn every_kind_of_value_that_json_knows_passes() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let params = r#"{"a" : [ 1,-0,0.5e-10, 1E+5 ,true,false,null,{} ,[],"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é😀"],"b":{"c":{"d":""}}}"#;
    let frame = format!(" \t\r\n{{ \"id\" : \"1\" ,\n\"method\":\"click\",\"params\":{params}}} \n");
    assert_eq!(w.send_text(client, &frame), Did::Forwarded(browser));
    assert!(w.texts(browser).remove(0).contains(params), "byte for byte");
}

/// T58.
#[test]
fn depth_128_passes_and_129_does_not_wherever_it_is() {
    let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    let mixed = |n: usize| format!("{}1{}", r#"{"a":"#.repeat(n), "}".repeat(n));
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    for frame in [
        format!(r#"{{"id":"1","method":"click","params":{{"x":{}}}}}"#, nested(126)),
        format!(r#"{{"id":"2","method":"click","params":{{"x":{}}}}}"#, mixed(126)),
        format!(r#"{{"id":"3","method":"click","x":{}}}"#, nested(127)),
    ] {
        assert_eq!(w.send_text(client, &frame), Did::Forwarded(browser));
    }
    for frame in [
        format!(r#"{{"id":"1","method":"click","params":{{"x":{}}}}}"#, nested(127)),
        format!(r#"{{"id":"1","method":"click","params":{{"x":{}}}}}"#, mixed(127)),
        format!(r#"{{"id":"1","method":"click","params":{{"x":{}}}}}"#, nested(1_000_000)),
        format!(r#"{{"id":"1","method":"click","x":{}}}"#, nested(128)),
        format!(r#"{{"id":"1","method":"click","x":{}}}"#, "[".repeat(1_000_000)),
    ] {
        refused(&frame, "", "invalid message: too deep");
    }
}

/// T59, T60.
#[test]
fn a_key_that_stands_twice_is_refused() {
    for frame in [
        r#"{"id":"1","id":"2","method":"ping"}"#,
        r#"{"id":"1","method":"ping","method":"click"}"#,
        r#"{"id":"1","method":"click","params":{},"params":{"a":1}}"#,
        r#"{"id":"1","method":"click","x":1,"x":2}"#,
        // One level down too: what the policy reads there is what the extension reads.
        r#"{"id":"1","method":"navigate","params":{"url":"https://good","url":"https://evil"}}"#,
        r#"{"id":"1","method":"click","params":{"browser_id":"a","browser_id":"b"}}"#,
    ] {
        refused(frame, "", "invalid message: duplicate field");
    }
    // Deeper it is the extension's business.
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let deeper = r#"{"id":"1","method":"click","params":{"target":{"value":1,"value":2}}}"#;
    assert_eq!(w.send_text(client, deeper), Did::Forwarded(browser));
}

/// T62.
#[test]
fn a_key_written_with_a_backslash_is_refused() {
    for frame in [
        r#"{"\u0069d":"k","method":"ping"}"#,
        r#"{"id":"k","method":"ping","client\u005fid":"x"}"#,
        r#"{"id":"k","method":"navigate","params":{"url":"https://good","u\u0072l":"https://evil"}}"#,
        r#"{"id":"k","method":"ping","x\/y":1}"#,
    ] {
        refused(frame, "", "invalid message: escaped key");
    }
}

#[test]
fn more_than_64_keys_on_a_level_that_is_read_are_refused() {
    let keys = |n: usize| (0..n).map(|n| format!(r#""k{n}":1"#)).collect::<Vec<_>>().join(",");
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let fine = format!(r#"{{"id":"1","method":"click","params":{{{}}},{}}}"#, keys(64), keys(61));
    assert_eq!(w.send_text(client, &fine), Did::Forwarded(browser));
    refused(
        &format!(r#"{{"id":"1","method":"click","params":{{{}}}}}"#, keys(65)),
        "",
        "invalid message: too many fields",
    );
    refused(
        &format!(r#"{{"id":"1","method":"click",{}}}"#, keys(63)),
        "",
        "invalid message: too many fields",
    );
}

/// T63.
#[test]
fn half_a_surrogate_pair_is_refused_wherever_it_is() {
    for text in [r"\ud800", r"\udc00", r"\ud800x", r"\ud800\n", r"\ud800\ud800", r"\ud83d\u0041"] {
        let frame = format!(r#"{{"id":"{text}","method":"ping"}}"#);
        refused(&frame, "", "invalid message: lone surrogate");
        let frame = format!(r#"{{"id":"1","method":"click","params":{{"a":["{text}"]}}}}"#);
        refused(&frame, "", "invalid message: lone surrogate");
    }
}

/// T64.
#[test]
fn an_id_comes_back_byte_for_byte() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    for id in [
        r"\u0000",
        r"\n",
        r"\u001b[31m",
        "\u{202e}abc",
        "😀",
        r"\ud83d\ude00",
        r"\u0041",
        r#"\""#,
        r"\\",
        r"\/",
        "a b",
        "é",
    ] {
        assert_eq!(
            w.send_text(client, &format!(r#"{{"id":"{id}","method":"click"}}"#)),
            Did::Forwarded(browser)
        );
        let wire = w.one(browser)["id"].as_str().unwrap().to_owned();
        w.answer(browser, &wire, json!(1));
        assert_eq!(w.texts(client), [format!(r#"{{"id":"{id}","result":1,"success":true}}"#)]);
        // In the hub's own answers too.
        w.send_text(client, &format!(r#"{{"id":"{id}","method":"ping"}}"#));
        assert_eq!(w.texts(client), [format!(r#"{{"id":"{id}","success":true,"result":{{"pong":true}}}}"#)]);
        w.send_text(client, &format!(r#"{{"id":"{id}","method":"shutdown"}}"#));
        assert!(w.texts(client).remove(0).starts_with(&format!(r#"{{"id":"{id}","success":false"#)));
    }
}

/// T65.
#[test]
fn an_id_has_1_to_256_bytes() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let id = "i".repeat(256);
    let wire = w.ask(client, &id, browser);
    w.answer(browser, &wire, json!(1));
    assert_eq!(w.one(client)["id"], id);
    w.ask(client, &id, browser);
    w.close(browser);
    assert_eq!(w.one(client)["id"], id);
    refused(&json!({"id":"i".repeat(257),"method":"ping"}).to_string(), "", "invalid id");
}

/// T66.
#[test]
fn an_id_that_is_no_string_is_never_met_with_silence() {
    for id in ["7", "1.5", "true", "{}", "[]"] {
        refused(&format!(r#"{{"id":{id},"method":"ping"}}"#), "", "invalid id");
    }
    for frame in
        [r#"{"method":"ping"}"#, r#"{"id":null,"method":"ping"}"#, r#"{"id":"","method":"ping"}"#, "{}"]
    {
        refused(frame, "", "missing id");
    }
}

#[test]
fn a_request_needs_a_method_and_an_answer_is_none() {
    for frame in [
        json!({"id":"1"}),
        json!({"id":"1","method":7}),
        json!({"id":"1","method":null}),
        json!({"id":"1","success":true,"result":1}),
        json!({"id":"1","type":"event"}),
    ] {
        refused(&frame.to_string(), "1", "invalid message: method required");
    }
}

#[test]
fn a_method_is_written_in_one_way_only() {
    for method in ["", r"pin\u0067", "a b", "é", "a\\\"b", &"m".repeat(65)] {
        let mut w = World::new();
        let browser = w.extension();
        let client = w.client();
        w.send_text(client, &format!(r#"{{"id":"1","method":"{method}"}}"#));
        w.error(client, "1", "unknown method", "UNKNOWN_METHOD");
        w.nothing(browser);
    }
}

#[test]
fn params_are_an_object_or_absent() {
    for params in ["7", "[]", "\"x\"", "true"] {
        refused(
            &format!(r#"{{"id":"1","method":"click","params":{params}}}"#),
            "1",
            "invalid params: not an object",
        );
    }
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.send_text(client, r#"{"id":"1","method":"click"}"#);
    w.send_text(client, r#"{"id":"2","method":"click","params":null}"#);
    assert!(w.take(browser).iter().all(|it| it["params"] == json!({})));
}

#[test]
fn once_is_checked_and_passed_on() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.send(client, json!({"id":"1","method":"click","once":"Az09_-"}));
    assert_eq!(w.one(browser)["once"], "Az09_-");
    w.send(client, json!({"id":"2","method":"click"}));
    assert!(w.one(browser).get("once").is_none());
    for once in [json!(""), json!("a b"), json!("é"), json!("x".repeat(65)), json!(7), json!("a\"b")] {
        let frame = json!({"id":"1","method":"click","once":once}).to_string();
        refused(&frame, "1", "invalid once: 1 to 64 of A-Z a-z 0-9 _ -");
    }
}

#[test]
fn an_id_that_is_still_pending_is_refused_and_the_first_goes_on() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    for method in ["click", "ping", "status"] {
        w.send(client, json!({"id":"1","method":method}));
        w.error(client, "1", "duplicate id", "DUPLICATE_ID");
    }
    w.nothing(browser);
    w.answer(browser, &wire, json!(1));
    assert_eq!(w.one(client)["result"], 1);
    w.ask(client, "1", browser);
}

/// T69.
#[test]
fn fields_that_the_hub_does_not_know_are_ignored() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.send_text(client, r#"{"id":"1","method":"click","__proto__":{"x":1},"constructor":2,"jsonrpc":"2.0"}"#);
    let envelope = w.one(browser);
    assert_eq!(envelope.as_object().unwrap().len(), 6);
}
