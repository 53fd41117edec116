//! The little that is done with JSON as text.

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The deepest that a body may nest: the parser goes no further.
pub(crate) const DEEPEST: usize = 128;

/// Whether lists and objects nest deeper than this. What is skipped unread is looked at, too.
#[must_use]
pub fn too_deep(text: &[u8], most: usize) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    text.iter().any(|byte| {
        match (byte, in_text) {
            _ if escaped => escaped = false,
            (b'\\', true) => escaped = true,
            (b'"', _) => in_text = !in_text,
            (b'[' | b'{', false) => depth += 1,
            (b']' | b'}', false) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// Halves of surrogate pairs that stand alone become U+FFFD. Pages have such text (an emoji cut in two), JavaScript
/// writes it as an escape, and a parser that keeps strings in UTF-8 can only refuse it.
pub(crate) fn mend(text: &mut [u8]) {
    let unit = |text: &[u8], at: usize| -> Option<u16> {
        let digits = text.get(at..at.checked_add(6)?)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += next;
        match unit(text, at) {
            Some(0xd800..=0xdbff) if matches!(unit(text, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                text[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn depth_is_counted_outside_of_strings_only() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(!super::too_deep(nested(128).as_bytes(), 128));
        assert!(super::too_deep(nested(129).as_bytes(), 128));
        assert!(!super::too_deep(format!(r#"["\\\"{}"]"#, nested(200)).as_bytes(), 128));
        assert!(!super::too_deep("[],".repeat(200).as_bytes(), 1));
    }

    #[test]
    fn lone_halves_are_mended_and_pairs_are_left() {
        let mut text = br#"{"a":"\ud83d\ude00 \ud83d \udc00 \\ud800 \n"}"#.to_vec();
        super::mend(&mut text);
        assert_eq!(text, br#"{"a":"\ud83d\ude00 \ufffd \ufffd \\ud800 \n"}"#);
    }
}
