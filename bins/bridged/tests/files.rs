//! Files and folders: private from the first moment, distrusted when they are not, never followed elsewhere.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use serde_json::json;
use support::{Done, Home, mode};

fn chmod(path: &std::path::Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// T75: files, folders and sockets are closed to others whatever the umask.
#[test]
fn everything_is_private_even_without_a_umask() {
    let home = Home::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 000; exec \"$0\" start", env!("CARGO_BIN_EXE_bridged")]);
    home.settle(&mut shell);
    Done::of(&mut shell).ok();
    home.bridged(["approve", "abcdefghijklmnopabcdefghijklmnop"]).ok();
    for file in ["root.key", "client.token", "pairings.json", "bridged.lock", "bridged.log"] {
        assert_eq!(mode(&home.state(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&home.state("")), 0o700);
    assert_eq!(mode(&home.path("run/bridged")), 0o700);
    assert_eq!(mode(&home.socket()), 0o600);
    home.bridged(["stop"]).ok();
}

#[test]
fn the_root_key_is_32_bytes_and_stays_the_same() {
    let home = Home::new();
    drop(home.serve());
    let key = fs::read(home.state("root.key")).unwrap();
    assert_eq!(key.len(), 32);
    drop(home.serve());
    assert_eq!(fs::read(home.state("root.key")).unwrap(), key);
    let token = fs::read_to_string(home.state("client.token")).unwrap();
    assert_eq!(home.bridged(["token"]).ok(), token);
}

/// T71: a key that others could read starts nothing; the message names the file and the way out.
#[test]
fn a_key_that_others_could_read_counts_as_leaked() {
    let home = Home::new();
    drop(home.serve());
    chmod(&home.state("root.key"), 0o644);
    home.bridged(["serve", "--port", "0"]).fails(2, &["root.key", "644", "bridged reset-pairing"]);
    let leaked = fs::read(home.state("root.key")).unwrap();
    home.bridged(["reset-pairing"]).ok();
    assert_eq!(mode(&home.state("root.key")), 0o600);
    assert_ne!(fs::read(home.state("root.key")).unwrap(), leaked);
    drop(home.serve());
}

/// T72: a link, a pipe or a folder in the key's place.
#[test]
fn what_is_no_plain_file_is_no_key_and_its_target_is_untouched() {
    let home = Home::new();
    drop(home.serve());
    let target = home.path("target");
    fs::rename(home.state("root.key"), &target).unwrap();
    let before = fs::read(&target).unwrap();
    symlink(&target, home.state("root.key")).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["root.key", "symbolic link"]);
    home.bridged(["reset-pairing"]).ok();
    assert_eq!(fs::read(&target).unwrap(), before, "a reset replaces the link, not what it points to");
    assert!(home.state("root.key").symlink_metadata().unwrap().is_file());

    fs::remove_file(home.state("root.key")).unwrap();
    assert!(
        Command::new("mkfifo").args(["-m", "600"]).arg(home.state("root.key")).status().unwrap().success()
    );
    home.bridged(["serve", "--port", "0"]).fails(2, &["root.key", "regular file"]);
    fs::remove_file(home.state("root.key")).unwrap();
    fs::create_dir(home.state("root.key")).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["root.key"]);
}

#[test]
fn a_key_cut_short_is_not_used() {
    let home = Home::new();
    drop(home.serve());
    fs::write(home.state("root.key"), [7; 31]).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["31 bytes", "bridged reset-pairing"]);
    home.bridged(["reset-pairing"]).ok();
    fs::write(home.state("pairings.json"), "{").unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["pairings.json", "damaged", "bridged reset-pairing"]);
}

/// T73: a state folder that is a link, or that others can write to.
#[test]
fn a_state_folder_that_others_control_is_refused() {
    let home = Home::new();
    fs::create_dir_all(home.path("elsewhere")).unwrap();
    fs::create_dir_all(home.path("state")).unwrap();
    symlink(home.path("elsewhere"), home.path("state/bridged")).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["symbolic link"]);
    assert_eq!(fs::read_dir(home.path("elsewhere")).unwrap().count(), 0);
    fs::remove_file(home.path("state/bridged")).unwrap();
    fs::create_dir(home.path("state/bridged")).unwrap();
    chmod(&home.path("state/bridged"), 0o770);
    home.bridged(["serve", "--port", "0"]).fails(2, &["written to by others", "chmod 700"]);
    // Only readable by others is mended without a word: nothing secret was in it yet.
    chmod(&home.path("state/bridged"), 0o755);
    drop(home.serve());
    assert_eq!(mode(&home.path("state/bridged")), 0o700);
}

