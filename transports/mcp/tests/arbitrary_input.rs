//! Any sequence of anything: no panic, no silence where an answer is due, nothing but JSON-RPC.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bridge_mcp::fuzz::{Step, run, steps as steps_of};
use proptest::prelude::*;

mod front;

fn messages() -> impl Strategy<Value = String> {
    let ids = prop_oneof![Just("1"), Just("2"), Just(r#""a""#), Just("null"), Just("-0"), Just("[]")];
    let methods = prop_oneof![
        Just("initialize"),
        Just("ping"),
        Just("tools/list"),
        Just("tools/call"),
        Just("server/discover"),
        Just("notifications/cancelled"),
        Just("notifications/initialized"),
        Just("logging/setLevel"),
        Just("x"),
    ];
    let params = prop_oneof![
        Just(r#"{"protocolVersion":"2025-03-26"}"#),
        Just(r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#),
        Just(r##"{"name":"click","arguments":{"target":"#x"},"_meta":{"progressToken":1}}"##),
        Just(r#"{"name":"text"}"#),
        Just(r#"{"name":"picture","arguments":{"timeout":99999}}"#),
        Just(r#"{"requestId":1}"#),
        Just(
            r#"{"name":"ping","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#
        ),
        Just("{}"),
        Just("null"),
        Just("[[]]"),
        Just(r#"{"name":5,"arguments":5}"#),
    ];
    (ids, methods, params, any::<bool>()).prop_map(|(id, method, params, quiet)| {
        if quiet {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
        } else {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
        }
    })
}

fn frames() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(br#"{"success":true,"result":{"pong":true}}"#.to_vec()),
        Just(br#"{"success":false,"error":"no","code":"TIMEOUT","maybe_executed":true}"#.to_vec()),
        Just(br#"{"success":true,"result":{"data":"data:image/png;base64,QUJD","mime":"x"}}"#.to_vec()),
        Just(
            format!(r#"{{"success":true,"result":{{"data":"data:image/png;base64,{}"}}}}"#, "A".repeat(200))
                .into_bytes()
        ),
        "\\PC*".prop_map(|text| serde_json::json!({"success": true, "result": {"text": text, "url": text}})
            .to_string()
            .into_bytes()),
        any::<Vec<u8>>(),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => messages().prop_map(|text| Step::Message(text.into_bytes())),
        1 => prop::collection::vec(messages(), 0..4).prop_map(|all| Step::Message(format!("[{}]", all.join(",")).into_bytes())),
        1 => any::<Vec<u8>>().prop_map(Step::Message),
        3 => (0..4u8, frames()).prop_map(|(n, frame)| Step::Answer(n, frame)),
        1 => (0..4u8).prop_map(Step::Lose),
        1 => (0..4u8).prop_map(Step::Saved),
        2 => (0..5000u16).prop_map(Step::Wait),
        1 => Just(Step::Gone),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_keeps_its_invariants(steps in prop::collection::vec(steps(), 1..40)) {
        run(&steps).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn so_do_steps_of_a_fuzzers_bytes(data in any::<Vec<u8>>()) {
        run(&steps_of(&data)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn every_http_request_has_one_whole_answer_or_a_call_under_way(
        requests in prop::collection::vec((messages(), 0..6usize, 0..4usize, 0..4usize, any::<bool>()), 1..30),
    ) {
        front::run(&requests).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn cut_anywhere_a_conversation_does_no_harm() {
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        r##"{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"click","arguments":{"target":"#\u0078"}}}"##,
    ];
    for line in lines {
        for end in 0..=line.len() {
            run(&[Step::Message(line.as_bytes()[..end].to_vec())]).unwrap();
        }
    }
}
