//! What the headers of a request say, and whether they say the same as its body.

use base64ct::{Base64, Encoding as _};
use serde::Deserialize;

use crate::message::{Message, Meta, Text};
use crate::provider::RpcError;
use crate::version::Version;
use crate::wire;

/// The headers of a request, in any case and order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Headers<'a>(pub(super) &'a [(&'a str, &'a str)]);

impl<'a> Headers<'a> {
    /// A header's value; `Err` where it comes more than once with different values.
    pub(super) fn get(self, name: &str) -> Result<Option<&'a str>, RpcError> {
        let mut found =
            self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim());
        let first = found.next();
        match found.find(|other| Some(*other) != first) {
            Some(_) => Err(mismatch(&format!("{name} comes more than once"))),
            None => Ok(first),
        }
    }

    /// Whether the body is said to be JSON.
    pub(super) fn is_json(self) -> bool {
        let kind = self.get("content-type").ok().flatten().unwrap_or_default();
        kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
    }

    /// Which kinds of answers the client takes: one JSON text, a stream of events.
    pub(super) fn accepts(self) -> (bool, bool) {
        let mut values = self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case("accept")).peekable();
        if values.peek().is_none() {
            return (true, false);
        }
        let (mut json, mut events) = (false, false);
        for range in values.flat_map(|(_, value)| value.split(',')) {
            let range = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            json |= matches!(range.as_str(), "application/json" | "application/*" | "*/*");
            events |= matches!(range.as_str(), "text/event-stream" | "text/*" | "*/*");
        }
        (json, events)
    }
}

/// Which era a POST belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Era {
    Legacy,
    Modern,
}

/// Decides the era: modern is what says so itself, or names a revision that has no handshake (or that nobody knows).
pub(super) fn era(headers: Headers<'_>, message: Option<&Message<'_>>) -> Result<Era, RpcError> {
    let header = headers.get("mcp-protocol-version")?;
    let by_header = header.is_some_and(|name| Version::of(name).is_none_or(Version::is_modern));
    Ok(if by_header || meta_version(message).is_some() { Era::Modern } else { Era::Legacy })
}

/// Refuses a modern request whose headers are missing, malformed or different from its body.
pub(super) fn check_modern(headers: Headers<'_>, message: &Message<'_>) -> Result<(), RpcError> {
    let version =
        headers.get("mcp-protocol-version")?.ok_or_else(|| mismatch("MCP-Protocol-Version is missing"))?;
    if meta_version(Some(message)).is_some_and(|meta| meta != version) {
        return Err(mismatch("MCP-Protocol-Version differs from _meta"));
    }
    if !Version::of(version).is_some_and(Version::is_modern) {
        return Err(wire::unsupported(version));
    }
    let Message::Request { method, params, .. } = message else { return Ok(()) };
    match headers.get("mcp-method")? {
        None => return Err(mismatch("Mcp-Method is missing")),
        Some(header) if header != method => return Err(mismatch("Mcp-Method differs from the method")),
        Some(_) => {}
    }
    let Some(name) = name_in(method, params) else { return Ok(()) };
    let header = headers.get("mcp-name")?.ok_or_else(|| mismatch("Mcp-Name is missing"))?;
    match decode(header) {
        Some(header) if header == name => Ok(()),
        Some(_) => Err(mismatch("Mcp-Name differs from the params")),
        None => Err(mismatch("Mcp-Name is malformed")),
    }
}

fn meta_version(message: Option<&Message<'_>>) -> Option<String> {
    let (Message::Request { params, .. } | Message::Notification { params, .. }) = message? else {
        return None;
    };
    Meta::of(params).ok()?.version.map(std::borrow::Cow::into_owned)
}

/// The name (or address) in the params that `Mcp-Name` repeats.
fn name_in(method: &str, params: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, default)]
        name: Option<Text<'a>>,
        #[serde(borrow, default)]
        uri: Option<Text<'a>>,
    }
    let params: Params<'_> = serde_json::from_str(params).ok()?;
    let text = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        _ => None,
    };
    text.map(|text| text.0.into_owned())
}

/// A header value, from its base64 form where it has one.
fn decode(value: &str) -> Option<String> {
    if let Some(coded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        return String::from_utf8(Base64::decode_vec(coded).ok()?).ok();
    }
    value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')).then(|| value.to_owned())
}

fn mismatch(text: &str) -> RpcError {
    RpcError::new(RpcError::HEADER_MISMATCH, format!("Header mismatch: {text}"))
}
