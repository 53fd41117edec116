//! The log of a daemon in the background: a file of the user's own, begun anew before it grows too large, and printed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::places::{Places, our_uid};
use crate::trouble::{Doing, Outcome, Trouble};

/// A log beyond this is put aside; one old log is kept.
const AT_MOST: u64 = 10 << 20;
/// How often a log that is followed is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Where the log of a background daemon is.
pub(crate) fn path(places: &Places) -> PathBuf {
    places.state.join("bridged.log")
}

/// Opens it for appending. Beyond its size it is put aside first.
pub(crate) fn open(log: &Path) -> Outcome<File> {
    if fs::symlink_metadata(log).is_ok_and(|found| found.len() > AT_MOST) {
        put_aside(log).doing(format_args!("put {} aside", log.display()))?;
    }
    append(log).doing(format_args!("write {}", log.display()))
}

fn put_aside(log: &Path) -> io::Result<()> {
    fs::rename(log, log.with_extension("log.1"))
}

fn append(log: &Path) -> io::Result<File> {
    // Not blocking: a pipe in its place must hold nobody up, least of all a daemon that reads its configuration again.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(flags.bits() as i32);
    let file = options.open(log)?;
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != our_uid() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is no file of your own"));
    }
    if found.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// The log that this process writes on its standard error.
pub(crate) struct Own {
    path: PathBuf,
    length: u64,
    most: u64,
}

impl Own {
    /// What standard error leads to already.
    pub(crate) fn of(places: &Places) -> Own {
        let length = rustix::fs::fstat(rustix::stdio::stderr()).map_or(0, |found| found.st_size);
        Own { path: path(places), length: u64::try_from(length).unwrap_or(0), most: AT_MOST }
    }

    /// The file to go on with, if so many bytes more were too many for the present one.
    pub(crate) fn before(&mut self, more: usize) -> Option<File> {
        self.length = self.length.saturating_add(more as u64);
        if self.length <= self.most {
            return None;
        }
        // Where that fails, the next line tries again: there is nobody to tell but this log.
        match put_aside(&self.path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return None,
            _ => {}
        }
        let fresh = append(&self.path).ok()?;
        self.length = more as u64;
        Some(fresh)
    }

    /// The file at its place, which somebody may have moved away.
    pub(crate) fn anew(&mut self) -> Outcome<File> {
        let file = append(&self.path).doing("open the log again")?;
        self.length = file.metadata().map_or(0, |found| found.len());
        Ok(file)
    }
}

/// What was written from there on, or the beginning of that.
pub(crate) fn since(log: &Path, from: u64) -> String {
    let mut text = String::new();
    if let Ok(mut file) = File::open(log)
        && file.seek(SeekFrom::Start(from)).is_ok()
    {
        let _ = file.take(64 << 10).read_to_string(&mut text);
    }
    text
}

/// For reading; a pipe in the log's place would keep the reader waiting for good.
fn read(log: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(log)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

/// `bridged logs`.
pub(crate) fn print(places: &Places, follow: bool) -> Outcome<()> {
    let path = path(places);
    let file = read(&path).map_err(|e| {
        if e.kind() == io::ErrorKind::NotFound {
            let text = "no daemon has run in the background yet; `bridged start` starts one, \
                        and `bridged serve` writes its log to the terminal";
            return Trouble::failed(text);
        }
        Trouble::failed(format!("the log cannot be read ({}: {e})", path.display()))
    })?;
    let mut reader = BufReader::new(file);
    let mut out = std::io::stdout().lock();
    let mut line = Vec::new();
    let mut last = false;
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line).doing("read the log")? {
            0 if !follow => return Ok(()),
            // It was put aside before this last look at it, so that nothing more comes.
            0 if last => {
                last = false;
                match read(&path) {
                    Ok(file) => reader = BufReader::new(file),
                    Err(_) => std::thread::sleep(LOOK),
                }
            }
            0 => {
                std::thread::sleep(LOOK);
                last = moved(reader.get_ref(), &path);
            }
            _ if out.write_all(&line).and_then(|()| out.flush()).is_err() => return Ok(()),
            _ => {}
        }
    }
}

/// Whether the file that is open is no longer the one at its place.
pub(crate) fn moved(open: &File, path: &Path) -> bool {
    match (open.metadata(), fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.ino(), ours.dev()) != (there.ino(), there.dev()),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;

    #[test]
    fn a_log_that_grows_is_begun_anew_and_one_old_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bridged.log");
        let mut file = open(&path).unwrap();
        let mut own = Own { path: path.clone(), length: 0, most: 1000 };
        for n in 0..100 {
            let line = format!("{n:099}\n");
            if let Some(fresh) = own.before(line.len()) {
                file = fresh;
            }
            file.write_all(line.as_bytes()).unwrap();
        }
        let old = folder.path().join("bridged.log.1");
        let text = fs::read_to_string(&old).unwrap() + &fs::read_to_string(&path).unwrap();
        let numbers: Vec<u64> = text.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers, (80..100).collect::<Vec<u64>>());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        for file in [&path, &old] {
            let found = fs::metadata(file).unwrap();
            assert!(found.len() <= 1000 && found.mode() & 0o777 == 0o600, "{file:?}");
        }
    }

    #[test]
    fn what_is_no_file_of_ours_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink("/dev/null", place("link")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            place("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        fs::create_dir(place("folder")).unwrap();
        for name in ["link", "pipe", "folder"] {
            assert!(open(&place(name)).is_err(), "{name}");
        }
        fs::write(place("wide"), "old\n").unwrap();
        fs::set_permissions(place("wide"), fs::Permissions::from_mode(0o666)).unwrap();
        drop(open(&place("wide")).unwrap());
        assert_eq!(fs::metadata(place("wide")).unwrap().mode() & 0o777, 0o600);
    }
}
