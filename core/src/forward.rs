//! What is passed on: borrowed spans of the frame that came in, between a few bytes of the hub's own.

use crate::slots::{CallId, ConnId};
use crate::text::Writer;

/// Room for the longest of the hub's own parts: an id of 256 bytes, or an envelope's head and tail.
const INLINE: usize = 304;

/// A message to write to `to` now, before anything else for `to`. Its parts borrow from the frame it came from.
#[must_use = "an unwritten forward is a lost call or answer"]
#[derive(Debug)]
pub struct Forward<'f> {
    to: ConnId,
    call: Option<CallId>,
    inline: [u8; INLINE],
    cuts: [u16; 3],
    borrowed: [&'f [u8]; 3],
}

impl<'f> Forward<'f> {
    /// The connection to write to.
    #[must_use]
    pub const fn to(&self) -> ConnId {
        self.to
    }

    /// The call that this is the envelope or the answer of; `None` for an answer to a request that was never accepted.
    #[must_use]
    pub const fn call(&self) -> Option<CallId> {
        self.call
    }

    /// The bytes to write, in order. Some may be empty.
    #[must_use]
    pub fn parts(&self) -> [&[u8]; 6] {
        let [a, b, c] = self.cuts.map(usize::from);
        let [first, second, third] = self.borrowed;
        let inline = |from, to| self.inline.get(from..to).unwrap_or_default();
        [first, inline(0, a), second, inline(a, b), third, inline(b, c)]
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts().iter().fold(0, |sum: usize, part| sum.saturating_add(part.len()))
    }

    /// Whether there is nothing to write; there always is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Builds the hub's own parts with `write`, which marks the two inner cuts.
    pub(crate) fn build(
        to: ConnId,
        call: Option<CallId>,
        borrowed: [&'f [u8]; 3],
        write: impl FnOnce(&mut Writer<'_>) -> (usize, usize),
    ) -> Self {
        let mut inline = [0; INLINE];
        let mut writer = Writer::new(&mut inline);
        let (a, b) = write(&mut writer);
        let c = writer.len();
        let cut = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        Self { to, call, inline, cuts: [cut(a), cut(b), cut(c)], borrowed }
    }
}
