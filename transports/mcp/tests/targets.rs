//! Targets as models write them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use bridge_mcp::tools::{BridgeTools, ToolSet, Tools};
use bridge_mcp::{Config, Seed, Session};
use common::Rig;
use serde_json::{Value, json};

fn params(target: Value) -> String {
    let mut rig = Rig::open("2025-11-25");
    rig.call(1, "click", json!({"tab_id": 7, "target": target}));
    rig.calls
        .first()
        .map_or_else(|| rig.last()["error"]["message"].to_string(), |(_, call)| call.params.clone())
}

#[test]
fn a_string_is_the_short_form() {
    for (text, target) in [
        ("#go", r##"{"by":"css","value":"#go"}"##),
        ("a[href=\"/x\"]", r#"{"by":"css","value":"a[href=\"/x\"]"}"#),
        ("text=Sign in", r#"{"by":"text","value":"Sign in"}"#),
        ("label=E-mail", r#"{"by":"label","value":"E-mail"}"#),
        ("xpath=//a[1]", r#"{"by":"xpath","value":"//a[1]"}"#),
        ("role=button[Save]", r#"{"by":"role","name":"Save","value":"button"}"#),
        ("backend-12", r#"{"ref":"backend-12"}"#),
        ("ref=f3-backend-9", r#"{"ref":"f3-backend-9"}"#),
        (r##"{"by":"css","value":"#x","index":2}"##, r##"{"by":"css","index":2,"value":"#x"}"##),
    ] {
        assert_eq!(params(json!(text)), format!(r#"{{"tab_id":7,"target":{target}}}"#), "{text}");
    }
}

#[test]
fn an_object_goes_through_as_it_is() {
    let target = json!({"by": "css", "value": "#go", "index": 1});
    assert_eq!(params(target.clone()), json!({"tab_id": 7, "target": target}).to_string());
    let mut rig = Rig::open("2025-11-25");
    let odd = r##"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{ "target" : {"value":"#\u0067o"} , "x":1.0 },"name":"click"}}"##;
    rig.say(odd);
    assert_eq!(rig.calls[0].1.params, r##"{ "target" : {"value":"#\u0067o"} , "x":1.0 }"##);
}

#[test]
fn a_string_that_means_nothing_is_refused_with_the_reason() {
    assert!(params(json!("{oops")).contains("no JSON object"));
    assert!(params(json!("role=button[Save")).contains("ends with"));
}

#[test]
fn arguments_are_an_object_or_left_out() {
    let mut rig = Rig::open("2025-11-25");
    for arguments in ["[]", "5", "\"x\""] {
        rig.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"click","arguments":{arguments}}}}}"#));
        assert_eq!(rig.last()["error"]["code"], -32602);
    }
    for params in [
        r#"{"name":"list_tabs"}"#,
        r#"{"name":"list_tabs","arguments":null}"#,
        r#"{"name":"list_tabs","arguments":{}}"#,
    ] {
        rig.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#));
        assert_eq!(rig.calls.remove(0).1.params, "{}");
        rig.session.handle_gone(bridge_mcp::Lane(0));
        rig.drain();
    }
}

#[test]
fn targets_in_lists_and_in_the_steps_of_a_batch_are_targets_too() {
    let catalogue = r##"{"groups":{"act":""},"defs":{"target":{"type":"object"}},"methods":[
        {"name":"click","group":"act","params":{"properties":{"target":{"$ref":"#/defs/target"}}}},
        {"name":"drag","group":"act","params":{"properties":{"from":{"oneOf":[{"$ref":"#/defs/target"},{"type":"object"}]}}}},
        {"name":"fill_form","group":"act","params":{"properties":{"fields":{"type":"array","items":{"type":"object",
            "properties":{"target":{"$ref":"#/defs/target"},"value":{"type":"string"}}}}}}},
        {"name":"scrape","group":"act","params":{"properties":{"fields":{"type":"object"}}}},
        {"name":"batch","group":"act","params":{"properties":{"steps":{"type":"array","items":{"type":"object",
            "properties":{"method":{"type":"string"},"params":{"type":"object"}}}}}}}]}"##;
    let tools =
        std::sync::Arc::new(Tools::new(catalogue, &ToolSet::parse("batch,fill_form,drag,scrape")).unwrap());
    let mut rig = Rig::new();
    rig.session =
        Session::new(Config::default(), BridgeTools::new(Default::default(), tools, Seed::new([1; 32])));
    rig.hello("2025-11-25");
    let css = json!({"by": "css", "value": "#a"});
    for (name, given, wanted) in [
        ("drag", json!({"from": "#a"}), json!({"from": css})),
        ("drag", json!({"from": {"x": 1, "y": 2}}), json!({"from": {"x": 1, "y": 2}})),
        (
            "fill_form",
            json!({"fields": [{"target": "#a", "value": "#a"}, {"target": css, "value": "x"}, 5]}),
            json!({"fields": [{"target": css, "value": "#a"}, {"target": css, "value": "x"}, 5]}),
        ),
        ("scrape", json!({"fields": {"target": "h3"}}), json!({"fields": {"target": "h3"}})),
        (
            "batch",
            json!({"steps": [{"method": "click", "params": {"target": "#a"}}, {"method": "click", "params": {"target": "$0.target"}},
                {"method": "scrape", "params": {"fields": {"target": "h3"}}}, {"method": "nope"}]}),
            json!({"steps": [{"method": "click", "params": {"target": css}}, {"method": "click", "params": {"target": "$0.target"}},
                {"method": "scrape", "params": {"fields": {"target": "h3"}}}, {"method": "nope"}]}),
        ),
    ] {
        rig.call(1, name, given);
        let (_, call) = rig.calls.pop().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&call.params).unwrap(), wanted, "{name}");
        rig.session.close();
        rig.drain();
    }
}
