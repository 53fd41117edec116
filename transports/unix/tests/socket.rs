//! The socket's folder, lock and file (T75, T76, T77, T78, T79, T81, T82).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![cfg(unix)]

use bridge_unix::{SocketError, SocketFile, hung_up, runtime_dir_from, same_user};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn bind(folder: &Path) -> Result<SocketFile, SocketError> {
    SocketFile::bind(&folder.join("bridged.sock"))
}

fn private_dir() -> tempfile::TempDir {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
}

#[test]
fn the_socket_is_for_its_owner_alone_and_goes_with_its_holder() {
    let root = private_dir();
    let folder = root.path().join("bridged");
    let socket = bind(&folder).unwrap();
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(socket.path()), 0o600);
    let path = socket.path().to_owned();
    let near = UnixStream::connect(&path).unwrap();
    let (far, _) = socket.listener().accept().unwrap();
    assert!(same_user(&far) && same_user(&near));
    drop(socket);
    assert!(!path.exists());
}

/// T75: the socket's file is born closed to others; no chmod comes after it.
#[cfg(target_os = "linux")]
#[test]
fn the_socket_is_never_open_to_others_not_even_for_a_moment() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let root = private_dir();
    let path = root.path().join("bridged.sock");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut seen = std::collections::BTreeSet::new();
            while !done.load(Ordering::Relaxed) {
                if let Ok(found) = fs::symlink_metadata(&path) {
                    seen.insert(found.permissions().mode() & 0o7777);
                }
            }
            seen
        });
        (0..2_000).for_each(|_| drop(bind(root.path()).unwrap()));
        let kept = bind(root.path()).unwrap();
        assert_eq!(mode(kept.path()), 0o600);
        done.store(true, Ordering::Relaxed);
        let seen = watching.join().unwrap();
        assert!(seen.iter().all(|mode| *mode == 0o600), "{seen:?}");
    });
}

#[test]
fn a_stale_socket_file_is_replaced() {
    let root = private_dir();
    let first = bind(root.path()).unwrap();
    let path = first.path().to_owned();
    // As after kill -9: the file stays, the lock does not.
    let kept = root.path().join("kept");
    fs::hard_link(&path, &kept).unwrap();
    drop(first);
    fs::rename(&kept, &path).unwrap();
    let second = bind(root.path()).unwrap();
    UnixStream::connect(&path).unwrap();
    second.listener().accept().unwrap();
}

#[test]
fn a_second_one_is_told_who_runs_and_disturbs_nothing() {
    let root = private_dir();
    let first = bind(root.path()).unwrap();
    let error = bind(root.path()).unwrap_err();
    assert!(matches!(error, SocketError::Running(Some(pid)) if pid == std::process::id()), "{error}");
    assert_eq!(error.to_string(), format!("already running (pid {})", std::process::id()));
    UnixStream::connect(first.path()).unwrap();
}

#[test]
fn what_is_no_socket_is_refused_and_left_alone() {
    let root = private_dir();
    let place = root.path().join("bridged.sock");
    fs::write(&place, "precious").unwrap();
    assert!(matches!(bind(root.path()), Err(SocketError::Unfit(..))));
    assert_eq!(fs::read_to_string(&place).unwrap(), "precious");

    fs::remove_file(&place).unwrap();
    let target = root.path().join("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, &place).unwrap();
    assert!(matches!(bind(root.path()), Err(SocketError::Unfit(..))));
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn a_folder_that_is_a_link_or_open_to_others_is_refused() {
    let root = private_dir();
    let real = root.path().join("real");
    fs::create_dir(&real).unwrap();
    let link = root.path().join("link");
    symlink(&real, &link).unwrap();
    assert!(matches!(bind(&link), Err(SocketError::Unfit(..))));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o770)).unwrap();
    assert!(matches!(bind(&real), Err(SocketError::Unfit(..))));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(root.path().join("elsewhere"), real.join("bridged.sock.lock")).unwrap();
    assert!(matches!(bind(&real), Err(SocketError::Unfit(..))));
    assert!(!root.path().join("elsewhere").exists());
}

#[test]
fn a_path_too_long_for_a_socket_is_said_so() {
    let root = private_dir();
    let deep = root.path().join("d".repeat(100));
    let error = bind(&deep).unwrap_err();
    assert!(error.to_string().contains("107"), "{error}");
}

#[test]
fn of_many_starts_at_the_same_instant_one_survives() {
    for _ in 0..100 {
        let root = private_dir();
        let folder = root.path().join("bridged");
        let (start, end) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (folder, start, end) = (folder.clone(), start.clone(), end.clone());
                std::thread::spawn(move || {
                    start.wait();
                    let bound = bind(&folder);
                    end.wait();
                    bound.is_ok()
                })
            })
            .collect();
        let won = threads.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count();
        assert_eq!(won, 1);
    }
}

#[test]
fn the_folder_is_never_one_that_others_share() {
    let root = private_dir();
    let open = root.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let dir = |vars: &[(&str, &str)]| {
        let vars: HashMap<_, _> = vars.iter().map(|(name, path)| (*name, PathBuf::from(path))).collect();
        runtime_dir_from(|name| vars.get(name).cloned())
    };
    let root = root.path().to_str().unwrap();
    assert_eq!(dir(&[("XDG_RUNTIME_DIR", root)]).unwrap(), Path::new(root).join("bridged"));
    let home = ("HOME", "/home/x");
    let fallback = Path::new("/home/x/.local/state/bridged/run");
    assert_eq!(dir(&[home]).unwrap(), fallback);
    assert_eq!(dir(&[("XDG_RUNTIME_DIR", "relative"), home]).unwrap(), fallback);
    assert_eq!(dir(&[("XDG_RUNTIME_DIR", open.to_str().unwrap()), home]).unwrap(), fallback);
    assert_eq!(dir(&[("XDG_STATE_HOME", "/s"), home]).unwrap(), Path::new("/s/bridged/run"));
    assert!(dir(&[]).is_err());
}

#[test]
fn half_closed_and_gone_are_told_apart() {
    let (mut near, far) = UnixStream::pair().unwrap();
    near.write_all(b"x").unwrap();
    near.shutdown(Shutdown::Write).unwrap();
    assert!(!hung_up(&far));
    drop(near);
    assert!(hung_up(&far));
}
