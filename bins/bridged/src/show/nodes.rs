//! The lists of what a page offers, one node a line.

use std::fmt::Write as _;

use serde_json::Value;

use super::{plain, quoted};

/// The accessibility tree, as deep as the page has it.
pub(super) fn tree(result: &Value) -> String {
    let mut out = String::new();
    for node in result["nodes"].as_array().into_iter().flatten() {
        let depth = node["depth"].as_u64().unwrap_or(0).min(40) as usize;
        let _ = write!(out, "{:1$}{2}", "", depth, plain(&node["role"]));
        describe(&mut out, node);
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

/// A snapshot: each node behind the ref that other methods take.
pub(super) fn snapshot(result: &Value) -> Option<String> {
    let nodes = result["nodes"].as_array()?;
    let names = nodes.iter().map(|node| node["ref"].as_str().unwrap_or(""));
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for node in nodes {
        let _ = write!(out, "{:width$}  {}", node["ref"].as_str().unwrap_or(""), plain(&node["role"]));
        describe(&mut out, node);
        out.push('\n');
    }
    if result["diff"] == true {
        let gone: Vec<&str> = result["removed"].as_array()?.iter().filter_map(Value::as_str).collect();
        let _ = writeln!(out, "as before: {}; gone: {}", result["unchanged"], gone.join(" "));
    }
    match out.trim_end() {
        "" => Some("nothing to be seen".to_owned()),
        text => Some(text.to_owned()),
    }
}

/// What a node is called, holds and is.
fn describe(out: &mut String, node: &Value) {
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
}
