//! Files that a person or a model asked for: pictures, documents, texts. Whole or not at all, closed to others, and never
//! through a link, whoever plants one and whenever.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use crate::files::random;
use crate::places::our_uid;
use crate::trouble::{Doing, Outcome, Trouble};

/// Writes `content` into the file that the caller named. One of the caller's own that is there is replaced.
///
/// The folder is the caller's to name, links in it included. From then on it is held open, so that whatever is swapped
/// meanwhile, only an entry of that very folder changes.
pub(crate) fn save(path: &Path, content: &[u8]) -> Outcome<()> {
    let doing = format_args!("write {}", path.display());
    let Some(name) = path.file_name() else {
        return Err(Trouble::failed(format!("cannot write {}: it names no file", path.display())));
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(folder, flags, Mode::empty()).doing(doing)?;
    let refuse = |why: &str| Err(Trouble::failed(format!("cannot write {}: it {why}", path.display())));
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => {}
        Err(e) => return Err(e).doing(doing),
        Ok(there) => match FileType::from_raw_mode(there.st_mode) {
            FileType::RegularFile if there.st_uid == our_uid() => {}
            FileType::RegularFile => return refuse(&format!("belongs to user {}", there.st_uid)),
            FileType::Symlink => {
                return refuse("is a symbolic link, which is not followed: name its target, or remove it");
            }
            // /dev/null, a pipe: there is nothing to replace and nothing to read afterwards.
            FileType::CharacterDevice | FileType::Fifo => {
                let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
                let device = openat(&folder, name, flags, Mode::empty()).doing(doing)?;
                return File::from(device).write_all(content).doing(doing);
            }
            _ => return refuse("is no regular file"),
        },
    }
    let beside = format!(".bridge-{}.tmp", letters()?);
    write_new(&folder, OsStr::new(&beside), content).doing(doing)?;
    let placed = renameat(&folder, beside.as_str(), &folder, name);
    if placed.is_err() {
        let _ = unlinkat(&folder, beside.as_str(), AtFlags::empty());
    }
    placed.doing(doing)
}

/// Writes a file that must not be there yet; false if it is.
pub(crate) fn save_new(path: &Path, content: &[u8]) -> Outcome<bool> {
    let doing = format_args!("write {}", path.display());
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
        return Err(Trouble::failed(format!("cannot write {}: it names no file", path.display())));
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(folder, flags, Mode::empty()).doing(doing)?;
    match write_new(&folder, name, content) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        written => written.map(|()| true).doing(doing),
    }
}

/// Some letters that nobody can foresee.
pub(crate) fn letters() -> Outcome<String> {
    Ok(random()?.iter().take(4).map(|byte| format!("{byte:02x}")).collect())
}

fn write_new(folder: &OwnedFd, name: &OsStr, content: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
    let written = File::from(file).write_all(content);
    if written.is_err() {
        // Half a picture is none.
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
    written
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    /// T87: a file is the caller's alone and replaced whole; a link in its place is not followed.
    #[test]
    fn a_file_is_private_and_a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shot.png");
        save(&path, b"one").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let linked = dir.path().join("hard");
        fs::hard_link(&path, &linked).unwrap();
        save(&path, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o600));
        assert_eq!(fs::read(&linked).unwrap(), b"one", "another name of the old file keeps what it had");

        let target = dir.path().join("target");
        fs::write(&target, "precious").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&target, &path).unwrap();
        let said = save(&path, b"three").unwrap_err().to_string();
        assert!(said.contains("symbolic link"), "{said}");
        assert!(!save_new(&path, b"three").unwrap());
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        for other in ["", "/", "..", "gone/shot.png"] {
            assert!(save(&dir.path().join(other), b"x").is_err(), "{other:?}");
        }
        assert_eq!(entries(dir.path()), 3, "nothing is left over");
    }

    /// T86: whatever takes the file's place between the look and the write, only that entry of the folder changes.
    #[test]
    fn a_link_swapped_in_a_thousand_times_never_leads_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("shot.png"), dir.path().join("link"));
        let target = dir.path().join("target");
        fs::write(&target, "precious").unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = symlink(&target, &link);
                    let _ = fs::rename(&link, &path);
                    let _ = fs::remove_file(&path);
                }
            });
            (0..1000).for_each(|_| drop(save(&path, b"picture")));
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        assert!(
            !fs::read_dir(dir.path())
                .unwrap()
                .flatten()
                .any(|e| e.path().extension().is_some_and(|x| x == "tmp"))
        );
    }

    /// T86: a folder swapped for a link after it was opened changes nothing outside it.
    #[test]
    fn a_folder_swapped_for_a_link_is_either_itself_or_the_links_but_a_file_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["sub", "other"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let other = dir.path().join("other/shot.png");
        symlink("/dev/full", &other).unwrap();
        symlink("other", dir.path().join("link")).unwrap();
        let [folder, aside, link] = ["sub", "aside", "link"].map(|name| dir.path().join(name));
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    fs::rename(&folder, &aside).unwrap();
                    fs::rename(&link, &folder).unwrap();
                    fs::rename(&folder, &link).unwrap();
                    fs::rename(&aside, &folder).unwrap();
                }
            });
            (0..1000).for_each(|_| drop(save(&folder.join("shot.png"), b"picture")));
            done.store(true, Ordering::Relaxed);
        });
        assert!(
            fs::symlink_metadata(&other).unwrap().is_symlink(),
            "a planted link is never written through"
        );
        assert_eq!(entries(&dir.path().join("other")), 1);
    }

    /// T88: what cannot be written to the end leaves nothing.
    #[test]
    fn a_device_is_written_to_as_it_is() {
        save(Path::new("/dev/null"), b"x").unwrap();
        assert!(save(Path::new("/dev/full"), b"x").is_err());
        assert!(fs::symlink_metadata("/dev/full").unwrap().mode() & 0o170000 == 0o020000);
    }
}
