//! Who runs: one lock on `bridged.lock` in the state folder decides, and the file says where to find the holder.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};

use crate::files::json_object;
use crate::places::private_folder;
use crate::trouble::{Doing, Outcome, Trouble};

/// How long whoever looks or changes files may keep a daemon from starting.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often somebody who waits for the lock tries again.
const LOOK: Duration = Duration::from_millis(1);

/// What the holder of the lock says about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Its process.
    pub pid: u32,
    /// Its WebSocket address, as `127.0.0.1:9225`.
    pub address: String,
    /// Its HTTP address, if it has one.
    #[serde(default)]
    pub http: Option<String>,
    /// Its Unix socket.
    pub socket: PathBuf,
    /// Its version.
    pub version: String,
    /// When it started, in seconds since 1970.
    pub started: u64,
    /// The flags it was started with in the background, for a restart.
    #[serde(default)]
    pub flags: Vec<String>,
}

/// In the place of a record's first byte it makes the rest no record.
const STRUCK_OUT: &[u8] = b"#";

/// The lock, held as long as this lives; the kernel frees it whatever becomes of the process.
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(state: &Path) -> Outcome<Lock> {
        let file = open(state)?;
        match take_exclusively(&file) {
            Taken::Ours => {}
            Taken::Runs => {
                let who = read(&file).map_or(String::new(), |r| format!(" (pid {}, {})", r.pid, r.address));
                return Err(Trouble::failed(format!("already running{who}; `bridged stop` ends it")));
            }
            Taken::Kept => {
                return Err(Trouble::failed(format!(
                    "a command keeps {} and does not let go of it (`fuser {0}` names it): end it, then try again",
                    path_of(state).display()
                )));
            }
        }
        // What an earlier holder left behind must not be taken for ours. Without its first byte it says nothing; to cut it off
        // takes a journalled disk milliseconds when it is busy, and nobody can connect before that.
        file.write_all_at(STRUCK_OUT, 0).doing(format_args!("write {}", path_of(state).display()))?;
        Ok(Lock { file })
    }

    /// Lets others know where this daemon is: the first byte is written last, so that nobody reads half of it.
    pub(crate) fn publish(&self, record: &Record) -> Outcome<()> {
        let text = serde_json::to_vec(record).doing("write down where this daemon is")?;
        let (first, rest) = text.split_at(STRUCK_OUT.len());
        let written = self.file.write_all_at(rest, first.len() as u64);
        let cut = written.and_then(|()| self.file.set_len(text.len() as u64));
        cut.and_then(|()| self.file.write_all_at(first, 0)).doing("write bridged.lock")
    }
}

/// Nobody runs, and nobody starts as long as this lives: the files are its holder's to change, for no daemon has read them.
pub(crate) struct Absence {
    _file: File,
}

/// Whom to turn to.
pub(crate) enum Holder {
    /// The daemon that runs.
    Runs(Record),
    /// Whoever asks.
    Nobody(Absence),
}

/// The daemon that runs, once it has said where it is; or the surety that there is none.
pub(crate) fn holder(state: &Path, at_most: Duration) -> Outcome<Holder> {
    let file = open(state)?;
    let until = Instant::now() + at_most;
    loop {
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            return Ok(Holder::Nobody(Absence { _file: file }));
        }
        // From its beginning again: who holds it now may have come after another.
        if let Some(record) = running(state).flatten() {
            return Ok(Holder::Runs(record));
        }
        if Instant::now() >= until {
            return Err(Trouble::failed("a daemon is starting but does not come up; see `bridged logs`"));
        }
        std::thread::sleep(LOOK);
    }
}

/// The daemon of this state folder, if one runs. It may have taken the lock but not said where it is yet.
pub(crate) fn running(state: &Path) -> Option<Option<Record>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32)
        .open(path_of(state))
        .ok()?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => None,
        Err(_) => Some(read(&file)),
    }
}

