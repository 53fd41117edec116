//! Why a request is turned away, as the answer says it.

use crate::json::quoted;
use bridge_websocket::request::Wrong;
use std::fmt;

/// An answer that closes the connection: whatever else was sent on it is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The error's code, of the protocol's one list.
    pub code: &'static str,
    /// What is wrong, for people.
    pub text: String,
    /// Headers that belong to the status.
    pub headers: Vec<(&'static str, String)>,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, text: impl Into<String>) -> Self {
        Self { status, code, text: text.into(), headers: Vec::new() }
    }

    pub(crate) fn malformed(text: impl Into<String>) -> Self {
        Self::new(400, "INVALID_REQUEST", text)
    }

    pub(crate) fn forbidden(text: impl Into<String>) -> Self {
        Self::new(403, "PERMISSION_DENIED", text)
    }

    pub(crate) fn unauthorized(text: impl Into<String>) -> Self {
        let way = "Bearer realm=\"bridged\", error=\"invalid_token\"";
        Self::new(401, "UNAUTHORIZED", text).with("WWW-Authenticate", way.to_owned())
    }

    pub(crate) fn head_too_large(what: &str) -> Self {
        Self::new(431, "TOO_LARGE", format!("the request's head is too large: {what}"))
    }

    pub(crate) fn too_large(most: usize) -> Self {
        Self::new(413, "TOO_LARGE", format!("the body has more than {most} bytes"))
    }

    pub(crate) fn late(what: &str) -> Self {
        Self::new(408, "TIMEOUT", format!("the request's {what} did not come in time"))
    }

    pub(crate) fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The answer's body.
    pub(crate) fn body(&self) -> String {
        format!(r#"{{"error":{{"code":"{}","message":{}}}}}"#, self.code, quoted(&self.text))
    }
}

impl From<Wrong> for Refusal {
    fn from(wrong: Wrong) -> Self {
        let code = match wrong.status {
            403 => "PERMISSION_DENIED",
            431 => "TOO_LARGE",
            _ => "INVALID_REQUEST",
        };
        Self::new(wrong.status, code, wrong.because)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status, self.code, self.text)
    }
}
