//! Results as a person reads them.

mod acts;
mod nodes;
mod width;

use std::fmt::Write as _;

use serde_json::Value;

pub(crate) use crate::harmless::harmless;
use crate::keys::unix_now;
use width::width;

/// What to do when no browser is connected.
pub(crate) const NO_BROWSER: &str =
    "open the browser that has the extension, or install it with `bridged extension install DIR`";

/// A result for reading; `show` is the field that the catalogue says stands for all of it.
pub(crate) fn result(method: &str, show: Option<&str>, result: &Value) -> String {
    if let Some(field) = show.and_then(|name| result.get(name)) {
        let text = field.as_str().map_or_else(|| pretty(field), str::to_owned);
        // The value of a box says nothing of what one asks it for.
        return match result["checked"].as_bool().filter(|_| method == "get_value") {
            Some(true) => format!("{text} (checked)"),
            Some(false) => format!("{text} (not checked)"),
            None => text,
        };
    }
    match method {
        "list_tabs" => tabs(result),
        "list_browsers" => browsers(result),
        "get_a11y_tree" => nodes::tree(result),
        "snapshot" => nodes::snapshot(result).unwrap_or_else(|| pretty(result)),
        "status" => status(result).unwrap_or_else(|| pretty(result)),
        "scrape" => pretty(&result["items"]),
        _ => acts::told(method, result).unwrap_or_else(|| pretty(result)),
    }
}

fn tabs(result: &Value) -> String {
    let row = |tab: &Value| {
        let mark = if tab["active"] == true { "*" } else { "" };
        [
            mark.to_owned(),
            plain(&tab["tab_id"]),
            plain(&tab["window_id"]),
            cut(&plain(&tab["title"]), 48),
            plain(&tab["url"]),
        ]
    };
    let rows: Vec<_> =
        result["tabs"].as_array().map(|list| list.iter().map(row).collect()).unwrap_or_default();
    match rows.is_empty() {
        true => "no tabs".to_owned(),
        false => table(["", "TAB", "WINDOW", "TITLE", "URL"], &rows),
    }
}

fn browsers(result: &Value) -> String {
    match result["browsers"].as_array().map(Vec::as_slice) {
        None | Some([]) => format!("no browser is connected; {NO_BROWSER}"),
        Some(list) => list.iter().map(browser).collect::<Vec<_>>().join("\n"),
    }
}

/// The daemon in a few lines.
fn status(result: &Value) -> Option<String> {
    let mut out = format!(
        "{} {}, up {} s, {} connections, {} calls in flight",
        result["server"]["name"].as_str()?,
        result["server"]["version"].as_str()?,
        result["uptime_ms"].as_u64()? / 1000,
        result["connections"],
        result["in_flight"]
    );
    let count = |(name, number): (&String, &Value)| format!("{} {number}", name.replace('_', " "));
    let counters = result["counters"].as_object()?.iter().filter(|(_, number)| **number != 0);
    let counters: Vec<String> = counters.map(count).collect();
    if !counters.is_empty() {
        let _ = write!(out, "\nsince the start: {}", counters.join(", "));
    }
    let _ = write!(out, "\n{}", browsers(result));
    Some(out)
}

/// One browser on a line.
pub(crate) fn browser(browser: &Value) -> String {
    let mut text = browser["browser_id"].as_str().unwrap_or("(no id)").to_owned();
    for (field, lead) in [("name", " "), ("version", " extension ")] {
        if let Some(value) = browser[field].as_str().filter(|v| !v.is_empty()) {
            let _ = write!(text, " {lead}{value}");
        }
    }
    if browser["proven"] == false {
        text.push_str("  (base protocol, not proven)");
    }
    text
}

/// Columns as wide as what they hold; the last one runs free.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(width);
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(width(cell));
        }
    }
    let mut out = String::new();
    for row in std::iter::once(&head.map(str::to_owned)).chain(rows) {
        let padded = |(cell, widest): (&String, usize)| format!("{cell}{}", " ".repeat(widest - width(cell)));
        let line: Vec<String> = row.iter().zip(widths).map(padded).collect();
        let _ = writeln!(out, "{}", line.join("  ").trim_end());
    }
    out.truncate(out.trim_end().len());
    out
}

