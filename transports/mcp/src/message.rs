//! One JSON-RPC message, borrowed from its bytes: what kind it is, and which parts of it matter.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::provider::RpcError;

/// An id or a progress token longer than this is refused: both are echoed and held while a call runs.
pub(crate) const MAX_TOKEN: usize = 256;

/// The `_meta` keys that a modern request must have.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A message by its kind.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request { id: &'a str, method: Cow<'a, str>, params: &'a str },
    Notification { method: Cow<'a, str>, params: &'a str },
    Response { id: &'a str, result: Result<&'a str, &'a str> },
}

/// Why a message is none, and the id to answer with where one could be read.
#[derive(Debug)]
pub(crate) struct Malformed<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) error: RpcError,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps `null` apart from a missing member.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

impl<'a> Message<'a> {
    /// Reads one message (not a batch).
    pub(crate) fn read(text: &'a str) -> Result<Self, Malformed<'a>> {
        // A derived struct would also take a JSON array, field by field.
        if !text.trim_ascii_start().starts_with('{') {
            let error = match serde_json::from_str::<&RawValue>(text) {
                Ok(_) => RpcError::invalid_request("a message is a JSON object"),
                Err(_) => RpcError::parse(),
            };
            return Err(Malformed { id: None, error });
        }
        let envelope: Envelope<'a> = serde_json::from_str(text).map_err(|error| Malformed {
            id: None,
            error: if error.is_data() {
                RpcError::invalid_request("members of the wrong type, or twice")
            } else {
                RpcError::parse()
            },
        })?;
        let bad = |id, text: &str| Malformed { id, error: RpcError::invalid_request(text) };
        let id = match envelope.id.map(RawValue::get) {
            Some(raw) if is_token(raw) => Some(raw),
            Some(_) => return Err(bad(None, "an id is a string or a number of at most 256 bytes")),
            None => None,
        };
        if envelope.jsonrpc.as_deref() != Some("2.0") {
            return Err(bad(id, "jsonrpc must be \"2.0\""));
        }
        let Some(method) = envelope.method else {
            let result = match (envelope.result, envelope.error) {
                (Some(result), None) => Ok(result.get()),
                (None, Some(error)) => Err(error.get()),
                _ => return Err(bad(id, "neither a request nor a response")),
            };
            let id = id.ok_or_else(|| bad(None, "a response needs an id"))?;
            return Ok(Self::Response { id, result });
        };
        let Text(method) =
            serde_json::from_str(method.get()).map_err(|_| bad(id, "method must be a string"))?;
        let params = match envelope.params.map(RawValue::get) {
            None => "{}",
            Some(raw) if raw.starts_with('{') => raw,
            Some(_) => {
                return Err(Malformed { id, error: RpcError::invalid_params("params must be an object") });
            }
        };
        Ok(match id {
            Some(id) => Self::Request { id, method, params },
            None => Self::Notification { method, params },
        })
    }
}

/// A string that borrows where it can (`Cow` alone never does under serde).
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Whether this raw JSON can be an id or a progress token.
pub(crate) fn is_token(raw: &str) -> bool {
    raw.len() <= MAX_TOKEN && matches!(raw.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

/// The parts of `params._meta` that the session looks at.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) progress_token: Option<&'a str>,
    pub(crate) version: Option<Cow<'a, str>>,
    pub(crate) capabilities: Option<&'a str>,
    pub(crate) client: Option<Arc<str>>,
}

impl<'a> Meta<'a> {
    /// Reads it from a request's params.
    pub(crate) fn of(params: &'a str) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow, rename = "_meta", default)]
            meta: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Members<'a> {
            #[serde(borrow, rename = "progressToken", default)]
            progress_token: Option<&'a RawValue>,
            #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion", default)]
            version: Option<&'a RawValue>,
            #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities", default)]
            capabilities: Option<&'a RawValue>,
            #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo", default)]
            client: Option<&'a RawValue>,
        }
        let wrong = |text: &str| RpcError::invalid_params(text).at(400);
        let params: Params<'a> = serde_json::from_str(params).map_err(|_| wrong("unreadable params"))?;
        let Some(meta) = params.meta else { return Ok(Self::default()) };
        if !meta.get().starts_with('{') {
            return Err(wrong("_meta must be an object"));
        }
        let members: Members<'a> = serde_json::from_str(meta.get()).map_err(|_| wrong("unreadable _meta"))?;
        let version = members
            .version
            .map(|raw| serde_json::from_str::<Text<'a>>(raw.get()))
            .transpose()
            .map_err(|_| wrong("_meta protocolVersion must be a string"))?
            .map(|text| text.0);
        Ok(Self {
            progress_token: members.progress_token.map(RawValue::get).filter(|raw| is_token(raw)),
            version,
            capabilities: members.capabilities.map(RawValue::get).filter(|raw| raw.starts_with('{')),
            client: members.client.and_then(client_name),
        })
    }
}

/// No more of a client's name than this many characters is kept.
const NAME: usize = 64;

/// The name in a client's description of itself; whatever is wrong with that is no reason to refuse the client.
pub(crate) fn client_name(info: &RawValue) -> Option<Arc<str>> {
    #[derive(Deserialize)]
    struct Info<'a> {
        #[serde(borrow)]
        name: Text<'a>,
    }
    let info: Info<'_> = serde_json::from_str(info.get()).ok()?;
    let name: String = info.name.0.trim().chars().take(NAME).collect();
    (!name.is_empty()).then(|| name.into())
}

/// The elements of a batch, or why it is none.
pub(crate) fn elements(text: &str, limit: usize) -> Result<Vec<&str>, RpcError> {
    let parts: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| RpcError::parse())?;
    if parts.is_empty() {
        return Err(RpcError::invalid_request("an empty batch"));
    }
    if parts.len() > limit {
        return Err(RpcError::invalid_request("too many messages in one batch"));
    }
    Ok(parts.into_iter().map(RawValue::get).collect())
}
