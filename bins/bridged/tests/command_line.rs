//! `bridge`: arguments in, sentences or JSON out, an exit code for each kind of failure.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::extension::{Recorder, done};
use support::{Daemon, Done, FakeBrowser, Home};

/// The smallest picture: what matters is that its bytes come out again.
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgo=";

/// A browser of the base protocol that answers with what the test looks at.
fn browser(daemon: &Daemon) -> FakeBrowser {
    daemon.extension(|method, params| {
        let fine = |result: Value| Some(json!({"success": true, "result": result}));
        match method {
            "list_tabs" => fine(json!({"tabs": [
                {"tab_id": 7, "url": "https://example.com/", "title": "Exam\u{1b}[31mple", "active": true, "window_id": 1},
                {"tab_id": 12, "url": "about:blank", "title": "", "active": false, "window_id": 1}
            ]})),
            "click" if params["target"]["value"] == "#gone" => Some(json!({"success": false, "error": "element not found: #gone"})),
            "click" if params["target"]["value"] == "#twice" => Some(json!({
                "success": false, "error": "the tab went away", "code": "NAVIGATION_FAILED", "maybe_executed": true
            })),
            "click" => fine(json!({"clicked": {"tag": "button", "id": "go", "text": "Send"}, "tab_id": params["tab_id"], "asked": params})),
            "get_page_content" => fine(json!({"title": "t", "url": "u", "text": "line one\nline two"})),
            "run_script" => fine(json!({"result": params["code"], "tab_id": 7})),
            "screenshot" => fine(json!({
                "tab_id": 7, "url": "u", "title": "t", "mime": "image/png", "format": "png",
                "width": 800, "height": 600, "size": 12, "data": PICTURE, "asked": params
            })),
            "scroll" => None,
            "close_tab" => fine(json!({"closed": true, "tab_id": params["tab_id"]})),
            "wait_for" => fine(json!({"waited_ms": 0, "tab_id": 7, "asked": params})),
            "batch" => fine(json!({"results": [{"success": false, "error": "no"}], "done": 0, "first_failed": 0})),
            "get_page_markdown" => fine(json!({"markdown": "much", "tab_id": 7, "title": "", "url": "u", "truncated": true})),
            other => fine(json!({"asked": other})),
        }
    })
}

#[test]
fn results_are_told_as_a_person_reads_them() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon);
    assert_eq!(home.bridge(["click", "#go", "--tab", "7"]).ok(), "clicked button#go \"Send\" in tab 7\n");
    assert_eq!(home.bridge(["get-page-content"]).ok(), "line one\nline two\n");
    assert_eq!(home.bridge(["run-script", "1 + 1"]).ok(), "1 + 1\n");
    let tabs = home.bridge(["list_tabs"]).ok();
    let lines: Vec<&str> = tabs.lines().collect();
    assert!(lines[0].contains("TAB") && lines[0].contains("TITLE"), "{tabs}");
    assert!(lines[1].starts_with('*') && lines[1].contains("https://example.com/"), "{tabs}");
}

#[test]
fn json_is_the_result_object_itself() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon);
    let result: Value = serde_json::from_str(
        &home.bridge(["click", "text=Sign in", "--tab=7", "--timeout", "90000", "--json"]).ok(),
    )
    .unwrap();
    assert_eq!(
        result["asked"],
        json!({"target": {"by": "text", "value": "Sign in"}, "tab_id": 7, "timeout": 90000})
    );
}

/// T37: JSON lets characters stand that a terminal obeys; what a page put into its title is told all the same.
#[test]
fn json_of_a_page_does_nothing_to_a_terminal() {
    let home = Home::new();
    let daemon = home.serve();
    let said = "\u{9b}2J\u{85}\u{202e}\u{61c}\u{e0041}\u{1b}[31m é";
    let _browser = daemon.extension(move |method, _| {
        Some(match method {
            "list_tabs" => json!({"success": true, "result": {"tabs": [], "title": said}}),
            _ => json!({"success": false, "error": said, "code": "ELEMENT_NOT_FOUND"}),
        })
    });
    let tabs = home.bridge(["list-tabs", "--json"]).ok();
    let failed = home.bridge(["click", "#go", "--json"]);
    assert_eq!(failed.code, 1);
    for (shown, field) in [(&tabs, "title"), (&failed.out, "error")] {
        assert_eq!(serde_json::from_str::<Value>(shown).unwrap()[field], said, "{shown}");
        let plain = |c: char| matches!(c, ' '..='~' | 'é' | '\n');
        assert!(shown.chars().all(plain), "{shown:?}");
    }
    assert!(
        !failed.err.contains(['\u{9b}', '\u{85}', '\u{202e}', '\u{61c}', '\u{e0041}', '\u{1b}']),
        "{failed:?}"
    );
}

