//! The HTTP front under arbitrary requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bridge_catalogue::JSON as CATALOGUE;
use bridge_mcp::Seed;
use bridge_mcp::http::{CallKey, Exchange, Front, FrontConfig, HttpOutput, HttpRequest};
use bridge_mcp::provider::Answer;
use bridge_mcp::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};

/// A body, and which of some headers come with it; whether time passes.
pub(crate) type Asked = (String, usize, usize, usize, bool);

#[derive(Default)]
struct Seen {
    whole: BTreeSet<Exchange>,
    streams: BTreeMap<Exchange, bool>,
    calls: Vec<CallKey>,
    session: Option<String>,
}

pub(crate) fn run(requests: &[Asked]) -> Result<(), String> {
    let tools = Arc::new(Tools::new(CATALOGUE, &ToolSet::parse("all")).map_err(|error| error.to_string())?);
    let mut first = BridgeTools::new(Arc::new(ToolsConfig::default()), tools, Seed::new([1; 32]));
    let config = FrontConfig {
        max_sessions: 3,
        idle: Duration::from_secs(20),
        max_exchanges: 8,
        ..FrontConfig::default()
    };
    let mut front = Front::new(config, move || first.fork(), Seed::new([2; 32]));
    let mut seen = Seen::default();
    let mut exchanges = BTreeSet::new();
    let mut now = Duration::ZERO;
    for (body, version, session, accept, later) in requests {
        let versions = ["2026-07-28", "2025-11-25", "2025-03-26", "1900-01-01", "é", ""];
        let name = seen.session.clone().unwrap_or_default();
        let mut headers =
            vec![("content-type", "application/json"), ("mcp-method", "tools/call"), ("mcp-name", "click")];
        headers.extend(
            versions
                .get(*version)
                .filter(|name| !name.is_empty())
                .map(|name| ("mcp-protocol-version", *name)),
        );
        if *session > 0 {
            headers.push(("mcp-session-id", if *session == 1 { "other" } else { &name }));
        }
        headers.extend(
            ["application/json", "text/event-stream", "*/*"].get(*accept).map(|kind| ("accept", *kind)),
        );
        let method = if body.len().is_multiple_of(17) { "DELETE" } else { "POST" };
        let request = HttpRequest { method, headers: &headers, body: body.as_bytes(), caller: "me" };
        exchanges.insert(front.handle_request(&request, now));
        drain(&mut front, &mut seen)?;
        if *later {
            now += Duration::from_secs(7);
            front.handle_timeout(now);
            drain(&mut front, &mut seen)?;
        }
    }
    for key in std::mem::take(&mut seen.calls) {
        front.handle_answer(key, Answer::Frame(br#"{"success":true,"result":{}}"#.to_vec()), now);
        drain(&mut front, &mut seen)?;
    }
    let ended = seen.streams.iter().filter(|(_, ended)| **ended).map(|(exchange, _)| *exchange);
    let answered: BTreeSet<Exchange> = seen.whole.iter().copied().chain(ended).collect();
    if answered != exchanges || front.open() != 0 {
        return Err(format!("{} of {} answered, {} open", answered.len(), exchanges.len(), front.open()));
    }
    if front.sessions() > 3 {
        return Err("more sessions than allowed".to_owned());
    }
    Ok(())
}

fn drain(front: &mut Front<BridgeTools>, seen: &mut Seen) -> Result<(), String> {
    while let Some(output) = front.poll_output() {
        match output {
            HttpOutput::Respond { exchange, response } => {
                if !seen.whole.insert(exchange) || seen.streams.contains_key(&exchange) {
                    return Err("two answers to one request".to_owned());
                }
                let name = response.headers.into_iter().find(|(name, _)| *name == "Mcp-Session-Id");
                seen.session = name.map(|(_, value)| value).or(seen.session.take());
            }
            HttpOutput::Begin { exchange, .. } => {
                if seen.whole.contains(&exchange) || seen.streams.insert(exchange, false).is_some() {
                    return Err("a stream begun twice, or after an answer".to_owned());
                }
            }
            HttpOutput::Event { exchange, .. } if seen.streams.get(&exchange) == Some(&false) => {}
            HttpOutput::Event { .. } => return Err("an event outside a stream".to_owned()),
            HttpOutput::End { exchange } => {
                if seen.streams.insert(exchange, true) != Some(false) {
                    return Err("the end of no stream".to_owned());
                }
            }
            HttpOutput::Call { key, .. } => seen.calls.push(key),
            HttpOutput::Cancel { .. }
            | HttpOutput::Save { .. }
            | HttpOutput::Told { .. }
            | HttpOutput::Ended { .. } => {}
        }
    }
    Ok(())
}
