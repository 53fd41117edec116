//! All that is left to chance in a run, from one seed.

use std::cell::Cell;

/// A stream of random numbers (splitmix64): small, fast, and the same everywhere.
#[derive(Debug)]
pub struct Chance(Cell<u64>);

impl Chance {
    /// The stream that belongs to this seed.
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut z = self.0.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `n - 1`; 0 if there is nothing to choose from.
    pub fn below(&self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.next() % n }
    }

    /// An index into a list of this length.
    pub fn index(&self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// From `from` to `to`, both included.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }

    /// True once in `n` times.
    pub fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Copy>(&self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// So many random bytes.
    pub fn bytes(&self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// 32 random bytes.
    pub fn key(&self) -> [u8; 32] {
        std::array::from_fn(|_| self.next() as u8)
    }
}
