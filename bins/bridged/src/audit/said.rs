//! What an answer says that may be kept.

use serde::Deserialize;

use super::entry;

/// What an answer says that may be kept.
#[derive(Default)]
pub(super) struct Said {
    pub(super) success: bool,
    pub(super) code: Option<String>,
    pub(super) tab_id: Option<i64>,
    pub(super) origin: Option<String>,
}

impl Said {
    pub(super) fn read(answer: &[u8]) -> Said {
        #[derive(Deserialize)]
        struct Frame {
            #[serde(default)]
            success: bool,
            #[serde(default)]
            code: Option<String>,
            #[serde(default)]
            result: Option<Facts>,
        }
        // Of a result only this is looked at, and whatever else it is does no harm.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Facts {
            Some { tab_id: Option<i64>, url: Option<String> },
            Other(serde::de::IgnoredAny),
        }
        let Ok(frame) = serde_json::from_slice::<Frame>(answer) else { return Said::default() };
        let (tab_id, url) = match frame.result {
            Some(Facts::Some { tab_id, url }) => (tab_id, url),
            _ => (None, None),
        };
        let origin = url.as_deref().and_then(entry::origin);
        Said { success: frame.success, code: frame.code, tab_id, origin }
    }
}
