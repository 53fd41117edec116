//! What can be done to a hub: one list of operations, made by hand, by proptest or by a fuzzer.

use arbitrary::Arbitrary;

/// One step. Numbers that choose among things (connections, ids, browsers) are taken modulo what there is.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A new connection.
    Open(Opening),
    /// A hello by connection `by`.
    Hello(u8, Hello),
    /// The second half of a proof by connection `by`.
    Confirm(u8, Confirm),
    /// A request by connection `by`, and what the host makes of it.
    Ask(u8, Ask, Then),
    /// An answer to the n-th call that was ever passed on.
    Answer(u8, Answer),
    /// `cancel` by connection `by` for an id of the pool.
    Cancel(u8, u8),
    /// A frame of an extension that is no answer.
    Notice(u8, Word),
    /// A frame from the list of nasty ones.
    Nasty(u8, u8),
    /// Any bytes.
    Raw(u8, Vec<u8>),
    /// The n-th held request goes on.
    Settle(u8, Settle),
    /// The connection is gone.
    Close(u8),
    /// The connection says something (from the list of nasty frames) and is gone before it could hear the reply.
    Vanish(u8, u8),
    /// The peer sends nothing more but still reads.
    HalfClose(u8),
    /// The door wants it closed.
    Reject(u8, Why),
    /// The write queue's level changes.
    Congest(u8, Level),
    /// Time passes, in steps of 10 ms.
    Wait(u16),
    /// Time passes up to the moment the hub asked for.
    Wake,
    /// The host's policy changed.
    Policy,
    /// No new calls.
    Drain,
    /// The end.
    Shutdown,
}

/// How a connection comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// WebSocket, user unknown.
    Stranger,
    /// WebSocket, our own user.
    SameUser,
    /// WebSocket, our own user, with the Origin of the extension.
    Browser,
    /// The same, approved for the old handshake.
    ApprovedBrowser,
    /// WebSocket with the extension's Origin, user unknown.
    StrangeBrowser,
    /// The Unix socket.
    Unix,
    /// A caller inside the process.
    Http,
    /// An MCP session inside the process.
    Mcp,
    /// Any other caller inside the process.
    Memory,
}

/// A hello's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// What it wants to be.
    pub role: HelloRole,
    /// Protocol 2 or the old one.
    pub two: bool,
    /// `browser_id`: 0 none, else one of a small pool.
    pub browser: u8,
    /// How it shows who it is.
    pub shows: Shows,
    /// `client_id`: 0 none, else one of a small pool (an ordinary one, reserved ones, odd ones).
    pub client: u8,
    /// `class`: `person`, `agent` or none.
    pub class: u8,
    /// Names itself with characters that deceive.
    pub odd_name: bool,
}

/// The role in a hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelloRole {
    /// `extension`
    Extension,
    /// `client`
    Client,
    /// `control`
    Control,
    /// `admin`
    Unknown,
    /// None at all.
    Missing,
}

/// What a hello shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// Nothing.
    Nothing,
    /// A paired key's id and a nonce.
    Key,
    /// A paired key's id and the nonce that was used last.
    OldNonce,
    /// An unknown key's id and a nonce.
    UnknownKey,
    /// A paired key's id and a nonce that is none.
    BadNonce,
    /// The right token.
    Token,
    /// A wrong one.
    WrongToken,
    /// The `resume` value of an earlier client (the n-th), right or altered.
    Resume(u8, bool),
}

/// The second half of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Confirm {
    /// As it should be.
    Right,
    /// One bit off.
    Wrong,
    /// The hub's own proof sent back.
    Reflected,
    /// Right, for another challenge.
    Stale,
    /// No `pair_confirm` at all.
    Other,
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// From a small pool, so that ids collide.
    pub id: u8,
    /// From a small pool.
    pub method: u8,
    /// `params`.
    pub params: Params,
    /// `timeout_ms`: none, or a value (some of them out of range).
    pub timeout: Option<u16>,
    /// `once`: 0 none, else from a small pool (some of them bad).
    pub once: u8,
    /// Adds `client_id`, `class` and an unknown field, all of them lies.
    pub lies: bool,
    /// In which order the members stand.
    pub order: u8,
    /// Spaces and line ends between the tokens.
    pub spaced: bool,
}

/// A request's params.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Params {
    /// No such member.
    Missing,
    /// `{}`
    Empty,
    /// Some ordinary ones.
    Some,
    /// With a `browser_id` from the pool.
    Browser(u8),
    /// With a `browser_id` that is no string.
    BadBrowser,
    /// An array.
    Array,
    /// `null`
    Null,
    /// The same key twice.
    Doubled,
    /// A key with an escape.
    Escaped,
    /// As deep as allowed, or one deeper.
    Deep(bool),
}

/// What the host does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// `receive`
    Receive,
    /// `inspect`, then `forward`.
    Forward,
    /// With other params.
    ForwardChanged,
    /// `refuse`
    Refuse,
    /// `refuse`, because too much waits for its turn at a browser.
    Busy,
    /// `answer`
    Answer,
    /// `hold`
    Hold,
}

/// What becomes of a held request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Settle {
    /// `release`
    Release,
    /// `complete`
    Complete,
    /// `fail`
    Fail,
}

/// An answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// By the extension that was asked, or by connection n.
    pub by: Option<u8>,
    /// With the hub's id, or one that was altered in a certain place.
    pub alter: Option<u8>,
    /// Its form.
    pub form: Form,
}

/// An answer's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `id`, `success`, `result`
    Result,
    /// `success`, `result`, `id`
    IdLast,
    /// `id`, `success:false`, `error`
    Error,
    /// Long enough for the shortcut.
    Long,
    /// The same, id last.
    LongIdLast,
    /// Long, and broken in the middle.
    LongBroken,
    /// Long, and cut off.
    LongCut,
    /// A bracket of one kind closed by one of the other.
    Mismatched,
    /// No `success`.
    NoSuccess,
    /// `success` is no boolean.
    OddSuccess,
    /// Both `result` and `error`.
    Both,
    /// Neither.
    Neither,
    /// Spaces and line ends between the tokens.
    Spaced,
    /// The id twice.
    TwoIds,
    /// `id` with an escape in the key.
    EscapedId,
    /// Not JSON.
    Broken,
    /// Deeper than allowed.
    Deep,
}

/// A frame of an extension that is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Word {
    /// `{"type":"policy_set",…}`
    PolicySet,
    /// `{"type":"event",…}`
    Event,
    /// Some other type.
    Unknown,
    /// A second hello.
    Hello,
}

/// Why a door rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
#[allow(missing_docs, reason = "the hub's own list")]
pub enum Why {
    Binary,
    NotUtf8,
    TooBig,
    Protocol,
    Unfinished,
    Slow,
    Silent,
    Revoked,
}

/// A write queue's level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
#[allow(missing_docs, reason = "the hub's own list")]
pub enum Level {
    Clear,
    Slow,
    Full,
}
