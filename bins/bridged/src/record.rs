//! Who runs: one lock on `bridged.lock` in the state folder decides, and the file says where to find the holder.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};
use serde::{Deserialize, Serialize};

use crate::files::json_object;
use crate::places::private_folder;
use crate::trouble::{Doing, Outcome, Trouble};

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

/// The lock, held as long as this lives; the kernel frees it whatever becomes of the process.
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(state: &Path) -> Outcome<Lock> {
        private_folder(state)?;
        let path = path_of(state);
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags.bits() as i32)
            .open(&path)
            .map_err(|e| {
                Trouble::usage(format!(
                    "cannot open {}: {e}; if it is no file of bridged's, move it away",
                    path.display()
                ))
            })?;
        if !take_exclusively(&file) {
            let who = read(&file).map_or(String::new(), |r| format!(" (pid {}, {})", r.pid, r.address));
            return Err(Trouble::failed(format!("already running{who}; `bridged stop` ends it")));
        }
        // What a holder that was killed left behind must not be taken for ours.
        file.set_len(0).doing(format_args!("write {}", path.display()))?;
        Ok(Lock { file })
    }

    /// Lets others know where this daemon is.
    pub(crate) fn publish(&mut self, record: &Record) -> Outcome<()> {
        let text = serde_json::to_vec(record).doing("write down where this daemon is")?;
        let written = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        written.and_then(|_| self.file.write_all(&text)).doing("write bridged.lock")
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

/// Whoever only looks holds the lock for a moment, shared; that must not pass for a daemon that runs.
fn take_exclusively(file: &File) -> bool {
    for _ in 0..10_000 {
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return true;
        }
        if rustix::fs::flock(file, FlockOperation::NonBlockingLockShared).is_err() {
            return false;
        }
        let _ = rustix::fs::flock(file, FlockOperation::Unlock);
        std::thread::yield_now();
    }
    false
}

fn path_of(state: &Path) -> PathBuf {
    state.join("bridged.lock")
}

fn read(file: &File) -> Option<Record> {
    let mut text = Vec::new();
    file.take(64 << 10).read_to_end(&mut text).ok()?;
    json_object(&text).ok()
}
