//! Files for `upload`: which ones a client may name, and reading them beneath the allowed folders without following a link.
//!
//! Each path is walked component by component from an open root, links refused at every step, so that nothing swapped between the
//! check and the opening leads elsewhere. The browser never sees a path: it gets names and bytes.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use base64ct::{Base64, Encoding};
use bridge_core::Code;
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use serde_json::{Map, Value, json};

use crate::places::{Places, our_uid};

/// All files of one call together.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
const MOST_FILES: usize = 100;
const LONGEST_PATH: usize = 4096;

/// What the calls that wait for their files may hold together: eight of the largest that a client can send.
const MOST_WAITING: usize = 64 * 1024 * 1024;

/// Why a call goes no further.
pub(crate) type Refusal = (Code, String);

/// How much the calls that wait for their files hold in memory.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Rc<Cell<usize>>);

/// One call's share of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share(Rc<Cell<usize>>, usize);

impl Waiting {
    /// Room for so many bytes, if there is that much left.
    pub(crate) fn share(&self, bytes: usize) -> Option<Share> {
        let held = self.0.get().checked_add(bytes).filter(|held| *held <= MOST_WAITING)?;
        self.0.set(held);
        Some(Share(self.0.clone(), bytes))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(self.1));
    }
}

/// Where files may come from.
#[derive(Debug, Clone)]
pub(crate) struct Uploads {
    /// As they were named, and with their own links followed: the user chose them.
    roots: Vec<PathBuf>,
    /// Our own folders, which hold keys.
    never: Vec<PathBuf>,
}

impl Uploads {
    /// The folders that were set, or those where a person's files for others lie.
    pub(crate) fn new(set: Option<&[PathBuf]>, places: &Places) -> Uploads {
        let named = set.map_or_else(|| usual(places), <[PathBuf]>::to_vec);
        let mut roots = Vec::new();
        for root in named.into_iter().filter(|r| r.is_absolute()) {
            let real = root.canonicalize().ok().filter(|real| *real != root);
            roots.push(root);
            roots.extend(real);
        }
        let own = [
            Some(places.state.as_path()),
            places.config.parent(),
            places.socket.parent(),
            Some(&*places.extension),
        ];
        let never = own
            .into_iter()
            .flatten()
            .flat_map(|p| [Some(p.to_owned()), p.canonicalize().ok()])
            .flatten()
            .collect();
        Uploads { roots, never }
    }

    /// The same, with more folders that hold keys: where the extension was unpacked to.
    pub(crate) fn sparing(&self, folders: &[PathBuf]) -> Uploads {
        let real = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        let never = self.never.iter().cloned().chain(folders.iter().cloned()).chain(real).collect();
        Uploads { roots: self.roots.clone(), never }
    }

    /// The params for the browser: `paths` replaced by the files' names and bytes. Takes its time: not for the hub's thread.
    pub(crate) fn fill(&self, params: &[u8]) -> Result<Vec<u8>, Refusal> {
        let invalid = |text: &str| (Code::InvalidParams, format!("invalid params: {text}"));
        let mut params: Map<String, Value> =
            serde_json::from_slice(params).map_err(|_| invalid("params must be an object"))?;
        let paths = match params.remove("paths") {
            Some(Value::Array(paths)) => paths,
            _ => return Err(invalid("paths must be a list of paths")),
        };
        if params.contains_key("files") {
            return Err(invalid("either paths or files, not both"));
        }
        if paths.is_empty() || paths.len() > MOST_FILES {
            return Err(invalid(&format!("paths must have 1 to {MOST_FILES} entries")));
        }
        let mut left = MOST_BYTES;
        let mut files = Vec::with_capacity(paths.len());
        for path in &paths {
            let Value::String(path) = path else { return Err(invalid("paths must be a list of strings")) };
            if path.is_empty() {
                return Err(invalid("paths must not have empty entries"));
            }
            files.push(self.file(path, &mut left)?);
        }
        params.insert("files".to_owned(), Value::Array(files));
        serde_json::to_vec(&params).map_err(|e| (Code::InternalError, e.to_string()))
    }

    fn file(&self, text: &str, left: &mut u64) -> Result<Value, Refusal> {
        let too_large = || {
            let text = format!(
                "the files are larger than {} MiB together, the most that an upload takes",
                MOST_BYTES >> 20
            );
            (Code::TooLarge, text)
        };
        let mut file = File::from(self.open(text)?);
        let size = file.metadata().map_err(|e| unreadable(text, &e))?.len();
        *left = left.checked_sub(size).ok_or_else(too_large)?;
        let mut bytes = Vec::new();
        // One byte more than it had: a file that grows meanwhile is not read for ever.
        let read = file
            .by_ref()
            .take(size.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|e| unreadable(text, &e))?;
        if read as u64 > size {
            return Err((Code::InvalidRequest, format!("{} changes while it is read", shown(text))));
        }
        let name = Path::new(text).file_name().and_then(|n| n.to_str()).unwrap_or_default();
        Ok(json!({"name": name, "data": Base64::encode_string(&bytes)}))
    }