#[test]
fn pictures_go_into_a_file_or_a_pipe() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon);
    let bytes = b"\x89PNG\r\n\x1a\n";
    assert_eq!(home.bridge(["screenshot", "-o", "page.png"]).ok(), "wrote page.png (800 x 600)\n");
    assert_eq!(std::fs::read(home.path("page.png")).unwrap(), bytes);
    let asked = home.bridge(["screenshot", "-o", "page.JPG", "--json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&asked).unwrap()["asked"], json!({"format": "jpeg"}));
    let asked = home.bridge(["screenshot", "-o", "page.jpg", "--format", "png", "--json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&asked).unwrap()["asked"], json!({"format": "png"}));
    assert_eq!(home.bridge(["screenshot"]).bytes, bytes, "not a terminal: the picture itself");
    let told: Value =
        serde_json::from_str(&home.bridge(["screenshot", "--json", "-o", "page.png"]).ok()).unwrap();
    assert_eq!((&told["file"], &told["data"]), (&json!("page.png"), &Value::Null));
    let whole: Value = serde_json::from_str(&home.bridge(["screenshot", "--json"]).ok()).unwrap();
    assert_eq!(whole["data"], PICTURE);
    assert_eq!(home.bridge(["screenshot", "-o", "-"]).bytes, bytes);
    assert!(!home.path("-").exists());
    home.bridge(["screenshot", "-o", "no/such/folder.png"]).fails(1, &["no/such/folder.png"]);
}

#[test]
fn a_terminal_gets_a_named_file_and_no_escape_sequences() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon);
    // `script` gives the program a terminal.
    let mut terminal = Command::new("script");
    let own = env!("CARGO_BIN_EXE_bridged");
    home.settle(&mut terminal);
    std::os::unix::fs::symlink(own, home.path("bridge")).unwrap();
    let bridge = home.path("bridge");
    let line = format!("{0} screenshot && {0} list-tabs", bridge.display());
    let said = Done::of(terminal.args(["-qec", &line, "/dev/null"])).ok();
    assert!(said.contains("wrote screenshot-1.png (800 x 600)"), "{said}");
    assert!(home.path("screenshot-1.png").is_file());
    assert!(said.contains("Exam\u{fffd}[31mple"), "{said}");
    drop(daemon);
}

#[test]
fn any_method_can_be_called_with_json() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon);
    let result: Value =
        serde_json::from_str(&home.bridge(["call", "of_tomorrow", "{}", "--json"]).ok()).unwrap();
    assert_eq!(result["asked"], "of_tomorrow");
    let mut child = home.program("bridge");
    child.args(["call", "click", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(br##"{"selector":"#go"}"##).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&out.stdout).contains(r##""selector":"#go""##));
    home.bridge(["call", "click", "[1]"]).fails(2, &["JSON object"]);
    std::fs::write(home.path("much"), "a".repeat(9 << 20)).unwrap();
    let mut large = home.program("bridge");
    large.args(["set-value", "#a", "-"]).stdin(std::fs::File::open(home.path("much")).unwrap());
    Done::of(&mut large).fails(1, &["message too large", "8388608", "TOO_LARGE", "--limit client_bytes=N"]);
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let home = Home::new();
    let daemon = home.serve();
    home.bridge(["list-tabs"]).fails(4, &["no extension connected", "bridged extension install"]);
    let _browser = browser(&daemon);
    home.bridge(["click", "#gone"]).fails(1, &["element not found: #gone"]);
    home.bridge(["click", "#twice"]).fails(1, &["NAVIGATION_FAILED", "look before you try again"]);
    home.bridge(["scroll", "10", "--timeout", "50"]).fails(5, &["timeout", "--timeout MS"]);
    home.bridge(["list-tabs", "--browser", "b-none"]).fails(4, &["b-none", "bridge list-browsers"]);
    home.bridge(["click"]).fails(2, &["TARGET is missing"]);
    home.bridge(["clik"]).fails(2, &["did you mean `click`"]);
    home.bridge(["CLICK", "#go"]).fails(2, &["did you mean `click`"]);
    home.bridge(["watch", "click"]).fails(2, &["unexpected argument `click`"]);
    home.bridge(["completions", "bash", "zsh"]).fails(2, &["unexpected argument `zsh`"]);
    home.bridge(["help", "click", "scroll"]).fails(2, &["not `scroll` too"]);
    home.bridge(["click", "#go", "--tab", "x"]).fails(2, &["--tab"]);
    home.bridge(["list-tabs", "--timeout", "0"]).fails(2, &["1 to 600000"]);
    home.bridge(["click", "#go", "--timeout", "600001"]).fails(2, &["1 to 600000"]);
    assert!(home.bridge(["wait-for", "#go", "--timeout", "0", "--json"]).ok().contains(r#""timeout":0"#));
    // What has no use for a tab is not carried out on another one, or on all.
    home.bridge(["close-auto-tabs", "--tab", "7"]).fails(2, &["close-auto-tabs takes no --tab"]);
    home.bridge(["close-tab", "7", "--tab", "8"]).fails(2, &["given twice"]);
    home.bridge(["call", "close_tab", r#"{"tab_id":7}"#, "--tab", "8"]).fails(2, &["given twice"]);
    // A batch of which a step failed is not done, but its answer is all there.
    let batch = home.bridge(["batch", r#"[{"method":"ping"}]"#, "--json"]);
    assert_eq!((batch.code, batch.err.contains("1 failed")), (1, true), "{}", batch.err);
    assert_eq!(serde_json::from_str::<Value>(&batch.out).unwrap()["first_failed"], 0);
    let part = home.bridge(["get-page-markdown"]);
    assert_eq!((part.code, part.out.as_str()), (0, "much\n"));
    assert!(part.err.contains("this is not all of it"), "{}", part.err);
    home.bridge(["click", "{\"by\":\"nonsense\",\"value\":\"x\"}"]).fails(2, &["by"]);
    home.bridge(["ping", "--socket", "/nowhere/at.sock"]).fails(3, &["no daemon", "/nowhere/at.sock"]);
}

/// A caller that tries again by itself does so only where nothing can have happened.
#[test]
fn a_daemon_that_goes_away_under_a_call_may_have_had_it_carried_out() {
    let home = Home::new();
    let daemon = home.serve();
    let (asked, heard) = std::sync::mpsc::channel();
    let _browser = daemon.extension(move |method, _| {
        let _ = asked.send(method.to_owned());
        None
    });
    let mut click = home.program("bridge");
    let click = click
        .args(["click", "#pay", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(heard.recv_timeout(support::CEILING).as_deref(), Ok("click"));
    daemon.kill();
    let output = click.wait_with_output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!((&said["code"], &said["maybe_executed"]), (&json!("NO_DAEMON"), &json!(true)), "{said}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("look before you try again"));
}

#[test]
fn a_daemon_is_started_if_none_runs() {
    let home = Home::new();
    assert_eq!(home.bridge(["ping"]).ok(), "pong\n");
    assert!(home.bridged(["status"]).ok().contains("runs"));
    home.bridged(["stop"]).ok();
}

/// T93: a daemon planted in the PATH or the current folder.
#[test]
fn only_the_sibling_is_ever_started() {
    let home = Home::new();
    // A copy of the command line with no daemon beside it; planted ones in the PATH and the current folder.
    std::fs::create_dir_all(home.path("alone")).unwrap();
    std::fs::create_dir_all(home.path("planted")).unwrap();
    let alone = home.path("alone/bridge");
    support::copy_program(&alone);
    for place in ["planted/bridged", "bridged"] {
        std::fs::write(home.path(place), "#!/bin/sh\ntouch \"$HOME/trapped\"\n").unwrap();
        std::fs::set_permissions(home.path(place), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&alone);
    home.settle(&mut command);
    let path = format!("{}:.:{}", home.path("planted").display(), std::env::var("PATH").unwrap());
    Done::of(command.arg0("bridge").arg("ping").env("PATH", path)).fails(3, &["no `bridged` beside"]);
    assert!(!home.path("trapped").exists());
    // The same file under its other name is a sibling to itself.
    std::fs::rename(&alone, home.path("alone/bridged")).unwrap();
    std::os::unix::fs::symlink("bridged", &alone).unwrap();
    let mut command = Command::new(&alone);
    home.settle(&mut command);
    assert_eq!(Done::of(command.arg("ping")).ok(), "pong\n");
    home.bridged(["stop"]).ok();
}

#[test]
fn help_comes_from_the_catalogue() {
    let home = Home::new();
    let all = home.bridge(["help"]).ok();
    assert_eq!(home.bridge(["--help"]).ok(), all);
    for method in bridge_catalogue::catalogue().methods() {
        assert!(all.contains(&method.command()), "{}", method.name);
        let help = home.bridge(["help", &method.command()]).ok();
        assert_eq!(home.bridge([&method.command(), "--help"]).ok(), help);
        assert!(help.contains("usage: bridge ") && help.contains("Example: "), "{help}");
    }
    for command in ["watch", "repl", "call", "completions", "help"] {
        let help = home.bridge(["help", command]).ok();
        assert_eq!(home.bridge([command, "--help"]).ok(), help);
        assert!(help.starts_with(&format!("usage: bridge {command}")), "{help}");
    }
    assert!(home.bridge(["--version"]).ok().starts_with("bridge 0."));
    home.bridge::<&str>([]).fails(2, &["bridge help"]);
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.bridge(["completions", shell]).ok().contains("list-tabs"), "{shell}");
    }
    home.bridge(["completions"]).fails(2, &["bash|zsh|fish"]);
    let script = home.bridge(["completions", "bash"]).ok();
    let mut bash = Command::new("bash");
    bash.args([
        "-c",
        &format!("{script}\nCOMP_WORDS=(bridge list-t); COMP_CWORD=1; _bridge; echo \"${{COMPREPLY[@]}}\""),
    ]);
    assert_eq!(Done::of(&mut bash).ok(), "list-tabs\n");
}

#[test]
fn a_command_of_the_other_program_is_said_to_be_one() {
    let home = Home::new();
    home.bridged(["list-tabs"]).fails(2, &["`bridge list-tabs`"]);
    home.bridged(["get_value", "#a"]).fails(2, &["`bridge get-value`"]);
    home.bridge(["doctor"]).fails(2, &["`bridged doctor`"]);
    home.bridged(["nonsense"]).fails(2, &["nonsense; see `bridged --help`"]);
    home.bridged(["statsu"]).fails(2, &["did you mean `status`"]);
    home.bridged(["extension", "instal"]).fails(2, &["`bridged extension instal`", "did you mean `install`"]);
    home.bridged(["policy", "set", "paus", "on"]).fails(2, &["did you mean `pause`"]);
    home.bridged(["policy", "set"]).fails(2, &["key value; see `bridged policy --help`"]);
    // Both have this one.
    home.bridged(["status"]).fails(3, &[]);
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_bridged");
    std::os::unix::fs::symlink(own, home.path("bridge")).unwrap();
    let mut shell = Command::new("bash");
    home.settle(&mut shell);
    let line = format!(
        "set -o pipefail; for i in 1 2 3 4 5; do {} help | true && {own} --help | true || exit 1; done",
        home.path("bridge").display()
    );
    Done::of(shell.args(["-c", &line])).ok();
    let daemon = home.serve();
    let large = format!("data:image/png;base64,{}", "AAAA".repeat(100_000));
    let _browser = daemon.extension(move |_, _| Some(json!({"success": true, "result": {"data": large}})));
    let mut shell = Command::new("bash");
    home.settle(&mut shell);
    let line = format!("set -o pipefail; {} screenshot | head -c 1", home.path("bridge").display());
    assert_eq!(Done::of(shell.args(["-c", &line])).ok().len(), 1);
    drop(daemon);
    // What is started goes on: a restart is not left half-way.
    let mut shell = Command::new("bash");
    home.settle(&mut shell);
    let line = format!("set -o pipefail; {own} start | true && {own} restart | true && {own} status");
    assert!(Done::of(shell.args(["-c", &line])).ok().contains("runs"));
    let mut shell = Command::new("bash");
    home.settle(&mut shell);
    Done::of(shell.args(["-c", &format!("{own} status > /dev/full")]))
        .fails(1, &["cannot write to standard output"]);
}

/// The time to tell what came of it is not taken off the time that a method waits.
#[test]
fn a_method_that_waits_may_wait_for_as_long_as_was_said() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({"waited_ms": 0, "tab_id": 7})));
    home.bridge(["wait-for", "#go", "--timeout", "300"]).ok();
    let asked = browser.only("wait_for");
    assert_eq!(asked["params"]["timeout"], 300);
    assert!(asked["timeout_ms"].as_u64().unwrap() >= 700, "{asked}");
}
