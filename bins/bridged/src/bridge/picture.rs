//! A picture in a result: into a file or a pipe, never as base64 over a terminal.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use crate::saving;
use crate::trouble::{Outcome, Trouble};

/// Writes the data URL `data` where it belongs and says where that is.
pub(crate) fn deliver(result: &Value, data: &str, output: Option<&Path>, as_json: bool) -> Outcome<()> {
    let bytes = decode(data)?;
    let path = match output {
        Some(path) => {
            saving::save(path, &bytes)?;
            path.to_owned()
        }
        None if std::io::stdout().is_terminal() => write_new(&bytes, extension(data))?,
        None => return super::written(&bytes).map(drop),
    };
    if as_json {
        let mut rest = result.clone();
        rest["data"].take();
        rest["file"] = json!(path);
        if let Some(fields) = rest.as_object_mut() {
            fields.remove("data");
        }
        println!("{rest}");
        return Ok(());
    }
    let size = match (result["width"].as_u64(), result["height"].as_u64()) {
        (Some(width), Some(height)) => format!(" ({width} x {height})"),
        _ => String::new(),
    };
    println!("wrote {}{size}", path.display());
    Ok(())
}

/// The format that a file's name asks for, as `screenshot` calls it.
pub(super) fn format(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "jpg" | "jpeg" => Some("jpeg"),
        "png" => Some("png"),
        _ => None,
    }
}

/// The bytes of a base64 data URL.
pub(crate) fn decode(data: &str) -> Outcome<Vec<u8>> {
    let base64 = data.split_once(";base64,").map(|(_, rest)| rest);
    let bytes = base64.and_then(|text| Base64::decode_vec(text).ok());
    bytes.ok_or_else(|| Trouble::failed("the answer holds a picture that is not valid base64"))
}

/// Writes to the first free name, `screenshot-1.png` or `page-1.pdf` and so on; never over a file that is there.
fn write_new(bytes: &[u8], extension: &str) -> Outcome<PathBuf> {
    let what = if extension == "pdf" { "page" } else { "screenshot" };
    for number in 1..10_000 {
        let path = PathBuf::from(format!("{what}-{number}.{extension}"));
        match saving::save_new(&path, bytes) {
            Ok(true) => return Ok(path),
            Ok(false) => {}
            Err(e) => return Err(Trouble::failed(format!("{e}; name a file with -o"))),
        }
    }
    Err(Trouble::failed("there are too many of these here: name a file with -o"))
}

fn extension(data: &str) -> &'static str {
    match data.split([':', ';']).nth(1) {
        Some("image/jpeg") => "jpg",
        Some("application/pdf") => "pdf",
        _ => "png",
    }
}
