//! Parameters are checked, and what is wrong with them is said.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

use bridge_catalogue::catalogue;
use serde_json::json;

fn checked(method: &str, params: serde_json::Value) -> Result<(), String> {
    catalogue().method(method).unwrap().check(params.as_object().unwrap())
}

#[test]
fn the_base_protocols_own_forms_pass() {
    assert_eq!(checked("click", json!({"target": {"value": "#a"}})), Ok(()));
    assert_eq!(checked("click", json!({"selector": "#a", "timeout": 5000, "tab_id": 7})), Ok(()));
    assert_eq!(
        checked("click", json!({"target": {"by": "text", "value": "a", "index": null}, "tab_id": null})),
        Ok(())
    );
    assert_eq!(checked("scroll", json!({})), Ok(()));
    assert_eq!(checked("scrape", json!({"item": "li", "title": "h3"})), Ok(()));
    assert_eq!(checked("ping", json!({"unknown": 1})), Ok(()));
}

#[test]
fn the_base_protocols_lenient_forms_pass() {
    assert_eq!(checked("get_a11y_tree", json!({"max_nodes": 3})), Ok(()));
    for quality in [json!(-1), json!(101), json!(50.5)] {
        assert!(checked("screenshot", json!({"quality": quality})).is_err());
    }
    assert_eq!(checked("get_page_markdown", json!({"url": "", "selector": ""})), Ok(()));
    assert_eq!(checked("close_auto_tabs", json!({"owner": ""})), Ok(()));
    assert!(checked("wait_for", json!({"target": {"value": ""}})).is_err());
    assert!(checked("navigate", json!({"url": ""})).is_err());
}

#[test]
fn what_is_missing_or_of_the_wrong_kind_is_named() {
    assert!(checked("click", json!({})).unwrap_err().starts_with("target is missing: "));
    assert!(checked("click", json!({"target": null})).unwrap_err().starts_with("target is missing: "));
    assert_eq!(checked("click", json!({"target": {}})), Err("target: value is missing".into()));
    assert_eq!(checked("click", json!({"target": {"ref": "backend-12"}})), Ok(()));
    assert_eq!(
        checked("click", json!({"target": "#a"})),
        Err("target: expected an object, got \"#a\"".into())
    );
    assert_eq!(
        checked("click", json!({"target": {"by": "smell", "value": "x"}})),
        Err("target.by: expected one of css, text, xpath, role, label, ref, got \"smell\"".into())
    );
    assert_eq!(
        checked("click", json!({"target": {"value": "x", "nth": 1}})),
        Err("target.nth: no such field (there are by, value, index, name, ref)".into())
    );
    assert_eq!(
        checked("click", json!({"target": {"value": ""}})),
        Err("target.value: must not be empty".into())
    );
    assert_eq!(
        checked("click_at", json!({"x": "left", "y": 1})),
        Err("x: expected a number, got \"left\"".into())
    );
    assert_eq!(
        checked("close_tab", json!({"tab_id": 1.5})),
        Err("tab_id: expected a whole number, got 1.5".into())
    );
    assert_eq!(
        checked("press_key", json!({"key": "a", "modifiers": ["ctrl", 1]})),
        Err("modifiers[1]: expected text, got 1".into())
    );
    assert_eq!(
        checked("scrape", json!({"item": "a", "fields": {"t": 1}})),
        Err("fields.t: expected text, got 1".into())
    );
    assert_eq!(
        checked("scroll", json!({"target": {"value": "x", "index": -1}})),
        Err("target.index: expected 0 or more, got -1".into())
    );
}

#[test]
fn a_long_value_is_not_repeated_whole() {
    let text = checked("click_at", json!({"x": "é".repeat(5000), "y": 1})).unwrap_err();
    assert!(text.chars().count() < 100, "{text}");
}

/// T67: what no tab's number can be never goes as far as the browser.
#[test]
fn a_tabs_number_is_a_whole_one_from_1_to_2_to_the_53() {
    let with = |number: &str| {
        let params = format!(r#"{{"tab_id":{number}}}"#);
        // 1e400 is no number for this reader at all, which its caller says as the same code.
        serde_json::from_str(&params)
            .map_or_else(|e| Err(e.to_string()), |params| checked("close_tab", params))
    };
    for number in ["1", "7.0", "1e3", "9007199254740991"] {
        assert_eq!(with(number), Ok(()), "{number}");
    }
    for number in
        ["0", "-0", "-1", "0.1", "1e400", "-1e400", "1e300", "9007199254740992", "18446744073709551616"]
    {
        assert!(with(number).is_err(), "{number}");
    }
    for bomb in ["1e-99999999999", "0.1e-400", "1e99999999999999999999"] {
        assert!(with(bomb).is_err(), "{bomb}");
    }
}
