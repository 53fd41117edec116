//! Where values end, and no more: for large frames that are passed on unread.

use memchr::memchr2;

use super::Grammar;
use super::cursor::{Cursor, equals};
use crate::code::Fault;

/// Strings end, brackets match, and nothing nests deeper than allowed.
pub(crate) struct Loose;

impl Grammar for Loose {
    fn string<'f>(cursor: &mut Cursor<'f>) -> Result<&'f [u8], Fault> {
        cursor.skip(1);
        let start = cursor.at();
        pass_string(cursor)?;
        let inside = cursor.since(start);
        cursor.skip(1);
        Ok(inside)
    }

    fn value(cursor: &mut Cursor<'_>, depth: u16) -> Result<(), Fault> {
        match cursor.peek_token() {
            Some(b'"') => Self::string(cursor).map(drop),
            Some(b'{' | b'[') => container(cursor, depth),
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
                let len = cursor.rest().iter().position(ends).ok_or(Fault::NotJson)?;
                cursor.skip(len);
                Ok(())
            }
            _ => Err(Fault::NotJson),
        }
    }
}

/// Moves to the closing quote. Short strings are the rule, so the first words are looked at before memchr is called.
fn pass_string(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    loop {
        let mut found = false;
        for _ in 0..2 {
            let Some(word) = cursor.word() else { break };
            let special = equals(word, b'"') | equals(word, b'\\');
            cursor.skip((special.trailing_zeros() / 8) as usize);
            if special != 0 {
                found = true;
                break;
            }
        }
        if !found {
            let len = memchr2(b'"', b'\\', cursor.rest()).ok_or(Fault::NotJson)?;
            cursor.skip(len);
        }
        if cursor.peek() == Some(b'"') {
            return Ok(());
        }
        cursor.skip(2);
    }
}

fn container(cursor: &mut Cursor<'_>, depth: u16) -> Result<(), Fault> {
    let mut nesting = cursor.nesting(depth);
    loop {
        match cursor.peek() {
            Some(b'"') => {
                cursor.skip(1);
                pass_string(cursor)?;
            }
            Some(open @ (b'{' | b'[')) => nesting.enter(open == b'{')?,
            Some(close @ (b'}' | b']')) => {
                if nesting.in_object() != (close == b'}') {
                    return Err(Fault::NotJson);
                }
                nesting.leave();
                if nesting.depth() == depth {
                    cursor.skip(1);
                    return Ok(());
                }
            }
            Some(_) => {}
            None => return Err(Fault::NotJson),
        }
        cursor.skip(1);
    }
}
