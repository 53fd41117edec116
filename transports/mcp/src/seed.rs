//! Names nobody can guess, from a seed the host supplies: the same seed gives the same names, so a run can be replayed.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A source of unguessable names. Its owner draws the seed from the system's randomness, once.
pub struct Seed {
    secret: [u8; 32],
    drawn: u64,
}

impl Seed {
    /// From 32 random bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self { secret, drawn: 0 }
    }

    /// A name of `length` (at most 32) letters and digits: five bits each.
    pub fn name(&mut self, length: usize) -> String {
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let bytes = self.draw(b"name");
        bytes.iter().take(length).map(|byte| char::from(LETTERS[usize::from(byte & 31)])).collect()
    }

    /// A seed of its own for a part of the whole.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.draw(b"seed"))
    }

    fn draw(&mut self, purpose: &[u8]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.secret);
        hash.update(purpose);
        hash.update(self.drawn.to_be_bytes());
        self.drawn = self.drawn.wrapping_add(1);
        hash.finalize().into()
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}
