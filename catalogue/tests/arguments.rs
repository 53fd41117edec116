//! What is typed on the command line becomes parameters by the table.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

use bridge_catalogue::{arguments, catalogue, parse_target};
use serde_json::{Value, json};

fn typed(method: &str, line: &[&str]) -> Result<Value, String> {
    let method = catalogue().method(method).unwrap();
    let words: Vec<String> = line.iter().map(|w| (*w).to_owned()).collect();
    arguments(method, &words, &mut |name| Ok(format!("<{name} from standard input>"))).map(Value::Object)
}

#[test]
fn what_is_dragged_is_a_target_or_a_point() {
    assert_eq!(
        typed("drag", &["text=Card", "120,40.5"]),
        Ok(json!({"from": {"by": "text", "value": "Card"}, "to": {"x": 120, "y": 40.5}}))
    );
    assert_eq!(
        typed("drag", &["#a", "#b"]),
        Ok(json!({"from": {"by": "css", "value": "#a"}, "to": {"by": "css", "value": "#b"}}))
    );
}

#[test]
fn files_are_the_arguments_that_are_left_as_they_stand() {
    let files =
        |line: &[&str]| typed("upload", &[&["#f"], line].concat()).map(|params| params["paths"].clone());
    assert_eq!(
        files(&["a.txt", "b, c.txt", "--timeout", "9", "d.txt"]),
        Ok(json!(["a.txt", "b, c.txt", "d.txt"]))
    );
    assert_eq!(files(&[r#"["a.txt","b.txt"]"#, "c.txt"]), Ok(json!(["a.txt", "b.txt", "c.txt"])));
    assert_eq!(files(&["--paths", "a.txt,b.txt"]), Ok(json!(["a.txt", "b.txt"])));
    assert!(typed("click", &["#a", "#b"]).unwrap_err().contains("unexpected argument `#b`"));
}

#[test]
fn a_value_with_a_dash_in_front_is_told_how_to_be_given() {
    assert!(typed("set_value", &["#a", "-x"]).unwrap_err().contains("`bridge set-value … -- -x`"));
    assert_eq!(typed("set_value", &["#a", "--", "-x"]).unwrap()["value"], "-x");
}

#[test]
fn a_plain_word_is_a_css_target() {
    assert_eq!(typed("click", &["#go"]), Ok(json!({"target": {"by": "css", "value": "#go"}})));
    assert_eq!(
        typed("click", &["a[href='x=y']"]),
        Ok(json!({"target": {"by": "css", "value": "a[href='x=y']"}}))
    );
}

#[test]
fn prefixes_name_the_other_ways_to_find_an_element() {
    for name in ["backend-12", "backend-3@f2"] {
        assert_eq!(parse_target(name), Ok(json!({"by": "ref", "value": name})));
    }
    assert_eq!(parse_target("backend-x"), Ok(json!({"by": "css", "value": "backend-x"})));
    assert_eq!(parse_target("text=Sign in"), Ok(json!({"by": "text", "value": "Sign in"})));
    assert_eq!(parse_target("xpath=//a[1]"), Ok(json!({"by": "xpath", "value": "//a[1]"})));
    assert_eq!(parse_target("ref=backend-12"), Ok(json!({"by": "ref", "value": "backend-12"})));
    assert_eq!(parse_target("label=City"), Ok(json!({"by": "label", "value": "City"})));
    assert_eq!(parse_target("role=button"), Ok(json!({"by": "role", "value": "button"})));
    assert_eq!(
        parse_target("role=button[Save]"),
        Ok(json!({"by": "role", "value": "button", "name": "Save"}))
    );
    assert_eq!(
        parse_target("role=button[name=\"a ] b\"]"),
        Ok(json!({"by": "role", "value": "button", "name": "a ] b"}))
    );
    assert_eq!(parse_target(r#"{"by":"css","value":"p"}"#), Ok(json!({"by": "css", "value": "p"})));
    assert!(parse_target("role=button[Save").unwrap_err().contains("ends with `]`"));
    assert!(parse_target("{x").unwrap_err().contains("no JSON object"));
}

#[test]
fn nth_picks_one_of_several_matches() {
    assert_eq!(
        typed("click", &["text=Remove", "--nth", "2"]),
        Ok(json!({"target": {"by": "text", "value": "Remove", "index": 2}}))
    );
    assert!(typed("ping", &["--nth", "2"]).unwrap_err().contains("has no --nth"));
}

#[test]
fn numbers_switches_lists_and_objects_take_their_types() {
    assert_eq!(typed("click_at", &["120", "340.5"]), Ok(json!({"x": 120, "y": 340.5})));
    assert_eq!(typed("scroll", &["-800"]), Ok(json!({"dy": -800})));
    assert_eq!(typed("scroll", &["--dy=-800", "--smooth"]), Ok(json!({"dy": -800, "smooth": true})));
    assert_eq!(
        typed("check", &["#a", "--no-checked"]),
        Ok(json!({"target": {"by": "css", "value": "#a"}, "checked": false}))
    );
    assert_eq!(
        typed("press_key", &["a", "--modifiers", "ctrl,shift", "--modifiers=alt"]),
        Ok(json!({"key": "a", "modifiers": ["ctrl", "shift", "alt"]}))
    );
    assert_eq!(
        typed("scrape", &["li", "--fields", "title=h3", "--fields", "url=a@href"]),
        Ok(json!({"item": "li", "fields": {"title": "h3", "url": "a@href"}}))
    );
    assert_eq!(
        typed("scrape", &["li", "--fields", r#"{"a":"b"}"#]),
        Ok(json!({"item": "li", "fields": {"a": "b"}}))
    );
    assert_eq!(typed("close_tab", &["7"]), Ok(json!({"tab_id": 7})));
}

#[test]
fn two_dashes_and_a_lone_dash_keep_awkward_values_possible() {
    assert_eq!(typed("run_script", &["--", "-x"]), Ok(json!({"code": "-x"})));
    assert_eq!(typed("run_script", &["--", "-"]), Ok(json!({"code": "-"})));
    assert_eq!(typed("run_script", &["-"]), Ok(json!({"code": "<code from standard input>"})));
}

#[test]
fn what_is_wrong_is_said_in_one_sentence() {
    let wrong = |method, line: &[&str]| typed(method, line).unwrap_err();
    assert_eq!(wrong("clear", &[]), "TARGET is missing; usage: bridge clear TARGET [--timeout N]");
    assert!(wrong("click", &["a", "b"]).starts_with("unexpected argument `b`"));
    assert!(wrong("click", &["a", "--new-tba"]).contains("did you mean --new-tab?"));
    assert!(wrong("click", &["a", "--colour"]).contains("bridge help click"));
    assert!(wrong("click", &["a", "--timeout"]).starts_with("--timeout needs a value"));
    assert_eq!(wrong("click", &["a", "--timeout", "x"]), "--timeout: expected a whole number, got `x`");
    assert_eq!(wrong("click", &["a", "--new-tab=maybe"]), "--new-tab: expected true or false, got `maybe`");
    assert_eq!(wrong("click_at", &["1", "inf"]), "y: expected a number, got `inf`");
    assert_eq!(
        wrong("scrape", &["li", "--fields", "h3"]),
        "--fields: expected key=value or a JSON object, got `h3`"
    );
    assert_eq!(wrong("screenshot", &["--format", "gif"]), r#"format: expected one of png, jpeg, got "gif""#);
    assert_eq!(wrong("screenshot", &["--format", "png", "--format", "png"]), "format was given twice");
    assert_eq!(wrong("snapshot", &["--max-nodes", "3"]), "max_nodes: expected 10 to 5000, got 3");
}

#[test]
fn names_may_be_written_either_way_and_mistyped_ones_are_recognised() {
    assert!(catalogue().method("get-value").is_some() && catalogue().method("get_value").is_some());
    assert!(catalogue().method("getvalue").is_none());
    let names = || catalogue().methods().iter().map(|m| m.name.as_str());
    assert_eq!(bridge_catalogue::nearest("list-tab", names()), Some("list_tabs"));
    assert_eq!(bridge_catalogue::nearest("frobnicate", names()), None);
}
