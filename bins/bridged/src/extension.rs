//! The browser extension that this program carries: unpacks it, with a key of its own, for "Load unpacked".

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use crate::files::write_private;
use crate::keys::{Book, Keys};
use crate::places::{Places, private_folder};
use crate::trouble::{Doing, Outcome, Trouble};

include!(concat!(env!("OUT_DIR"), "/extension_files.rs"));

/// The id that browsers derive from the key in our manifest.
pub(crate) const ID: &str = "fdembngelboffhfimppaoglbmaphnhfm";

/// The name of the file with the key.
const KEY_FILE: &str = "pairing.json";

/// A file of the extension: its path beneath the folder, and what is in it.
type Packed = (Cow<'static, str>, Cow<'static, [u8]>);

/// What an installation came to.
pub(crate) struct Installed {
    /// The folder to load.
    pub folder: PathBuf,
    /// The name of its key.
    pub key_id: String,
    /// Whether it replaced an earlier one.
    pub again: bool,
}

/// Unpacks the extension to `folder` with a new key for the daemon at 127.0.0.1:`port`.
pub(crate) fn install(places: &Places, folder: &Path, port: u16) -> Outcome<Installed> {
    let files = files()?;
    let folder = std::path::absolute(folder).doing(format_args!("find {}", folder.display()))?;
    let again = check_folder(&folder, &files)?;
    private_folder(&folder)?;
    let mut keys = Keys::open(&places.state)?;
    let before = previous_key(&folder);
    for (name, content) in &files {
        unpack(&folder, name, content)?;
    }
    let label =
        folder.file_name().map_or_else(|| "extension".to_owned(), |n| n.to_string_lossy().into_owned());
    let (key_id, key) = keys.pair(&label, None)?;
    let url = format!("ws://127.0.0.1:{port}");
    let text = json!({"url": url, "key_id": key_id, "key": Base64UrlUnpadded::encode_string(&*key), "browser_id": null});
    write_private(&folder.join(KEY_FILE), format!("{text}\n").as_bytes())?;
    keys.change(|book| {
        book.extensions.retain(|p| before.as_ref() != Some(&p.key_id));
        book.folders.retain(|f| *f != folder);
        book.folders.push(folder.clone());
    })?;
    Ok(Installed { folder, key_id, again })
}

/// Writes this program's files into every folder that the extension was installed to; each keeps its key. Returns the
/// folders, and whether anything in them changed.
pub(crate) fn upgrade(places: &Places) -> Outcome<Vec<(PathBuf, bool)>> {
    let files = files()?;
    let folders = Keys::open(&places.state)?.book().folders.clone();
    let mut done = Vec::new();
    for folder in folders.into_iter().filter(|f| f.join(KEY_FILE).is_file()) {
        if !check_folder(&folder, &files)? {
            continue;
        }
        private_folder(&folder)?;
        let stale: Vec<&Packed> = files.iter().filter(|file| !is_in(&folder, file)).collect();
        for (name, content) in &stale {
            unpack(&folder, name, content)?;
        }
        done.push((folder, !stale.is_empty()));
    }
    if done.is_empty() {
        return Err(not_installed());
    }
    Ok(done)
}

/// What a folder of an installation holds, compared with this program.
pub(crate) struct Unpacked {
    /// The folder.
    pub folder: PathBuf,
    /// Whether its files are this program's, to the byte.
    pub same: bool,
    /// What its key file says; null if it cannot be read.
    pub pairing: Value,
}

/// The installations that are still there.
pub(crate) fn unpacked(book: &Book) -> Outcome<Vec<Unpacked>> {
    let files = files()?;
    let folders = book.folders.iter().filter(|f| f.join(KEY_FILE).exists());
    let look = |folder: &PathBuf| {
        let text = fs::read(folder.join(KEY_FILE)).unwrap_or_default();
        let pairing = serde_json::from_slice(&text).unwrap_or(Value::Null);
        Unpacked { folder: folder.clone(), same: files.iter().all(|file| is_in(folder, file)), pairing }
    };
    Ok(folders.map(look).collect())
}

/// Whether the worker that this program carries has this build stamp; none if it carries none.
pub(crate) fn is_our_build(build: &str) -> Option<bool> {
    let files = files().ok()?;
    let (_, worker) = files.iter().find(|(name, _)| name == "worker.js")?;
    let stamp = build.as_bytes();
    Some(!stamp.is_empty() && worker.windows(stamp.len()).any(|window| window == stamp))
}

/// The folder of the last installation that is still there.
pub(crate) fn path(places: &Places) -> Outcome<PathBuf> {
    // A look must not make a state folder.
    if !places.state.is_dir() {
        return Err(not_installed());
    }
    let folders = Keys::open(&places.state)?.book().folders.clone();
    folders.into_iter().rev().find(|f| f.join(KEY_FILE).is_file()).ok_or_else(not_installed)
}

fn not_installed() -> Trouble {
    Trouble::failed("the extension is not installed yet: `bridged extension install DIR` unpacks it")
}

fn is_in(folder: &Path, (name, content): &Packed) -> bool {
    fs::read(folder.join(name.as_ref())).is_ok_and(|found| found == **content)
}

fn unpack(folder: &Path, name: &str, content: &[u8]) -> Outcome<()> {
    let path = folder.join(name);
    if let Some(inner) = path.parent().filter(|p| *p != folder) {
        fs::create_dir_all(inner).doing(format_args!("create {}", inner.display()))?;
    }
    write_private(&path, content)
}

/// The extension's files: those of this program, or of the folder that `BRIDGED_EXTENSION_DIST` names.
fn files() -> Outcome<Vec<Packed>> {
    if let Some(dist) =
        std::env::var_os("BRIDGED_EXTENSION_DIST").filter(|d| !d.is_empty()).map(PathBuf::from)
    {
        let mut found = Vec::new();
        collect(&dist, &dist, &mut found)
            .doing(format_args!("read BRIDGED_EXTENSION_DIST ({})", dist.display()))?;
        return Ok(found);
    }
    if FILES.is_empty() {
        return Err(Trouble::failed(
            "this build of bridged carries no extension: run `make build` in its source folder, which builds both",
        ));
    }
    Ok(FILES.iter().map(|(name, content)| (Cow::Borrowed(*name), Cow::Borrowed(*content))).collect())
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Packed>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            collect(root, &path, found)?;
        } else if entry.file_name() != KEY_FILE {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            found.push((Cow::Owned(name), Cow::Owned(fs::read(&path)?)));
        }
    }
    Ok(())
}

/// Whether `folder` holds our extension already; a folder with anything else in it is refused.
fn check_folder(folder: &Path, files: &[Packed]) -> Outcome<bool> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(Trouble::failed(format!("cannot look into {}: {e}", folder.display()))),
    };
    if entries.next().is_none() {
        return Ok(false);
    }
    let identity = |text: &[u8]| {
        let manifest: Value = serde_json::from_slice(text).ok()?;
        manifest["key"].as_str().map(str::to_owned)
    };
    let ours = files.iter().find(|(name, _)| name == "manifest.json").and_then(|(_, text)| identity(text));
    let there = fs::read(folder.join("manifest.json")).ok().and_then(|text| identity(&text));
    match ours.is_some() && ours == there {
        true => Ok(true),
        false => Err(Trouble::failed(format!(
            "{} holds something else already: name a folder that is empty or not there yet",
            folder.display()
        ))),
    }
}

fn previous_key(folder: &Path) -> Option<String> {
    let text = fs::read(folder.join(KEY_FILE)).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?["key_id"].as_str().map(str::to_owned)
}
