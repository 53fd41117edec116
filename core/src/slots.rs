//! Storage that the host lends: slots by index, generational handles, free lists. Nothing here ever scans.

use crate::connection::Connection;
use crate::list::NONE;
use crate::pending::Pending;

/// Slots that the host supplies. Arrays and lent slices have a fixed number; a host with a heap may grow on demand
/// (in chunks, so that slots never move). At most 65 535 slots are used.
pub trait Slots<T> {
    /// The slot at `index`.
    fn get(&self, index: usize) -> Option<&T>;
    /// The slot at `index`, to change it.
    fn get_mut(&mut self, index: usize) -> Option<&mut T>;
    /// How many slots there are now.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Makes more slots, each `T::default()`; `false` if there will be no more.
    fn grow(&mut self) -> bool {
        false
    }
}

impl<T, const N: usize> Slots<T> for [T; N] {
    fn get(&self, index: usize) -> Option<&T> {
        self.as_slice().get(index)
    }
    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.as_mut_slice().get_mut(index)
    }
    fn len(&self) -> usize {
        N
    }
}

impl<T> Slots<T> for &mut [T] {
    fn get(&self, index: usize) -> Option<&T> {
        <[T]>::get(self, index)
    }
    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        <[T]>::get_mut(self, index)
    }
    fn len(&self) -> usize {
        <[T]>::len(self)
    }
}

/// A connection's handle. Once the connection is gone the handle is stale, and never means another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnId {
    pub(crate) slot: u16,
    pub(crate) epoch: u32,
}

impl ConnId {
    pub(crate) const NOBODY: Self = Self { slot: NONE, epoch: 0 };

    /// The slot's index, for a host that keeps a table of its own beside the hub's.
    #[must_use]
    pub const fn slot(self) -> u16 {
        self.slot
    }

    /// How often the slot was used before.
    #[must_use]
    pub const fn epoch(self) -> u32 {
        self.epoch
    }
}

/// A call's name from its acceptance to its answer, for logs: on the envelope, on the browser's answer and on an answer
/// of the hub's own it is the same. Later calls have other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallId {
    pub(crate) slot: u16,
    pub(crate) generation: u32,
}

impl CallId {
    /// The slot's index, for a host that keeps a table of its own beside the hub's.
    #[must_use]
    pub const fn slot(self) -> u16 {
        self.slot
    }

    /// Which of the slot's calls it is.
    #[must_use]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

impl Ticket {
    /// The held call's name.
    #[must_use]
    pub const fn call(&self) -> CallId {
        CallId { slot: self.slot, generation: self.generation }
    }
}

/// A held request's handle: used up by `release`, `complete` or `fail`.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a held request is answered by release, complete, fail or its deadline"]
pub struct Ticket {
    pub(crate) slot: u16,
    pub(crate) generation: u32,
}

/// What a slot keeps for the pool: where the next free one is, and how often it was used.
pub(crate) trait Slot {
    fn next_free(&mut self) -> &mut u16;
    /// Ends this use: handles from before are stale from here on.
    fn vacate(&mut self);
    fn occupied(&self) -> bool;
}

/// Slots with a free list. Those never used yet lie above `fresh`, so that a new pool touches no memory.
pub(crate) struct Pool<S> {
    slots: S,
    free: u16,
    fresh: u16,
    used: usize,
}

impl<S> Pool<S> {
    pub(crate) const fn new(slots: S) -> Self {
        Self { slots, free: NONE, fresh: 0, used: 0 }
    }

    pub(crate) const fn used(&self) -> usize {
        self.used
    }

    pub(crate) fn at<T: Slot>(&self, slot: u16) -> Option<&T>
    where
        S: Slots<T>,
    {
        self.slots.get(usize::from(slot)).filter(|it| it.occupied())
    }

    pub(crate) fn at_mut<T: Slot>(&mut self, slot: u16) -> Option<&mut T>
    where
        S: Slots<T>,
    {
        self.slots.get_mut(usize::from(slot)).filter(|it| it.occupied())
    }

    /// A free slot with its index and present generation. The caller must occupy it before anything else.
    pub(crate) fn take<T: Slot>(&mut self) -> Option<(u16, &mut T)>
    where
        S: Slots<T>,
    {
        let index = if self.free == NONE {
            let index = self.fresh;
            if index == NONE || (usize::from(index) >= self.slots.len() && !self.slots.grow()) {
                return None;
            }
            self.slots.get(usize::from(index))?;
            self.fresh = index.saturating_add(1);
            index
        } else {
            let index = self.free;
            self.free = *self.slots.get_mut(usize::from(index))?.next_free();
            index
        };
        self.used = self.used.saturating_add(1);
        Some((index, self.slots.get_mut(usize::from(index))?))
    }

    pub(crate) fn give_back<T: Slot>(&mut self, index: u16)
    where
        S: Slots<T>,
    {
        let free = self.free;
        if let Some(slot) = self.slots.get_mut(usize::from(index)).filter(|it| it.occupied()) {
            slot.vacate();
            *slot.next_free() = free;
            self.free = index;
            self.used = self.used.saturating_sub(1);
        }
    }
}

impl<S: Slots<Connection>> Pool<S> {
    /// The connection, unless it is gone or going.
    pub(crate) fn open(&self, id: ConnId) -> Option<&Connection> {
        self.at(id.slot).filter(|it: &&Connection| it.epoch == id.epoch && it.is_open())
    }

    /// See `open`.
    pub(crate) fn open_mut(&mut self, id: ConnId) -> Option<&mut Connection> {
        self.at_mut(id.slot).filter(|it: &&mut Connection| it.epoch == id.epoch && it.is_open())
    }
}

impl<S: Slots<Pending>> Pool<S> {
    pub(crate) fn call(&self, ticket: &Ticket) -> Option<&Pending> {
        self.at(ticket.slot).filter(|it: &&Pending| it.generation == ticket.generation)
    }
}
