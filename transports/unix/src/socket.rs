//! The socket's folder, lock and file: only the owner gets in, only one daemon runs, nothing foreign is
//! followed or removed.

use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::{env, fmt};

/// Longest path a Unix socket address holds, without its final NUL.
const LONGEST: usize = 107;

/// A listening socket in its folder. Dropped, it removes the file and lets go of the lock.
#[derive(Debug)]
pub struct SocketFile {
    listener: UnixListener,
    path: PathBuf,
    /// Held open as long as we run: whoever holds the lock is the daemon.
    _lock: File,
}

/// Why there is no socket.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// Another daemon runs; its process id, if it could be read.
    Running(Option<u32>),
    /// The place is not fit for a socket, and why.
    Unfit(PathBuf, String),
    /// The system refused.
    Io(PathBuf, io::Error),
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running(Some(pid)) => write!(f, "already running (pid {pid})"),
            Self::Running(None) => write!(f, "already running"),
            Self::Unfit(path, why) => write!(f, "{}: {why}", path.display()),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for SocketError {}

impl SocketFile {
    /// Listens at `path`. Its folder is made if need be (0700) and must be ours alone; a lock file beside it
    /// (`<name>.lock`) decides who runs.
    ///
    /// A socket file that is there already is stale once the lock is ours, and is replaced; anything else in
    /// its place is left alone and is an error.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(SocketError::Unfit(path.to_owned(), "it is no path of a file".into()));
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if path.as_os_str().as_bytes().len() > LONGEST {
            let why = format!("the path is longer than the {LONGEST} bytes a socket's may have");
            return Err(SocketError::Unfit(path.to_owned(), why));
        }
        let dir = open_folder(folder)?;
        let lock = lock(&dir, path, name)?;
        let at = |error: rustix::io::Errno| SocketError::Io(path.to_owned(), error.into());
        match fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind(&stat) == FileType::Socket => {
                fs::unlinkat(&dir, name, AtFlags::empty()).map_err(at)?;
            }
            Ok(_) => {
                let why = "something that is no socket is in its place".into();
                return Err(SocketError::Unfit(path.to_owned(), why));
            }
            Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(at(error)),
        }
        let listener = listen(path).map_err(|error| SocketError::Io(path.to_owned(), error))?;
        // Where the mode could not be given before, nobody else reaches it all the same: the folder is 0700.
        if !cfg!(target_os = "linux") {
            fs::chmodat(&dir, name, Mode::from_raw_mode(0o600), AtFlags::empty()).map_err(at)?;
        }
        Ok(Self { listener, path: path.to_owned(), _lock: lock })
    }

    /// The listener; clone it (`try_clone`) into a runtime.
    #[must_use]
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Still under the lock, so this is our own.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The folder for the socket: `$XDG_RUNTIME_DIR/bridged`, else `run` in the state folder.
pub fn runtime_dir() -> Result<PathBuf, SocketError> {
    runtime_dir_from(|name| env::var_os(name).map(PathBuf::from))
}

/// [`runtime_dir`] with the environment given. A runtime folder that is relative, not ours or open to
/// others is passed over; a folder that is shared between users is never used.
pub fn runtime_dir_from(var: impl Fn(&str) -> Option<PathBuf>) -> Result<PathBuf, SocketError> {
    let absolute = |name: &str| var(name).filter(|path| path.is_absolute());
    if let Some(runtime) = absolute("XDG_RUNTIME_DIR")
        && fs::lstat(&runtime).is_ok_and(|stat| private(&stat, FileType::Directory))
    {
        return Ok(runtime.join("bridged"));
    }
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    match state {
        Some(state) => Ok(state.join("bridged/run")),
        None => Err(SocketError::Unfit(
            PathBuf::from("$HOME"),
            "none of XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME is an absolute path".into(),
        )),
    }
}

/// Opens the folder, made 0700 with its parents if need be, and makes sure that it is ours alone.
fn open_folder(folder: &Path) -> Result<OwnedFd, SocketError> {
    let failed = |error: io::Error| SocketError::Io(folder.to_owned(), error);
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
    builder.create(folder).map_err(failed)?;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let dir = match fs::open(folder, flags, Mode::empty()) {
        Ok(dir) => dir,
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
            return Err(SocketError::Unfit(folder.to_owned(), "it is a link or no folder".into()));
        }
        Err(error) => return Err(failed(error.into())),
    };
    let stat = fs::fstat(&dir).map_err(|error| failed(error.into()))?;
    if private(&stat, FileType::Directory) {
        Ok(dir)
    } else {
        let why = "it must belong to you and be open to nobody else (chmod 700)".into();
        Err(SocketError::Unfit(folder.to_owned(), why))
    }
}

/// Binds and listens. On Linux the file has the mode that its socket was given before, whatever the umask: it is never
/// open to others, not even for a moment.
#[cfg(target_os = "linux")]
fn listen(path: &Path) -> io::Result<UnixListener> {
    use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let fd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    fs::fchmod(&fd, Mode::from_raw_mode(0o600))?;
    net::bind(&fd, &SocketAddrUnix::new(path)?)?;
    // As many may wait as the system allows.
    net::listen(&fd, i32::MAX)?;
    Ok(UnixListener::from(fd))
}

#[cfg(not(target_os = "linux"))]
fn listen(path: &Path) -> io::Result<UnixListener> {
    UnixListener::bind(path)
}

/// Takes the lock that decides who runs, and leaves our process id in it for the others to show.
fn lock(dir: &OwnedFd, socket: &Path, name: &OsStr) -> Result<File, SocketError> {
    let beside = |of: &OsStr| [of, OsStr::new(".lock")].into_iter().collect::<OsString>();
    let path = PathBuf::from(beside(socket.as_os_str()));
    let failed = |error: io::Error| SocketError::Io(path.clone(), error);
    let flags = OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDWR | OFlags::NONBLOCK;
    let fd = match fs::openat(dir, beside(name), flags, Mode::from_raw_mode(0o600)) {
        Ok(fd) => fd,
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO) => {
            return Err(SocketError::Unfit(path, "it is a link or no file".into()));
        }
        Err(error) => return Err(failed(error.into())),
    };
    let stat = fs::fstat(&fd).map_err(|error| failed(error.into()))?;
    if kind(&stat) != FileType::RegularFile {
        return Err(SocketError::Unfit(path, "it is no file".into()));
    }
    let mut file = File::from(fd);
    match fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut text = String::new();
            let _ = (&file).take(32).read_to_string(&mut text);
            return Err(SocketError::Running(text.trim().parse().ok()));
        }
        Err(error) => return Err(failed(error.into())),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(failed)?;
    Ok(file)
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn private(stat: &Stat, wanted: FileType) -> bool {
    kind(stat) == wanted && stat.st_uid == rustix::process::geteuid().as_raw() && stat.st_mode & 0o077 == 0
}
