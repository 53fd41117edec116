//! Results as a person reads them.

use std::fmt::Write as _;

use serde_json::Value;

pub(crate) use crate::harmless::harmless;
use crate::keys::unix_now;

/// What to do when no browser is connected.
pub(crate) const NO_BROWSER: &str =
    "open the browser that has the extension, or install it with `bridged extension install DIR`";

/// A result for reading; `show` is the field that the catalogue says stands for all of it.
pub(crate) fn result(method: &str, show: Option<&str>, result: &Value) -> String {
    if let Some(field) = show.and_then(|name| result.get(name)) {
        return field.as_str().map_or_else(|| pretty(field), str::to_owned);
    }
    match method {
        "list_tabs" => tabs(result),
        "list_browsers" => browsers(result),
        "get_a11y_tree" => tree(result),
        "status" => status(result).unwrap_or_else(|| pretty(result)),
        "scrape" => pretty(&result["items"]),
        _ => sentence(method, result).unwrap_or_else(|| pretty(result)),
    }
}

/// What an act did, in a short sentence; none where the result is not what the table promises.
fn sentence(method: &str, result: &Value) -> Option<String> {
    let tab = result.get("tab_id").map(|id| format!(" in tab {id}")).unwrap_or_default();
    let on = |field| element(result.get(field)?);
    let text = |field: &str| result.get(field)?.as_str().map(quoted);
    Some(match method {
        "ping" => "pong".to_owned(),
        "close_tab" => format!("closed tab {}", result.get("tab_id")?),
        "close_auto_tabs" => match result.get("closed")?.as_array()?.as_slice() {
            [] => "nothing to close".to_owned(),
            ids => format!("closed tabs {}", ids.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
        },
        "close_agent_window" => match result.get("window_id")?.as_i64() {
            Some(id) if result.get("closed")?.as_bool()? => format!("closed window {id}"),
            Some(id) => format!("window {id} stays"),
            None => "there was no window to close".to_owned(),
        },
        "click" => format!("clicked {}{tab}", on("clicked")?),
        "click_at" => {
            format!("clicked {} at {}, {}{tab}", on("clicked")?, result.get("x")?, result.get("y")?)
        }
        "press_key" => {
            let mut keys: Vec<&str> =
                result["modifiers"].as_array()?.iter().filter_map(Value::as_str).collect();
            keys.push(result.get("key")?.as_str()?);
            format!("pressed {} in {}{tab}", keys.join("+"), on("element")?)
        }
        "scroll" => {
            format!("scrolled by {}, {}{tab}", result["scrolled"].get("dx")?, result["scrolled"].get("dy")?)
        }
        "set_value" => format!("{} is now {}{tab}", on("element")?, text("value")?),
        "select_option" => format!("{} is now {}{tab}", on("element")?, text("text")?),
        "check" => {
            let state = if result.get("checked")?.as_bool()? { "checked" } else { "not checked" };
            format!("{} is {state}{tab}", on("element")?)
        }
        "clear" => format!("{} is empty{tab}", on("element")?),
        // Whatever answers with a tab and where it is now: new_tab, navigate, go_back and their like.
        _ => arrival(result)?,
    })
}

/// Where a tab is.
fn arrival(result: &Value) -> Option<String> {
    let title = result["title"].as_str()?;
    let mut text = format!("tab {}: {}", result.get("tab_id")?, result["url"].as_str()?);
    if !title.is_empty() {
        let _ = write!(text, "  {}", quoted(title));
    }
    if let Some(status) = result["status"].as_u64().filter(|status| *status >= 400) {
        let _ = write!(text, " (HTTP {status})");
    }
    if result["loaded"] == false {
        text.push_str(" (still loading)");
    }
    Some(text)
}

/// An element in a few letters: `button#go "Send"`.
fn element(element: &Value) -> Option<String> {
    let mut text = element.get("tag")?.as_str()?.to_owned();
    if let Some(id) = element["id"].as_str().filter(|id| !id.is_empty()) {
        let _ = write!(text, "#{id}");
    }
    if let Some(content) = element["text"].as_str().filter(|t| !t.is_empty()) {
        let _ = write!(text, " {}", quoted(content));
    }
    Some(text)
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

fn tree(result: &Value) -> String {
    let mut out = String::new();
    for node in result["nodes"].as_array().into_iter().flatten() {
        let depth = node["depth"].as_u64().unwrap_or(0).min(40) as usize;
        let _ = write!(out, "{:1$}{2}", "", depth, plain(&node["role"]));
        if let Some(name) = node["name"].as_str().filter(|n| !n.is_empty()) {
            let _ = write!(out, " {}", quoted(name));
        }
        if let Some(value) = node["value"].as_str() {
            let _ = write!(out, " = {}", quoted(value));
        }
        let states = node["states"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let states: Vec<_> = states.filter(|s| *s != "enabled").collect();
        if !states.is_empty() {
            let _ = write!(out, " ({})", states.join(", "));
        }
        if let Some(target) = node["target"]["value"].as_str() {
            let _ = write!(out, "  {target}");
            if let Some(nth) = node["target"]["index"].as_u64().filter(|n| *n > 0) {
                let _ = write!(out, " --nth {nth}");
            }
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

/// Columns as wide as what they hold; the last one runs free.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(|h| h.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for row in std::iter::once(&head.map(str::to_owned)).chain(rows) {
        let line: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
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
    fn a_result_of_another_shape_is_shown_as_it_came() {
        assert_eq!(result("click", None, &json!({"odd": 1})), "{\n  \"odd\": 1\n}");
    }
}
