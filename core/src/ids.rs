//! Two kinds of ids: the clients' own, found by hash, and the hub's, which say where their call stands.

use crate::hash::Hasher;
use crate::list::{List, NONE};
use crate::pending::{CallList, Pending};
use crate::slots::{CallId, ConnId, Pool, Slots};

const BUCKETS: usize = 1024;

/// Which ids of which client are in use.
#[derive(Debug)]
pub(crate) struct IdTable {
    hasher: Hasher,
    buckets: [List; BUCKETS],
}

impl IdTable {
    pub(crate) fn new(random: &[u8; 32]) -> Self {
        Self { hasher: Hasher::new(random), buckets: [List::EMPTY; BUCKETS] }
    }

    pub(crate) fn hash(&self, asker: ConnId, id: &[u8]) -> u32 {
        self.hasher.hash((u64::from(asker.epoch) << 16) | u64::from(asker.slot), id)
    }

    /// The call of `asker` with this id.
    pub(crate) fn find<S: Slots<Pending>>(
        &self,
        calls: &Pool<S>,
        asker: ConnId,
        hash: u32,
        id: &[u8],
    ) -> Option<u16> {
        let mut slot = self.buckets.get(hash as usize % BUCKETS)?.head;
        while slot != NONE {
            let call = calls.at(slot)?;
            if call.hash == hash && call.asker == asker && call.id() == id {
                return Some(slot);
            }
            slot = call.by_hash.next;
        }
        None
    }

    pub(crate) fn insert<S: Slots<Pending>>(&mut self, calls: &mut Pool<S>, slot: u16) {
        if let Some(list) = self.bucket(calls, slot) {
            calls.push_back(list, CallList::Hash, slot);
        }
    }

    pub(crate) fn remove<S: Slots<Pending>>(&mut self, calls: &mut Pool<S>, slot: u16) {
        if let Some(list) = self.bucket(calls, slot) {
            calls.unlink(list, CallList::Hash, slot);
        }
    }

    fn bucket<S: Slots<Pending>>(&mut self, calls: &Pool<S>, slot: u16) -> Option<&mut List> {
        let hash = calls.at(slot)?.hash;
        self.buckets.get_mut(hash as usize % BUCKETS)
    }
}

/// The length of the hub's own ids.
pub(crate) const WIRE_ID: usize = 12;

/// The hub's id of a call: where it stands, and which of the slot's calls it is. The salt differs from start to start,
/// so that an answer meant for an earlier daemon finds nothing here.
pub(crate) fn wire_id(call: CallId, salt: u32) -> [u8; WIRE_ID] {
    let mut number = (u64::from(call.slot) << 32) | u64::from(call.generation ^ salt);
    let mut text = [0; WIRE_ID];
    for digit in text.iter_mut().rev() {
        *digit = b"0123456789abcdef".get((number & 15) as usize).copied().unwrap_or(b'0');
        number >>= 4;
    }
    text
}

/// The call that a wire id names.
pub(crate) fn read_wire_id(text: &[u8], salt: u32) -> Option<CallId> {
    let text: &[u8; WIRE_ID] = text.try_into().ok()?;
    let number = text.iter().try_fold(0u64, |number, b| {
        let digit = match b {
            b'0'..=b'9' => b.wrapping_sub(b'0'),
            b'a'..=b'f' => b.wrapping_sub(b'a').wrapping_add(10),
            _ => return None,
        };
        Some((number << 4) | u64::from(digit))
    })?;
    Some(CallId { slot: (number >> 32) as u16, generation: number as u32 ^ salt })
}
