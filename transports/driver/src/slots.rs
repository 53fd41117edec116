//! Slots in chunks that are made when they are first needed, and never move.

use bridge_core::Slots;

const CHUNK: usize = 64;

/// Growing storage for a hub: memory follows the largest number ever in use.
#[derive(Debug)]
pub struct Growing<T> {
    chunks: Vec<Box<[T]>>,
    limit: usize,
}

impl<T: Default> Growing<T> {
    /// Empty; grows up to `limit` slots, rounded up to whole chunks.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self { chunks: Vec::new(), limit }
    }
}

impl<T: Default> Slots<T> for Growing<T> {
    fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.chunks.get_mut(index / CHUNK)?.get_mut(index % CHUNK)
    }

    fn len(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    fn grow(&mut self) -> bool {
        if self.len() >= self.limit {
            return false;
        }
        self.chunks.push((0..CHUNK).map(|_| T::default()).collect());
        true
    }
}
