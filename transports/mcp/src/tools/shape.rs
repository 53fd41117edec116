//! A method's answer as a tool's result.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::list::{Kind, Tool};
use super::{ToolsConfig, fault, picture, text_members};
use crate::json::{Json, mend};
use crate::mark::{Block, clean, origin};
use crate::message::Text;
use crate::provider::{Body, SaveFile};
use crate::version::Version;

/// The most of one string in a short result: it may come from a page.
const MAX_STRING: usize = 300;

/// And of one that can only be a page's own words.
const MAX_TITLE: usize = 120;

/// A result, or a file to write first.
#[derive(Debug)]
pub(super) enum Shaped {
    Body(Body),
    Save { file: SaveFile, note: String },
}

/// Shapes the raw answer frame of a tool's method.
pub(super) fn shape(
    tool: &Tool,
    mut frame: Vec<u8>,
    boundary: String,
    config: &ToolsConfig,
    version: Version,
) -> Shaped {
    #[derive(Deserialize)]
    struct Answer<'a> {
        success: bool,
        #[serde(borrow, default)]
        result: Option<&'a RawValue>,
        #[serde(borrow, default)]
        error: Option<Text<'a>>,
        #[serde(borrow, default)]
        code: Option<Text<'a>>,
        #[serde(default)]
        maybe_executed: bool,
    }
    mend(&mut frame);
    let Some(text) = std::str::from_utf8(&frame).ok() else {
        return Shaped::Body(fault::fault("INVALID_RESPONSE", "the answer is no UTF-8", false));
    };
    let Ok(answer) = serde_json::from_str::<Answer<'_>>(text) else {
        return Shaped::Body(fault::fault("INVALID_RESPONSE", "the answer is unreadable", false));
    };
    if !answer.success {
        let is_code = |code: &str| {
            code.len() <= 40 && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        };
        let code = answer.code.filter(|code| is_code(&code.0)).map_or("INTERNAL_ERROR".into(), |code| code.0);
        let error = answer.error.as_ref().map_or("no reason given", |error| error.0.as_ref());
        return Shaped::Body(fault::fault(&code, error, answer.maybe_executed));
    }
    let result = answer.result.map_or("{}", RawValue::get);
    match &tool.kind {
        Kind::Picture => {
            let start = result.as_ptr().addr().saturating_sub(text.as_ptr().addr());
            let span = if answer.result.is_some() { start..start.saturating_add(result.len()) } else { 0..0 };
            picture::picture(frame, span, config)
        }
        Kind::Page { main } => {
            let Some(result) = Json::read(result) else {
                return Shaped::Body(fault::fault("INVALID_RESPONSE", "the result is unreadable", false));
            };
            let text = page(&result, main.as_deref(), boundary, config.max_text, &tool.hint);
            Shaped::Body(text_body(&text))
        }
        Kind::Short => {
            let Some(result) = Json::read(result) else {
                return Shaped::Body(fault::fault("INVALID_RESPONSE", "the result is unreadable", false));
            };
            Shaped::Body(short(result, version))
        }
    }
}

/// A result of one text block.
pub(super) fn text_body(text: &str) -> Body {
    Body::new(text_members(text, false))
}

/// The cursor of a list request, if it has one.
pub(super) fn cursor(params: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, default)]
        cursor: Option<Text<'a>>,
    }
    serde_json::from_str::<Params<'_>>(params).ok()?.cursor.map(|text| text.0.into_owned())
}

/// Page text in one marked block: the facts first, then what the tool is for: a text, the entries of a list, or JSON.
fn page(result: &Json, main: Option<&str>, boundary: String, limit: usize, hint: &str) -> String {
    let from = match result.get("url").and_then(Json::text) {
        Some(url) => origin(url),
        None if result.get("tabs").is_some() => "several pages".to_owned(),
        None => "a page".to_owned(),
    };
    let mut block = Block::new(boundary, &from, limit);
    let main = match main.and_then(|main| result.get(main).map(|value| (main, value))) {
        Some(main) => Some(main),
        None => longest_list(result),
    };
    for (key, value) in result.members() {
        match value {
            _ if main.is_some_and(|(main, _)| main == key) => {}
            Json::Null => {}
            Json::String(text) => block.line(&clean(key, 60), text),
            other => block.line(&clean(key, 60), &compact(other).to_string()),
        }
    }
    match main {
        None => block.finish(hint),
        Some((_, Json::String(text))) => {
            block.text(text);
            block.finish(&format!("The whole text has {} bytes. {hint}", text.len()))
        }
        Some((_, Json::Array(elements))) if elements.iter().any(is_object) => {
            let mut shown: usize = 0;
            for element in elements {
                let mut line = String::new();
                if element.get("role").is_some() {
                    node(&mut line, element)
                } else {
                    compact(element).write(&mut line)
                }
                line.push('\n');
                block.text(&line);
                if block.is_full() {
                    break;
                }
                shown = shown.saturating_add(1);
            }
            block.finish(&format!("Shown whole: {shown} of {} entries. {hint}", elements.len()))
        }
        Some((_, other)) => {
            block.text(&other.to_string());
            block.finish(hint)
        }
    }
}

