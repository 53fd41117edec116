//! What comes out of the hub: messages of its own, closes, events, and why it wants to be woken.

use crate::code::{CloseCode, Code};
use crate::listing::Listing;
use crate::peer::{Door, Role, Trust};
use crate::slots::{CallId, ConnId};

/// One thing for the host to do. Drain `poll_output` after every input until it returns `None`.
#[must_use]
#[derive(Debug)]
pub enum Output<'h> {
    /// Write this message to `to`.
    Send {
        /// The connection to write to.
        to: ConnId,
        /// One whole JSON text.
        message: Message<'h>,
    },
    /// Close this connection once what was sent before is written. Its handle is stale from here on.
    Close {
        /// The connection.
        conn: ConnId,
        /// The WebSocket close code.
        code: CloseCode,
        /// For people; at most 123 bytes.
        reason: &'static str,
    },
    /// Something for logs.
    Event(Event),
}

/// A message made by the hub, borrowed from it until the next call. Its pieces concatenated are one JSON text.
#[derive(Debug)]
pub struct Message<'h> {
    pub(crate) before: &'h [u8],
    pub(crate) middle: Middle<'h>,
    pub(crate) after: &'h [u8],
    pub(crate) call: Option<CallId>,
}

#[derive(Debug)]
pub(crate) enum Middle<'h> {
    Bytes(&'h [u8]),
    Listing(Listing<'h>),
}

impl Message<'_> {
    /// Hands every piece to `write`, in order.
    pub fn each(&self, mut write: impl FnMut(&[u8])) {
        write(self.before);
        match &self.middle {
            Middle::Bytes(bytes) => write(bytes),
            Middle::Listing(listing) => listing.each(&mut write),
        }
        write(self.after);
    }

    /// The accepted call that this is the answer to, if it is one.
    #[must_use]
    pub const fn call(&self) -> Option<CallId> {
        self.call
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        let mut len: usize = 0;
        self.each(|piece| len = len.saturating_add(piece.len()));
        len
    }

    /// Whether there is nothing to write; there always is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Something that happened, for logs and the command line. At most eight wait; older ones give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A hello was accepted.
    Joined {
        /// The connection.
        conn: ConnId,
        /// Its role.
        role: Role,
        /// 1 or 2.
        protocol: u8,
    },
    /// A newer connection of the same browser took over.
    Replaced {
        /// The one that must go.
        old: ConnId,
        /// The one that serves now.
        new: ConnId,
    },
    /// A wrong proof or token.
    AuthFailed {
        /// The connection, which is being closed.
        conn: ConnId,
    },
    /// A hello or a proof was refused, for whatever reason.
    Denied {
        /// The connection, which is being closed.
        conn: ConnId,
        /// The door it came in by.
        door: Door,
        /// What that vouched for.
        trust: Trust,
        /// What it was told.
        code: Code,
    },
    /// A connection is gone; its handle is stale.
    Left {
        /// The connection.
        conn: ConnId,
        /// Its role, if it ever had one.
        role: Option<Role>,
    },
    /// A browser sent its hundredth answer within a minute that nobody waits for.
    StrayAnswers {
        /// The extension's connection.
        conn: ConnId,
    },
}

/// Why the hub wants to be woken. Not stable: for logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wake {
    /// Output is queued: drain it.
    Output,
    /// A hello or proof is due.
    Hello,
    /// A call's time runs out (or its timer moves to a finer wheel).
    Call,
}

/// How full a connection's write queue is, as the host sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// Nothing to worry about.
    #[default]
    Clear,
    /// Above the mark: clients of this browser are not read (`wants_read`).
    Slow,
    /// No more room: new calls for this browser are answered OVERLOADED.
    Full,
}

/// Numbers since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub struct Counters {
    pub opened: u64,
    pub closed: u64,
    pub requests: u64,
    pub answers: u64,
    pub refused: u64,
    pub timeouts: u64,
    pub cancelled: u64,
    pub stray: u64,
    pub invalid_answers: u64,
    pub takeovers: u64,
    pub auth_failed: u64,
    pub protocol_errors: u64,
    pub evicted: u64,
    pub legacy: u64,
}
