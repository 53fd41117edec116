//! Doubly linked lists that live inside the slots: insertion and removal cost the same however many there are.

use crate::slots::{Pool, Slot, Slots};

/// No slot.
pub(crate) const NONE: u16 = u16::MAX;

/// Where a slot stands in one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) prev: u16,
    pub(crate) next: u16,
}

impl Link {
    pub(crate) const LOOSE: Self = Self { prev: NONE, next: NONE };
}

/// A list's two ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) head: u16,
    pub(crate) tail: u16,
}

impl List {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE };

    pub(crate) const fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// A slot that can stand in lists of kind `Chain`, in one list of each kind at a time.
pub(crate) trait Linked<Chain>: Slot {
    fn link_mut(&mut self, chain: Chain) -> &mut Link;
}

impl<S> Pool<S> {
    pub(crate) fn push_back<T, C: Copy>(&mut self, list: &mut List, chain: C, slot: u16)
    where
        T: Linked<C>,
        S: Slots<T>,
    {
        let tail = list.tail;
        if let Some(it) = self.at_mut(slot) {
            *it.link_mut(chain) = Link { prev: tail, next: NONE };
            match self.at_mut(tail) {
                Some(last) => last.link_mut(chain).next = slot,
                None => list.head = slot,
            }
            list.tail = slot;
        }
    }

    /// Takes `slot` out of `list`, in which it must stand.
    pub(crate) fn unlink<T, C: Copy>(&mut self, list: &mut List, chain: C, slot: u16)
    where
        T: Linked<C>,
        S: Slots<T>,
    {
        let Some(it) = self.at_mut(slot) else { return };
        let Link { prev, next } = core::mem::replace(it.link_mut(chain), Link::LOOSE);
        match self.at_mut(prev) {
            Some(before) => before.link_mut(chain).next = next,
            None => list.head = next,
        }
        match self.at_mut(next) {
            Some(after) => after.link_mut(chain).prev = prev,
            None => list.tail = prev,
        }
    }
}
