//! One call's slot: who asked, who was asked, until when, and the client's own id.

use crate::browsers::BrowserRef;
use crate::list::{Link, Linked, NONE};
use crate::slots::{ConnId, Slot};
use crate::time::Instant;

/// The longest id of a client that a slot can keep, in bytes as written.
pub(crate) const ID_MAX: u16 = 256;

/// Storage for one call in flight. Hosts make vacant ones; the rest is the hub's business.
#[derive(Debug)]
pub struct Pending {
    pub(crate) generation: u32,
    pub(crate) next_free: u16,
    /// The wheel's bucket, or [`NO_BUCKET`].
    pub(crate) bucket: u8,
    pub(crate) state: CallState,
    pub(crate) by_asker: Link,
    pub(crate) by_asked: Link,
    pub(crate) by_time: Link,
    pub(crate) by_hash: Link,
    pub(crate) asker: ConnId,
    /// Nobody yet while the call is held.
    pub(crate) asked: ConnId,
    /// The browser chosen when the call was held.
    pub(crate) browser: Option<BrowserRef>,
    pub(crate) hash: u32,
    pub(crate) timeout_ms: u32,
    pub(crate) deadline: Instant,
    id_len: u16,
    id: [u8; ID_MAX as usize],
}

/// Not in the wheel.
pub(crate) const NO_BUCKET: u8 = u8::MAX;

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallState {
    Vacant,
    /// The host keeps it back.
    Held,
    /// A browser was asked.
    Sent,
    /// It is over: `poll_output` formats the answer, then (if the browser was asked and may still be at work) a cancel.
    Over {
        answer: Option<Outcome>,
        cancel: bool,
        executed: bool,
    },
}

/// The answer the hub itself gives to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    TimedOut,
    Cancelled,
    InvalidResponse,
    ShuttingDown,
    Disconnected,
    Replaced,
}

impl Pending {
    /// An unused slot, for arrays: `[const { Pending::vacant() }; 256]`.
    #[must_use]
    pub const fn vacant() -> Self {
        Self {
            generation: 0,
            next_free: NONE,
            bucket: NO_BUCKET,
            state: CallState::Vacant,
            by_asker: Link::LOOSE,
            by_asked: Link::LOOSE,
            by_time: Link::LOOSE,
            by_hash: Link::LOOSE,
            asker: ConnId::NOBODY,
            asked: ConnId::NOBODY,
            browser: None,
            hash: 0,
            timeout_ms: 0,
            deadline: Instant::from_millis(0),
            id_len: 0,
            id: [0; ID_MAX as usize],
        }
    }

    /// The client's id: the raw inside of its JSON string.
    pub(crate) fn id(&self) -> &[u8] {
        self.id.get(..usize::from(self.id_len)).unwrap_or_default()
    }

    pub(crate) fn set_id(&mut self, id: &[u8]) {
        if let (Some(room), Ok(len)) = (self.id.get_mut(..id.len()), u16::try_from(id.len())) {
            room.copy_from_slice(id);
            self.id_len = len;
        }
    }
}

impl Default for Pending {
    fn default() -> Self {
        Self::vacant()
    }
}

impl Slot for Pending {
    fn next_free(&mut self) -> &mut u16 {
        &mut self.next_free
    }
    fn vacate(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.state = CallState::Vacant;
    }
    fn occupied(&self) -> bool {
        self.state != CallState::Vacant
    }
}

/// The lists a call stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallList {
    /// Of the client that asked.
    Asker,
    /// Of the browser that was asked, or of the held calls.
    Asked,
    /// A bucket of the wheel, or the calls that are over.
    Time,
    /// Calls whose ids hash alike.
    Hash,
}

impl Linked<CallList> for Pending {
    fn link_mut(&mut self, chain: CallList) -> &mut Link {
        match chain {
            CallList::Asker => &mut self.by_asker,
            CallList::Asked => &mut self.by_asked,
            CallList::Time => &mut self.by_time,
            CallList::Hash => &mut self.by_hash,
        }
    }
}
