//! Deadlines of calls in a timing wheel: three levels of 64 buckets, ticks of 8 ms, never early.
//!
//! Level 0 has a bucket for each of the next 64 ticks, level 1 one for each 64 ticks (0.5 s), level 2 one for each 4096
//! (33 s). A deadline beyond that waits in the last bucket of level 2 and is placed again when it gets there. Empty
//! buckets are skipped by bit masks, so that waking after a long sleep costs no more than waking on time.

use crate::list::List;
use crate::pending::{CallList, NO_BUCKET, Pending};
use crate::slots::{Pool, Slots};
use crate::time::Instant;

/// A tick is 2^3 ms.
const TICK_BITS: u32 = 3;
/// A level has 2^6 buckets.
const LEVEL_BITS: u32 = 6;
const BUCKETS: u64 = 1 << LEVEL_BITS;
const LEVELS: usize = 3;
/// A bucket's number within its level.
const MASK: u64 = BUCKETS - 1;
/// As far ahead as a call is placed.
const REACH: u64 = 1 << (LEVEL_BITS * LEVELS as u32);

/// The wheel. Calls stand in its buckets by their `Time` link.
#[derive(Debug)]
pub(crate) struct Wheel {
    buckets: [[List; BUCKETS as usize]; LEVELS],
    occupied: [u64; LEVELS],
    /// Every tick up to this one is done.
    elapsed: u64,
}

/// A bucket whose turn comes at `tick`.
#[derive(Clone, Copy)]
struct Turn {
    tick: u64,
    level: usize,
    index: usize,
}

impl Wheel {
    pub(crate) const fn new() -> Self {
        Self { buckets: [[List::EMPTY; BUCKETS as usize]; LEVELS], occupied: [0; LEVELS], elapsed: 0 }
    }

    /// Places a call by its deadline.
    pub(crate) fn insert<S: Slots<Pending>>(&mut self, calls: &mut Pool<S>, slot: u16, now: Instant) {
        if self.occupied == [0; LEVELS] {
            self.elapsed = self.elapsed.max(now.as_millis() >> TICK_BITS);
        }
        let Some(call) = calls.at_mut(slot) else { return };
        let tick = tick_of(call.deadline).max(self.elapsed.saturating_add(1));
        let ahead = tick.saturating_sub(self.elapsed).min(REACH);
        let level = (ahead.saturating_sub(1).checked_ilog2().unwrap_or(0) / LEVEL_BITS) as usize;
        let index = (self.elapsed.saturating_add(ahead) >> shift(level)) & MASK;
        call.bucket = (level as u8).wrapping_mul(BUCKETS as u8).wrapping_add(index as u8);
        if let Some((list, mask)) = self.bucket(level, index as usize) {
            *mask |= 1 << index;
            calls.push_back(list, CallList::Time, slot);
        }
    }

    /// Takes a call out, wherever it stands.
    pub(crate) fn remove<S: Slots<Pending>>(&mut self, calls: &mut Pool<S>, slot: u16) {
        let Some(call) = calls.at_mut(slot) else { return };
        let bucket = core::mem::replace(&mut call.bucket, NO_BUCKET);
        let (level, index) = (usize::from(bucket >> LEVEL_BITS), usize::from(bucket & MASK as u8));
        if let Some((list, mask)) = self.bucket(level, index) {
            calls.unlink(list, CallList::Time, slot);
            if list.is_empty() {
                *mask &= !(1 << index);
            }
        }
    }

    /// Moves time on, as far as the next call that is due by `now`, and takes that call out.
    pub(crate) fn next_due<S: Slots<Pending>>(&mut self, calls: &mut Pool<S>, now: Instant) -> Option<u16> {
        let now = now.as_millis() >> TICK_BITS;
        loop {
            let Some(turn) = self.next_turn().filter(|turn| turn.tick <= now) else {
                self.elapsed = self.elapsed.max(now);
                return None;
            };
            // One tick before it: from there all that stand in an upper bucket fit on the levels below, none is passed
            // over, and one whose tick has come is met right after.
            self.elapsed = self.elapsed.max(turn.tick.saturating_sub(1));
            let (list, _) = self.bucket(turn.level, turn.index)?;
            let slot = list.head;
            self.remove(calls, slot);
            if turn.level == 0 {
                return Some(slot);
            }
            self.insert(calls, slot, Instant::from_millis(0));
        }
    }

    /// When the next bucket's turn comes.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.next_turn().map(|turn| Instant::from_millis(turn.tick.saturating_mul(1 << TICK_BITS)))
    }

    fn next_turn(&self) -> Option<Turn> {
        let turns = self.occupied.iter().enumerate().filter(|(_, mask)| **mask != 0).map(|(level, mask)| {
            let first = (self.elapsed >> shift(level)).saturating_add(1);
            let ahead = mask.rotate_right((first & MASK) as u32).trailing_zeros();
            let at = first.saturating_add(u64::from(ahead));
            Turn { tick: at << shift(level), level, index: (at & MASK) as usize }
        });
        // Upper levels first, so that a bucket is unpacked before its first tick is done.
        turns.min_by_key(|turn| (turn.tick, LEVELS.wrapping_sub(turn.level)))
    }

    fn bucket(&mut self, level: usize, index: usize) -> Option<(&mut List, &mut u64)> {
        Some((self.buckets.get_mut(level)?.get_mut(index)?, self.occupied.get_mut(level)?))
    }
}

const fn shift(level: usize) -> u32 {
    LEVEL_BITS.wrapping_mul(level as u32)
}

/// The first tick that is not before `deadline`.
fn tick_of(deadline: Instant) -> u64 {
    deadline.as_millis().saturating_add((1 << TICK_BITS) - 1) >> TICK_BITS
}
