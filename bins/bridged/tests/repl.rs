//! `bridge repl`, and failures as JSON.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use support::{Done, Home};

fn typed(home: &Home, args: &[&str], input: &str) -> Done {
    let mut command = home.program("bridge");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Done {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout.clone()).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        bytes: output.stdout,
    }
}

#[test]
fn lines_from_a_pipe_are_commands() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = daemon.extension(|method, params| match method {
        "click" if params["target"]["value"] == "#gone" => {
            Some(json!({"success": false, "error": "nothing there", "code": "ELEMENT_NOT_FOUND"}))
        }
        _ => Some(json!({"success": true, "result": {"asked": method, "params": params}})),
    });
    let done =
        typed(&home, &["repl", "--json"], "# a comment\nping\n\nset-value '#a' \"two words\"\nexit\nping\n");
    assert_eq!(done.code, 0, "{}", done.err);
    let answers: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{}", done.out);
    assert_eq!(answers[0]["pong"], true);
    assert_eq!(answers[1]["params"]["value"], "two words");

    // One that fails does not end it, and its exit code is told in the end.
    let done = typed(&home, &["repl"], "click '#gone'\nno-such-thing\n'open\nping\n");
    assert_eq!(done.code, 2);
    assert_eq!(done.out, "pong\n");
    for said in ["nothing there", "no method `no-such-thing`", "a quote is not closed"] {
        assert!(done.err.contains(said), "{}", done.err);
    }
    // Its flags are for the lines that can take them, and yield to what a line says itself.
    let lines = "ping\nclose-tab 5\nreload\nreload --tab 6\nclose-auto-tabs\n";
    let done = typed(&home, &["repl", "--tab", "3", "--json"], lines);
    assert_eq!(done.code, 0, "{}", done.err);
    let answers = done.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let tabs: Vec<Value> = answers.map(|answer| answer["params"]["tab_id"].clone()).collect();
    assert_eq!(tabs, [json!(null), json!(5), json!(3), json!(6), json!(null)]);
    typed(&home, &["repl", "list-tabs"], "").fails(2, &["takes flags alone, not `list-tabs`"]);
    let done = typed(&home, &["repl"], "click -\nrepl\n");
    assert!(done.err.contains("standard input") && done.err.contains("already"), "{}", done.err);
}

#[test]
fn with_json_a_failure_is_an_object_too() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = daemon.extension(|_, params| match params["target"]["value"].as_str() {
        Some("#twice") => Some(json!({"success": false, "error": "the tab went away", "code": "NAVIGATION_FAILED", "maybe_executed": true})),
        Some("#gone") => Some(json!({"success": false, "error": "nothing there", "code": "ELEMENT_NOT_FOUND"})),
        _ => None,
    });
    let failing = |args: &[&str]| {
        let done = home.bridge(args);
        assert!(done.err.starts_with("bridge: "), "{}", done.err);
        (done.code, serde_json::from_str::<Value>(&done.out).unwrap_or_else(|e| panic!("{e}: {}", done.out)))
    };
    assert_eq!(
        failing(&["click", "#gone", "--json"]),
        (1, json!({"success": false, "error": "nothing there", "code": "ELEMENT_NOT_FOUND"}))
    );
    assert_eq!(
        failing(&["--json", "click", "#twice"]),
        (
            1,
            json!({"success": false, "error": "the tab went away", "code": "NAVIGATION_FAILED", "maybe_executed": true})
        )
    );
    let (code, said) = failing(&["click", "--json"]);
    assert_eq!((code, &said["code"]), (2, &json!("INVALID_PARAMS")));
    let (code, said) = failing(&["click", "#slow", "--json", "--timeout", "50"]);
    assert_eq!((code, &said["code"]), (5, &json!("TIMEOUT")));
    let (code, said) = failing(&["list-tabs", "--json", "--browser", "none-such"]);
    assert_eq!((code, &said["code"]), (4, &json!("NO_SUCH_BROWSER")));
    let nowhere = home.path("nowhere.sock");
    let (code, said) = failing(&["list-tabs", "--json", "--socket", nowhere.to_str().unwrap()]);
    assert_eq!((code, &said["code"]), (3, &json!("NO_DAEMON")));
    home.bridge(["click", "#gone"]).fails(1, &["nothing there"]);
}

#[test]
fn every_command_of_its_own_has_help_with_an_example() {
    let home = Home::new();
    for command in ["watch", "repl", "call", "completions"] {
        let help = home.bridge([command, "--help"]).ok();
        assert!(help.contains("usage: bridge") && help.contains("Example: "), "{help}");
    }
    for command in
        ["audit", "doctor", "policy", "policy show", "policy set", "completions", "install", "skill"]
    {
        let help = home.bridged(command.split(' ').chain(["--help"])).ok();
        assert!(help.contains("Usage: bridged") && help.contains("bridged "), "{help}");
    }
    let overview = home.bridge(["help"]).ok();
    assert!(overview.contains("bridge watch") && overview.contains("bridge repl"));
}
