//! Changes to files that are the user's: never through a symbolic link, a copy of what was there beside it, whole or not
//! at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::places::our_uid;

/// A configuration beyond this size is none.
const LARGEST: u64 = 32 << 20;

/// The text of a file; none if there is none. `Err`: why it is left alone.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    // Where the home folder itself is, is the system's affair.
    let parent = path.parent().filter(|folder| home.as_deref() != Some(*folder));
    for part in [parent, Some(path)].into_iter().flatten() {
        match fs::symlink_metadata(part) {
            Ok(found) if found.is_symlink() => {
                return Err(format!("{} is a symbolic link, which is not followed", part.display()));
            }
            Ok(found) if found.uid() != our_uid() => {
                return Err(format!("{} belongs to user {}", part.display(), found.uid()));
            }
            _ => {}
        }
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(format!("{} cannot be read: {e}", path.display())),
    };
    let found = file.metadata().map_err(|e| format!("{} cannot be read: {e}", path.display()))?;
    if !found.is_file() || found.len() > LARGEST {
        return Err(format!("{} is no file of the kind that was expected", path.display()));
    }
    let mut text = String::new();
    let mut file = file.take(LARGEST);
    file.read_to_string(&mut text).map_err(|e| format!("{} cannot be read as text: {e}", path.display()))?;
    Ok(Some(text))
}

/// Puts `text` in place of `before`. A new file gets `mode`, an old one keeps its own, and what it was is kept beside it.
/// Returns where.
pub(crate) fn write(
    path: &Path,
    before: Option<&str>,
    text: &str,
    mode: u32,
) -> Result<Option<PathBuf>, String> {
    let failed = |e: io::Error| format!("{} cannot be written: {e}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mode = fs::symlink_metadata(path).map_or(mode, |found| found.mode() & 0o777);
    let kept = match before {
        Some(before) => {
            let kept = beside(path, ".before-bridged");
            place(&kept, before, mode).map_err(failed)?;
            Some(kept)
        }
        None => None,
    };
    // Its owner may have written to it since it was read; that must not be lost.
    if read(path)?.as_deref() != before {
        return Err(format!("{} was changed by another program just now: try again", path.display()));
    }
    place(path, text, mode).map_err(failed)?;
    Ok(kept)
}

fn place(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let new = beside(path, &format!(".bridged-{}", std::process::id()));
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(&new)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(mode)))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}
