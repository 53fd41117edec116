//! The session under arbitrary input: an entry for fuzzers and property tests, with the invariants it checks.
//!
//! Not part of the public interface.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::json::Json;
use crate::provider::Answer;
use crate::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};
use crate::{CallId, Config, Lane, Output, Seed, Sent, Session};

const CATALOGUE: &str = r##"{"groups":{"read":"","act":"","hub":""},"defs":{},"methods":[
    {"name":"ping","group":"hub","scope":"hub","access":"read","about":"Ask."},
    {"name":"click","group":"act","scope":"page","access":"write","about":"Click.",
     "params":{"properties":{"target":{"$ref":"#/defs/target"}}}},
    {"name":"text","group":"read","scope":"page","access":"read","about":"Read.","cli":{"show":"text"}},
    {"name":"picture","group":"read","scope":"page","access":"read","about":"Take a picture.",
     "result":{"properties":{"data":{},"mime":{}}}}]}"##;

/// One step of a run.
#[derive(Clone, Debug)]
pub enum Step {
    /// These bytes come as a message.
    Message(Vec<u8>),
    /// The oldest call under way (but this many) is answered with this frame.
    Answer(u8, Vec<u8>),
    /// The call is lost.
    Lose(u8),
    /// A file was written.
    Saved(u8),
    /// So many milliseconds pass.
    Wait(u16),
    /// The client is gone.
    Gone,
}

/// Reads steps from a fuzzer's bytes: a kind, a length, so many bytes.
pub fn steps(mut data: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    while let [kind, length, rest @ ..] = data {
        let wanted = usize::from(*length).saturating_mul(if kind & 0x80 == 0 { 1 } else { 16 });
        let (own, rest) = rest.split_at(wanted.min(rest.len()));
        data = rest;
        steps.push(match kind & 7 {
            0..=2 => Step::Message(own.to_vec()),
            3 | 4 => Step::Answer(kind >> 3 & 7, own.to_vec()),
            5 => Step::Lose(kind >> 3 & 7),
            6 => Step::Saved(kind >> 3 & 7),
            _ if own.is_empty() => Step::Gone,
            _ => Step::Wait(u16::from(*length).saturating_mul(20)),
        });
    }
    steps
}

/// Runs the steps and checks what comes out.
///
/// # Errors
/// With the invariant that does not hold.
pub fn run(steps: &[Step]) -> Result<(), String> {
    let tools = Arc::new(Tools::new(CATALOGUE, &ToolSet::parse("all")).map_err(|error| error.to_string())?);
    let config = ToolsConfig { max_inline: 64, max_text: 200, ..ToolsConfig::default() };
    let provider = BridgeTools::new(Arc::new(config), tools, Seed::new([3; 32]));
    let mut session =
        Session::new(Config { max_in_flight: 8, max_message: 4096, ..Config::default() }, provider);
    let mut now = Duration::ZERO;
    let mut calls: BTreeSet<CallId> = BTreeSet::new();
    for step in steps {
        let nth = |calls: &BTreeSet<CallId>, n: u8| calls.iter().nth(usize::from(n)).copied();
        match step {
            Step::Message(bytes) => session.handle_message(Lane(0), bytes, now),
            Step::Answer(n, frame) => {
                if let Some(call) = nth(&calls, *n) {
                    session.handle_answer(call, Answer::Frame(frame.clone()));
                }
            }
            Step::Lose(n) => {
                if let Some(call) = nth(&calls, *n) {
                    session.handle_answer(call, Answer::Lost("gone".to_owned()));
                }
            }
            Step::Saved(n) => {
                if let Some(call) = nth(&calls, *n) {
                    session.handle_saved(call, Ok("/pictures/x.png"));
                }
            }
            Step::Wait(ms) => {
                now = now.saturating_add(Duration::from_millis(u64::from(*ms)));
                session.handle_timeout(now);
                if session.poll_timeout().is_some_and(|at| at <= now) {
                    return Err("a timer is due right after it was handled".to_owned());
                }
            }
            Step::Gone => session.handle_gone(Lane(0)),
        }
        let (mut ways, mut cancels) = (0, 0);
        while let Some(output) = session.poll_output() {
            check(&output)?;
            match &output {
                Output::Send { kind: Sent::Reply(_), .. } | Output::Call { .. } | Output::Silent { .. } => {
                    ways += 1
                }
                Output::Cancel { .. } => cancels += 1,
                _ => {}
            }
            match output {
                Output::Call { call, .. } if !calls.insert(call) => {
                    return Err("a call's number came twice".to_owned());
                }
                Output::Cancel { call } if !calls.remove(&call) => {
                    return Err("an unknown call was cancelled".to_owned());
                }
                _ => {}
            }
        }
        let is_single = |bytes: &[u8]| !bytes.trim_ascii_start().starts_with(b"[");
        if matches!(step, Step::Message(bytes) if is_single(bytes)) && cancels == 0 && ways != 1 {
            return Err(format!("one message went {ways} ways"));
        }
        if session.in_flight() > 8 || session.in_flight() > calls.len() {
            return Err("more is under way than was called".to_owned());
        }
    }
    Ok(())
}

/// Every message is one line of JSON-RPC.
fn check(output: &Output) -> Result<(), String> {
    let Output::Send { message, .. } = output else { return Ok(()) };
    let text = std::str::from_utf8(message).map_err(|_| "a message is no UTF-8".to_owned())?;
    if text.contains('\n') {
        return Err(format!("a message has a line break: {text}"));
    }
    let json = Json::read(text).ok_or_else(|| format!("a message is no JSON: {text}"))?;
    let all = if json.elements().is_empty() { std::slice::from_ref(&json) } else { json.elements() };
    for one in all {
        let kinds = ["result", "error", "method"].iter().filter(|kind| one.get(kind).is_some()).count();
        if one.get("jsonrpc").and_then(Json::text) != Some("2.0") || kinds != 1 {
            return Err(format!("a message is no JSON-RPC: {text}"));
        }
    }
    Ok(())
}
