//! What a frame says, read with serde_json: the second opinion on the hub's own scanner.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A JSON object with its top-level members as they stand in the text: raw keys (with their quotes) and raw values.
#[derive(Debug)]
pub struct Object<'a> {
    text: &'a str,
    members: Vec<(&'a str, &'a str)>,
}

/// Why a text is no acceptable JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// Not UTF-8.
    NotText,
    /// Not JSON, or more than one value, or no object at the top.
    NotObject,
    /// A `\u` escape that stands for half a character, anywhere in the text.
    LoneSurrogate,
    /// Nested deeper than allowed.
    TooDeep,
}

impl<'a> Object<'a> {
    /// Reads one strict JSON object whose containers nest at most `max_depth` deep, the object itself counted.
    pub fn read(frame: &'a [u8], max_depth: usize) -> Result<Self, Unfit> {
        let text = std::str::from_utf8(frame).map_err(|_| Unfit::NotText)?;
        let Members(members) = serde_json::from_str(text).map_err(|_| Unfit::NotObject)?;
        // From here on the text is known to be well-formed, so a naive walk over it is enough.
        let (depth, strings) = walk(text);
        if strings.into_iter().any(|s| serde_json::from_str::<String>(&text[s]).is_err()) {
            return Err(Unfit::LoneSurrogate);
        }
        if depth > max_depth {
            return Err(Unfit::TooDeep);
        }
        Ok(Object { text, members })
    }

    /// The members in the order of the text, as (raw key, raw value).
    pub fn members(&self) -> &[(&'a str, &'a str)] {
        &self.members
    }

    /// The raw value of the first member whose key, unescaped, is `name`.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.members.iter().find(|(key, _)| unquote(key).as_deref() == Some(name)).map(|&(_, value)| value)
    }

    /// How many members have the key `name`, unescaped.
    pub fn count(&self, name: &str) -> usize {
        self.members.iter().filter(|(key, _)| unquote(key).as_deref() == Some(name)).count()
    }

    /// Whether any top-level key is written with a backslash.
    pub fn has_escaped_key(&self) -> bool {
        self.members.iter().any(|(key, _)| key.contains('\\'))
    }

    /// Where a part of the text (a raw key or value of this object) stands in it.
    pub fn span(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + part.len()
    }
}

/// The string that a raw JSON token stands for, or nothing if it is no string.
pub fn unquote(token: &str) -> Option<String> {
    serde_json::from_str(token).ok()
}

/// The deepest nesting of a well-formed text and the spans of all its strings, keys included.
fn walk(text: &str) -> (usize, Vec<Range<usize>>) {
    let (mut depth, mut deepest, mut strings) = (0usize, 0usize, Vec::new());
    let mut bytes = text.bytes().enumerate();
    while let Some((start, byte)) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth -= 1,
            b'"' => {
                while let Some((at, byte)) = bytes.next() {
                    match byte {
                        b'\\' => drop(bytes.next()),
                        b'"' => {
                            strings.push(start..at + 1);
                            break;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    (deepest, strings)
}

struct Members<'a>(Vec<(&'a str, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    members.push((key.get(), value.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_spelling_and_their_place() {
        let text = br#" {"id" : "a\n","p\u0061":{"x":[1, 2]},"id":1e400} "#;
        let object = Object::read(text, 3).unwrap();
        assert_eq!(
            object.members(),
            [("\"id\"", "\"a\\n\""), ("\"p\\u0061\"", "{\"x\":[1, 2]}"), ("\"id\"", "1e400")]
        );
        assert_eq!(object.count("id"), 2);
        assert_eq!(object.get("pa"), Some("{\"x\":[1, 2]}"));
        assert!(object.has_escaped_key());
        assert_eq!(text[object.span(object.members()[1].1)], *br#"{"x":[1, 2]}"#);
    }

    #[test]
    fn what_is_no_strict_object_is_named() {
        let read = |text: &[u8]| Object::read(text, 3).map(|_| ()).unwrap_err();
        assert_eq!(read(b"\xff"), Unfit::NotText);
        for text in ["", "[]", "1", "{} {}", "{\"a\":1,}", "\u{feff}{}", "{\"a\":01}", "{a:1}", "[\"id\"]"] {
            assert_eq!(read(text.as_bytes()), Unfit::NotObject, "{text}");
        }
        assert_eq!(read(br#"{"a":"\ud800"}"#), Unfit::LoneSurrogate);
        assert_eq!(read(br#"{"a":{"\udc00":1}}"#), Unfit::LoneSurrogate);
        assert_eq!(read(br#"{"a":[[[]]]}"#), Unfit::TooDeep);
        assert!(Object::read(br#"{"a":"\ud83d\ude00","b":[{"c":"[[["}]}"#, 3).is_ok());
    }
}
