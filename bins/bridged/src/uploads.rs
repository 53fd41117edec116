//! Files for `upload`: which ones a client may name, and reading them beneath the allowed folders without following a link.
//!
//! Each path is walked component by component from an open root, links refused at every step, so that nothing swapped between the
//! check and the opening leads elsewhere. The browser never sees a path: it gets names and bytes.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use base64ct::{Base64, Encoding};
use bridge_core::Code;
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use serde_json::{Map, Value, json};

use crate::places::Places;

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
        let walk = || -> Result<OwnedFd, Errno> {
            let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let mut at = open(root, folder, Mode::empty())?;
            let (name, folders) = parts.split_last().ok_or(Errno::ISDIR)?;
            for part in folders {
                at = openat(at.as_fd(), *part, folder | OFlags::NOFOLLOW, Mode::empty())?;
            }
            // A pipe must not hold us up before it is seen to be one.
            openat(
                at.as_fd(),
                *name,
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
                Mode::empty(),
            )
        };
        let fd = walk().map_err(|e| match e {
            Errno::LOOP | Errno::NOTDIR | Errno::MLINK => forbidden(text, "it leads over a link"),
            other => unreadable(text, &other.into()),
        })?;
        let stat = fstat(&fd).map_err(|e| unreadable(text, &e.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(forbidden(text, "it is no regular file"));
        }
        Ok(fd)
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
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A root with some files, and a folder beside it that is none of anybody's business.
    fn place() -> (tempfile::TempDir, Uploads) {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["root/sub", "root/own/bridged", "root/.ssh", "outside"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in [
            "root/a.txt",
            "root/sub/b.txt",
            "root/own/bridged/root.key",
            "root/.ssh/id",
            "root/.env",
            "outside/secret",
        ] {
            fs::write(base.join(file), file).unwrap();
        }
        let uploads = Uploads { roots: vec![base.join("root")], never: vec![base.join("root/own/bridged")] };
        (dir, uploads)
    }

    fn fill(uploads: &Uploads, paths: &[String]) -> Result<Value, Refusal> {
        let params = json!({"target": {"value": "#f"}, "paths": paths});
        uploads.fill(params.to_string().as_bytes()).map(|filled| serde_json::from_slice(&filled).unwrap())
    }

    fn code(uploads: &Uploads, path: &str) -> Code {
        fill(uploads, &[path.to_owned()]).unwrap_err().0
    }

    #[test]
    fn files_beneath_a_root_are_read_and_their_paths_stay_here() {
        let (dir, uploads) = place();
        let base = dir.path().canonicalize().unwrap();
        let paths = ["root/a.txt", "root/sub/b.txt"].map(|p| base.join(p).to_str().unwrap().to_owned());
        let filled = fill(&uploads, &paths).unwrap();
        assert_eq!(filled["files"][0]["name"], "a.txt");
        assert_eq!(filled["files"][1]["data"], Base64::encode_string(b"root/sub/b.txt"));
        assert_eq!(filled["target"]["value"], "#f");
        assert!(!filled.to_string().contains(base.to_str().unwrap()));
    }

    #[test]
    fn other_places_dot_files_and_our_own_folders_are_forbidden() {
        let (dir, uploads) = place();
        let base = dir.path().canonicalize().unwrap();
        let inside = [
            "outside/secret",
            "root/../outside/secret",
            "root/./a.txt",
            "root/.env",
            "root/.ssh/id",
            "root/own/bridged/root.key",
        ];
        for path in inside {
            assert_eq!(code(&uploads, base.join(path).to_str().unwrap()), Code::PermissionDenied, "{path}");
        }
        for path in
            ["/proc/self/environ", "/etc/passwd", "~/a.txt", "a.txt", "", "/", "\0", &"/x".repeat(3000)]
        {
            assert_eq!(code(&uploads, path), Code::PermissionDenied, "{path:?}");
        }
    }

    #[test]
    fn links_folders_pipes_and_what_is_not_there_are_refused() {
        let (dir, uploads) = place();
        let base = dir.path().canonicalize().unwrap();
        symlink(base.join("outside/secret"), base.join("root/link")).unwrap();
        symlink(base.join("outside"), base.join("root/door")).unwrap();
        symlink(base.join("root/a.txt"), base.join("root/same")).unwrap();
        let pipe = base.join("root/pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
        for path in ["root/link", "root/door/secret", "root/same", "root/sub", "root/pipe"] {
            assert_eq!(code(&uploads, base.join(path).to_str().unwrap()), Code::PermissionDenied, "{path}");
        }
        assert_eq!(code(&uploads, base.join("root/none").to_str().unwrap()), Code::InvalidParams);
    }

    #[test]
    fn a_folder_that_is_swapped_for_a_link_never_leads_outside() {
        let (dir, uploads) = place();
        let base = dir.path().canonicalize().unwrap();
        fs::write(base.join("root/sub/secret"), "harmless").unwrap();
        let (folder, aside, link) = (base.join("root/sub"), base.join("root/aside"), base.join("root/link"));
        symlink(base.join("outside"), &link).unwrap();
        let done = AtomicBool::new(false);
        let path = [folder.join("secret").to_str().unwrap().to_owned()];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    fs::rename(&folder, &aside).unwrap();
                    fs::rename(&link, &folder).unwrap();
                    fs::rename(&folder, &link).unwrap();
                    fs::rename(&aside, &folder).unwrap();
                }
            });
            for _ in 0..1000 {
                if let Ok(filled) = fill(&uploads, &path) {
                    assert_eq!(filled["files"][0]["data"], Base64::encode_string(b"harmless"));
                }
            }
            done.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn calls_that_wait_hold_no_more_than_their_bound_together() {
        let waiting = Waiting::default();
        let mut shares: Vec<_> = (0..8).map(|_| waiting.share(MOST_WAITING / 8).unwrap()).collect();
        assert!(waiting.share(1).is_none() && waiting.share(usize::MAX).is_none());
        shares.pop();
        assert!(waiting.share(MOST_WAITING / 8 + 1).is_none());
        shares.push(waiting.share(MOST_WAITING / 8).unwrap());
        assert!(waiting.share(1).is_none());
        shares.clear();
        assert!(waiting.share(MOST_WAITING).is_some());
    }

    #[test]
    fn too_much_is_refused_unread() {
        let (dir, uploads) = place();
        let large = dir.path().canonicalize().unwrap().join("root/large");
        fs::File::create(&large).unwrap().set_len(2 << 30).unwrap();
        assert_eq!(code(&uploads, large.to_str().unwrap()), Code::TooLarge);
        let half = dir.path().canonicalize().unwrap().join("root/half");
        fs::File::create(&half).unwrap().set_len(20 << 20).unwrap();
        let path = half.to_str().unwrap().to_owned();
        assert_eq!(fill(&uploads, &[path.clone(), path]).unwrap_err().0, Code::TooLarge);
        assert_eq!(fill(&uploads, &[]).unwrap_err().0, Code::InvalidParams);
    }

    #[test]
    fn no_parameter_widens_the_roots() {
        let (dir, uploads) = place();
        let secret = dir.path().canonicalize().unwrap().join("outside/secret");
        let params = json!({"paths": [secret], "roots": ["/"], "upload_roots": ["/"]});
        assert_eq!(uploads.fill(params.to_string().as_bytes()).unwrap_err().0, Code::PermissionDenied);
    }

    #[test]
    fn a_name_that_plays_tricks_is_harmless_in_the_refusal() {
        let (_dir, uploads) = place();
        let text = fill(&uploads, &["/x/\u{202e}gnp\u{1b}[2J\n.exe".to_owned()]).unwrap_err().1;
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\n']), "{text:?}");
    }
}
