//! The file, in five pieces of 10 MB: which number comes next, when a piece is full, and what is done about a line that was cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::entry::Entry;
use crate::places::our_uid;

/// A piece's size, and how many there are.
const PIECE: u64 = 10 << 20;
const PIECES: u32 = 5;
/// Of what could not be written so much is kept.
const KEPT: usize = 1 << 20;

/// The file's name in the state folder.
pub(crate) const NAME: &str = "audit.jsonl";

/// Writes lines, the one after the other.
pub(super) struct Writer {
    folder: PathBuf,
    /// How large a piece may be.
    piece: u64,
    open: Option<Open>,
    /// What could not be written yet.
    unwritten: String,
    lost: u64,
    next: u64,
}

struct Open {
    file: File,
    length: u64,
}

impl Writer {
    /// For a state folder. Nothing is opened before the first line.
    pub(super) fn new(folder: PathBuf) -> Writer {
        Writer { folder, piece: PIECE, open: None, unwritten: String::new(), lost: 0, next: 0 }
    }

    /// Whether all that it took is written.
    pub(super) fn owes_nothing(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// Takes entries, and how many were lost before them, and writes as much as goes.
    pub(super) fn write(&mut self, entries: Vec<Entry>, lost: u64) -> io::Result<()> {
        self.lost = self.lost.saturating_add(lost);
        // Only the file knows where the numbers go on.
        if let Err(e) = self.ready() {
            self.lost = self.lost.saturating_add(entries.len() as u64);
            return Err(e);
        }
        if self.lost > 0 && self.unwritten.len() < KEPT {
            let collapsed = std::mem::take(&mut self.lost);
            let gap = Entry { method: "audit".to_owned(), outcome: "lost", collapsed, ..Entry::default() };
            self.put(&gap);
        }
        for entry in &entries {
            if self.unwritten.len() >= KEPT && self.flush().is_err() {
                self.lost = self.lost.saturating_add(1);
                continue;
            }
            self.put(entry);
        }
        self.flush()
    }

    fn put(&mut self, entry: &Entry) {
        self.unwritten.push_str(&entry.line(Some(self.next)));
        self.unwritten.push('\n');
        self.next += 1;
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.ready()?;
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.length > 0 && open.length + self.unwritten.len() as u64 > self.piece {
            self.open = None;
            rotate(&self.folder)?;
            self.ready()?;
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if let Err(e) = open.file.write_all(self.unwritten.as_bytes()) {
            // Half a line would spoil the one after it.
            let _ = open.file.set_len(open.length);
            self.open = None;
            return Err(e);
        }
        open.length += self.unwritten.len() as u64;
        self.unwritten.clear();
        Ok(())
    }

    /// Has the file open, the one that stands at its place now.
    fn ready(&mut self) -> io::Result<()> {
        let path = self.folder.join(NAME);
        if let Some(open) = &self.open {
            let same = fs::symlink_metadata(&path).is_ok_and(|at| {
                open.file.metadata().is_ok_and(|ours| (at.ino(), at.dev()) == (ours.ino(), ours.dev()))
            });
            if same {
                return Ok(());
            }
            self.open = None;
        }
        let file = open_private(&path)?;
        let mut length = file.metadata()?.len();
        let (last, whole) = last_number(&file, length)?;
        if whole < length {
            // What a process that was killed left half written.
            file.set_len(whole)?;
            length = whole;
        }
        let last = match last {
            Some(last) => Some(last),
            None => (1..PIECES).find_map(|n| {
                let older = File::open(piece(&self.folder, n)).ok()?;
                let length = older.metadata().ok()?.len();
                last_number(&older, length).ok()?.0
            }),
        };
        // Numbers that are given out already stay.
        self.next = self.next.max(last.map_or(0, |last| last + 1));
        self.open = Some(Open { file, length });
        Ok(())
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags.bits() as i32)
        .open(path)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != our_uid() || found.mode() & 0o077 != 0 {
        let text = format!("{} is not a file that only you can read", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(file)
}

/// The last line's number, and how long the file is up to the end of its last whole line.
fn last_number(file: &File, length: u64) -> io::Result<(Option<u64>, u64)> {
    let from = length.saturating_sub(256 << 10);
    let mut tail = Vec::new();
    let mut reader = file;
    reader.seek(SeekFrom::Start(from))?;
    reader.take(256 << 10).read_to_end(&mut tail)?;
    let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else { return Ok((None, from)) };
    let whole = tail.get(..end).unwrap_or_default();
    let start = whole.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    #[derive(serde::Deserialize)]
    struct Numbered {
        seq: u64,
    }
    let last = serde_json::from_slice::<Numbered>(whole.get(start..).unwrap_or_default()).ok();
    Ok((last.map(|line| line.seq), from + end as u64 + 1))
}

/// The pieces, the newest first.
pub(crate) fn pieces(folder: &Path) -> impl DoubleEndedIterator<Item = PathBuf> {
    let folder = folder.to_owned();
    (0..PIECES).map(move |n| piece(&folder, n))
}

fn piece(folder: &Path, n: u32) -> PathBuf {
    if n == 0 { folder.join(NAME) } else { folder.join(format!("{NAME}.{n}")) }
}

fn rotate(folder: &Path) -> io::Result<()> {
    for n in (0..PIECES - 1).rev() {
        match fs::rename(piece(folder, n), piece(folder, n + 1)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
pub(super) mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    pub(in crate::audit) fn numbers(folder: &Path) -> Vec<u64> {
        let text: String = pieces(folder).rev().filter_map(|piece| fs::read_to_string(piece).ok()).collect();
        let seq =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap();
        text.lines().map(seq).collect()
    }

    pub(in crate::audit) fn entry() -> Entry {
        Entry { method: "click".to_owned(), ..Entry::default() }
    }

    /// T132
    #[test]
    fn pieces_are_bounded_in_size_and_number_and_no_number_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer { piece: 100_000, ..Writer::new(folder.path().to_owned()) };
        let long = || Entry { method: "m".repeat(9_000), ..Entry::default() };
        for _ in 0..80 {
            writer.write(vec![long()], 0).unwrap();
        }
        let there: Vec<u64> = pieces(folder.path()).map(|piece| fs::metadata(piece).unwrap().len()).collect();
        assert!(there.len() == 5 && there.iter().all(|length| *length <= 100_000), "{there:?}");
        assert!(!folder.path().join("audit.jsonl.5").exists());
        // A restart right after a change of piece looks into the one before.
        fs::write(folder.path().join(NAME), "").unwrap();
        fs::set_permissions(folder.path().join(NAME), fs::Permissions::from_mode(0o600)).unwrap();
        let before = numbers(folder.path()).last().copied().unwrap();
        let mut writer = Writer::new(folder.path().to_owned());
        writer.write(vec![entry()], 0).unwrap();
        let after = numbers(folder.path());
        assert_eq!(after.last().copied(), Some(before + 1));
        assert!(after.windows(2).all(|pair| pair[1] == pair[0] + 1));
    }

    #[test]
    fn a_disk_that_is_full_is_said_and_what_was_lost_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        // Every write to it fails as on a full disk; it is no file of ours either, and is left alone.
        std::os::unix::fs::symlink("/dev/full", folder.path().join(NAME)).unwrap();
        let mut writer = Writer::new(folder.path().to_owned());
        assert!(writer.write(vec![entry(), entry()], 0).is_err());
        fs::remove_file(folder.path().join(NAME)).unwrap();
        writer.write(vec![entry()], 3).unwrap();
        let text = fs::read_to_string(folder.path().join(NAME)).unwrap();
        let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!((&first["outcome"], &first["collapsed"]), (&"lost".into(), &5.into()));
        assert_eq!(numbers(folder.path()), [0, 1]);
    }
}
