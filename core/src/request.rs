//! A client's request as the hub read it: what a host judges before it is passed on.

use crate::peer::{Class, Door, Owner, Role};
use crate::slots::ConnId;

/// A well-formed request, not yet accepted. Pass it to `forward`, `hold`, `refuse` or `answer`.
#[must_use = "a request that is neither forwarded, held, refused nor answered leaves its client waiting"]
#[derive(Clone, Debug)]
pub struct Request<'f> {
    pub(crate) conn: ConnId,
    pub(crate) id: &'f str,
    pub(crate) hash: u32,
    pub(crate) method: &'f str,
    pub(crate) params: &'f [u8],
    pub(crate) browser: Option<&'f str>,
    pub(crate) once: Option<&'f str>,
    pub(crate) timeout_ms: u32,
    pub(crate) role: Role,
    pub(crate) class: Class,
    pub(crate) door: Door,
    pub(crate) owner: Owner,
}

impl<'f> Request<'f> {
    /// The connection that asked.
    #[must_use]
    pub const fn conn(&self) -> ConnId {
        self.conn
    }

    /// The client's id, as the raw inside of its JSON string (1 to 256 bytes, escapes as the client wrote them).
    #[must_use]
    pub const fn id(&self) -> &'f str {
        self.id
    }

    /// The method: 1 to 64 printable ASCII characters, no quotes or backslashes, so what is judged is what runs.
    #[must_use]
    pub const fn method(&self) -> &'f str {
        self.method
    }

    /// The params as one JSON object; `{}` if the client sent none. No key of its first level is doubled or escaped.
    #[must_use]
    pub const fn params(&self) -> &'f [u8] {
        self.params
    }

    /// The raw JSON value of one key on the first level of the params.
    #[must_use]
    pub fn param(&self, key: &str) -> Option<&'f [u8]> {
        crate::scan::member(self.params, key)
    }

    /// `params.browser_id`, if the client named a browser.
    #[must_use]
    pub const fn browser_id(&self) -> Option<&'f str> {
        self.browser
    }

    /// The checked `once` value.
    #[must_use]
    pub const fn once(&self) -> Option<&'f str> {
        self.once
    }

    /// How long the client wants to wait.
    #[must_use]
    pub const fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }

    /// Client or control.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Who is behind it.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// The door it came in by.
    #[must_use]
    pub const fn door(&self) -> Door {
        self.door
    }

    /// The owner that will be stamped on it.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The same request with other params: one JSON object, vouched for by the host.
    #[must_use = "returns the changed request"]
    pub const fn with_params(mut self, params: &'f [u8]) -> Self {
        self.params = params;
        self
    }
}

/// A frame of a proven extension that wants no answer and is the host's to read.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'f> {
    /// The extension's connection.
    pub conn: ConnId,
    /// What it is.
    pub kind: NoticeKind,
    /// The whole frame.
    pub frame: &'f [u8],
}

/// The kinds of [`Notice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// `policy_set`: the user changed a switch in the popup.
    PolicySet,
    /// `event`.
    Event,
}
