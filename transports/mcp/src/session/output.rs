//! What a session is made with, and what it wants done.

use std::sync::Arc;
use std::time::Duration;

use super::flight::{AskId, CallId, Lane};
use crate::provider::{BridgeCall, SaveFile};

/// Which ways of opening a session accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eras {
    /// A handshake, or requests that say their version themselves (stdio).
    Both,
    /// A handshake only: one HTTP session of the older revisions.
    Legacy,
    /// Stateless requests only: everything else on HTTP.
    Modern,
}

/// Limits and times of a session.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which ways of opening are accepted.
    pub eras: Eras,
    /// The largest message that is read.
    pub max_message: usize,
    /// How many calls may be under way at once.
    pub max_in_flight: usize,
    /// How many messages one batch may hold.
    pub max_batch: usize,
    /// How long a call runs before the first progress notification.
    pub progress_after: Duration,
    /// The time between two of them.
    pub progress_every: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            eras: Eras::Both,
            max_message: 8 << 20,
            max_in_flight: 64,
            max_batch: 64,
            progress_after: Duration::from_secs(1),
            progress_every: Duration::from_secs(2),
        }
    }
}

/// What the host is to do. Take them all after every input.
#[derive(Debug)]
pub enum Output {
    /// Send this message; on HTTP a reply is the last of its lane.
    Send {
        /// Where it goes.
        lane: Lane,
        /// One JSON text without a line break.
        message: Vec<u8>,
        /// What it is, for HTTP.
        kind: Sent,
    },
    /// Make this call and hand its answer to [`Session::handle_answer`](super::Session::handle_answer).
    Call {
        /// Its number.
        call: CallId,
        /// Where the request came from.
        lane: Lane,
        /// What the client calls itself: its own word.
        client: Option<Arc<str>>,
        /// The call.
        request: BridgeCall,
    },
    /// Give this call up; its answer is not wanted any more.
    Cancel {
        /// Its number.
        call: CallId,
    },
    /// Write this file and hand its path to [`Session::handle_saved`](super::Session::handle_saved).
    Save {
        /// The call it belongs to.
        call: CallId,
        /// The file.
        file: SaveFile,
    },
    /// The client answered a question put by [`Session::ask`](super::Session::ask).
    Told {
        /// The call it was for.
        call: CallId,
        /// The question.
        ask: AskId,
        /// The result, or the error, as raw JSON.
        answer: Result<String, String>,
    },
    /// Nothing (more) comes for this lane.
    Silent {
        /// The lane.
        lane: Lane,
    },
}

/// What a sent message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The reply (or the batch of them), with its HTTP status.
    Reply(u16),
    /// Something before it.
    Notice,
}
