//! Error codes, close codes and faults: one list of each for all doors.

/// The `code` of an error answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it; protocol.md section 3 is the list")]
pub enum Code {
    InvalidHello,
    Unauthorized,
    AuthFailed,
    NotPaired,
    InvalidRequest,
    InvalidParams,
    UnknownMethod,
    DuplicateId,
    NoExtension,
    NoSuchBrowser,
    ExtensionDisconnected,
    ExtensionReplaced,
    Timeout,
    Cancelled,
    Overloaded,
    TooLarge,
    Paused,
    PermissionDenied,
    DeniedByUser,
    ShuttingDown,
    InvalidResponse,
    PageBlocked,
    TabNotFound,
    ElementNotFound,
    ElementNotActionable,
    StaleRef,
    NavigationFailed,
    DialogOpen,
    RestrictedPage,
    ScriptError,
    Unsupported,
    InternalError,
}

impl Code {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidHello => "INVALID_HELLO",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::AuthFailed => "AUTH_FAILED",
            Self::NotPaired => "NOT_PAIRED",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::InvalidParams => "INVALID_PARAMS",
            Self::UnknownMethod => "UNKNOWN_METHOD",
            Self::DuplicateId => "DUPLICATE_ID",
            Self::NoExtension => "NO_EXTENSION",
            Self::NoSuchBrowser => "NO_SUCH_BROWSER",
            Self::ExtensionDisconnected => "EXTENSION_DISCONNECTED",
            Self::ExtensionReplaced => "EXTENSION_REPLACED",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::Overloaded => "OVERLOADED",
            Self::TooLarge => "TOO_LARGE",
            Self::Paused => "PAUSED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::DeniedByUser => "DENIED_BY_USER",
            Self::ShuttingDown => "SHUTTING_DOWN",
            Self::InvalidResponse => "INVALID_RESPONSE",
            Self::PageBlocked => "PAGE_BLOCKED",
            Self::TabNotFound => "TAB_NOT_FOUND",
            Self::ElementNotFound => "ELEMENT_NOT_FOUND",
            Self::ElementNotActionable => "ELEMENT_NOT_ACTIONABLE",
            Self::StaleRef => "STALE_REF",
            Self::NavigationFailed => "NAVIGATION_FAILED",
            Self::DialogOpen => "DIALOG_OPEN",
            Self::RestrictedPage => "RESTRICTED_PAGE",
            Self::ScriptError => "SCRIPT_ERROR",
            Self::Unsupported => "UNSUPPORTED",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }
}

/// A WebSocket close code; doors without close codes just close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// Done.
    pub const NORMAL: Self = Self(1000);
    /// The hub shuts down.
    pub const GOING_AWAY: Self = Self(1001);
    /// The transport's own rules were broken.
    pub const PROTOCOL: Self = Self(1002);
    /// A binary frame.
    pub const BINARY: Self = Self(1003);
    /// Not UTF-8.
    pub const NOT_UTF8: Self = Self(1007);
    /// A deadline passed, or too many errors.
    pub const POLICY: Self = Self(1008);
    /// A message over the limit.
    pub const TOO_BIG: Self = Self(1009);
    /// Too busy for one more.
    pub const TRY_LATER: Self = Self(1013);
    /// A newer connection of the same browser took over.
    pub const REPLACED: Self = Self(4001);
    /// Not allowed, or not paired.
    pub const NOT_ALLOWED: Self = Self(4003);
    /// It reads too slowly.
    pub const SLOW: Self = Self(4008);
}

/// Why the hub did not do what a frame asked. The error reply is queued already; this is for logs and counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// Not one JSON object, or not JSON at all.
    NotJson,
    /// Nested deeper than `limits.depth`.
    TooDeep,
    /// The same key twice where the hub reads.
    DuplicateKey,
    /// A key written with a backslash where the hub reads.
    EscapedKey,
    /// More than 64 keys on one level where the hub reads.
    TooManyKeys,
    /// Half a surrogate pair.
    LoneSurrogate,
    /// Over the size limit.
    TooLarge,
    /// A request without an id.
    MissingId,
    /// An id that is no string, or longer than `limits.id_bytes`.
    InvalidId,
    /// A request without a method, or an answer from a client.
    MethodRequired,
    /// A field of the request is not what it must be.
    InvalidRequest,
    /// A parameter the hub itself reads is not what it must be.
    InvalidParams,
    /// Not a method this peer may ask for.
    UnknownMethod,
    /// A control method from another role.
    PermissionDenied,
    /// The client has a call with this id in flight.
    DuplicateId,
    /// No browser to ask.
    NoExtension,
    /// The named browser was never here.
    NoSuchBrowser,
    /// Too many calls in flight.
    Overloaded,
    /// The browser's link is full.
    Congested,
    /// The hub is shutting down.
    ShuttingDown,
    /// The hello was refused.
    Hello,
    /// The proof or token was wrong.
    AuthFailed,
    /// An answer nobody waits for: late, doubled, or of another browser.
    Stray,
    /// An answer without `success`, or with both `result` and `error`.
    InvalidResponse,
    /// A second hello.
    AlreadyRegistered,
    /// The caller's misuse, not the peer's: output was not drained before the next input.
    Undrained,
    /// The call ended before: its client left, cancelled, or its time ran out.
    Gone,
}

/// What a door saw before the hub could: the reason it wants a connection closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A binary message: `expected hello message` before the hello; close 1003.
    Binary,
    /// Not UTF-8; close 1007.
    NotUtf8,
    /// Over the size limit; close 1009.
    TooBig,
    /// The transport's own rules; close 1002.
    Protocol,
    /// A message that was begun and not finished in time; close 1008.
    Unfinished,
    /// It does not read; close 4008.
    Slow,
    /// It does not answer pings any more; close 1001.
    Silent,
    /// The host ended its right to be here (pairing reset, key revoked); close 4003.
    Revoked,
}

/// No slot is left for another connection, or the hub is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;