/// Waits until nobody holds the lock; false if somebody still does in the end.
pub(crate) fn wait_until_gone(state: &Path, at_most: Duration) -> bool {
    let until = Instant::now() + at_most;
    while running(state).is_some() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

enum Taken {
    Ours,
    /// A daemon has it.
    Runs,
    /// Nobody but such as look or change files, one of whom does not let go.
    Kept,
}

/// Whoever only looks, or changes files while no daemon runs, holds the lock for a moment, shared; that must not pass for a
/// daemon that runs.
fn take_exclusively(file: &File) -> Taken {
    let until = Instant::now() + PATIENCE;
    loop {
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Taken::Ours;
        }
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_err() {
            return Taken::Runs;
        }
        let _ = rustix::fs::flock(file, FlockOperation::Unlock);
        if Instant::now() >= until {
            return Taken::Kept;
        }
        std::thread::sleep(LOOK);
    }
}

fn open(state: &Path) -> Outcome<File> {
    private_folder(state)?;
    let path = path_of(state);
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(&path);
    opened.map_err(|e| {
        Trouble::usage(format!(
            "cannot open {}: {e}; if it is no file of bridged's, move it away",
            path.display()
        ))
    })
}

fn path_of(state: &Path) -> PathBuf {
    state.join("bridged.lock")
}

fn read(file: &File) -> Option<Record> {
    let mut text = Vec::new();
    file.take(64 << 10).read_to_end(&mut text).ok()?;
    json_object(&text).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn record(address: &str) -> Record {
        Record {
            pid: 1,
            address: address.to_owned(),
            http: None,
            socket: PathBuf::from("/s"),
            version: String::new(),
            started: 0,
            flags: Vec::new(),
        }
    }

    /// What others read while the lock is held.
    fn said(folder: &Path) -> Option<String> {
        running(folder).unwrap().map(|record| record.address)
    }

    #[test]
    fn what_an_earlier_holder_left_is_never_taken_for_this_ones() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let mut left = 0;
        // Longer, shorter and as long as the one before it.
        for address in ["127.0.0.1:9225", "127.0.0.1:65535", "127.0.0.1:9225", "127.0.0.1:9226"] {
            let lock = Lock::take(folder.path()).unwrap();
            assert_eq!(said(folder.path()), None);
            // Nothing was cut off, which would take long.
            assert_eq!(lock.file.metadata().unwrap().len(), left.max(1));
            lock.publish(&record(address)).unwrap();
            assert_eq!(said(folder.path()).as_deref(), Some(address));
            let text = std::fs::read(path_of(folder.path())).unwrap();
            assert_eq!(text, serde_json::to_vec(&record(address)).unwrap());
            left = text.len() as u64;
        }
    }

    #[test]
    fn no_daemon_starts_while_its_files_are_being_changed() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("bridged");
        let Holder::Nobody(absence) = holder(&state, Duration::ZERO).unwrap() else { unreachable!() };
        // Another one who changes them is not in the way: the folder's own lock sets them in order.
        assert!(matches!(holder(&state, Duration::ZERO).unwrap(), Holder::Nobody(_)));
        std::thread::scope(|scope| {
            let starting = scope.spawn(|| Lock::take(&state).map(drop));
            // Longer than any number of quick tries takes.
            std::thread::sleep(Duration::from_millis(300));
            assert!(!starting.is_finished());
            drop(absence);
            starting.join().unwrap().unwrap();
        });
    }

    #[test]
    fn a_daemon_that_has_not_said_where_it_is_is_no_absence() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("bridged");
        let lock = Lock::take(&state).unwrap();
        let refused = holder(&state, Duration::ZERO).err().unwrap().to_string();
        assert!(refused.contains("starting"), "{refused}");
        lock.publish(&record("127.0.0.1:1")).unwrap();
        assert!(matches!(holder(&state, Duration::ZERO).unwrap(), Holder::Runs(it) if it.pid == 1));
        drop(lock);
        assert!(matches!(holder(&state, Duration::ZERO).unwrap(), Holder::Nobody(_)));
    }
}
