//! Other users of the machine stay out. These run only as root, who alone can play two users.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use serde_json::json;
use support::{Home, Peer};

/// Nobody's own number on most systems; it only must not be ours.
const OTHER: u32 = 65534;

/// A daemon of another user, in a home of theirs. None where we are not root.
fn theirs(home: &Home) -> Option<(Child, u16)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    // A copy, for the folder that programs are built in may be closed to others.
    let program = home.path("bridged");
    support::copy_program(&program);
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    for path in [home.dir.path().to_owned(), home.path("run")] {
        chown(path, Some(OTHER), Some(OTHER)).unwrap();
    }
    let mut command = std::process::Command::new(&program);
    home.settle(&mut command);
    let mut child = command
        .args(["serve", "--port", "0"])
        .uid(OTHER)
        .gid(OTHER)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().rsplit_once(':').unwrap().1.parse().unwrap();
    Some((child, port))
}

/// T48, T50, T51.
#[test]
fn root_is_another_user_too_and_gets_no_upgrade_and_no_line() {
    let home = Home::new();
    let Some((mut child, port)) = theirs(&home) else { return };
    let hello = json!({"type": "hello", "role": "client"});
    assert_eq!(Peer::open(port, None, &hello).err(), Some(403));
    // Root gets past the socket's mode, but not past its credentials.
    let mut stream = UnixStream::connect(home.socket()).unwrap();
    stream.set_read_timeout(Some(support::CEILING)).unwrap();
    let mut said = Vec::new();
    // Closed or reset, but not left waiting.
    if let Err(e) = stream.read_to_end(&mut said) {
        assert_eq!(e.kind(), std::io::ErrorKind::ConnectionReset);
    }
    assert!(said.is_empty(), "{said:?}");
    // Its end writes down what is left. Who knocked is told as far as the kernel said it.
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    child.wait().unwrap();
    let written = std::fs::read_to_string(home.state("audit.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let who: Vec<_> = lines.iter().map(|line| (&line["transport"], &line["uid"], &line["pid"])).collect();
    let (root, us) = (json!(0), json!(std::process::id()));
    assert_eq!(
        who,
        [(&json!("websocket"), &root, &serde_json::Value::Null), (&json!("unix"), &root, &us)],
        "{written}"
    );
}

/// T83: whose program holds the port is said by its user.
#[test]
fn the_command_line_does_not_talk_to_another_users_daemon() {
    let home = Home::new();
    let Some((mut child, port)) = theirs(&home) else { return };
    let socket = home.socket();
    home.bridge(["ping", "--socket", socket.to_str().unwrap()]).fails(3, &["another user"]);
    // Its port is said to be theirs.
    let other = Home::new();
    other.bridged(["serve", "--port", &port.to_string()]).fails(1, &[&format!("a program of user {OTHER}")]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// T71, T73: a folder or a key of another user.
#[test]
fn a_state_folder_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = Home::new();
    std::fs::create_dir_all(home.path("state/bridged")).unwrap();
    chown(home.path("state/bridged"), Some(OTHER), Some(OTHER)).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["belongs to user 65534"]);
    chown(home.path("state/bridged"), Some(0), Some(0)).unwrap();
    drop(home.serve());
    chown(home.state("root.key"), Some(OTHER), Some(OTHER)).unwrap();
    home.bridged(["serve", "--port", "0"])
        .fails(2, &["root.key", "belongs to user 65534", "bridged reset-pairing"]);
}
