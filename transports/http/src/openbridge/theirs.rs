//! OpenBridge's own parameters and results, walked through our table.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;

/// A parameter as OpenBridge's own schema has it: whether it must be there, and values of its type, odd ones too.
type Param = (&'static str, bool, &'static [&'static str]);
/// A tool with its parameters, what our method answers, and the fields that its callers read.
type Row = (&'static str, &'static [Param], &'static str, &'static [&'static str]);

const TEXTS: &[&str] = &[r#""work""#, r#""""#];
const NUMBERS: &[&str] = &["0", "1", "2.6", "100000"];
const FLAGS: &[&str] = &["true", "false"];
const SESSION: Param = ("sessionId", false, TEXTS);
const TITLE: Param = ("groupTitle", false, TEXTS);
const COLOR: Param = ("groupColor", false, &[r#""purple""#, r#""gray""#, r#""magenta""#, r#""""#]);
const URL: &[&str] = &[r#""https://e.example/""#];
const TAB: &str = r#"{"tab_id": 7, "url": "u", "title": "t", "active": true, "group_id": 1, "group_title": "T", "group_color": "red"}"#;
const TABS: &str = r#"{"tabs": [{"tab_id": 7, "url": "u", "title": "t", "active": true}], "count": 1}"#;

/// OpenBridge's tools, its parameters and its results.
const THEIRS: &[Row] = &[
    ("browser_list_tabs", &[], TABS, &["tabs"]),
    (
        "browser_new_tab",
        &[("url", false, URL), SESSION, TITLE, COLOR],
        TAB,
        &["tabId", "url", "title", "groupId", "groupTitle", "groupColor"],
    ),
    (
        "browser_select_tab",
        &[("tabId", true, &["7"]), SESSION, TITLE, COLOR],
        TAB,
        &["tabId", "url", "title", "groupId", "groupTitle", "groupColor"],
    ),
    (
        "browser_navigate",
        &[
            ("url", true, URL),
            ("newTab", false, FLAGS),
            SESSION,
            TITLE,
            COLOR,
            ("waitUntil", false, &[r#""none""#, r#""domcontentloaded""#, r#""load""#, r#""networkIdle""#]),
            ("timeoutMs", false, &["1", "1500.5"]),
        ],
        TAB,
        &["url", "tabId", "loaded", "groupId", "groupTitle", "groupColor"],
    ),
    (
        "browser_snapshot",
        &[("mode", false, &[r#""compact""#]), ("maxNodes", false, NUMBERS), ("includeHidden", false, FLAGS)],
        r#"{"url": "u", "title": "t", "nodes": []}"#,
        &["url", "title", "nodes"],
    ),
    (
        "browser_snapshot",
        &[("mode", true, &[r#""full""#]), ("maxNodes", false, NUMBERS), ("includeHidden", false, FLAGS)],
        r#"{"url": "u", "title": "t", "nodes": []}"#,
        &["url", "title", "snapshot"],
    ),
    (
        "browser_click",
        &[("selector", true, &[r##""#go""##]), ("ref", false, &[r#""backend-1""#, r#""""#])],
        r#"{"clicked": {}, "x": 1, "y": 2}"#,
        &["success", "selector", "x", "y"],
    ),
    (
        "browser_click",
        &[("selector", false, &[r#""""#]), ("ref", true, &[r#""backend-1""#, "5"])],
        r#"{"clicked": {}, "x": 1, "y": 2}"#,
        &["success", "selector", "x", "y"],
    ),
    (
        "browser_fill",
        &[("selector", true, &[r##""#a""##]), ("value", true, TEXTS)],
        r#"{"element": {}, "value": "work"}"#,
        &["success", "selector", "value"],
    ),
    ("browser_type", &[("text", true, &[r#""a""#])], r#"{"typed": "a"}"#, &["success"]),
    ("browser_send_keys", &[("keys", true, &[r#""Control+A""#])], r#"{"keys": []}"#, &["success"]),
    ("browser_screenshot", &[], r#"{"data": "data:image/png;base64,AA=="}"#, &[]),
    (
        "browser_evaluate",
        &[("expression", true, &[r#""1""#])],
        r#"{"result": 1, "type": "number"}"#,
        &["result", "type"],
    ),
    (
        "browser_close_tab",
        &[("tabId", true, &["7"])],
        r#"{"closed": true, "tab_id": 7}"#,
        &["tabId", "closed"],
    ),
    (
        "browser_close_session",
        &[("sessionId", true, &[r#""s""#]), ("closeTabs", false, FLAGS)],
        r#"{"session_id": "s", "closed": [1]}"#,
        &["sessionId", "closedTabCount", "closedTabs"],
    ),
    (
        "browser_find_tab",
        &[
            ("query", false, TEXTS),
            ("urlContains", false, TEXTS),
            ("titleContains", false, TEXTS),
            SESSION,
            ("activate", false, FLAGS),
        ],
        TABS,
        &["tabs", "count"],
    ),
    (
        "browser_mouse_click",
        &[
            ("x", true, NUMBERS),
            ("y", true, NUMBERS),
            ("button", false, &[r#""left""#, r#""right""#, r#""middle""#]),
            ("clickCount", false, NUMBERS),
        ],
        r#"{"x": 1, "y": 2, "button": "left", "click_count": 1}"#,
        &["x", "y", "button", "clickCount"],
    ),
    ("browser_key_type", &[("text", true, &[r#""a""#])], r#"{"text": "a"}"#, &["text"]),
    (
        "browser_upload",
        &[("selector", true, &[r##""#f""##]), ("paths", true, &[r#"["/tmp/a"]"#])],
        r#"{"files": [{"name": "a"}]}"#,
        &["selector", "files"],
    ),
    ("browser_save_as_pdf", &[("printBackground", false, FLAGS)], "{}", &[]),
    (
        "browser_network",
        &[
            ("action", false, &[r#""start""#, r#""stop""#, r#""get""#, r#""clear""#]),
            ("limit", false, NUMBERS),
        ],
        r#"{"events": [], "count": 0, "tab_id": 7}"#,
        &["events", "count", "tabId"],
    ),
    ("browser_close_all_managed_tabs", &[], r#"{"closed": [1]}"#, &["closedTabCount"]),
];

/// Every choice of values, and of what may be left out.
fn combinations(params: &[Param]) -> Vec<Map<String, Value>> {
    let mut all = vec![Map::new()];
    for (name, required, values) in params {
        let without = if *required { Vec::new() } else { all.clone() };
        let with = values.iter().flat_map(|value| {
            all.iter().map(|so_far| {
                let mut args = so_far.clone();
                args.insert((*name).to_owned(), json(value));
                args
            })
        });
        all = with.chain(without).collect();
    }
    all
}

#[test]
fn every_combination_of_openbridges_parameters_is_a_call_that_our_methods_take() {
    for (name, params, answer, fields) in THEIRS {
        let tool = tool(name).unwrap_or_else(|| panic!("{name}"));
        let method = tool.in_catalogue().unwrap_or_else(|| panic!("{name}"));
        for args in combinations(params) {
            let sent = tool.translate(&args, Some(4), "home").unwrap();
            method.check(&sent.params).unwrap_or_else(|why| panic!("{name} {args:?}: {why}"));
            for key in sent.params.keys() {
                assert!(
                    key == "selector" || method.parameter(key).is_some(),
                    "{name}: {key} is no parameter"
                );
            }
            let result = tool.result(&args, json(answer));
            for field in *fields {
                assert!(!result[*field].is_null(), "{name} {args:?}: no {field} in {result}");
            }
        }
    }
    let theirs: std::collections::BTreeSet<&str> = THEIRS.iter().map(|row| row.0).collect();
    assert_eq!(theirs.len(), TOOLS.len());
}
