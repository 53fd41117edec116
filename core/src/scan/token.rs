//! One value of a frame, as its raw text.

use crate::code::Fault;
use crate::scan::{Cursor, DEEPEST, Grammar, Strict};

/// A checked JSON value as it stands in the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'f>(&'f str);

impl<'f> Token<'f> {
    /// Passes and takes the value that the cursor stands on, one container deep. `frame` is what the cursor reads.
    pub(crate) fn take(cursor: &mut Cursor<'f>, frame: &'f str) -> Result<Self, Fault> {
        let start = cursor.at();
        Strict::value(cursor, 1)?;
        frame.get(start..cursor.at()).map(Self).ok_or(Fault::NotJson)
    }

    /// The inside of a string, escapes as they are written.
    pub(crate) fn string(self) -> Option<&'f str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// The inside of a string without escapes.
    pub(crate) fn plain(self) -> Option<&'f str> {
        self.string().filter(|it| !it.as_bytes().contains(&b'\\'))
    }

    /// To read inside an array.
    pub(crate) fn cursor(self) -> Cursor<'f> {
        Cursor::new(self.0.as_bytes(), DEEPEST)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// A number without sign, fraction or exponent.
    pub(crate) fn integer(self) -> Option<u64> {
        self.0.bytes().all(|b| b.is_ascii_digit()).then(|| self.0.parse().ok()).flatten()
    }
}

/// Reading the escapes of a string that was checked before.
pub(crate) mod unescape {
    /// The characters that the inside of a JSON string means. Half a surrogate pair comes out as U+FFFD.
    pub(crate) fn chars(inside: &str) -> impl Iterator<Item = char> {
        let mut rest = inside;
        core::iter::from_fn(move || {
            let c = rest.chars().next()?;
            if c != '\\' {
                rest = rest.get(c.len_utf8()..)?;
                return Some(c);
            }
            let (c, len) = match rest.as_bytes().get(1)? {
                b'b' => ('\u{8}', 2),
                b'f' => ('\u{c}', 2),
                b'n' => ('\n', 2),
                b'r' => ('\r', 2),
                b't' => ('\t', 2),
                b'u' => {
                    let high = unit(rest.as_bytes())?;
                    let low = rest.as_bytes().get(6..).and_then(unit).unwrap_or(0);
                    match char::decode_utf16([high, low]).next()? {
                        Ok(c) if c.len_utf16() == 2 => (c, 12),
                        Ok(c) => (c, 6),
                        Err(_) => (char::REPLACEMENT_CHARACTER, 6),
                    }
                }
                other => (char::from(*other), 2),
            };
            rest = rest.get(len..)?;
            Some(c)
        })
    }

    /// The unit of a `\uXXXX` that `text` begins with.
    pub(crate) fn unit(text: &[u8]) -> Option<u16> {
        let [b'\\', b'u', hex @ ..] = text else { return None };
        let digits = hex.first_chunk::<4>()?;
        digits.iter().try_fold(0u16, |unit, b| {
            let digit = char::from(*b).to_digit(16)?;
            Some((unit << 4) | u16::try_from(digit).ok()?)
        })
    }
}
