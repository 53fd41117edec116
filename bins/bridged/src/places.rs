//! Where things are: the state folder, the configuration file, the Unix socket; and whether these may be trusted.

use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::trouble::{Doing, Outcome, Trouble};

/// The longest path that fits into a socket address, without its final NUL.
const LONGEST_SOCKET: usize = 107;

/// The folders of this user, by XDG.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// `$XDG_STATE_HOME/bridged`.
    pub state: PathBuf,
    /// `$XDG_CONFIG_HOME/bridged/config.toml`.
    pub config: PathBuf,
    /// `$XDG_CONFIG_HOME`, where other programs have theirs.
    pub config_home: PathBuf,
    /// The home folder; where there is none, nothing is found in it.
    pub home: PathBuf,
    /// Where the extension is installed if nobody says otherwise.
    pub extension: PathBuf,
    /// Where the Unix socket is if nobody says otherwise.
    pub socket: PathBuf,
    /// Why the runtime folder was passed over, if it was.
    pub warning: Option<String>,
}

impl Places {
    /// Reads the environment; creates nothing.
    pub(crate) fn find() -> Outcome<Places> {
        let state = base("XDG_STATE_HOME", ".local/state")?.join("bridged");
        let config_home = base("XDG_CONFIG_HOME", ".config")?;
        let config = config_home.join("bridged/config.toml");
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let extension = base("XDG_DATA_HOME", ".local/share")?.join("bridged/extension");
        let (socket, warning) = match runtime_folder() {
            Ok(Some(folder)) => (folder.join("bridged/bridged.sock"), None),
            Ok(None) => (state.join("run/bridged.sock"), None),
            Err(why) => (state.join("run/bridged.sock"), Some(why)),
        };
        Ok(Places { state, config, config_home, home, extension, socket, warning })
    }
}

/// The runtime folder, if there is one that only this user can write to; `Err` says why a given one will not do.
fn runtime_folder() -> Result<Option<PathBuf>, String> {
    let Some(given) = std::env::var_os("XDG_RUNTIME_DIR").filter(|v| !v.is_empty()) else { return Ok(None) };
    let folder = PathBuf::from(given);
    let because = |why: &str| {
        Err(format!(
            "XDG_RUNTIME_DIR ({}) {why}, so the socket is in the state folder instead",
            folder.display()
        ))
    };
    if !folder.is_absolute() {
        return because("is not an absolute path");
    }
    match fs::symlink_metadata(&folder) {
        Err(_) => because("is not there"),
        Ok(found) if !found.is_dir() => because("is not a folder"),
        Ok(found) if found.uid() != our_uid() => because("belongs to another user"),
        Ok(found) if found.mode() & 0o022 != 0 => because("can be written to by others"),
        Ok(_) => Ok(Some(folder)),
    }
}

/// A base folder of XDG: the variable if it is an absolute path, as the specification asks, else beneath the home folder.
fn base(variable: &str, beneath_home: &str) -> Outcome<PathBuf> {
    if let Some(given) = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute()) {
        return Ok(given);
    }
    match std::env::var_os("HOME").map(PathBuf::from) {
        Some(home) if home.is_absolute() => Ok(home.join(beneath_home)),
        _ => Err(Trouble::usage(format!(
            "HOME is not set to an absolute path, so there is no folder for bridged's files; set HOME or {variable}"
        ))),
    }
}

/// The user that this process acts for.
pub(crate) fn our_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Creates a folder for this user alone, with its parents, or checks that it is one.
pub(crate) fn private_folder(path: &Path) -> Outcome<()> {
    match fs::symlink_metadata(path) {
        Ok(found) => verify_folder(path, &found),
        Err(_) => {
            if let Some(parent) = path.parent().filter(|p| !p.exists()) {
                let mut above = DirBuilder::new();
                above.recursive(true).mode(0o700);
                above.create(parent).doing(format_args!("create {}", parent.display()))?;
            }
            // Two starts at once may both come here; whoever is second verifies what the first made.
            match DirBuilder::new().mode(0o700).create(path) {
                Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                    Err(e).doing(format_args!("create {}", path.display()))
                }
                _ => verify_folder(
                    path,
                    &fs::symlink_metadata(path).doing(format_args!("look at {}", path.display()))?,
                ),
            }
        }
    }
}

fn verify_folder(path: &Path, found: &Metadata) -> Outcome<()> {
    let refuse = |why: &str| Err(Trouble::usage(format!("{} {why}", path.display())));
    if found.file_type().is_symlink() {
        refuse("is a symbolic link; it must be a folder of its own: remove the link")
    } else if !found.is_dir() {
        refuse("is not a folder: move it away")
    } else if found.uid() != our_uid() {
        refuse(&format!("belongs to user {}, not to you: move it away or run as that user", found.uid()))
    } else if found.mode() & 0o022 != 0 {
        refuse("can be written to by others: check what is in it, then `chmod 700` it")
    } else if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
            .doing(format_args!("make {} private", path.display()))
    } else {
        Ok(())
    }
}

/// Refuses a socket path that does not fit into a socket address.
pub(crate) fn check_socket_path(path: &Path) -> Outcome<()> {
    let length = path.as_os_str().len();
    if !path.is_absolute() {
        return Err(Trouble::usage(format!("the socket's path {} is not absolute", path.display())));
    }
    match length > LONGEST_SOCKET {
        true => Err(Trouble::usage(format!(
            "the socket's path is {length} bytes long, at most {LONGEST_SOCKET} fit: choose a shorter one with --socket ({})",
            path.display()
        ))),
        false => Ok(()),
    }
}
