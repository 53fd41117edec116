//! `bridge watch`: calls as they pass through the daemon, whoever makes them.

use serde_json::{Value, json};

use crate::background;
use crate::client::{Client, Role};
use crate::config::{Given, Settings};
use crate::harmless;
use crate::places::Places;
use crate::trouble::Outcome;

pub(super) const HELP: &str = "usage: bridge watch [--json]\n\n\
    Shows each call as it passes through the daemon, by whichever door: who asks, for what, and what comes of it. Never what is\n\
    typed, read or run. Ends with Ctrl-C. `--json` shows one object a line, with the fields of `bridged audit`.\n\n\
    Example: bridge watch --json | jq 'select(.phase == \"answered\") | .call.method'\n";

/// Watches until it is interrupted or nobody reads.
pub(super) fn run(options: &super::Options) -> Outcome<()> {
    let places = Places::find()?;
    let given = Given { socket: options.socket.clone(), ..Given::default() };
    let settings = Settings::settle(given, &places, false)?;
    let mut owner = match Client::connect(&settings.socket, Role::Control) {
        Err(crate::client::Failure::NoDaemon(_)) if settings.socket == places.socket => {
            let (record, _) =
                background::ensure(&places, &[]).map_err(|e| super::no_daemon(&e.to_string()))?;
            Client::connect(&record.socket, Role::Control)
        }
        other => other,
    }
    .map_err(super::trouble)?;
    owner.call("watch", &json!({}), None).map_err(super::trouble)?;
    eprintln!("bridge: watching; Ctrl-C ends it");
    loop {
        let line = owner.next_message().map_err(super::trouble)?;
        let Ok(frame) = serde_json::from_slice::<Value>(&line) else { continue };
        if frame["type"] != "watch" {
            continue;
        }
        let text = match options.json {
            true => harmless::json(&frame.to_string()).into_owned(),
            false => harmless::harmless(&shown(&frame)),
        };
        if !super::printed(&(text + "\n"))? {
            return Ok(());
        }
    }
}

/// One line for people.
fn shown(frame: &Value) -> String {
    let call = &frame["call"];
    let text = |field: &str| call[field].as_str().unwrap_or_default();
    let time = text("ts").get(11..23).unwrap_or_default();
    let tab = call["tab_id"].as_i64().map_or(String::new(), |id| format!(" tab {id}"));
    let who = match text("label") {
        "" => text("client_id").to_owned(),
        label => format!("{label} {}", text("client_id")),
    };
    if frame["phase"] == "asked" {
        return format!("{time} > {}{tab}  {who} ({})", text("method"), text("transport"));
    }
    let code = match text("code") {
        "" => String::new(),
        code => format!(" {code}"),
    };
    let at = match text("origin") {
        "" => String::new(),
        origin => format!("  {origin}"),
    };
    format!("{time} < {}{tab}  {}{code}  {} ms  {who}{at}", text("method"), text("outcome"), call["ms"])
}
