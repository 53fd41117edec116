//! What a model pays for the list of tools, and what it gets for it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use bridge_mcp::tools::{ToolSet, Tools};
use common::{CATALOGUE, Rig, tools};
use serde_json::{Value, json};

fn list(set: &str) -> Vec<Value> {
    let tools = tools(set);
    let mut rig = Rig::open("2025-11-25");
    let provider =
        bridge_mcp::tools::BridgeTools::new(Default::default(), tools, bridge_mcp::Seed::new([0; 32]));
    rig.session = rig_session(provider);
    rig.hello("2025-11-25");
    rig.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    rig.last()["result"]["tools"].as_array().unwrap().clone()
}

fn rig_session(
    provider: bridge_mcp::tools::BridgeTools,
) -> bridge_mcp::Session<bridge_mcp::tools::BridgeTools> {
    bridge_mcp::Session::new(bridge_mcp::Config::default(), provider)
}

#[test]
fn the_default_set_costs_a_model_little() {
    for (set, most, each) in [("core", 16 << 10, 400), ("all", 24 << 10, 400)] {
        let tools = tools(set);
        let (bytes, count) = (tools.bytes(), tools.len());
        println!("{set}: {count} tools, {bytes} bytes, {} each, about {} tokens", bytes / count, bytes / 4);
        for (name, size) in tools.sizes() {
            println!("  {size:5} {name}");
        }
        assert!(bytes <= most, "{set} takes {bytes} bytes");
        assert!(bytes / count <= each, "{set} takes {} bytes a tool", bytes / count);
    }
}

#[test]
fn tools_are_named_once_and_have_sound_schemas() {
    let tools = list("all");
    let catalogue: Value = serde_json::from_str(CATALOGUE).unwrap();
    assert_eq!(tools.len(), catalogue["methods"].as_array().unwrap().len());
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit()));
        assert!(tool.get("title").is_none() && !tool["description"].as_str().unwrap().is_empty());
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert!(!schema.to_string().contains("$ref"), "{name}");
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(schema["properties"].get(required.as_str().unwrap()).is_some(), "{name}: {required}");
        }
        for (param, schema) in schema["properties"].as_object().into_iter().flatten() {
            assert!(schema.get("type").is_some() || schema.get("oneOf").is_some(), "{name}.{param}");
        }
    }
}

#[test]
fn annotations_say_only_what_is_not_the_default() {
    let tools = list("all");
    let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap().get("annotations").cloned();
    assert_eq!(of("get_page_content"), Some(json!({"readOnlyHint": true})));
    assert_eq!(of("list_browsers"), Some(json!({"readOnlyHint": true, "openWorldHint": false})));
    assert_eq!(of("new_tab"), Some(json!({"destructiveHint": false})));
    // It can be told to go to an address first, so it is not announced as a mere read.
    assert_eq!(of("get_page_markdown"), Some(json!({"destructiveHint": false})));
    assert_eq!(of("click"), None);
    assert_eq!(of("close_tab"), None);
}

#[test]
fn sets_are_groups_methods_and_unions_of_them() {
    let names = |set: &str| {
        list(set).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let catalogue: Value = serde_json::from_str(CATALOGUE).unwrap();
    let methods = catalogue["methods"].as_array().unwrap().iter();
    let hub: Vec<_> = methods
        .filter(|method| method["group"] == "hub")
        .map(|method| method["name"].as_str().unwrap())
        .collect();
    assert_eq!(names("hub"), hub);
    assert_eq!(names("run-script, hub").len(), hub.len() + 1);
    assert_eq!(names(""), names("core"));
    assert!(
        names("core").iter().any(|name| name == "click")
            && !names("core").iter().any(|name| name == "activate_tab")
    );
    let error = Tools::new(CATALOGUE, &ToolSet::parse("core,nope")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no such set of tools: nope (core, all, a method, or a group: tabs, read")
    );
}

#[test]
fn a_tool_outside_the_set_cannot_be_called() {
    let provider = bridge_mcp::tools::BridgeTools::new(
        Default::default(),
        tools("read"),
        bridge_mcp::Seed::new([0; 32]),
    );
    let mut rig = Rig::new();
    rig.session = rig_session(provider);
    rig.hello("2025-11-25");
    rig.call(1, "click", json!({}));
    assert_eq!(rig.last()["error"]["message"], "unknown tool: click");
    assert!(rig.calls.is_empty());
}

#[test]
fn the_list_has_one_page_and_says_how_long_it_keeps() {
    let mut rig = Rig::open("2025-11-25");
    rig.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#);
    assert_eq!(rig.last()["error"]["code"], -32602);
    rig.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#);
    let result = rig.last()["result"].clone();
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"], &result["resultType"]),
        (&json!(300_000), &json!("public"), &json!("complete"))
    );
    assert!(result.get("nextCursor").is_none());
}

#[test]
fn a_catalogue_that_is_none_offers_nothing() {
    for text in ["", "[]", "{}", r#"{"methods":5}"#, r#"{"methods":[5,{}]}"#] {
        assert!(Tools::new(text, &ToolSet::parse("all")).unwrap().len() <= 2);
    }
    let circle = r##"{"defs":{"a":{"type":"array","items":{"$ref":"#/defs/a"}}},"methods":[{"name":"x","params":{"properties":{"p":{"$ref":"#/defs/a"}}}}]}"##;
    assert_eq!(Tools::new(circle, &ToolSet::parse("all")).unwrap().len(), 1);
}
