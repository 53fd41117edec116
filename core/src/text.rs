//! Short texts inside slots, and writing JSON into bounded buffers.

use core::fmt;

/// A text of at most `N` bytes, stored inline.
pub(crate) type Name<const N: usize> = heapless::String<N, u8>;

/// `text` cut to `N` bytes, with characters that could deceive a reader replaced by `?`.
pub(crate) fn label<const N: usize>(text: impl Iterator<Item = char>) -> Name<N> {
    let mut out = Name::new();
    for c in text {
        if out.push(if deceptive(c) { '?' } else { c }).is_err() {
            break;
        }
    }
    out
}

/// Whether a character does something to a terminal or to a reader, rather than to be read: control characters with line ends
/// and tabs among them, what turns the direction, and what cannot be seen.
pub fn deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Letters that only programs see.
            | '\u{e0000}'..='\u{e0fff}')
}

/// The whole of `text` if it fits and holds no control characters.
pub(crate) fn exact<const N: usize>(text: impl Iterator<Item = char>) -> Option<Name<N>> {
    let mut out = Name::new();
    for c in text {
        if c.is_control() || out.push(c).is_err() {
            return None;
        }
    }
    Some(out)
}

/// Writes into lent bytes and stops, whole characters only, when they are full.
pub(crate) struct Writer<'b> {
    bytes: &'b mut [u8],
    len: usize,
    full: bool,
}

impl<'b> Writer<'b> {
    pub(crate) fn new(bytes: &'b mut [u8]) -> Self {
        Self { bytes, len: 0, full: false }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// What was written; empty if it is no text.
    pub(crate) fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|it| core::str::from_utf8(it).ok()).unwrap_or_default()
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn put(&mut self, text: &[u8]) {
        let end = self.len.saturating_add(text.len());
        match self.bytes.get_mut(self.len..end) {
            Some(room) if !self.full => {
                room.copy_from_slice(text);
                self.len = end;
            }
            _ => self.full = true,
        }
    }

    pub(crate) fn number(&mut self, mut n: u64) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        loop {
            at = at.saturating_sub(1);
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0'.wrapping_add((n % 10) as u8);
            }
            n /= 10;
            if n == 0 {
                break;
            }
        }
        self.put(digits.get(at..).unwrap_or_default());
    }

    /// The inside of a JSON string.
    pub(crate) fn escaped(&mut self, text: &str) {
        self.escaped_up_to(text, usize::MAX);
    }

    /// The inside of a JSON string, ended by `…` where more than `max` bytes would be written.
    pub(crate) fn escaped_up_to(&mut self, text: &str, max: usize) {
        if text.len() <= max && !text.bytes().any(must_escape) {
            return self.put(text.as_bytes());
        }
        let start = self.len;
        let mut utf8 = [0u8; 4];
        for c in text.chars() {
            if self.len.saturating_sub(start).saturating_add(6) > max {
                return self.put("…".as_bytes());
            }
            match c {
                '"' => self.put(b"\\\""),
                '\\' => self.put(b"\\\\"),
                c if (c as u32) < 0x20 => {
                    const HEX: &[u8; 16] = b"0123456789abcdef";
                    let digit = |n: u32| HEX.get((n & 15) as usize).copied().unwrap_or(b'0');
                    self.put(&[b'\\', b'u', b'0', b'0', digit(c as u32 >> 4), digit(c as u32)]);
                }
                c => self.put(c.encode_utf8(&mut utf8).as_bytes()),
            }
        }
    }
}

impl fmt::Write for Writer<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.put(s.as_bytes());
        Ok(())
    }
}

fn must_escape(b: u8) -> bool {
    b < 0x20 || b == b'"' || b == b'\\'
}

/// FNV-1a, for fingerprints that no attacker gains from.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}
