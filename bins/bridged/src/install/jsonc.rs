//! One member of an object in a JSON file of somebody else's, set or removed in the text: whatever else is in the file, its
//! order, its indentation, its comments, stays as it was. Every change is checked by parsing before and after.

use std::ops::Range;

use serde_json::{Map, Value};

/// The order in which people write these; what else there is follows.
const ORDER: [&str; 3] = ["type", "command", "args"];

/// The member `name` of the object `section` at the top, if there is one.
pub(crate) fn get(text: &str, section: &str, name: &str) -> Result<Option<Value>, String> {
    Ok(parse(text)?.get(section).and_then(|section| section.get(name)).cloned())
}

/// The text with that member set to `entry`.
pub(crate) fn set(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let before = parse(text)?;
    let plain = blanked(text);
    let top = object_at(&plain, 0)?;
    let unit = top.members.first().map_or("  ".to_owned(), |m| indentation(text, m.whole.start));
    let unit = if unit.is_empty() && !is_compact(text, &top) { "  ".to_owned() } else { unit };
    let changed = match top.member(section)? {
        None => {
            let inner = render(&Map::from_iter([(name.to_owned(), entry.clone())]).into(), &unit, &unit);
            insert(text, &top, section, &inner, "", &unit)
        }
        Some(found) => {
            let held = object_at(&plain, found.value.start)?;
            let level = indentation(text, found.whole.start);
            let inside = held
                .members
                .first()
                .map_or_else(|| format!("{level}{unit}"), |first| indentation(text, first.whole.start));
            match held.member(name)? {
                Some(old) => replaced(text, old.value.clone(), &render(entry, &inside, &unit)),
                None => insert(text, &held, name, &render(entry, &inside, &unit), &level, &inside),
            }
        }
    };
    let mut wanted = before;
    let members = wanted.as_object_mut().ok_or("it holds no object")?;
    let section = members.entry(section).or_insert_with(|| Value::Object(Map::new()));
    section
        .as_object_mut()
        .ok_or("its section for MCP servers is no object")?
        .insert(name.to_owned(), entry.clone());
    verified(changed, &wanted)
}

/// The text without that member.
pub(crate) fn remove(text: &str, section: &str, name: &str) -> Result<String, String> {
    let mut wanted = parse(text)?;
    let plain = blanked(text);
    let top = object_at(&plain, 0)?;
    let Some(found) = top.member(section)? else { return Ok(text.to_owned()) };
    let held = object_at(&plain, found.value.start)?;
    let Some(at) = held.members.iter().position(|m| m.name == name) else { return Ok(text.to_owned()) };
    held.member(name)?;
    let cut = match (at.checked_sub(1).and_then(|i| held.members.get(i)), held.members.get(at + 1)) {
        (Some(previous), _) => previous.whole.end..held.members[at].whole.end,
        (None, Some(next)) => held.members[at].whole.start..next.whole.start,
        (None, None) => held.inner.clone(),
    };
    let changed = replaced(text, cut, "");
    if let Some(section) = wanted.get_mut(section).and_then(Value::as_object_mut) {
        section.remove(name);
    }
    verified(changed, &wanted)
}

fn verified(changed: String, wanted: &Value) -> Result<String, String> {
    match parse(&changed) {
        Ok(found) if found == *wanted => Ok(changed),
        _ => Err("its form is one that this program does not dare to change".to_owned()),
    }
}

/// A member of an object: its name and where it stands.
struct Member {
    name: String,
    whole: Range<usize>,
    value: Range<usize>,
}

/// An object: what is between its braces, and its members.
struct Object {
    inner: Range<usize>,
    members: Vec<Member>,
}

impl Object {
    /// The only member of that name.
    fn member(&self, name: &str) -> Result<Option<&Member>, String> {
        let mut named = self.members.iter().filter(|m| m.name == name);
        match (named.next(), named.next()) {
            (_, Some(_)) => Err(format!("it names `{name}` twice")),
            (found, None) => Ok(found),
        }
    }
}

/// The object that begins at or after `from`. The text is known to be JSON.
fn object_at(plain: &str, from: usize) -> Result<Object, String> {
    let bytes = plain.as_bytes();
    let mut at = space(bytes, from);
    if bytes.get(at) != Some(&b'{') {
        return Err("an object was expected where it holds something else".to_owned());
    }
    at += 1;
    let opened = at;
    let mut members = Vec::new();
    loop {
        at = space(bytes, at);
        match bytes.get(at) {
            Some(b'}') => return Ok(Object { inner: opened..at, members }),
            Some(b',') => at += 1,
            Some(b'"') => {
                let start = at;
                at = end_of(bytes, at);
                let name = serde_json::from_str(&plain[start..at]).map_err(|e| e.to_string())?;
                at = space(bytes, at) + 1;
                let value = space(bytes, at);
                at = end_of(bytes, value);
                members.push(Member { name, whole: start..at, value: value..at });
            }
            _ => return Err("it ends too early".to_owned()),
        }
    }
}

fn space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Where the value that begins at `at` ends.
fn end_of(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    let mut quoted = false;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' if quoted => at += 1,
            b'"' => {
                quoted = !quoted;
                if !quoted && depth == 0 {
                    break;
                }
            }
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            _ if depth == 0 && matches!(bytes.get(at), Some(b',' | b'}' | b']') | None) => break,
            _ if depth == 0 && bytes.get(at).is_some_and(u8::is_ascii_whitespace) => break,
            _ => {}
        }
    }
    at.min(bytes.len())
}

