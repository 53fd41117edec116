//! What an act did, in a short sentence, and beneath it what came of it besides.

use std::fmt::Write as _;

use serde_json::Value;

use super::{quoted, tabs};

/// What an act did; none where the result is not what the table promises.
pub(super) fn told(method: &str, result: &Value) -> Option<String> {
    let mut text = sentence(method, result)?;
    for line in besides(result) {
        let _ = write!(text, "\n  {line}");
    }
    Some(text)
}

fn sentence(method: &str, result: &Value) -> Option<String> {
    let tab = result.get("tab_id").map(|id| format!(" in tab {id}")).unwrap_or_default();
    let on = |field| element(result.get(field)?);
    let text = |field: &str| result.get(field)?.as_str().map(quoted);
    let at = || Some(format!("{}, {}", result.get("x")?, result.get("y")?));
    Some(match method {
        "ping" => "pong".to_owned(),
        "find_tab" => tabs(result),
        "close_tab" => format!("closed tab {}", result.get("tab_id")?),
        "close_auto_tabs" => closed(result)?,
        "close_session" => format!("ended session {}: {}", text("session_id")?, closed(result)?),
        "close_agent_window" => match result.get("window_id")?.as_i64() {
            Some(id) if result.get("closed")?.as_bool()? => format!("closed window {id}"),
            Some(id) => format!("window {id} stays"),
            None => "there was no window to close".to_owned(),
        },
        "click" => format!("clicked {}{tab}", on("clicked")?),
        "click_at" => format!("clicked {} at {}{tab}", on("clicked")?, at()?),
        "mouse_click" => format!("clicked at {}{tab}", at()?),
        "hover" => format!("the pointer is on {}{tab}", on("element")?),
        "press_key" => {
            let mut keys: Vec<&str> =
                result["modifiers"].as_array()?.iter().filter_map(Value::as_str).collect();
            keys.push(result.get("key")?.as_str()?);
            format!("pressed {} in {}{tab}", keys.join("+"), on("element")?)
        }
        "send_keys" => {
            let keys: Vec<&str> = result["keys"].as_array()?.iter().filter_map(Value::as_str).collect();
            format!("pressed {}{tab}", keys.join(", "))
        }
        "type_text" => format!("typed {}{tab}", text("typed")?),
        "insert_text" => match text("value") {
            Some(value) => format!("put in {}; the field holds {value}{tab}", text("text")?),
            None => format!("put in {}{tab}", text("text")?),
        },
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
        "wait_for" => format!("it came after {} ms{tab}", result.get("waited_ms")?),
        "new_tab" | "activate_tab" | "navigate" | "go_back" | "go_forward" | "reload" => arrival(result)?,
        _ => return None,
    })
}

/// What else a result says that a person has to know: where it led, what it set off, what is out of the ordinary.
fn besides(result: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |lead: &str, text: &Value| {
        if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
            lines.push(format!("{lead}{}", text.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    };
    if result["replayed"] == true {
        say("", &"not done again: this is what came of it the first time".into());
    }
    say("the field holds ", &held(result));
    say("the tab went to ", &result["navigated"]);
    for tab in result["opened"].as_array().into_iter().flatten() {
        say(&format!("the page opened tab {}: ", tab["tab_id"]), &tab["url"]);
    }
    let one = std::slice::from_ref(&result["download"]);
    for download in result["downloads"].as_array().map_or(one, Vec::as_slice) {
        let path = download["path"].as_str().unwrap_or("no file yet");
        let state = download["state"].as_str().map(|state| format!("{}: {path}", state.replace('_', " ")));
        say("download ", &state.into());
        say("  ", &download["error"]);
        say("  ", &download["note"]);
    }
    let dialog = &result["dialog"];
    let asks = dialog["message"].as_str().map(|words| {
        format!(
            "{}, {}; `bridge handle-dialog` answers it",
            dialog["type"].as_str().unwrap_or("dialog"),
            quoted(words)
        )
    });
    say("the page asks: ", &asks.into());
    say("the browser's validation says: ", &result["validation"]);
    say("note: ", &result["note"]);
    lines
}

/// What a field has come to hold, where that is not what was typed.
fn held(result: &Value) -> Value {
    match (result["typed"].as_str(), result["value"].as_str()) {
        (Some(typed), Some(value)) if typed != value => quoted(value).into(),
        _ => Value::Null,
    }
}

fn closed(result: &Value) -> Option<String> {
    Some(match result.get("closed")?.as_array()?.as_slice() {
        [] => "nothing to close".to_owned(),
        ids => format!("closed tabs {}", ids.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")),
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
