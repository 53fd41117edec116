//! A place in a frame.

use crate::code::Fault;

/// Bytes and how far they have been read.
#[derive(Clone)]
pub(crate) struct Cursor<'f> {
    bytes: &'f [u8],
    at: usize,
}

impl<'f> Cursor<'f> {
    pub(crate) const fn new(bytes: &'f [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The next byte that is no whitespace, not yet passed.
    pub(crate) fn peek_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.skip(1),
                other => return other,
            }
        }
    }

    /// Passes `byte`, after whitespace.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek_token() == Some(byte) {
            self.skip(1);
            Ok(())
        } else {
            Err(Fault::NotJson)
        }
    }

    /// Passes `text`, which must stand right here.
    pub(crate) fn literal(&mut self, text: &[u8]) -> Result<(), Fault> {
        if self.rest().starts_with(text) {
            self.skip(text.len());
            Ok(())
        } else {
            Err(Fault::NotJson)
        }
    }

    pub(crate) fn rest(&self) -> &'f [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn since(&self, start: usize) -> &'f [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// The next eight bytes as one little-endian number.
    pub(crate) fn word(&self) -> Option<u64> {
        self.rest().first_chunk().copied().map(u64::from_le_bytes)
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// High bits where `word` has the byte `b`. The lowest one set is exact; above it there may be false ones.
pub(crate) const fn equals(word: u64, b: u8) -> u64 {
    let zeroed = word ^ ONES.wrapping_mul(b as u64);
    zeroed.wrapping_sub(ONES) & !zeroed & HIGHS
}

/// High bits where `word` has a byte below 0x20, exact as in [`equals`].
pub(crate) const fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(0x20)) & !word & HIGHS
}

/// The containers around a place: which kind each is, one bit a level.
#[derive(Clone, Copy)]
pub(crate) struct Nesting {
    kinds: u128,
    depth: u32,
}

impl Nesting {
    pub(crate) const fn at(depth: u32) -> Self {
        Self { kinds: 0, depth }
    }

    pub(crate) const fn depth(self) -> u32 {
        self.depth
    }

    pub(crate) const fn in_object(self) -> bool {
        self.kinds & 1 == 1
    }

    pub(crate) fn enter(&mut self, object: bool) -> Result<(), Fault> {
        if self.depth >= super::DEPTH {
            return Err(Fault::TooDeep);
        }
        self.depth = self.depth.saturating_add(1);
        self.kinds = (self.kinds << 1) | u128::from(object);
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.kinds >>= 1;
    }
}
