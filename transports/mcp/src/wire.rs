//! Writing JSON-RPC messages: replies, errors, notifications, each on one line.

use std::fmt::Write as _;

use crate::json::quote;
use crate::provider::{About, Body, RpcError};
use crate::version::Version;

/// A reply with this result.
pub(crate) fn result(id: &str, body: &Body, version: Version, about: &About<'_>) -> Vec<u8> {
    let mut out = String::with_capacity(body.members.len() + id.len() + 192);
    out.push_str(r#"{"jsonrpc":"2.0","id":"#);
    out.push_str(id);
    out.push_str(r#","result":{"#);
    let start = out.len();
    if version.is_modern() {
        if !body.typed {
            out.push_str(r#""resultType":"complete","#);
        }
        out.push_str(r#""_meta":{"io.modelcontextprotocol/serverInfo":"#);
        implementation(&mut out, about);
        out.push('}');
        if let Some(cache) = body.cache {
            let scope = if cache.public { "public" } else { "private" };
            let _ = write!(out, r#","ttlMs":{},"cacheScope":"{scope}""#, cache.ttl_ms);
        }
    }
    if !body.members.is_empty() {
        if out.len() > start {
            out.push(',');
        }
        out.push_str(&body.members);
    }
    out.push_str("}}");
    out.into_bytes()
}

/// A reply with this error; without an id where none could be read.
pub(crate) fn error(id: Option<&str>, error: &RpcError, omit_unknown_id: bool) -> Vec<u8> {
    let mut out = String::from(r#"{"jsonrpc":"2.0""#);
    match id {
        Some(id) => {
            out.push_str(r#","id":"#);
            out.push_str(id);
        }
        None if omit_unknown_id => {}
        None => out.push_str(r#","id":null"#),
    }
    let _ = write!(out, r#","error":{{"code":{},"message":"#, error.code);
    quote(&mut out, &error.message);
    if let Some(data) = &error.data {
        out.push_str(r#","data":"#);
        out.push_str(data);
    }
    out.push_str("}}");
    out.into_bytes()
}

/// A notification.
pub(crate) fn notification(method: &str, params: &str) -> Vec<u8> {
    let mut out = String::from(r#"{"jsonrpc":"2.0","method":"#);
    quote(&mut out, method);
    out.push_str(r#","params":"#);
    out.push_str(params);
    out.push('}');
    out.into_bytes()
}

/// A request of ours to the client (legacy revisions only).
pub(crate) fn request(number: u64, method: &str, params: &str) -> Vec<u8> {
    let mut out = format!(r#"{{"jsonrpc":"2.0","id":"ask-{number}","method":"#);
    quote(&mut out, method);
    out.push_str(r#","params":"#);
    out.push_str(params);
    out.push('}');
    out.into_bytes()
}

/// The number of a request of ours, from the raw id of its response.
pub(crate) fn ask_number(id: &str) -> Option<u64> {
    id.strip_prefix("\"ask-")?.strip_suffix('"')?.parse().ok()
}

/// The params of a progress notification.
pub(crate) fn progress(token: &str, progress: f64, total: Option<f64>, message: Option<&str>) -> String {
    let mut out = format!(r#"{{"progressToken":{token},"progress":{progress}"#);
    if let Some(total) = total {
        let _ = write!(out, r#","total":{total}"#);
    }
    if let Some(message) = message {
        out.push_str(r#","message":"#);
        quote(&mut out, message);
    }
    out.push('}');
    out
}

/// What `initialize` answers.
pub(crate) fn initialized(version: Version, about: &About<'_>) -> Body {
    let mut out = format!(r#""protocolVersion":"{}","capabilities":"#, version.name());
    out.push_str(about.capabilities);
    out.push_str(r#","serverInfo":"#);
    implementation(&mut out, about);
    instructions(&mut out, about);
    Body::new(out)
}

/// What `server/discover` answers.
pub(crate) fn discovered(about: &About<'_>) -> Body {
    let mut out = format!(r#""supportedVersions":{},"capabilities":"#, versions());
    out.push_str(about.capabilities);
    instructions(&mut out, about);
    Body::new(out)
}

/// The refusal of a revision that is none of ours.
pub(crate) fn unsupported(wish: &str) -> RpcError {
    let mut data = format!(r#"{{"supported":{},"requested":"#, versions());
    quote(&mut data, wish);
    data.push('}');
    RpcError::new(RpcError::UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(data)
}

fn versions() -> String {
    let names: Vec<String> = Version::ALL.iter().map(|version| format!("\"{}\"", version.name())).collect();
    format!("[{}]", names.join(","))
}

fn implementation(out: &mut String, about: &About<'_>) {
    out.push_str(r#"{"name":"#);
    quote(out, about.name);
    out.push_str(r#","version":"#);
    quote(out, about.version);
    out.push('}');
}

fn instructions(out: &mut String, about: &About<'_>) {
    if !about.instructions.is_empty() {
        out.push_str(r#","instructions":"#);
        quote(out, about.instructions);
    }
}
