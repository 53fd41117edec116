//! The daemon's own files under arbitrary content: an entry for the fuzz target, with what must hold.
//!
//! Not part of the public interface.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::config::{self, extension_id};
use crate::files::json_object;
use crate::keys::{Book, root_in};
use crate::places::Places;
use crate::policy::Rules;
use crate::record::Record;

/// The first byte says which file it is, the rest is its content.
pub fn files(data: &[u8]) {
    let Some((which, content)) = data.split_first() else { return };
    match which {
        b'k' => assert_eq!(root_in(content).is_some(), content.len() == 32),
        b'b' => again::<Book>(content),
        b'p' => {
            again::<Rules>(content);
            // Whatever times it names, they can be reckoned with.
            if let Ok(Rules { evaluate: Some(window), .. }) = json_object(content) {
                assert!(window.left().is_none_or(|left| left.as_millis() <= u128::from(window.until)));
            }
        }
        b'r' => again::<Record>(content),
        _ => configuration(content),
    }
}

/// What is taken is a JSON object, and written down and read again it is the same.
fn again<T: Serialize + DeserializeOwned>(content: &[u8]) {
    let Ok(first) = json_object::<T>(content) else { return };
    assert_eq!(content.trim_ascii_start().first(), Some(&b'{'));
    let written = serde_json::to_vec(&first).unwrap_or_default();
    let second = json_object::<T>(&written).map(|second| serde_json::to_vec(&second).unwrap_or_default());
    assert_eq!(second.as_ref(), Ok(&written));
}

/// What is taken is within its bounds; what is not is refused in one line.
fn configuration(content: &[u8]) {
    let Ok(text) = std::str::from_utf8(content) else { return };
    let places = Places {
        state: "/s".into(),
        config: "/c/config.toml".into(),
        config_home: "/c".into(),
        home: "/h".into(),
        extension: "/e".into(),
        socket: "/r/bridged.sock".into(),
        warning: None,
    };
    match config::settled_from(text, &places) {
        Ok(settings) => {
            assert!(settings.port > 0 && (1..=16384).contains(&settings.max_connections));
            assert!(settings.allow_extension.iter().all(|id| extension_id(id).is_ok()));
            assert!(settings.upload_roots.iter().flatten().all(|root| root.is_absolute()));
            assert!(settings.compat != config::Compat::Open, "that needs a flag beside it");
        }
        Err(trouble) => assert!(!trouble.to_string().contains('\n'), "{trouble}"),
    }
}
