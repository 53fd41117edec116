//! A tool call's arguments as a method's params.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::list::Tool;
use crate::json::Json;
use crate::provider::RpcError;

/// The bridge's own deadline; a longer wait that the caller asks for needs a longer deadline.
const DEADLINE_MS: u64 = 30_000;
const MARGIN_MS: u64 = 5_000;
const LONGEST_MS: u64 = 600_000;

/// The params to call with (the arguments as they are, but for targets that a model wrote as a string), and the
/// deadline where it differs from the default.
pub(super) fn to_params(tool: &Tool, arguments: &str) -> Result<(String, Option<u32>), RpcError> {
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
    Ok((with_targets(tool, arguments)?.unwrap_or_else(|| arguments.to_owned()), deadline))
}

/// A target written as a string: the command line's short form, a ref of a snapshot, or JSON. `None` where there is none.
fn with_targets(tool: &Tool, arguments: &str) -> Result<Option<String>, RpcError> {
    if tool.targets.is_empty() {
        return Ok(None);
    }
    let Some(Json::Object(mut members)) = Json::read(arguments) else { return Ok(None) };
    let mut changed = false;
    for (name, value) in &mut members {
        let Json::String(text) = value else { continue };
        if !tool.targets.contains(name) {
            continue;
        }
        let target = match reference(text) {
            Some(reference) => format!(r#"{{"ref":"{reference}"}}"#),
            None => bridge_catalogue::parse_target(text).map_err(RpcError::invalid_params)?.to_string(),
        };
        *value = Json::read(&target).unwrap_or(Json::Null);
        changed = true;
    }
    Ok(changed.then(|| Json::Object(members).to_string()))
}

/// A snapshot's name for an element, with or without `ref=` before it.
fn reference(text: &str) -> Option<&str> {
    let name = text.strip_prefix("ref=").unwrap_or(text);
    let plain =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':'));
    (plain && (name.len() < text.len() || name.starts_with("backend-"))).then_some(name)
}