fn parse(text: &str) -> Result<Value, String> {
    let value: Value =
        serde_json::from_str(&blanked(text)).map_err(|e| format!("it is not valid JSON: {e}"))?;
    if value.is_object() { Ok(value) } else { Err("it holds no object".to_owned()) }
}

/// The same text with spaces for comments and for commas after a last member: plain JSON in the same places.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = bytes.to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        let start = at;
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of(bytes, at);
                comma = None;
            }
            (b'/', Some(b'/')) => {
                at = bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n);
                plain[start..at].fill(b' ');
            }
            (b'/', Some(b'*')) => {
                let end = text.get(at + 2..).and_then(|rest| rest.find("*/"));
                at = end.map_or(bytes.len(), |n| at + n + 4);
                plain[start..at].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
            }
            (b',', _) => (comma, at) = (Some(at), at + 1),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    plain[comma] = b' ';
                }
                at += 1;
            }
            (byte, _) => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole characters were blanked, by ASCII.
    String::from_utf8(plain).unwrap_or_default()
}

/// The blank text between the line's start and `at`, if nothing else stands there.
fn indentation(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let lead = &text[line..at];
    if line > 0 && lead.bytes().all(|b| b == b' ' || b == b'\t') { lead.to_owned() } else { String::new() }
}

fn is_compact(text: &str, object: &Object) -> bool {
    !object.members.is_empty() && !text[object.inner.clone()].contains('\n')
}

fn insert(text: &str, object: &Object, name: &str, value: &str, outside: &str, inside: &str) -> String {
    let name = Value::from(name);
    match object.members.last() {
        Some(last) if is_compact(text, object) => {
            // A line that holds everything stays one.
            let value =
                serde_json::from_str::<Value>(value).map_or_else(|_| value.to_owned(), |v| v.to_string());
            replaced(text, last.whole.end..last.whole.end, &format!(",{name}:{value}"))
        }
        Some(last) => replaced(text, last.whole.end..last.whole.end, &format!(",\n{inside}{name}: {value}")),
        None => {
            let blank = text[object.inner.clone()].trim().is_empty();
            let place = if blank { object.inner.clone() } else { object.inner.start..object.inner.start };
            let tail = if blank { format!("\n{outside}") } else { String::new() };
            replaced(text, place, &format!("\n{inside}{name}: {value}{tail}"))
        }
    }
}

fn replaced(text: &str, place: Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..place.start], &text[place.end..])
}

/// A value over several lines, the first of them without its indentation.
fn render(value: &Value, level: &str, unit: &str) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let known = ORDER.iter().filter_map(|name| members.get_key_value(*name));
            let others = members.iter().filter(|(name, _)| !ORDER.contains(&name.as_str()));
            let inside = format!("{level}{unit}");
            let lines: Vec<String> = known
                .chain(others)
                .map(|(name, v)| {
                    format!("{inside}{}: {}", Value::from(name.as_str()), render(v, &inside, unit))
                })
                .collect();
            format!("{{\n{}\n{level}}}", lines.join(",\n"))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|v| render(v, level, unit)).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may stop at the first surprise

    use super::{get, remove, set};
    use serde_json::{Value, json};

    fn entry() -> Value {
        json!({"command": "/bin/bridged", "args": ["mcp"]})
    }

    #[test]
    fn a_new_file_and_an_empty_one_get_the_entry_alone() {
        let wanted = "{\n  \"mcpServers\": {\n    \"bridged\": {\n      \"command\": \"/bin/bridged\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
        assert_eq!(set("", "mcpServers", "bridged", &entry()).unwrap(), wanted);
        assert_eq!(set("{}\n", "mcpServers", "bridged", &entry()).unwrap(), wanted);
    }

    #[test]
    fn comments_order_and_indentation_of_the_rest_stay() {
        let text = "// mine\n{\n\t\"z\": 1, // first\n\t\"servers\": {\n\t\t\"other\": { \"command\": \"x\" }, /* last */\n\t},\n}\n";
        let changed = set(text, "servers", "bridged", &entry()).unwrap();
        assert!(changed.starts_with("// mine\n{\n\t\"z\": 1, // first\n\t\"servers\": {\n\t\t\"other\": { \"command\": \"x\" },\n\t\t\"bridged\": {\n\t\t\t\"command\""), "{changed}");
        assert!(changed.contains("/* last */"));
        assert_eq!(get(&changed, "servers", "bridged").unwrap(), Some(entry()));
        assert_eq!(
            get(&remove(&changed, "servers", "bridged").unwrap(), "servers", "bridged").unwrap(),
            None
        );
    }

    #[test]
    fn what_was_added_is_removed_to_the_byte() {
        for text in [
            "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"other\": {}\n  },\n  \"b\": [\"}\", \"\\\"\"]\n}\n",
            "{\"a\":1,\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
        ] {
            let added = set(text, "mcpServers", "bridged", &entry()).unwrap();
            assert_ne!(added, text);
            assert_eq!(remove(&added, "mcpServers", "bridged").unwrap(), text);
        }
    }

    #[test]
    fn an_entry_is_replaced_in_its_place() {
        let text = "{\n  \"mcpServers\": {\n    \"bridged\": {\"command\": \"old\"},\n    \"z\": {}\n  }\n}";
        let changed = set(text, "mcpServers", "bridged", &entry()).unwrap();
        assert!(changed.contains("    },\n    \"z\": {}") && !changed.contains("old"), "{changed}");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in ["[]", "{", "{\"mcpServers\": 1}", "{\"mcpServers\":{},\"mcpServers\":{}}", "key: value"]
        {
            assert!(set(text, "mcpServers", "bridged", &entry()).is_err(), "{text}");
        }
    }
}
