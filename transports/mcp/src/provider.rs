//! What a server offers behind the session: tools in our case, whatever else in others'.

use crate::version::Version;

/// Names an MCP server and says what it can do. All JSON in it is trusted text of the provider's own.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// `serverInfo.name`.
    pub name: &'a str,
    /// `serverInfo.version`.
    pub version: &'a str,
    /// The capabilities as a JSON object, for the revision in use.
    pub capabilities: &'a str,
    /// A few sentences for the model; empty for none.
    pub instructions: &'a str,
}

/// A request that the session does not answer itself.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its method, such as `tools/call`.
    pub method: &'a str,
    /// Its params, a JSON object.
    pub params: &'a str,
    /// The revision it is asked under.
    pub version: Version,
    /// What the client said it can do, a JSON object.
    pub capabilities: &'a str,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Reply<C> {
    /// Answered at once.
    Done(Body),
    /// Refused at once.
    Fail(RpcError),
    /// The host is to make this call; its answer comes to [`Provider::answer`] with `keep`.
    Call {
        /// The call for the host.
        call: BridgeCall,
        /// What to remember until the answer.
        keep: C,
    },
    /// No such method.
    Unknown,
}

/// What becomes of an answer.
#[derive(Debug)]
pub enum Outcome<C> {
    /// This is the result.
    Done(Body),
    /// This is the error.
    Fail(RpcError),
    /// The host is to write a file first; where it went comes to [`Provider::saved`] with `keep`.
    Save {
        /// The file.
        file: SaveFile,
        /// What to remember until then.
        keep: C,
    },
}

/// A call of a bridge method, for the host to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeCall {
    /// The method's name.
    pub method: String,
    /// Its params, a JSON object.
    pub params: String,
    /// How long it may take, where that differs from the bridge's default.
    pub timeout_ms: Option<u32>,
}

/// The answer to a [`BridgeCall`].
#[derive(Debug)]
pub enum Answer {
    /// The raw answer frame, `{"id":…,"success":…,…}` (or whatever the provider's own calls are answered with).
    Frame(Vec<u8>),
    /// The call did not come through, for this reason; whether it was carried out is unknown.
    Lost(String),
}

/// A file for the host to write: a picture too large to send inline.
#[derive(Debug)]
pub struct SaveFile {
    /// Its media type.
    pub mime: String,
    /// Ending of its name, without the dot.
    pub extension: &'static str,
    frame: Vec<u8>,
    span: std::ops::Range<usize>,
}

impl SaveFile {
    pub(crate) fn new(
        mime: String,
        extension: &'static str,
        frame: Vec<u8>,
        span: std::ops::Range<usize>,
    ) -> Self {
        Self { mime, extension, frame, span }
    }

    /// The content as it came: base64.
    pub fn base64(&self) -> &str {
        self.frame
            .get(self.span.clone())
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }

    /// The content; `None` if it is no base64.
    pub fn decode(&self) -> Option<Vec<u8>> {
        use base64ct::{Base64, Encoding as _};
        Base64::decode_vec(self.base64()).ok()
    }
}

/// The members of a result object, without its braces, and how it may be cached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    pub(crate) members: String,
    pub(crate) cache: Option<Cache>,
    pub(crate) typed: bool,
}

/// How long and by whom a list may be kept (2026-07-28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Milliseconds it stays fresh.
    pub ttl_ms: u32,
    /// Whether it is the same for everybody.
    pub public: bool,
}

impl Body {
    /// A result with these members, such as `"content":[]`. `_meta`, `resultType`, `ttlMs` and `cacheScope` are not
    /// among them: the session adds what the revision in use wants.
    pub fn new(members: impl Into<String>) -> Self {
        Self { members: members.into(), cache: None, typed: false }
    }

    /// A result that carries a `resultType` of its own (`input_required`).
    pub fn typed(members: impl Into<String>) -> Self {
        Self { members: members.into(), cache: None, typed: true }
    }

    /// May be kept that long.
    #[must_use]
    pub fn cached(self, cache: Cache) -> Self {
        Self { cache: Some(cache), ..self }
    }
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// Its code.
    pub code: i32,
    /// For people and logs.
    pub message: String,
    /// More of it, as JSON.
    pub data: Option<String>,
    /// The HTTP status it is sent with.
    pub status: u16,
}

impl RpcError {
    /// The headers of a request and its body disagree.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The client did not say that it can do what this request needs.
    pub const MISSING_CAPABILITY: i32 = -32021;
    /// The revision asked for is none of ours.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    /// No such method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The params do not fit.
    pub const INVALID_PARAMS: i32 = -32602;

    /// An error with the status that its code has on HTTP.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        let status = match code {
            Self::METHOD_NOT_FOUND => 404,
            -32700 | -32600 | Self::HEADER_MISMATCH => 400,
            Self::MISSING_CAPABILITY | Self::UNSUPPORTED_VERSION => 400,
            _ => 200,
        };
        Self { code, message: message.into(), data: None, status }
    }

    /// Not JSON, or not UTF-8.
    pub fn parse() -> Self {
        Self::new(-32700, "not JSON in UTF-8")
    }

    /// JSON, but no message of the protocol.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    /// As many calls are under way as may be.
    pub(crate) fn overloaded(calls: usize) -> Self {
        Self::new(-32603, format!("OVERLOADED: {calls} calls are under way; wait for one"))
    }

    /// No such method.
    pub fn method_not_found() -> Self {
        Self::new(Self::METHOD_NOT_FOUND, "method not found")
    }

    /// The params do not fit.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    /// The same with `data`, a JSON value.
    #[must_use]
    pub fn with_data(self, data: impl Into<String>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    /// The same with another HTTP status.
    #[must_use]
    pub fn at(self, status: u16) -> Self {
        Self { status, ..self }
    }
}

/// What a server offers: everything beyond the base protocol, which the session answers itself.
///
/// A provider does no I/O either. It turns requests into results or into calls for the host, and answers into results.
pub trait Provider {
    /// What it remembers of a call until its answer.
    type Call;

    /// Who the server is, for that revision.
    fn about(&self, version: Version) -> About<'_>;

    /// A request came.
    fn request(&mut self, request: &Request<'_>) -> Reply<Self::Call>;

    /// The answer to a call came.
    fn answer(&mut self, keep: Self::Call, answer: Answer, version: Version) -> Outcome<Self::Call>;

    /// A file was written at this path, or not, for this reason.
    fn saved(&mut self, keep: Self::Call, path: Result<&str, &str>, version: Version) -> Body;

    /// What a progress notification says of a call that has run so long; no page text.
    fn progress(&self, keep: &Self::Call) -> String;
}
