//! A tool call's arguments as a method's params.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::list::{Targets, Tools};
use crate::json::Json;
use crate::provider::RpcError;

/// The bridge's own deadline; a longer wait that the caller asks for needs a longer deadline.
const DEADLINE_MS: u64 = 30_000;
const MARGIN_MS: u64 = 5_000;
const LONGEST_MS: u64 = 600_000;

/// The params to call with (the arguments as they are, but for targets that a model wrote as a string), and the
/// deadline where it differs from the default.
pub(super) fn to_params(
    tools: &Tools,
    method: &str,
    arguments: &str,
) -> Result<(String, Option<u32>), RpcError> {
    #[derive(Deserialize)]
    struct Known<'a> {
        #[serde(borrow, default)]
        timeout: Option<&'a RawValue>,
    }
    if !arguments.starts_with('{') {
        return Err(RpcError::invalid_params("arguments must be an object"));
    }
    let known: Known<'_> =
        serde_json::from_str(arguments).map_err(|_| RpcError::invalid_params("unreadable arguments"))?;
    let wait: Option<u64> = known.timeout.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let deadline = wait
        .map(|wait| wait.saturating_add(MARGIN_MS).min(LONGEST_MS))
        .filter(|deadline| *deadline > DEADLINE_MS)
        .and_then(|deadline| u32::try_from(deadline).ok());
    Ok((with_targets(tools, method, arguments)?.unwrap_or_else(|| arguments.to_owned()), deadline))
}

/// Puts objects in the place of targets that are strings. `None` where there is nothing to do.
fn with_targets(tools: &Tools, method: &str, arguments: &str) -> Result<Option<String>, RpcError> {
    let Some(targets) = tools.targets(method).filter(|targets| **targets != Targets::default()) else {
        return Ok(None);
    };
    let Some(mut json) = Json::read(arguments) else { return Ok(None) };
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
