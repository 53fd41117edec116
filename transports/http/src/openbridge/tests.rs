//! Each tool both ways: what OpenBridge's callers send becomes ours, what we answer becomes theirs.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use serde_json::json;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Tool, its arguments, our parameters, our result, its result.
fn all() -> Vec<(&'static str, Value, Value, Value, Value)> {
    let tab = json!({"tab_id": 7, "url": "https://e.example/", "title": "E", "active": true, "window_id": 1,
        "session_id": "s", "group_id": 3, "group_title": "agent:s", "group_color": "blue"});
    let their_tab = json!({"tabId": 7, "url": "https://e.example/", "title": "E", "active": true, "windowId": 1,
        "sessionId": "s", "groupId": 3, "groupTitle": "agent:s", "groupColor": "blue"});
    let sessions = json!({"sessionId": "s", "groupTitle": "T", "groupColor": "red"});
    let our_sessions = json!({"session_id": "s", "group_title": "T", "group_color": "red"});
    let with = |base: &Value, more: Value| {
        let mut all = object(base.clone());
        all.extend(object(more));
        Value::Object(all)
    };
    vec![
        ("browser_list_tabs", json!({}), json!({}), json!({"tabs": [tab]}), json!({"tabs": [their_tab]})),
        (
            "browser_new_tab",
            with(&sessions, json!({"url": "https://e.example/"})),
            with(&our_sessions, json!({"url": "https://e.example/"})),
            tab.clone(),
            their_tab.clone(),
        ),
        (
            "browser_select_tab",
            with(&sessions, json!({"tabId": 7})),
            with(&our_sessions, json!({"tab_id": 7})),
            tab.clone(),
            their_tab.clone(),
        ),
        (
            "browser_navigate",
            with(&sessions, json!({"url": "https://e.example/", "newTab": true, "waitUntil": "networkIdle"})),
            with(
                &our_sessions,
                json!({"url": "https://e.example/", "new_tab": true, "wait_until": "network_idle"}),
            ),
            json!({"tab_id": 7, "url": "https://e.example/", "title": "E", "loaded": false}),
            json!({"tabId": 7, "url": "https://e.example/", "title": "E", "loaded": false, "timeout": true}),
        ),
        (
            "browser_snapshot",
            json!({"mode": "full", "maxNodes": 50, "includeHidden": true}),
            json!({"mode": "full", "max_nodes": 50, "include_hidden": true}),
            json!({"url": "u", "title": "t", "nodes": [{"ref": "backend-1", "role": "button", "name": "Go"}]}),
            json!({"url": "u", "title": "t", "snapshot": [{"ref": "backend-1", "role": "button", "name": "Go"}]}),
        ),
        (
            "browser_snapshot",
            json!({"mode": "compact"}),
            json!({"mode": "compact"}),
            json!({"url": "u", "title": "t", "nodes": [{"ref": "backend-1", "role": "button"}]}),
            json!({"url": "u", "title": "t", "nodes": [{"ref": "backend-1", "role": "button"}]}),
        ),
        (
            "browser_click",
            json!({"ref": "backend-12"}),
            json!({"target": {"by": "ref", "value": "backend-12"}}),
            json!({"clicked": {"tag": "button"}, "tab_id": 7, "x": 10, "y": 20}),
            json!({"success": true, "selector": "backend-12", "clicked": {"tag": "button"}, "tabId": 7, "x": 10, "y": 20}),
        ),
        (
            "browser_fill",
            json!({"selector": "#name", "value": "alice"}),
            json!({"selector": "#name", "value": "alice"}),
            json!({"element": {"tag": "input"}, "value": "alice", "tab_id": 7}),
            json!({"success": true, "selector": "#name", "value": "alice", "element": {"tag": "input"}, "tabId": 7}),
        ),
        (
            "browser_type",
            json!({"text": "hi"}),
            json!({"text": "hi"}),
            json!({"typed": "hi"}),
            json!({"success": true, "typed": "hi"}),
        ),
        (
            "browser_send_keys",
            json!({"keys": "Control+A, Delete"}),
            json!({"keys": "Control+A, Delete"}),
            json!({"keys": ["Control+A", "Delete"]}),
            json!({"success": true, "keys": ["Control+A", "Delete"]}),
        ),
        (
            "browser_evaluate",
            json!({"expression": "({a_b: 1})"}),
            json!({"expression": "({a_b: 1})"}),
            json!({"result": {"a_b": 1}, "type": "object"}),
            json!({"result": {"a_b": 1}, "type": "object"}),
        ),
        (
            "browser_close_tab",
            json!({"tabId": 7}),
            json!({"tab_id": 7}),
            json!({"closed": true, "tab_id": 7}),
            json!({"closed": true, "tabId": 7}),
        ),
        (
            "browser_close_session",
            json!({"sessionId": "s", "closeTabs": false}),
            json!({"session_id": "s", "close_tabs": false}),
            json!({"session_id": "s", "closed": [1, 2]}),
            json!({"sessionId": "s", "closed": [1, 2], "closedTabCount": 2, "closedTabs": false}),
        ),
        (
            "browser_find_tab",
            json!({"query": "q", "urlContains": "u", "titleContains": "t", "sessionId": "s", "activate": true}),
            json!({"query": "q", "url_contains": "u", "title_contains": "t", "session_id": "s", "activate": true}),
            json!({"tabs": [tab], "count": 1}),
            json!({"tabs": [their_tab], "count": 1}),
        ),
        (
            "browser_mouse_click",
            json!({"x": 1, "y": 2, "button": "right", "clickCount": 2}),
            json!({"x": 1, "y": 2, "button": "right", "click_count": 2}),
            json!({"x": 1, "y": 2, "button": "right", "click_count": 2}),
            json!({"x": 1, "y": 2, "button": "right", "clickCount": 2}),
        ),
        (
            "browser_key_type",
            json!({"text": "x"}),
            json!({"text": "x"}),
            json!({"text": "x"}),
            json!({"text": "x"}),
        ),
        (
            "browser_upload",
            json!({"selector": "#f", "paths": ["/tmp/a"]}),
            json!({"selector": "#f", "paths": ["/tmp/a"]}),
            json!({"files": [{"name": "a", "size": 3}]}),
            json!({"selector": "#f", "files": ["/tmp/a"]}),
        ),
        (
            "browser_network",
            json!({"action": "get", "limit": 5}),
            json!({"action": "get", "limit": 5}),
            json!({"events": [{"request_id": "1", "mime_type": "a/b", "headers": {"x_y": "z"}}], "count": 1, "tab_id": 7}),
            json!({"events": [{"requestId": "1", "mimeType": "a/b", "headers": {"x_y": "z"}}], "count": 1, "tabId": 7}),
        ),
        (
            "browser_close_all_managed_tabs",
            json!({}),
            json!({}),
            json!({"closed": [1, 2, 3]}),
            json!({"closed": [1, 2, 3], "closedTabCount": 3}),
        ),
    ]
}

