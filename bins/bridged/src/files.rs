//! Files that only this user may read: read with suspicion, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::places::our_uid;
use crate::trouble::{Doing, Outcome, Trouble};

/// A private file's size beyond which it is none of ours.
const LARGEST: u64 = 4 << 20;

/// How long the other writers of a folder may take, and how often it is asked whether they are done.
const WRITERS: Duration = Duration::from_secs(10);
const SOON: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(2);

/// What a private file holds: what is to be done about one that others could get at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Keys, and to whom they belong: once known to others they are worth nothing.
    Keys,
    /// Rules, which are no secret; all that counts is that they are the user's own.
    Rules,
}

/// Reads a file that must be a regular one, ours, and closed to everyone else; `None` if there is none.
pub(crate) fn read_private(path: &Path, holds: Holds) -> Outcome<Option<Zeroizing<Vec<u8>>>> {
    let refuse = |why: &str| {
        let path = path.display();
        Err(Trouble::usage(match holds {
            Holds::Keys => format!(
                "{path} {why}; what it guards may be known to others: see to it, or start afresh with `bridged reset-pairing`"
            ),
            Holds::Rules => {
                format!(
                    "{path} {why}: it must be a file of your own that says what you mean; then `chmod 600 {path}`"
                )
            }
        }))
    };
    // Not blocking: a FIFO in its place must not hold us up. Not following: a link's target is not ours to judge.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) if e.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return refuse("is a symbolic link");
        }
        Err(e) => return Err(Trouble::usage(format!("cannot read {}: {e}", path.display()))),
    };
    let found = file.metadata().doing(format_args!("look at {}", path.display()))?;
    if !found.is_file() {
        return refuse("is not a regular file");
    }
    if found.uid() != our_uid() {
        return refuse(&format!("belongs to user {}", found.uid()));
    }
    if found.mode() & 0o077 != 0 {
        return refuse(&format!("can be read by others (mode {:o})", found.mode() & 0o7777));
    }
    if found.len() > LARGEST {
        return refuse("is far too large");
    }
    let mut content = Zeroizing::new(Vec::with_capacity(found.len() as usize));
    file.read_to_end(&mut content).doing(format_args!("read {}", path.display()))?;
    Ok(Some(content))
}

/// Reads a text that is no secret, but that nobody else may have written: it says who may come in. Links are the user's own
/// doing. `None` if there is none.
pub(crate) fn read_plain(path: &Path) -> Outcome<Option<String>> {
    let refuse = |why: &str| Err(Trouble::usage(format!("{} {why}", path.display())));
    let unreadable = |e: io::Error| Trouble::usage(format!("cannot read {}: {e}", path.display()));
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(unreadable)?,
    };
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return refuse("is not a regular file");
    }
    if ![our_uid(), 0].contains(&found.uid()) {
        return refuse(&format!("belongs to user {}, who decides nothing here", found.uid()));
    }
    if found.mode() & 0o002 != 0 {
        return refuse(&format!(
            "can be written by everybody: see that it says what you mean; then `chmod o-w {}`",
            path.display()
        ));
    }
    if found.len() > LARGEST {
        return refuse("is far too large");
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).map_err(unreadable)?;
    Ok(Some(text))
}

/// Reads a file's content as a JSON object. A list is none, though a structure could be read from one: `[]` for a policy would
/// allow everything.
pub(crate) fn json_object<T: DeserializeOwned>(content: &[u8]) -> Result<T, String> {
    if content.trim_ascii_start().first() != Some(&b'{') {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_slice(content).map_err(|e| e.to_string())
}

/// Writes a private file whole: beside it under a name of its own, to the disk, then in its place.
///
/// The caller holds the folder's lock, so a leftover under that name is from a writer that died.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Outcome<()> {
    let beside = beside(path);
    let mut file = match create_new(&beside) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            remove_leftover(&beside)?;
            create_new(&beside)
        }
        other => other,
    }
    .doing(format_args!("write {}", beside.display()))?;
    let written =
        file.write_all(content).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.doing(format_args!("write {}", path.display()))?;
    // The new name is only safe once the folder is on the disk too; where that cannot be asked for, the file still holds.
    if let Some(folder) = path.parent().and_then(|p| File::open(p).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tmp");
    path.with_file_name(name)
}

fn create_new(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags.bits() as i32).open(path)
}

fn remove_leftover(path: &Path) -> Outcome<()> {
    let found = fs::symlink_metadata(path).doing(format_args!("look at {}", path.display()))?;
    if !found.is_file() || found.uid() != our_uid() || found.nlink() != 1 {
        return Err(Trouble::usage(format!(
            "{} is in the way and was not made by bridged: look at it, then remove it",
            path.display()
        )));
    }
    fs::remove_file(path).doing(format_args!("remove {}", path.display()))
}

/// Holds a folder for one writer until it is dropped.
pub(crate) struct FolderLock {
    _folder: File,
}

impl FolderLock {
    /// Waits for the other writers, none of whom takes long. One that was stopped amid it must not stop the daemon too.
    pub(crate) fn take(folder: &Path) -> Outcome<FolderLock> {
        FolderLock::take_within(folder, WRITERS)
    }

    /// The same for the thread that serves everybody, which must not stand still for one who does not let go.
    pub(crate) fn take_soon(folder: &Path) -> Outcome<FolderLock> {
        FolderLock::take_within(folder, SOON)
    }

    fn take_within(folder: &Path, patience: Duration) -> Outcome<FolderLock> {
        let opened = File::open(folder).doing(format_args!("open {}", folder.display()))?;
        let until = Instant::now() + patience;
        loop {
            match rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(FolderLock { _folder: opened }),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(LOOK),
                Err(Errno::WOULDBLOCK) => {
                    return Err(Trouble::failed(format!(
                        "another program holds {} and does not let go of it (`fuser {0}` names it): end it, then try again",
                        folder.display()
                    )));
                }
                Err(e) => return Err(e).doing(format_args!("lock {}", folder.display())),
            }
        }
    }
}

/// 32 random bytes.
pub(crate) fn random() -> Outcome<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).doing("get random numbers from the system")?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_does_not_let_go_is_not_waited_for_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let take = |ms| FolderLock::take_within(folder.path(), Duration::from_millis(ms));
        let held = take(0).unwrap();
        let refused = take(20).map(drop).unwrap_err().to_string();
        assert!(refused.contains("does not let go"), "{refused}");
        // Whoever has to wait gets it once the other is done.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| take(20_000).map(drop));
            drop(held);
            waiting.join().unwrap().unwrap();
        });
    }
}