/// A moment in the past, as "5 min ago".
pub(crate) fn ago(moment: u64) -> String {
    match unix_now().saturating_sub(moment) {
        seconds @ 0..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

fn plain(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.replace(['\n', '\r', '\t'], " ")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), 80))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::result;
    use serde_json::json;

    #[test]
    fn the_examples_of_the_base_protocol_read_as_text() {
        for method in bridge_catalogue::catalogue().methods().iter().filter(|m| m.seed == 1) {
            let Ok(example) = serde_json::from_str(method.example.result.get()) else {
                unreachable!("the catalogue's own tests parse it");
            };
            let text = result(&method.name, method.cli.show.as_deref(), &example);
            let raw = matches!(method.name.as_str(), "scrape" | "screenshot");
            assert!(raw || !text.starts_with('{'), "{}: {text}", method.name);
        }
    }

    #[test]
    fn acts_are_told_in_a_sentence() {
        let told = |method, value| result(method, None, &value);
        assert_eq!(
            told(
                "click",
                json!({"clicked": {"tag": "button", "id": "go", "text": " Send\n it "}, "tab_id": 7})
            ),
            "clicked button#go \"Send it\" in tab 7"
        );
        assert_eq!(told("close_auto_tabs", json!({"closed": [7, 9]})), "closed tabs 7, 9");
        assert_eq!(
            told("close_agent_window", json!({"closed": false, "window_id": null})),
            "there was no window to close"
        );
        assert_eq!(told("close_agent_window", json!({"closed": false, "window_id": 5})), "window 5 stays");
        assert_eq!(
            told("navigate", json!({"tab_id": 7, "url": "http://x/", "title": "", "status": 404})),
            "tab 7: http://x/ (HTTP 404)"
        );
    }

    #[test]
    fn what_came_of_an_act_besides_is_told_beneath_it() {
        let told = |method, value| result(method, None, &value);
        let clicked = json!({
            "clicked": {"tag": "button"}, "tab_id": 7, "navigated": "http://x/", "opened": [{"tab_id": 8, "url": "http://y/"}],
            "download": {"state": "in_progress", "path": "/d/a.zip"}, "dialog": {"type": "confirm", "message": "Really?"},
            "note": "the form\n was not submitted"
        });
        assert_eq!(
            told("click", clicked),
            "clicked button in tab 7\n  the tab went to http://x/\n  the page opened tab 8: http://y/\n  download in progress: /d/a.zip\n  \
             the page asks: confirm, \"Really?\"; `bridge handle-dialog` answers it\n  note: the form was not submitted"
        );
        let stays = json!({"closed": false, "window_id": 5, "note": "a tab of the user's is in it"});
        assert_eq!(told("close_agent_window", stays), "window 5 stays\n  note: a tab of the user's is in it");
        let unticked = json!({"element": {"tag": "input"}, "value": "on", "checked": false});
        assert_eq!(result("get_value", Some("value"), &unticked), "on (not checked)");
        let typed = json!({"typed": "b", "value": "ab", "tab_id": 7});
        assert_eq!(told("type_text", typed), "typed \"b\" in tab 7\n  the field holds \"ab\"");
    }

    #[test]
    fn a_snapshot_is_its_nodes() {
        let node = json!({"ref": "backend-4", "role": "button", "name": "Send", "states": ["disabled"]});
        let text = json!({"ref": "backend-12@f2", "role": "textbox", "name": "", "value": "x"});
        let mut snapshot = json!({"tab_id": 7, "url": "http://x/", "title": "X", "nodes": [node, text]});
        let told = |snapshot: &serde_json::Value| result("snapshot", None, snapshot);
        assert_eq!(
            told(&snapshot),
            "backend-4      button \"Send\" (disabled)\nbackend-12@f2  textbox = \"x\""
        );
        snapshot["diff"] = true.into();
        (snapshot["unchanged"], snapshot["removed"]) = (3.into(), json!(["backend-9"]));
        assert!(told(&snapshot).ends_with("\nas before: 3; gone: backend-9"));
    }

    #[test]
    fn columns_are_straight_where_letters_are_wide() {
        let rows = [["中文".to_owned(), "x".to_owned()], ["abc".to_owned(), "y".to_owned()]];
        assert_eq!(super::table(["A", "B"], &rows), "A     B\n中文  x\nabc   y");
    }

    #[test]
    fn a_result_of_another_shape_is_shown_as_it_came() {
        assert_eq!(result("click", None, &json!({"odd": 1})), "{\n  \"odd\": 1\n}");
    }
}
