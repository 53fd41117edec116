//! The upgrade request: its grammar, and what its Host and Origin say about who sent it.

use crate::request::{Fields, Lines, Request, Wrong};
use std::fmt;

/// A request that may be upgraded, once its Origin and user are found good.
#[derive(Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The client's `Sec-WebSocket-Key`.
    pub key: String,
    /// The one Origin header, if there is one.
    pub origin: Option<String>,
}

/// Why a request is not upgraded, as the HTTP answer says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// One sentence.
    pub because: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, because: impl Into<String>) -> Self {
        Self { status, because: because.into() }
    }

    /// The whole answer as it goes over the wire.
    #[must_use]
    pub fn response(&self) -> Vec<u8> {
        let phrase = match self.status {
            400 => "Bad Request",
            403 => "Forbidden",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            426 => "Upgrade Required",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let extra = match self.status {
            405 => "Allow: GET\r\n",
            426 => "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
            _ => "",
        };
        let Self { status, because } = self;
        let connection = if self.status == 426 { "Upgrade, close" } else { "close" };
        format!(
            "HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             {extra}Connection: {connection}\r\n\r\n{because}\n",
            because.len() + 1
        )
        .into_bytes()
    }
}

impl From<Wrong> for Refusal {
    /// The same as one sentence.
    fn from(wrong: Wrong) -> Self {
        let mut letters = wrong.because.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        Self::new(wrong.status, first.into_iter().chain(letters).chain(['.']).collect::<String>())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.because)
    }
}

/// Judges a complete head that came in on `port`.
///
/// Origin and user are left to the caller: they need to know more than the head.
pub fn judge(head: &[u8], port: u16) -> Result<Upgrade, Refusal> {
    let mut lines = Lines::default();
    let Request { method, fields, .. } = Request::read(head, &mut lines, port, &["http://", "ws://"])?;
    let origin = match fields.count("origin") {
        0 => None,
        1 => fields.text("origin").filter(|origin| !origin.is_empty()),
        _ => None,
    };
    if fields.count("origin") > 0 && origin.is_none() {
        return Err(Refusal::new(403, "The Origin header is empty or doubled."));
    }
    if method == "OPTIONS" {
        return Err(Refusal::new(403, "No page may ask here."));
    }
    if method != "GET" {
        return Err(Refusal::new(405, "Only GET with an upgrade to WebSocket is answered here."));
    }
    upgrade(&fields, origin)
}

/// The part of the request that concerns the WebSocket.
fn upgrade(fields: &Fields<'_, '_>, origin: Option<&str>) -> Result<Upgrade, Refusal> {
    if fields.count("content-length") + fields.count("transfer-encoding") > 0 {
        return Err(Refusal::new(400, "An upgrade request has no body."));
    }
    let wanted = fields.has_token("upgrade", "websocket") && fields.has_token("connection", "upgrade");
    if !wanted {
        return Err(Refusal::new(
            426,
            "This port speaks WebSocket; connect with ws://, or see `bridged help`.",
        ));
    }
    if fields.one("sec-websocket-version")? != Some("13") {
        return Err(Refusal::new(426, "The WebSocket version must be 13."));
    }
    let key = fields.one("sec-websocket-key")?.unwrap_or("");
    let sound = key.len() == 24
        && key.ends_with("==")
        && key[..22].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
    if !sound {
        return Err(Refusal::new(400, "The Sec-WebSocket-Key is missing or malformed."));
    }
    Ok(Upgrade { key: key.to_owned(), origin: origin.map(str::to_owned) })
}
