//! What the front is made with, what comes in, and what it wants done.

use std::sync::Arc;
use std::time::Duration;

use crate::provider::{BridgeCall, SaveFile};
use crate::session::{AskId, CallId, Config};

/// Limits of the front.
#[derive(Clone, Debug)]
pub struct FrontConfig {
    /// Limits of each session (`eras` is set here).
    pub session: Config,
    /// How many sessions with a handshake there may be; one that is idle makes room.
    pub max_sessions: usize,
    /// How many of them one client may have.
    pub max_sessions_client: usize,
    /// How long such a session may be idle.
    pub idle: Duration,
    /// How many requests may be open at once.
    pub max_exchanges: usize,
    /// How often a request that is still open, and may be answered with a stream, is sent something, so that nobody on the
    /// way gives it up and a client that is gone is noticed.
    pub keep_alive: Duration,
}

impl Default for FrontConfig {
    fn default() -> Self {
        let session = Config::default();
        let (idle, keep_alive) = (Duration::from_secs(3600), Duration::from_secs(15));
        let (max_sessions, max_sessions_client) = (256, 128);
        Self { session, max_sessions, max_sessions_client, idle, max_exchanges: 1024, keep_alive }
    }
}

/// An HTTP request to the MCP endpoint.
#[derive(Clone, Copy, Debug)]
pub struct HttpRequest<'a> {
    /// `POST`, `DELETE`, …
    pub method: &'a str,
    /// Its headers.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body.
    pub body: &'a [u8],
    /// Who is calling, as the door knows it: sessions are kept apart by it.
    pub caller: &'a str,
}

/// One HTTP request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exchange(pub u64);

/// A call of one of the front's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallKey {
    pub(super) session: u64,
    pub(super) call: CallId,
}

/// What the door is to do. Take them all after every input.
#[derive(Debug)]
pub enum HttpOutput {
    /// Answer with this, whole.
    Respond {
        /// The request.
        exchange: Exchange,
        /// The response.
        response: Response,
    },
    /// Answer with a stream of events (`text/event-stream`, 200).
    Begin {
        /// The request.
        exchange: Exchange,
        /// Its headers.
        headers: Vec<(&'static str, String)>,
    },
    /// Send these bytes of the stream.
    Event {
        /// The request.
        exchange: Exchange,
        /// A whole event.
        data: Vec<u8>,
    },
    /// The stream is at its end.
    End {
        /// The request.
        exchange: Exchange,
    },
    /// Make this call and hand its answer to [`Front::handle_answer`](super::Front::handle_answer).
    Call {
        /// Its key.
        key: CallKey,
        /// Who is calling.
        caller: Arc<str>,
        /// In which session; `None` for a stateless request.
        session: Option<Arc<str>>,
        /// What the client calls itself: its own word.
        client: Option<Arc<str>>,
        /// The call.
        request: BridgeCall,
    },
    /// Give this call up.
    Cancel {
        /// Its key.
        key: CallKey,
    },
    /// Write this file and hand its path to [`Front::handle_saved`](super::Front::handle_saved).
    Save {
        /// The call it belongs to.
        key: CallKey,
        /// The file.
        file: SaveFile,
    },
    /// The client answered a question put by [`Front::ask`](super::Front::ask).
    Told {
        /// The call it was for.
        key: CallKey,
        /// The question.
        ask: AskId,
        /// The result, or the error, as raw JSON.
        answer: Result<String, String>,
    },
    /// A session has ended: what was kept for it can go.
    Ended {
        /// Its `Mcp-Session-Id`.
        session: Arc<str>,
        /// Whose it was.
        caller: Arc<str>,
    },
}

/// A whole HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, without `Content-Length`.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}
