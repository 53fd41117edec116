//! The members of one object, by key, with the rules that keep two readers from seeing two things.

use super::{Cursor, DEEPEST, Grammar, KEYS, Loose};
use crate::code::Fault;

/// Walks the object that the cursor stands on, itself `depth` containers deep. `member` must pass each value.
pub(crate) fn object<'f, G: Grammar>(
    cursor: &mut Cursor<'f>,
    mut member: impl FnMut(&'f [u8], &mut Cursor<'f>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    cursor.expect(b'{')?;
    let mut seen = Keys::default();
    if cursor.peek_token() == Some(b'}') {
        cursor.skip(1);
        return Ok(());
    }
    loop {
        if cursor.peek_token() != Some(b'"') {
            return Err(Fault::NotJson);
        }
        let key = G::string(cursor)?;
        seen.note(key)?;
        cursor.expect(b':')?;
        cursor.peek_token();
        member(key, cursor)?;
        match cursor.peek_token() {
            Some(b',') => cursor.skip(1),
            Some(b'}') => {
                cursor.skip(1);
                return Ok(());
            }
            _ => return Err(Fault::NotJson),
        }
    }
}

/// Walks a frame that must be one object and nothing else, and nest no deeper than `depth`.
pub(crate) fn whole<'f, G: Grammar>(
    frame: &'f [u8],
    depth: u16,
    member: impl FnMut(&'f [u8], &mut Cursor<'f>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut cursor = Cursor::new(frame, depth);
    object::<G>(&mut cursor, member)?;
    match cursor.peek_token() {
        None => Ok(()),
        Some(_) => Err(Fault::NotJson),
    }
}

/// The raw value of `key` on the first level of `object`, which was checked before.
pub(crate) fn member<'f>(object: &'f [u8], key: &str) -> Option<&'f [u8]> {
    let mut found = None;
    whole::<Loose>(object, DEEPEST, |name, cursor| {
        let start = cursor.at();
        Loose::value(cursor, 1)?;
        if name == key.as_bytes() {
            found = Some(cursor.since(start));
        }
        Ok(())
    })
    .ok()?;
    found
}

/// The keys of one level so far.
#[derive(Default)]
struct Keys<'f>(heapless::Vec<&'f [u8], KEYS>);

impl<'f> Keys<'f> {
    fn note(&mut self, key: &'f [u8]) -> Result<(), Fault> {
        if key.contains(&b'\\') {
            return Err(Fault::EscapedKey);
        }
        if self.0.contains(&key) {
            return Err(Fault::DuplicateKey);
        }
        self.0.push(key).map_err(|_| Fault::TooManyKeys)
    }
}
