//! The whole JSON grammar, without recursion and without building anything.

use super::cursor::{Cursor, controls, equals};
use super::{Grammar, unescape};
use crate::code::Fault;

/// Every byte is checked as RFC 8259 has it; half a surrogate pair is refused too.
pub(crate) struct Strict;

impl Grammar for Strict {
    fn string<'f>(cursor: &mut Cursor<'f>) -> Result<&'f [u8], Fault> {
        cursor.skip(1);
        let start = cursor.at();
        loop {
            if let Some(word) = cursor.word() {
                let special = equals(word, b'"') | equals(word, b'\\') | controls(word);
                cursor.skip((special.trailing_zeros() / 8) as usize);
                if special == 0 {
                    continue;
                }
            }
            match cursor.peek() {
                Some(b'"') => {
                    let inside = cursor.since(start);
                    cursor.skip(1);
                    return Ok(inside);
                }
                Some(b'\\') => escape(cursor)?,
                Some(0x20..) => cursor.skip(1),
                _ => return Err(Fault::NotJson),
            }
        }
    }

    fn value(cursor: &mut Cursor<'_>, depth: u16) -> Result<(), Fault> {
        match cursor.peek_token() {
            Some(b'{' | b'[') => containers(cursor, depth),
            other => scalar(cursor, other),
        }
    }
}

/// A value that holds no others; the cursor stands on its first byte.
#[inline(always)]
fn scalar(cursor: &mut Cursor<'_>, first: Option<u8>) -> Result<(), Fault> {
    match first {
        Some(b'"') => Strict::string(cursor).map(drop),
        Some(b't') => cursor.literal(b"true"),
        Some(b'f') => cursor.literal(b"false"),
        Some(b'n') => cursor.literal(b"null"),
        Some(b'-' | b'0'..=b'9') => number(cursor),
        _ => Err(Fault::NotJson),
    }
}

/// The cursor stands on the bracket of a container, itself `depth` containers deep.
fn containers(cursor: &mut Cursor<'_>, depth: u16) -> Result<(), Fault> {
    let mut nesting = cursor.nesting(depth);
    loop {
        match cursor.peek_token() {
            Some(open @ (b'{' | b'[')) => {
                let object = open == b'{';
                nesting.enter(object)?;
                cursor.skip(1);
                let close = if object { b'}' } else { b']' };
                if cursor.peek_token() == Some(close) {
                    cursor.skip(1);
                    nesting.leave();
                } else {
                    if object {
                        key(cursor)?;
                    }
                    continue;
                }
            }
            other => scalar(cursor, other)?,
        }
        // A value has ended: what follows it belongs to the containers around it.
        loop {
            if nesting.depth() == depth {
                return Ok(());
            }
            match (cursor.peek_token(), nesting.in_object()) {
                (Some(b','), object) => {
                    cursor.skip(1);
                    if object {
                        key(cursor)?;
                    }
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    cursor.skip(1);
                    nesting.leave();
                }
                _ => return Err(Fault::NotJson),
            }
        }
    }
}

fn key(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    if cursor.peek_token() != Some(b'"') {
        return Err(Fault::NotJson);
    }
    Strict::string(cursor)?;
    cursor.expect(b':')
}

/// The cursor stands on a backslash.
fn escape(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    match cursor.rest() {
        [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => cursor.skip(2),
        [_, b'u', ..] => {
            let unit = unescape::unit(cursor.rest()).ok_or(Fault::NotJson)?;
            cursor.skip(6);
            match unit {
                0xdc00..=0xdfff => return Err(Fault::LoneSurrogate),
                0xd800..=0xdbff => {
                    let Some(0xdc00..=0xdfff) = unescape::unit(cursor.rest()) else {
                        return Err(Fault::LoneSurrogate);
                    };
                    cursor.skip(6);
                }
                _ => {}
            }
        }
        _ => return Err(Fault::NotJson),
    }
    Ok(())
}

fn number(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    if cursor.peek() == Some(b'-') {
        cursor.skip(1);
    }
    match cursor.peek() {
        Some(b'0') => cursor.skip(1),
        Some(b'1'..=b'9') => digits(cursor)?,
        _ => return Err(Fault::NotJson),
    }
    if cursor.peek() == Some(b'.') {
        cursor.skip(1);
        digits(cursor)?;
    }
    if let Some(b'e' | b'E') = cursor.peek() {
        cursor.skip(1);
        if let Some(b'+' | b'-') = cursor.peek() {
            cursor.skip(1);
        }
        digits(cursor)?;
    }
    Ok(())
}

/// One digit at least.
fn digits(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let count = cursor.rest().iter().take_while(|b| b.is_ascii_digit()).count();
    cursor.skip(count);
    if count == 0 { Err(Fault::NotJson) } else { Ok(()) }
}
