//! What a session keeps of a request whose call is under way, and of a batch that is not complete.

use std::time::Duration;

use crate::version::Version;

/// Where replies go: the one channel of stdio, or one HTTP exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane(pub u64);

/// A call under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// A request of ours to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub u64);

/// The way of a reply: its lane, and the batch it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct To {
    pub(crate) lane: Lane,
    pub(crate) batch: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Flight<C> {
    pub(crate) id: Box<str>,
    pub(crate) to: To,
    pub(crate) version: Version,
    pub(crate) keep: C,
    pub(crate) progress: Option<Progress>,
}

/// Progress that the client asked for.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) token: Box<str>,
    pub(crate) started: Duration,
    /// When to say something of ourselves; `None` once the host does.
    pub(crate) next: Option<Duration>,
    pub(crate) last: f64,
}

/// Replies that are held until all of them are there.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) replies: Vec<Vec<u8>>,
    pub(crate) missing: usize,
}

impl Batch {
    /// All replies as one array.
    pub(crate) fn join(self) -> Vec<u8> {
        let mut out = vec![b'['];
        for (at, reply) in self.replies.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(reply);
        }
        out.push(b']');
        out
    }
}
