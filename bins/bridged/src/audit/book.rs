//! The file: written by a thread of its own, in batches, in five pieces of 10 MB. A disk that is full loses lines, not the service.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::OFlags;

use super::entry::Entry;
use crate::places::our_uid;

/// A piece's size, and how many there are.
const PIECE: u64 = 10 << 20;
const PIECES: u32 = 5;
/// For how long lines are gathered.
const GATHER: Duration = Duration::from_millis(100);
/// How long until what could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// What may wait to be written; what comes beyond is counted.
const WAITING: usize = 16 << 20;
/// Of what could not be written so much is kept.
const KEPT: usize = 1 << 20;

/// The file's name in the state folder.
pub(crate) const NAME: &str = "audit.jsonl";

/// The writer, as the hub's thread knows it.
pub(crate) struct Book {
    shared: Arc<Shared>,
    folder: PathBuf,
    writer: std::cell::RefCell<Option<std::thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Something came for a writer that waits, or it is to hurry.
    news: Condvar,
}

#[derive(Default)]
struct Queue {
    entries: Vec<Entry>,
    bytes: usize,
    /// What did not fit.
    lost: u64,
    idle: bool,
    hurry: bool,
    ending: bool,
    degraded: Option<String>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing in it is ever half done.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// The book of a state folder. Nothing is opened before the first line.
    pub(crate) fn new(folder: &Path) -> Book {
        Book { shared: Arc::default(), folder: folder.to_owned(), writer: Default::default() }
    }

    /// Takes an entry; what it takes to write it is done elsewhere.
    pub(crate) fn add(&self, entry: Entry) {
        let wakes = {
            let mut queue = self.shared.queue();
            if queue.bytes >= WAITING {
                queue.lost = queue.lost.saturating_add(1);
            } else {
                queue.bytes += entry.weight();
                queue.entries.push(entry);
            }
            std::mem::take(&mut queue.idle)
        };
        if wakes {
            self.shared.news.notify_one();
        }
        let mut writer = self.writer.borrow_mut();
        if writer.is_none() {
            let (shared, folder) = (self.shared.clone(), self.folder.clone());
            let thread = std::thread::Builder::new().name("audit".to_owned());
            match thread.spawn(move || Writer::new(folder).run(&shared)) {
                Ok(thread) => *writer = Some(thread),
                Err(e) => self.shared.queue().degraded = Some(format!("no thread for it: {e}")),
            }
        }
    }

    /// Why lines are missing, if they are.
    pub(crate) fn degraded(&self) -> Option<String> {
        self.shared.queue().degraded.clone()
    }

    /// For whoever only wants to know whether lines are missing.
    pub(crate) fn gaps(&self) -> Gaps {
        Gaps(self.shared.clone())
    }

    /// Has what waits written at once; says whether anything does.
    pub(crate) fn hurry(&self) -> bool {
        let waits = {
            let mut queue = self.shared.queue();
            queue.hurry = true;
            queue.bytes > 0
        };
        self.shared.news.notify_one();
        waits
    }

    /// Writes what is left, and ends.
    pub(crate) fn close(&self) {
        self.shared.queue().ending = true;
        self.shared.news.notify_one();
        if let Some(writer) = self.writer.borrow_mut().take() {
            let _ = writer.join();
        }
    }
}

/// Whether lines are missing.
pub(crate) struct Gaps(Arc<Shared>);

impl Gaps {
    /// There are some.
    pub(crate) fn there_are(&self) -> bool {
        self.0.queue().degraded.is_some()
    }
}

/// The other thread's half.
struct Writer {
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
    fn new(folder: PathBuf) -> Writer {
        Writer { folder, piece: PIECE, open: None, unwritten: String::new(), lost: 0, next: 0 }
    }

    fn run(mut self, shared: &Shared) {
        loop {
            let (entries, lost, ending) = {
                let mut queue = shared.queue();
                while queue.entries.is_empty() && !queue.ending {
                    queue.idle = true;
                    let wait = if self.unwritten.is_empty() { Duration::from_secs(3600) } else { AGAIN };
                    let woken = shared.news.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner);
                    queue = woken.0;
                    if woken.1.timed_out() && !self.unwritten.is_empty() {
                        break;
                    }
                }
                queue.idle = false;
                if !queue.ending && !queue.hurry {
                    let gather = |queue: &mut Queue| !queue.ending && !queue.hurry;
                    let gathered = shared.news.wait_timeout_while(queue, GATHER, gather);
                    queue = gathered.unwrap_or_else(PoisonError::into_inner).0;
                }
                queue.hurry = false;
                (std::mem::take(&mut queue.entries), std::mem::take(&mut queue.lost), queue.ending)
            };
            let weight: usize = entries.iter().map(Entry::weight).sum();
            let outcome = self.write(entries, lost);
            let mut queue = shared.queue();
            queue.bytes = queue.bytes.saturating_sub(weight);
            let failure = outcome.err().map(|e| e.to_string());
            match (&queue.degraded, &failure) {
                (None, Some(e)) => log::error!("the audit cannot be written: {e}"),
                (Some(_), None) => log::warn!("the audit is written again"),
                _ => {}
            }
            queue.degraded = failure;
            if ending && queue.entries.is_empty() {
                return;
            }
        }
    }

    fn write(&mut self, entries: Vec<Entry>, lost: u64) -> io::Result<()> {
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
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn numbers(folder: &Path) -> Vec<u64> {
        let text: String = pieces(folder).rev().filter_map(|piece| fs::read_to_string(piece).ok()).collect();
        let seq =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["seq"].as_u64().unwrap();
        text.lines().map(seq).collect()
    }

    fn entry() -> Entry {
        Entry { method: "click".to_owned(), ..Entry::default() }
    }

    /// T132
    #[test]
    fn numbers_go_on_over_restarts_and_over_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..3 {
            let book = Book::new(folder.path());
            (0..5).for_each(|_| book.add(entry()));
            book.close();
            let mut file = OpenOptions::new().append(true).open(folder.path().join(NAME)).unwrap();
            file.write_all(b"{\"seq\":99,\"half").unwrap();
        }
        let book = Book::new(folder.path());
        book.add(entry());
        book.close();
        assert_eq!(numbers(folder.path()), (0..16).collect::<Vec<u64>>());
        assert_eq!(fs::metadata(folder.path().join(NAME)).unwrap().mode() & 0o777, 0o600);
    }

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

    #[test]
    fn a_file_that_others_can_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "").unwrap();
        fs::set_permissions(folder.path().join(NAME), fs::Permissions::from_mode(0o644)).unwrap();
        let book = Book::new(folder.path());
        book.add(entry());
        book.close();
        assert!(book.degraded().is_some());
        assert_eq!(fs::read_to_string(folder.path().join(NAME)).unwrap(), "");
    }
}
