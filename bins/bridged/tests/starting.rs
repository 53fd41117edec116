//! Starting: one daemon a user, clear refusals, and nothing foreign touched.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::os::unix::net::UnixListener;
use std::process::Stdio;

use serde_json::json;
use support::{Home, within};

#[test]
fn a_free_port_is_picked_and_said_and_both_doors_answer() {
    let home = Home::new();
    let daemon = home.serve();
    assert_ne!(daemon.port, 0);
    assert_eq!(daemon.client().call("ping", json!({}))["result"]["pong"], true);
    assert_eq!(daemon.lines().ask(&json!({"id": "1", "method": "ping"}))["result"]["pong"], true);
}

/// T77: a second daemon.
#[test]
fn a_second_daemon_is_refused_and_the_first_is_undisturbed() {
    let home = Home::new();
    let daemon = home.serve();
    let mut client = daemon.client();
    let pid = daemon.child.id().to_string();
    home.bridged(["serve", "--port", "0"])
        .fails(1, &["already running", &format!("pid {pid}"), "bridged stop"]);
    assert_eq!(client.call("ping", json!({}))["result"]["pong"], true);
}

/// T79: many starts at one instant.
#[test]
fn of_many_starts_at_the_same_instant_exactly_one_survives() {
    let home = Home::new();
    let start = || {
        let mut command = home.program("bridged");
        command.args(["serve", "--port", "0"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..16).map(|_| start()).collect();
    let mut alive = children.len();
    within("all but one end", || {
        alive = children.iter_mut().filter_map(|c| c.try_wait().unwrap().is_none().then_some(())).count();
        alive <= 1
    });
    within("the survivor answers", || home.socket().exists());
    assert_eq!(home.bridged(["status"]).code, 0);
    for mut child in children {
        let survived = child.try_wait().unwrap().is_none();
        let _ = child.kill();
        let code = child.wait().unwrap().code();
        assert!(survived || code == Some(1), "{code:?}");
    }
}

/// T76, T80: what a killed daemon leaves.
#[test]
fn a_daemon_that_was_killed_leaves_nothing_in_the_way() {
    let home = Home::new();
    let mut daemon = home.serve();
    home.bridged(["approve", "abcdefghijklmnopabcdefghijklmnop"]).ok();
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    assert!(home.socket().exists());
    let again = home.serve();
    assert_eq!(again.lines().ask(&json!({"id": "1", "method": "ping"}))["success"], true);
    assert!(home.bridged(["pairings"]).ok().contains("abcdefghijklmnopabcdefghijklmnop"));
}

/// T78: something else in the socket's place.
#[test]
fn a_file_in_the_sockets_place_is_refused_and_kept() {
    let home = Home::new();
    std::fs::create_dir(home.path("run/bridged")).unwrap();
    std::fs::set_permissions(home.path("run/bridged"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    std::fs::write(home.socket(), "mine").unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["bridged.sock"]);
    assert_eq!(std::fs::read(home.socket()).unwrap(), b"mine");
    std::fs::remove_file(home.socket()).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.socket()).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["bridged.sock"]);
    assert!(home.socket().symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_socket_may_have_any_name() {
    let home = Home::new();
    let socket = home.path("own/place.sock");
    let daemon = home.serve_with(&["--port", "0", "--socket", socket.to_str().unwrap()]);
    assert_eq!(support::Lines::open(&socket).ask(&json!({"id": "1", "method": "ping"}))["success"], true);
    assert_eq!(home.bridge(["ping", "--socket", socket.to_str().unwrap()]).ok(), "pong\n");
    assert!(home.bridged(["status"]).ok().contains("own/place.sock"));
    drop(daemon);
}

/// T83: a port that is taken.
#[test]
fn a_taken_port_is_said_with_whose_it_is() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    home.bridged(["serve", "--port", &port])
        .fails(1, &[&format!("port {port} is taken"), "another program of yours", "--port"]);
    assert!(!home.socket().exists(), "a daemon that did not start leaves no socket");
}

/// T93: variables with nonsense in them.
#[test]
fn bad_values_are_named_wherever_they_come_from() {
    let home = Home::new();
    for (variable, value) in [
        ("BRIDGED_PORT", "0"),
        ("BRIDGED_PORT", "99999"),
        ("BRIDGED_PORT", "9225;rm"),
        ("BRIDGED_PORT", "+1"),
        ("BRIDGED_LOG", "loud"),
        ("BRIDGED_MAX_CONNECTIONS", "20000"),
        ("BRIDGED_COMPAT", "open"),
        ("BRIDGED_ALLOW_EXTENSION", "ABC"),
        ("BRIDGED_SOCKET", "relative.sock"),
    ] {
        let done = support::Done::of(home.program("bridged").arg("serve").env(variable, value));
        let name =
            if matches!(variable, "BRIDGED_ALLOW_EXTENSION" | "BRIDGED_SOCKET") { value } else { variable };
        done.fails(2, &[name]);
    }
    home.bridged(["serve", "--port", "70000"]).fails(2, &["--port: expected a port"]);
    home.bridged(["serve", "--compat", "open"]).fails(2, &["--insecure-compat"]);
    std::fs::create_dir_all(home.path("config/bridged")).unwrap();
    for (text, said) in [
        ("port = true", "line 1"),
        ("\nprot = 1", "prot"),
        ("log = 'loud'", "`log` in"),
        ("port = ", "config.toml"),
    ] {
        std::fs::write(home.path("config/bridged/config.toml"), text).unwrap();
        home.bridged(["serve"]).fails(2, &[said]);
    }
}

/// T73: the configuration says who may come in, so nobody else may have written it; and a pipe in its place holds nobody up.
#[test]
fn a_configuration_that_others_could_write_is_not_used() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("config/bridged")).unwrap();
    let config = home.path("config/bridged/config.toml");
    std::fs::write(&config, "log = \"warn\"\n").unwrap();
    let mode = |mode| std::fs::set_permissions(&config, std::os::unix::fs::PermissionsExt::from_mode(mode));
    mode(0o666).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["config.toml", "written by everybody", "chmod o-w"]);
    // A group of one's own may write to what one writes, on many systems.
    mode(0o664).unwrap();
    drop(home.serve());
    std::fs::rename(&config, home.path("elsewhere.toml")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere.toml"), &config).unwrap();
    drop(home.serve());
    std::fs::remove_file(&config).unwrap();
    let (folder, pipe) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(folder, &config, pipe, rustix::fs::Mode::from_raw_mode(0o600), 0).unwrap();
    home.bridged(["serve", "--port", "0"]).fails(2, &["config.toml", "not a regular file"]);
}

