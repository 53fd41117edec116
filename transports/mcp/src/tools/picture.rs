//! Pictures and documents: the base64 of a data URL is passed on as it is, inline or to a file, and never decoded here.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::shape::Shaped;
use super::{ToolsConfig, fault};
use crate::json::{Json, quote};
use crate::mark::origin;
use crate::message::Text;
use crate::provider::{Body, SaveFile};

/// The result of a screenshot or a PDF; `result` lies within `frame`.
pub(super) fn picture(frame: Vec<u8>, result: std::ops::Range<usize>, config: &ToolsConfig) -> Shaped {
    #[derive(Deserialize)]
    struct Facts<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
        #[serde(default)]
        tab_id: Option<i64>,
        #[serde(borrow, default)]
        url: Option<Text<'a>>,
        #[serde(default)]
        width: Option<Json>,
        #[serde(default)]
        height: Option<Json>,
    }
    let text =
        frame.get(result.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    let Ok(facts) = serde_json::from_str::<Facts<'_>>(text) else {
        return Shaped::Body(fault::fault("INVALID_RESPONSE", "the answer holds no picture", false));
    };
    let raw = facts.data.get();
    // Where the data URL lies in the frame: inside `text`, one quote further on.
    let at = raw.as_ptr().addr().saturating_sub(text.as_ptr().addr()).saturating_add(result.start);
    let url = facts.url.map(|url| origin(&url.0)).unwrap_or_default();
    let mut note = String::new();
    if let Some(tab) = facts.tab_id {
        note.push_str(&format!("tab {tab}, "));
    }
    note.push_str(&url);
    if let (Some(width), Some(height)) =
        (facts.width.and_then(|w| w.integer()), facts.height.and_then(|h| h.integer()))
    {
        note.push_str(&format!(", {width} x {height} px"));
    }

    let Some((mime, prefix)) = data_url(raw) else {
        return Shaped::Body(fault::fault("INVALID_RESPONSE", "the picture is no data URL", false));
    };
    // A string with escapes cannot be spliced; such answers come from other extensions only.
    let (frame, span) = if raw.contains('\\') {
        let Ok(Text(whole)) = serde_json::from_str(raw) else {
            return Shaped::Body(fault::fault("INVALID_RESPONSE", "the picture is unreadable", false));
        };
        let rest = whole.split_once(',').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        let span = 0..rest.len();
        (rest.into_bytes(), span)
    } else {
        let end = at.saturating_add(raw.len()).saturating_sub(1);
        (frame, at.saturating_add(prefix)..end)
    };
    if span.len() > config.max_inline {
        return Shaped::Save { file: SaveFile::new(mime.clone(), extension(&mime), frame, span), note };
    }
    let base64 = frame.get(span).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    if !base64.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')) {
        return Shaped::Body(fault::fault("INVALID_RESPONSE", "the picture is no base64", false));
    }
    let mut out = String::with_capacity(base64.len() + 256);
    if mime.starts_with("image/") {
        out.push_str(r#""content":[{"type":"image","data":""#);
        out.push_str(base64);
        out.push_str(r#"","mimeType":"#);
        quote(&mut out, &mime);
    } else {
        out.push_str(r#""content":[{"type":"resource","resource":{"uri":"bridge:/result","mimeType":"#);
        quote(&mut out, &mime);
        out.push_str(r#","blob":""#);
        out.push_str(base64);
        out.push_str("\"}");
    }
    out.push_str(r#"},{"type":"text","text":"#);
    quote(&mut out, &note);
    out.push_str("}]");
    Shaped::Body(Body::new(out))
}

/// The media type of a raw JSON string that is a base64 data URL, and how long what stands before the base64 is.
fn data_url(raw: &str) -> Option<(String, usize)> {
    let head = raw.get(..raw.len().min(128)).unwrap_or(raw);
    let comma = head.find(',')?;
    let mime = head.get(..comma)?.strip_prefix("\"data:")?.strip_suffix(";base64")?.replace("\\/", "/");
    let sound =
        mime.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+' | b'.' | b'-'));
    sound.then_some((mime, comma + 1))
}

fn extension(mime: &str) -> &'static str {
    match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "application/pdf" => "pdf",
        _ => "bin",
    }
}
