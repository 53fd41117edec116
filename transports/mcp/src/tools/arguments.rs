//! A tool call's arguments as a method's params.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::list::{Targets, Tools};
use crate::json::{Json, quote};
use crate::mark::clean;
use crate::message::Text;
use crate::provider::RpcError;

/// The bridge's own deadline; a longer wait that the caller asks for needs a longer deadline.
const DEADLINE_MS: u64 = 30_000;
const MARGIN_MS: u64 = 5_000;
const LONGEST_MS: u64 = 600_000;
/// The bridge takes no more names in one object that it reads.
const NAMES: usize = 64;

/// The params to call with (the arguments as they are, but for targets that a model wrote as a string and names that it escaped),
/// and the deadline where it differs from the default.
///
/// What the bridge could not read is refused here, where it is known whose call it is: the bridge could only say so to nobody.
pub(super) fn to_params(
    tools: &Tools,
    method: &str,
    arguments: &str,
) -> Result<(String, Option<u32>), RpcError> {
    if !arguments.starts_with('{') {
        return Err(RpcError::invalid_params("arguments must be an object"));
    }
    let unreadable = |error| RpcError::invalid_params(format!("the arguments cannot be read: {error}"));
    let Members(members) = serde_json::from_str(arguments).map_err(unreadable)?;
    let json: Json = serde_json::from_str(arguments).map_err(unreadable)?;
    let wait: Option<u64> = json.get("timeout").and_then(Json::integer).and_then(|ms| ms.try_into().ok());
    let deadline = wait
        .map(|wait| wait.saturating_add(MARGIN_MS).min(LONGEST_MS))
        .filter(|deadline| *deadline > DEADLINE_MS)
        .and_then(|deadline| u32::try_from(deadline).ok());
    let params = match with_targets(tools, method, json)? {
        Some(params) => params,
        None => with_plain_names(arguments, &members),
    };
    Ok((params, deadline))
}

/// The arguments with their names as the bridge takes them: without escapes.
fn with_plain_names(arguments: &str, members: &[(Cow<'_, str>, &RawValue)]) -> String {
    if members.iter().all(|(name, _)| matches!(name, Cow::Borrowed(_))) {
        return arguments.to_owned();
    }
    let mut out = String::with_capacity(arguments.len());
    for (name, value) in members {
        out.push(if out.is_empty() { '{' } else { ',' });
        quote(&mut out, name);
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    out
}

/// The members of an object as they are written, none of them twice.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let (mut members, mut names) = (Vec::new(), BTreeSet::new());
                while let Some((Text(name), value)) = map.next_entry::<Text<'de>, &RawValue>()? {
                    if !names.insert(name.clone()) {
                        return Err(A::Error::custom(format_args!(
                            "`{}` stands there twice",
                            clean(&name, 100)
                        )));
                    }
                    if names.len() > NAMES {
                        return Err(A::Error::custom(format_args!("more than {NAMES} names")));
                    }
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// Puts objects in the place of targets that are strings. `None` where there is nothing to do.
fn with_targets(tools: &Tools, method: &str, mut json: Json) -> Result<Option<String>, RpcError> {
    let Some(targets) = tools.targets(method).filter(|targets| **targets != Targets::default()) else {
        return Ok(None);
    };
    Ok(convert(tools, targets, &mut json, true)?.then(|| json.to_string()))
}

/// Converts one method's params; whether anything was changed.
fn convert(tools: &Tools, targets: &Targets, params: &mut Json, outermost: bool) -> Result<bool, RpcError> {
    let Json::Object(members) = params else { return Ok(false) };
    let mut changed = false;
    for (name, value) in members {
        if targets.own.contains(name) {
            changed |= target(value)?;
        }
        let Json::Array(elements) = value else { continue };
        for (list, member) in &targets.listed {
            for element in elements.iter_mut().filter(|_| list == name) {
                let Json::Object(fields) = element else { continue };
                for (_, value) in fields.iter_mut().filter(|(key, _)| key == member) {
                    changed |= target(value)?;
                }
            }
        }
        // A batch within a batch is refused by the bridge, so it is not looked into.
        for element in elements.iter_mut().filter(|_| outermost && targets.calls.as_ref() == Some(name)) {
            let method = element.get("method").and_then(Json::text).unwrap_or_default();
            let Some(inner) = tools.targets(method) else { continue };
            let Json::Object(fields) = element else { continue };
            for (_, params) in fields.iter_mut().filter(|(key, _)| key == "params") {
                changed |= convert(tools, inner, params, false)?;
            }
        }
    }
    Ok(changed)
}

/// A target written as a string: the command line's short form, a ref of a snapshot, or JSON.
fn target(value: &mut Json) -> Result<bool, RpcError> {
    let Json::String(text) = value else { return Ok(false) };
    // In a batch this stands for an earlier step's result.
    if text.starts_with('$') && text.chars().nth(1).is_some_and(|next| next.is_ascii_digit()) {
        return Ok(false);
    }
    let target = match reference(text) {
        Some(reference) => format!(r#"{{"ref":"{reference}"}}"#),
        None => bridge_catalogue::parse_target(text).map_err(RpcError::invalid_params)?.to_string(),
    };
    *value = Json::read(&target).unwrap_or(Json::Null);
    Ok(true)
}

/// A snapshot's name for an element, with or without `ref=` before it.
fn reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("ref=").unwrap_or(text);
    let plain =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'));
    (plain && (name.len() < text.len() || name.starts_with("backend-"))).then_some(name)
}