#[test]
fn every_tool_translates_both_ways() {
    for (name, args, params, result, theirs) in all() {
        let tool = tool(name).unwrap_or_else(|| panic!("{name}"));
        let mut sent = tool.translate(&object(args.clone()), None, "home").unwrap().params;
        // A method that learns to be trusted is asked to; the others do not hear of it.
        if tool.in_catalogue().is_some_and(|method| method.parameter("trusted").is_some())
            && name == "browser_click"
        {
            assert_eq!(sent.remove("trusted"), Some(Value::Bool(true)));
        }
        assert_eq!(Value::Object(sent), params, "{name}");
        assert_eq!(tool.result(&object(args), result), theirs, "{name}");
    }
}

#[test]
fn the_table_has_openbridges_twenty_tools_and_each_is_tried() {
    let tried: Vec<&str> = all().iter().map(|row| row.0).collect();
    assert_eq!(TOOLS.len(), 20);
    for tool in TOOLS {
        assert!(tried.contains(&tool.name) || tool.shape == Shape::Picture, "{}", tool.name);
    }
}

#[test]
fn what_differs_in_more_than_its_name() {
    let navigate = tool("browser_navigate").unwrap();
    let sent = navigate.translate(&object(json!({"url": "u", "timeoutMs": 1500})), Some(4), "home").unwrap();
    assert_eq!(sent.timeout_ms, Some(1500));
    assert_eq!(Value::Object(sent.params), json!({"url": "u", "tab_id": 4}));
    assert_eq!(navigate.result(&Map::new(), json!({"tab_id": 1})), json!({"tabId": 1, "loaded": true}));

    let elsewhere =
        navigate.translate(&object(json!({"url": "u", "newTab": true})), Some(4), "home").unwrap();
    assert_eq!(elsewhere.params.get("tab_id"), None, "a new tab is not the one before");
    let named = navigate.translate(&object(json!({"url": "u", "tabId": 9})), Some(4), "home").unwrap();
    assert_eq!(named.params["tab_id"], 9);

    let click = tool("browser_click").unwrap();
    for (reference, meant) in
        [(json!(5), "backend-5"), (json!("5"), "backend-5"), (json!("frame-1"), "frame-1")]
    {
        let sent = click.translate(&object(json!({"ref": reference})), None, "home").unwrap();
        assert_eq!(sent.params["target"], json!({"by": "ref", "value": meant}));
    }
    let both = click.translate(&object(json!({"ref": "backend-1", "selector": "#a"})), None, "home").unwrap();
    assert_eq!(both.params.get("target"), None, "a selector goes first, as there");
}

