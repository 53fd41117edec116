//! A place in a frame.

use heapless::Vec;

use super::DEEPEST;
use crate::code::Fault;

/// Bytes, how far they have been read, and how deep they may nest.
#[derive(Clone)]
pub(crate) struct Cursor<'f> {
    bytes: &'f [u8],
    at: usize,
    depth: u16,
}

impl<'f> Cursor<'f> {
    pub(crate) const fn new(bytes: &'f [u8], depth: u16) -> Self {
        Self { bytes, at: 0, depth }
    }

    /// The containers around a value that stands `depth` of them deep.
    pub(crate) const fn nesting(&self, depth: u16) -> Nesting {
        Nesting { kinds: 0, depth, most: self.depth, outer: Vec::new() }
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

/// The levels whose kinds stand in one word.
const WORD: u16 = u64::BITS as u16;

/// The containers around a place: which kind each is, one bit a level. The innermost are at hand, the words of those
/// around them are stacked, so that only what is deep pays for it.
pub(crate) struct Nesting {
    kinds: u64,
    depth: u16,
    most: u16,
    outer: Vec<u64, { (DEEPEST / WORD) as usize }, u8>,
}

impl Nesting {
    pub(crate) const fn depth(&self) -> u16 {
        self.depth
    }

    pub(crate) const fn in_object(&self) -> bool {
        self.kinds & 1 == 1
    }

    pub(crate) fn enter(&mut self, object: bool) -> Result<(), Fault> {
        if self.depth >= self.most {
            return Err(Fault::TooDeep);
        }
        self.depth = self.depth.saturating_add(1);
        if self.depth.is_multiple_of(WORD) {
            self.outer.push(self.kinds).map_err(|_| Fault::TooDeep)?;
        }
        self.kinds = (self.kinds << 1) | u64::from(object);
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.kinds >>= 1;
        if self.depth.is_multiple_of(WORD) {
            self.kinds = self.outer.pop().unwrap_or_default();
        }
        self.depth = self.depth.saturating_sub(1);
    }
}
