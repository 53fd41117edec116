//! Text of pages and peers for people's eyes: nothing in it moves a cursor, turns the writing around, or hides.

use std::borrow::Cow;
use std::fmt::Write as _;

use bridge_core::deceptive;

/// Text for a terminal.
pub(crate) fn harmless(text: &str) -> String {
    // The joiners that Persian, Hindi and families of emoji are written with turn and hide nothing.
    let kept = |c: char| matches!(c, '\n' | '\t' | '\u{200c}' | '\u{200d}');
    let shown = |c: char| if deceptive(c) && !kept(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// JSON that says the same, with what JSON itself lets stand escaped too.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    // Between the tokens of a JSON text line ends are white space, and in a string they cannot stand.
    let odd = |c: char| deceptive(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if odd(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{harmless, json};
    use serde_json::{Value, json};

    #[test]
    fn a_page_cannot_write_escape_sequences_to_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\u{202e}c\n"), "a\u{fffd}[2Jb\u{fffd}c\n");
        assert_eq!(harmless("می\u{200c}خواهم 👩\u{200d}💻"), "می\u{200c}خواهم 👩\u{200d}💻");
        assert_eq!(harmless("\u{9b}2J\u{61c}\u{2028}\u{e0041}é👍"), "\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}é👍");
    }

    #[test]
    fn json_says_the_same_without_a_character_that_a_terminal_obeys() {
        let said = json!({"t\u{9b}": "\u{9b}2J\u{85}\u{202e}\u{e0041}\u{7f}\u{1b}é👍\n"});
        let text = serde_json::to_string_pretty(&said).unwrap_or_default();
        let shown = json(&text);
        assert!(shown.chars().all(|c| c == '\n' || !bridge_core::deceptive(c)), "{shown}");
        assert!(
            shown.contains("\\u009b2J\\u0085\\u202e\\udb40\\udc41\\u007f") && shown.contains("é👍"),
            "{shown}"
        );
        assert_eq!(serde_json::from_str::<Value>(&shown).ok(), Some(said));
        assert!(matches!(json("{\n\t\"a\": \"é\"}"), std::borrow::Cow::Borrowed(_)));
    }
}
