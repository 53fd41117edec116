//! What waits to be written: the hub's thread fills it in, a thread of its own empties it in batches. A disk that is full loses lines,
//! not the service.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::entry::Entry;
use super::pieces::Writer;

/// For how long lines are gathered.
const GATHER: Duration = Duration::from_millis(100);
/// How long until what could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// What may wait to be written; what comes beyond is counted.
const WAITING: usize = 16 << 20;

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
            match thread.spawn(move || run(Writer::new(folder), &shared)) {
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

/// The other thread: gathers what comes and has it written.
fn run(mut writer: Writer, shared: &Shared) {
    loop {
        let (entries, lost, ending) = {
            let mut queue = shared.queue();
            while queue.entries.is_empty() && !queue.ending {
                queue.idle = true;
                let wait = if writer.owes_nothing() { Duration::from_secs(3600) } else { AGAIN };
                let woken = shared.news.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner);
                queue = woken.0;
                if woken.1.timed_out() && !writer.owes_nothing() {
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
        let outcome = writer.write(entries, lost);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::super::pieces::NAME;
    use super::super::pieces::tests::{entry, numbers};
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

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