/// T74: a link where the next file is prepared.
#[test]
fn a_planted_link_in_the_way_of_a_write_is_left_alone() {
    let home = Home::new();
    drop(home.serve());
    let target = home.path("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, home.state(".pairings.json.tmp")).unwrap();
    home.bridged(["approve", "abcdefghijklmnopabcdefghijklmnop"]).fails(2, &[".pairings.json.tmp"]);
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    // What a writer of ours left behind when it was killed is no obstacle.
    fs::remove_file(home.state(".pairings.json.tmp")).unwrap();
    fs::write(home.state(".pairings.json.tmp"), "half").unwrap();
    home.bridged(["approve", "abcdefghijklmnopabcdefghijklmnop"]).ok();
}

/// T84: a full disk at the writing of a key.
#[test]
fn a_full_disk_leaves_the_old_key() {
    let home = Home::new();
    drop(home.serve());
    let before = fs::read(home.state("root.key")).unwrap();
    // A limit of no bytes a file is what a full disk looks like to whoever writes.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" reset-pairing", env!("CARGO_BIN_EXE_bridged")]);
    home.settle(&mut shell);
    Done::of(&mut shell).fails(1, &["root.key"]);
    assert_eq!(fs::read(home.state("root.key")).unwrap(), before);
    drop(home.serve());
}

/// T82: a runtime folder that is missing, relative or open to others.
#[test]
fn an_unfit_runtime_folder_is_passed_over_by_daemon_and_command_line_alike() {
    let home = Home::new();
    chmod(&home.path("run"), 0o777);
    let daemon = home.serve();
    let beneath_state = home.state("run/bridged.sock");
    assert_eq!(
        support::Lines::open(&beneath_state).ask(&json!({"id": "1", "method": "ping"}))["success"],
        true
    );
    assert_eq!(home.bridge(["ping"]).ok(), "pong\n");
    assert!(daemon.log().contains("XDG_RUNTIME_DIR"));
    chmod(&home.path("run"), 0o700);

    // Another user's is none for us either; only root can play that.
    if rustix::process::geteuid().is_root() {
        chown(home.path("run"), Some(65534), Some(65534)).unwrap();
        let daemon = home.serve();
        assert!(beneath_state.exists() && !home.path("run/bridged").exists());
        assert_eq!(home.bridge(["ping"]).ok(), "pong\n");
        assert!(daemon.log().contains("belongs to another user"));
        chown(home.path("run"), Some(0), Some(0)).unwrap();
    }

    for runtime in ["", "relative/run"] {
        let mut command = home.program("bridged");
        command.args(["status"]).env("XDG_RUNTIME_DIR", runtime);
        Done::of(&mut command).fails(3, &[]);
        let mut start = home.program("bridged");
        Done::of(start.args(["start"]).env("XDG_RUNTIME_DIR", runtime)).ok();
        assert!(beneath_state.exists(), "{runtime}");
        let mut stop = home.program("bridged");
        Done::of(stop.args(["stop"]).env("XDG_RUNTIME_DIR", runtime)).ok();
    }
}

#[test]
fn no_secret_is_said_where_it_does_not_belong() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--log", "trace"]);
    let token = home.bridged(["token"]).ok();
    let mut lines = daemon.lines();
    lines.ask(&json!({"type": "hello", "role": "client", "protocol": 2, "token": token.trim()}));
    let mut said = home.bridged(["status", "--json"]).ok() + &home.bridged(["pairings", "--json"]).ok();
    said += &fs::read_to_string(format!("/proc/{}/cmdline", daemon.child.id())).unwrap();
    said += &fs::read_to_string(home.state("pairings.json")).unwrap_or_default();
    said += &daemon.log();
    assert!(!said.contains(token.trim()), "the token leaked");
}
