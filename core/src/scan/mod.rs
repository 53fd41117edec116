//! Reading frames without a JSON library: spans, never values.
//!
//! Two grammars share one walk over the members of an object. [`Strict`] checks every byte as RFC 8259 has it and is
//! for what clients say: small frames, whose `params` are passed on as they are. [`Loose`] finds where values end and
//! no more, and is for browsers' answers: large frames, which the hub only labels with the asker's id.
//!
//! Wherever the hub reads an object by key, a key written with a backslash or written twice is refused: two readers
//! must never see two different requests in the same bytes.

mod cursor;
mod loose;
mod object;
mod prefix;
mod strict;
mod token;

pub(crate) use cursor::Cursor;
pub(crate) use loose::Loose;
pub(crate) use object::{member, object, whole};
pub(crate) use prefix::prefix;
pub(crate) use strict::Strict;
pub(crate) use token::{Token, unescape};

use crate::code::Fault;

/// The deepest nesting of objects and arrays that a host may allow: so many can be kept count of.
pub(crate) const DEEPEST: u16 = 1024;

/// The most keys on one level that the hub reads by key.
pub(crate) const KEYS: usize = 64;

/// How much of the JSON grammar is checked.
pub(crate) trait Grammar {
    /// Passes a string; the cursor stands on its opening quote. Returns its inside.
    fn string<'f>(cursor: &mut Cursor<'f>) -> Result<&'f [u8], Fault>;
    /// Passes any value that stands `depth` containers deep.
    fn value(cursor: &mut Cursor<'_>, depth: u16) -> Result<(), Fault>;
}