#[test]
fn flags_come_before_variables_before_the_file() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("config/bridged")).unwrap();
    let (file, variable, flag) = (support::free_port(), support::free_port(), support::free_port());
    std::fs::write(home.path("config/bridged/config.toml"), format!("port = {file}\nlog = \"error\"\n"))
        .unwrap();
    let port = |set: bool, args: &[&str]| {
        let mut command = home.program("bridged");
        command.args(["start"]).args(args);
        if set {
            command.env("BRIDGED_PORT", variable.to_string())
        } else {
            command.env_remove("BRIDGED_PORT")
        };
        let said = support::Done::of(&mut command).ok();
        home.bridged(["stop"]).ok();
        said
    };
    assert!(port(false, &[]).contains(&format!(":{file}")));
    assert!(port(true, &[]).contains(&format!(":{variable}")));
    assert!(port(true, &["--port", &flag.to_string()]).contains(&format!(":{flag}")));
}

/// T93: no home.
#[test]
fn without_a_home_there_is_a_sentence_and_no_guess() {
    let home = Home::new();
    let mut command = home.program("bridged");
    command.arg("serve").env_remove("HOME").env_remove("XDG_STATE_HOME");
    support::Done::of(&mut command).fails(2, &["HOME"]);
}

/// T81: a socket path that is too long.
#[test]
fn a_socket_path_that_is_too_long_is_refused() {
    let home = Home::new();
    let long = home.path(&"x".repeat(110));
    home.bridged(["serve", "--socket", long.to_str().unwrap()]).fails(2, &["107", "--socket"]);
}