    /// Opens a regular file beneath one of the roots.
    fn open(&self, text: &str) -> Result<OwnedFd, Refusal> {
        let path = Path::new(text);
        let (root, parts) = self.place(text, path)?;
        let walk = || -> Result<(OwnedFd, OwnedFd), Errno> {
            let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let mut at = open(root, folder, Mode::empty())?;
            let (name, folders) = parts.split_last().ok_or(Errno::ISDIR)?;
            for part in folders {
                at = openat(at.as_fd(), *part, folder | OFlags::NOFOLLOW, Mode::empty())?;
            }
            // A pipe must not hold us up before it is seen to be one.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let fd = openat(at.as_fd(), *name, flags, Mode::empty())?;
            Ok((at, fd))
        };
        let (folder, fd) = walk().map_err(|e| match e {
            Errno::LOOP | Errno::NOTDIR | Errno::MLINK => forbidden(text, "it leads over a link"),
            other => unreadable(text, &other.into()),
        })?;
        let stat = fstat(&fd).map_err(|e| unreadable(text, &e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(forbidden(text, "it is no regular file"));
        }
        if stat.st_nlink > 1 {
            if self.is_ours(stat.st_dev as u64, stat.st_ino as u64) {
                return Err(forbidden(text, "it is the bridge's own"));
            }
            // Whoever may write here, as everybody may to the temporary folder and its owner to any, may have given a file from
            // elsewhere this name, where the kernel does not forbid it (`fs.protected_hardlinks`).
            let folder = fstat(&folder).map_err(|e| unreadable(text, &e.into()))?;
            let all_write = Mode::from_raw_mode(folder.st_mode).contains(Mode::WOTH);
            let another_writes = folder.st_uid != our_uid() && folder.st_uid != 0;
            if all_write || another_writes || stat.st_uid != our_uid() {
                return Err(forbidden(
                    text,
                    "it has another name elsewhere, and others may have given it this one",
                ));
            }
        }
        Ok(fd)
    }

    /// Whether a file that has more than one name has one of them in our own folders: a hard link is no way to a key.
    fn is_ours(&self, device: u64, inode: u64) -> bool {
        let entries =
            self.never.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        entries.filter_map(|e| e.metadata().ok()).any(|found| (found.dev(), found.ino()) == (device, inode))
    }

    /// The root that a path lies in, and the way from there.
    fn place<'p>(&self, text: &str, path: &'p Path) -> Result<(&Path, Vec<&'p std::ffi::OsStr>), Refusal> {
        if text.is_empty() || text.len() > LONGEST_PATH || text.contains('\0') || !path.is_absolute() {
            return Err(forbidden(text, "it must be an absolute path"));
        }
        // `components` passes over a dot in the middle, so the text is looked at too.
        if path.components().any(|c| matches!(c, Component::ParentDir)) || text.split('/').any(|c| c == ".") {
            return Err(forbidden(text, "it must be a plain path, without . and .."));
        }
        let within =
            self.roots.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len());
        let Some(root) = within else {
            let allowed: Vec<String> = self.roots.iter().map(|r| r.display().to_string()).collect();
            return Err(forbidden(
                text,
                &format!(
                    "files come from {} only; `upload_roots` in the configuration changes that",
                    allowed.join(", ")
                ),
            ));
        };
        let parts: Vec<_> =
            path.strip_prefix(root).unwrap_or(path).components().map(Component::as_os_str).collect();
        if parts.iter().any(|part| part.as_encoded_bytes().starts_with(b".")) {
            return Err(forbidden(
                text,
                "files and folders whose name begins with a dot are never given away",
            ));
        }
        let real = root
            .canonicalize()
            .unwrap_or_else(|_| root.clone())
            .join(path.strip_prefix(root).unwrap_or(path));
        if self.never.iter().any(|own| path.starts_with(own) || real.starts_with(own)) {
            return Err(forbidden(text, "it is the bridge's own"));
        }
        Ok((root, parts))
    }
}

/// Downloads, Documents, Desktop (under whatever name the desktop gives them) and the temporary folder.
fn usual(places: &Places) -> Vec<PathBuf> {
    let named = std::fs::read_to_string(places.config_home.join("user-dirs.dirs")).unwrap_or_default();
    let folder = |key: &str, plain: &str| {
        let line = named.lines().find_map(|l| {
            l.trim().strip_prefix(key)?.strip_prefix('=')?.trim().strip_prefix('"')?.strip_suffix('"')
        });
        match line
            .map(|l| l.strip_prefix("$HOME/").map_or_else(|| PathBuf::from(l), |rest| places.home.join(rest)))
        {
            // The home folder itself stands there for "none".
            Some(path) if path.is_absolute() && path != places.home && !path.ends_with("$HOME/") => path,
            _ => places.home.join(plain),
        }
    };
    vec![
        folder("XDG_DOWNLOAD_DIR", "Downloads"),
        folder("XDG_DOCUMENTS_DIR", "Documents"),
        folder("XDG_DESKTOP_DIR", "Desktop"),
        std::env::temp_dir(),
    ]
}

fn forbidden(path: &str, why: &str) -> Refusal {
    (Code::PermissionDenied, format!("forbidden: path: {}: {why}", shown(path)))
}

fn unreadable(path: &str, e: &std::io::Error) -> Refusal {
    (Code::InvalidParams, format!("invalid params: {} cannot be read: {e}", shown(path)))
}

/// A path for people: bounded, and without characters that do something to a terminal.
fn shown(path: &str) -> String {
    crate::show::harmless(&path.chars().take(300).collect::<String>()).replace('\n', "\\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests;