fn is_object(json: &Json) -> bool {
    matches!(json, Json::Object(_))
}

/// The member that is a list of objects: tabs, nodes, items, events, results.
fn longest_list(result: &Json) -> Option<(&str, &Json)> {
    let lists = result.members().iter().filter(|(_, value)| value.elements().iter().any(is_object));
    lists.max_by_key(|(_, value)| value.elements().len()).map(|(key, value)| (key.as_str(), value))
}

/// A node of a tree in one line: depth, role, name, then what is not the usual.
fn node(line: &mut String, node: &Json) {
    let depth = node.get("depth").and_then(Json::integer).unwrap_or(0);
    for _ in 0..depth.clamp(0, 12) {
        line.push(' ');
    }
    line.push_str(node.get("role").and_then(Json::text).unwrap_or("?"));
    if let Some(name) = node.get("name").and_then(Json::text).filter(|name| !name.is_empty()) {
        line.push(' ');
        Json::String(name.to_owned()).write(line);
    }
    for (key, value) in node.members() {
        let usual = match (key.as_str(), value) {
            ("role" | "name" | "depth" | "tag" | "bounds", _) | (_, Json::Null | Json::Bool(false)) => true,
            ("states", states) => states.elements().iter().all(|state| state.text() == Some("enabled")),
            (_, Json::Array(elements)) => elements.is_empty(),
            _ => false,
        };
        if usual {
            continue;
        }
        line.push(' ');
        match (key.as_str(), value) {
            ("states", states) => {
                let words: Vec<&str> = states
                    .elements()
                    .iter()
                    .filter_map(Json::text)
                    .filter(|state| *state != "enabled")
                    .collect();
                line.push_str(&words.join(" "));
            }
            (_, Json::Bool(true)) => line.push_str(key),
            ("target", target) => {
                line.push_str("-> ");
                short_target(line, target);
            }
            _ => {
                line.push_str(key);
                line.push('=');
                compact(value).write(line);
            }
        }
    }
}

/// A target as the tools take it: the short form where it has one.
fn short_target(line: &mut String, target: &Json) {
    let text = |name: &str| target.get(name).and_then(Json::text);
    let first = target.get("index").is_none_or(|index| index.integer() == Some(0));
    match (text("by").unwrap_or("css"), text("value"), text("name")) {
        ("css", Some(value), None) if first => line.push_str(value),
        (by @ ("text" | "label" | "xpath"), Some(value), None) if first => {
            line.push_str(&format!("{by}={value}"))
        }
        ("role", Some(role), None) if first => line.push_str(&format!("role={role}")),
        ("role", Some(role), Some(name)) if first => line.push_str(&format!("role={role}[{name}]")),
        _ => compact(target).write(line),
    }
}

/// Without what says nothing: nulls, and the defaults of a target.
fn compact(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let is_target = json.get("by").is_some() && json.get("value").is_some();
            let says = |key: &str, value: &Json| match (key, value) {
                (_, Json::Null) => false,
                ("by", Json::String(by)) => !(is_target && by == "css"),
                ("index", index) => !(is_target && index.integer() == Some(0)),
                _ => true,
            };
            let kept = members.iter().filter(|(key, value)| says(key, value));
            Json::Object(kept.map(|(key, value)| (key.clone(), compact(value))).collect())
        }
        Json::Array(elements) => Json::Array(elements.iter().map(compact).collect()),
        other => other.clone(),
    }
}

/// A few facts: as JSON in a text block, and as structured content where the revision has it.
fn short(mut result: Json, version: Version) -> Body {
    sober(&mut result);
    let json = result.to_string();
    let mut members = text_members(&json, false);
    if version.has_structured_content() && matches!(result, Json::Object(_)) {
        members.push_str(r#","structuredContent":"#);
        members.push_str(&json);
    }
    Body::new(members)
}

/// Strings that can hide nothing and are not long; shorter still where they are nothing but page text.
fn sober(json: &mut Json) {
    match json {
        Json::String(text) => *text = clean(text, MAX_STRING),
        Json::Array(elements) => elements.iter_mut().for_each(sober),
        Json::Object(members) => {
            for (key, value) in members {
                *key = clean(key, MAX_STRING);
                match (key.as_str(), value) {
                    ("title" | "text" | "name", Json::String(text)) => *text = clean(text, MAX_TITLE),
                    (_, value) => sober(value),
                }
            }
        }
        _ => {}
    }
}