#[test]
fn start_status_restart_and_stop_work_in_the_background() {
    let home = Home::new();
    home.bridged(["status"]).fails(3, &[]);
    let port = support::free_port().to_string();
    assert!(home.bridged(["start", "--port", &port]).ok().contains("started"));
    assert!(home.bridged(["start"]).ok().contains("runs already"));
    for (flags, kept) in
        [(["--port", port.as_str()], false), (["--port", "1"], true), (["--log", "debug"], true)]
    {
        let said = home.bridged([["start"].as_slice(), &flags].concat()).ok();
        let address = format!("ws://127.0.0.1:{port}");
        assert!(said.contains("runs already") && said.contains(&address), "{said}");
        let told = format!("`{}` counts only after `bridged stop`", flags.join(" "));
        assert_eq!(said.contains(&told), kept, "{said}");
    }
    home.bridged(["start", "--port", "99999"]).fails(2, &["--port", "1 to 65535"]);
    let status: serde_json::Value = serde_json::from_str(&home.bridged(["status", "--json"]).ok()).unwrap();
    assert_eq!(status["running"], true);
    assert_eq!(status["socket"], home.socket().to_str().unwrap());
    assert!(home.bridged(["logs"]).ok().contains("listening on"));
    home.bridged(["restart"]).ok();
    let again: serde_json::Value = serde_json::from_str(&home.bridged(["status", "--json"]).ok()).unwrap();
    assert_ne!(status["pid"], again["pid"]);
    assert_eq!(status["address"], again["address"], "a restart keeps the flags");
    assert!(home.bridged(["stop"]).ok().contains("stopped"));
    assert!(home.bridged(["stop"]).ok().contains("does not run"));
    assert!(!home.socket().exists());
}

#[test]
fn a_daemon_that_cannot_start_in_the_background_says_why() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    home.bridged(["start", "--port", &port]).fails(1, &["is taken"]);
}

#[test]
fn a_foreign_socket_is_no_daemon() {
    let home = Home::new();
    std::fs::create_dir(home.path("run/bridged")).unwrap();
    std::fs::set_permissions(home.path("run/bridged"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let listener = UnixListener::bind(home.socket()).unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    home.bridge(["ping"]).fails(3, &["bridged logs"]);
}

#[test]
fn every_help_fits_on_a_screen_and_shows_an_example() {
    let home = Home::new();
    let commands = "serve start stop restart status logs extension pair pairings approve revoke reset-pairing token demo completions";
    for command in commands.split(' ') {
        for flag in ["--help", "-h"] {
            let help = home.bridged([command, flag]).ok();
            assert!(help.lines().count() <= 40 && help.contains("Examples:"), "{command}: {help}");
        }
    }
    assert!(home.bridged(["--help"]).ok().lines().count() <= 60);
    assert!(home.bridged(["--version"]).ok().starts_with("bridged 0."));
    home.bridged(["serve", "--prot=1"]).fails(2, &["--prot"]);
    home.bridged(["frobnicate"]).fails(2, &["frobnicate"]);
    home.bridged::<&str>([]).fails(2, &["bridged --help"]);
    assert!(home.bridged(["completions", "bash"]).ok().contains("reset-pairing"));
}

/// T38: whatever it is that fills the log, and however long the daemon runs: it is begun anew before it has more than 10 MiB.
#[test]
fn a_daemon_begins_its_log_anew_and_a_pipe_in_its_place_holds_nobody_up() {
    let home = Home::new();
    let (log, old) = (home.state("bridged.log"), home.state("bridged.log.1"));
    let port = support::free_port().to_string();
    home.bridged(["start", "--port", &port]).ok();
    home.bridged(["stop"]).ok();
    // One line is left to be written to it.
    let full = (10 << 20) - 100;
    std::fs::write(&log, "x".repeat(full - 1) + "\n").unwrap();
    home.bridged(["start", "--port", &port]).ok();
    let hello = r#"{"type":"hello","role":"client","token":"wrong"}"#;
    for _ in 0..3 {
        let mut stranger = support::Lines::open(&home.socket());
        stranger.send_text(hello);
        assert_eq!(stranger.next().unwrap()["code"], "AUTH_FAILED");
    }
    within("the log is a new one", || {
        let size = |path| std::fs::metadata(path).map_or(0, |found: std::fs::Metadata| found.len());
        size(&old) >= full as u64 && (1..4096).contains(&size(&log))
    });
    assert!(std::fs::metadata(&old).unwrap().len() <= 10 << 20);
    assert_eq!((support::mode(&log), support::mode(&old)), (0o600, 0o600));
    assert!(home.bridged(["logs"]).ok().contains("failed to prove itself"));
    home.bridged(["stop"]).ok();
    std::fs::remove_file(&log).unwrap();
    let (folder, mode) = (rustix::fs::CWD, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(folder, &log, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    home.bridged(["start", "--port", &port]).fails(1, &["bridged.log"]);
    home.bridged(["logs"]).fails(1, &["bridged.log", "no file"]);
}