#[test]
fn names_go_there_and_back() {
    for (snake_case, camel_case) in [("tab_id", "tabId"), ("max_nodes", "maxNodes"), ("url", "url")] {
        assert_eq!((snake(camel_case).as_str(), camel(snake_case).as_str()), (snake_case, camel_case));
    }
}

#[test]
fn only_tools_whose_method_there_is_are_offered() {
    let offered: Vec<&str> = available().collect();
    assert!(offered.contains(&"browser_list_tabs") && offered.contains(&"browser_click"));
    assert!(offered.iter().all(|name| tool(name).unwrap().in_catalogue().is_some()));
}

#[test]
fn a_group_without_a_session_is_that_of_the_callers_own_session() {
    let open = tool("browser_new_tab").unwrap();
    let sent = |args: Value| Value::Object(open.translate(&object(args), None, "home").unwrap().params);
    assert_eq!(sent(json!({"groupTitle": "T"})), json!({"group_title": "T", "session_id": "home"}));
    assert_eq!(
        sent(json!({"groupColor": "gray", "sessionId": ""})),
        json!({"group_color": "grey", "session_id": "home"})
    );
    assert_eq!(sent(json!({"groupColor": "magenta", "groupTitle": null})), json!({}));
    assert_eq!(
        sent(json!({"groupTitle": "T", "sessionId": "s"})),
        json!({"group_title": "T", "session_id": "s"})
    );
}

#[test]
fn what_openbridge_leaves_out_or_calls_no_failure() {
    let params = |name: &str, args: Value| {
        Value::Object(tool(name).unwrap().translate(&object(args), None, "home").unwrap().params)
    };
    assert_eq!(params("browser_network", json!({})), json!({"action": "get"}));
    assert_eq!(params("browser_network", json!({"limit": 9999.5})), json!({"action": "get", "limit": 500}));
    assert_eq!(params("browser_find_tab", json!({"query": ""})), json!({"url_contains": ":"}));
    assert_eq!(
        params("browser_mouse_click", json!({"x": 1.5, "y": 2, "clickCount": 9})),
        json!({"x": 1.5, "y": 2, "click_count": 3})
    );
    assert_eq!(
        params("browser_fill", json!({"selector": "#a", "value": ""})),
        json!({"selector": "#a", "value": ""})
    );

    let close = tool("browser_close_session").unwrap();
    let done = close.nothing_to_do("INVALID_PARAMS", r#"invalid params: there is no session "s""#).unwrap();
    assert_eq!(
        close.result(&object(json!({"sessionId": "s"})), done),
        json!({"sessionId": "s", "closed": [], "closedTabCount": 0, "closedTabs": true})
    );
    assert_eq!(close.nothing_to_do("PERMISSION_DENIED", "there is no session"), None);
}
