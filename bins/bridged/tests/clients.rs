//! `bridged install` and `bridged skill`: MCP clients, agents and the system are told, politely.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use support::{Done, Home, mode};

/// A home in which some clients are used.
fn home() -> Home {
    let home = Home::new();
    for folder in [".claude", ".codex", ".gemini", "config/Code/User", "config/Claude"] {
        fs::create_dir_all(home.path(folder)).unwrap();
    }
    fs::write(home.path(".claude.json"), CLAUDE).unwrap();
    fs::write(home.path(".codex/config.toml"), CODEX).unwrap();
    home
}

const CLAUDE: &str = "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"last\": true\n}\n";
const CODEX: &str = "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\"\n";

fn install(home: &Home, args: &[&str]) -> Done {
    let mut command = home.program("bridged");
    fs::create_dir_all(home.path("dist")).unwrap();
    fs::write(home.path("dist/manifest.json"), r#"{"key":"ours"}"#).unwrap();
    command.arg("install").args(args).env("BRIDGED_EXTENSION_DIST", home.path("dist"));
    Done::of(&mut command)
}

fn json_of(home: &Home, file: &str) -> Value {
    serde_json::from_slice(&fs::read(home.path(file)).unwrap()).unwrap()
}

/// Every file beneath the home, with what is in it.
fn everything(home: &Home) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![home.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
                    found.push((entry.path(), text));
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_client_that_is_used_here_is_told_and_nothing_else_changes() {
    let home = home();
    let said = install(&home, &[]).ok();
    let program = env!("CARGO_BIN_EXE_bridged");
    let claude = json_of(&home, ".claude.json");
    assert_eq!(
        claude["mcpServers"]["bridged"],
        json!({"type": "stdio", "command": program, "args": ["mcp"]})
    );
    assert!(fs::read_to_string(home.path(".claude.json")).unwrap().starts_with(&CLAUDE[..70]));
    assert_eq!(
        json_of(&home, "config/Claude/claude_desktop_config.json")["mcpServers"]["bridged"]["args"],
        json!(["mcp"])
    );
    assert_eq!(json_of(&home, ".gemini/settings.json")["mcpServers"]["bridged"]["command"], program);
    assert_eq!(json_of(&home, "config/Code/User/mcp.json")["servers"]["bridged"]["type"], "stdio");
    let codex = fs::read_to_string(home.path(".codex/config.toml")).unwrap();
    assert!(
        codex.starts_with(CODEX)
            && codex.contains(&format!("[mcp_servers.bridged]\ncommand = \"{program}\"")),
        "{codex}"
    );
    assert!(!home.path(".cursor").exists() && !home.path(".codeium").exists());
    assert_eq!(fs::read_to_string(home.path(".claude.json.before-bridged")).unwrap(), CLAUDE);
    for skill in [".claude/skills/bridged/SKILL.md", ".agents/skills/bridged/SKILL.md"] {
        assert_eq!(fs::read_to_string(home.path(skill)).unwrap(), home.bridged(["skill"]).ok());
    }
    for title in
        ["Claude Code", "Claude Desktop", "Codex", "Gemini CLI", "VS Code", "skill", "service", "extension"]
    {
        assert!(said.contains(title), "{title}: {said}");
    }
    assert!(home.path("data/bridged/extension/pairing.json").exists());
    let unit = fs::read_to_string(home.path("config/systemd/user/bridged.service")).unwrap();
    assert!(unit.contains(&format!("ExecStart=\"{program}\" serve")), "{unit}");
}

#[test]
fn again_changes_nothing_and_uninstalling_takes_it_all_back() {
    let home = home();
    install(&home, &[]).ok();
    let once = everything(&home);
    assert!(install(&home, &[]).ok().lines().all(|line| line.contains("already in")));
    assert_eq!(everything(&home), once);
    install(&home, &["--uninstall"]).ok();
    assert_eq!(fs::read_to_string(home.path(".claude.json")).unwrap(), CLAUDE);
    assert_eq!(fs::read_to_string(home.path(".codex/config.toml")).unwrap(), CODEX);
    assert_eq!(json_of(&home, ".gemini/settings.json")["mcpServers"], json!({}));
    assert!(!home.path(".claude/skills/bridged").exists() && !home.path(".agents/skills/bridged").exists());
    assert!(!home.path("config/systemd/user/bridged.service").exists());
}

#[test]
fn a_dry_run_only_talks() {
    let home = home();
    install(&home, &["codex"]).ok();
    let before = everything(&home);
    let said = install(&home, &["--dry-run"]).ok();
    assert!(said.contains("would be written to") && said.contains(".claude.json"), "{said}");
    install(&home, &["--dry-run", "--uninstall"]).ok();
    assert!(everything(&home) == before && !home.path("state").exists());
}

#[test]
fn only_what_was_named_is_touched_even_if_it_is_not_there_yet() {
    let home = home();
    install(&home, &["cursor"]).ok();
    assert_eq!(json_of(&home, ".cursor/mcp.json")["mcpServers"]["bridged"]["args"], json!(["mcp"]));
    assert_eq!(mode(&home.path(".cursor/mcp.json")), 0o600);
    assert_eq!(fs::read_to_string(home.path(".claude.json")).unwrap(), CLAUDE);
    assert!(!home.path("config/systemd").exists() && !home.path("data/bridged").exists());
    install(&home, &["netscape"]).fails(2, &["netscape", "claude-code", "service"]);
}

#[test]
fn what_a_person_set_in_the_entry_stays_and_only_its_program_is_brought_up_to_date() {
    let home = home();
    let text = r#"{"mcpServers": {"bridged": {"command": "/old/bridged", "args": ["mcp", "--tools", "all"], "env": {"A": "1"}}}}"#;
    fs::write(home.path(".gemini/settings.json"), text).unwrap();
    fs::set_permissions(home.path(".gemini/settings.json"), fs::Permissions::from_mode(0o640)).unwrap();
    install(&home, &["gemini"]).ok();
    let entry = json_of(&home, ".gemini/settings.json")["mcpServers"]["bridged"].take();
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_bridged"));
    assert_eq!((&entry["args"], &entry["env"]), (&json!(["mcp", "--tools", "all"]), &json!({"A": "1"})));
    assert_eq!(mode(&home.path(".gemini/settings.json")), 0o640);
}

#[test]
fn a_symbolic_link_is_not_followed_and_the_rest_is_done() {
    let home = home();
    fs::write(home.path("elsewhere.json"), "{}").unwrap();
    fs::remove_file(home.path(".claude.json")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere.json"), home.path(".claude.json")).unwrap();
    fs::remove_dir(home.path(".gemini")).unwrap();
    fs::create_dir(home.path("dotfiles")).unwrap();
    std::os::unix::fs::symlink(home.path("dotfiles"), home.path(".gemini")).unwrap();
    let done = install(&home, &[]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("symbolic link") && done.out.contains("by hand"), "{}", done.out);
    assert_eq!(fs::read_to_string(home.path("elsewhere.json")).unwrap(), "{}");
    assert_eq!(fs::read_dir(home.path("dotfiles")).unwrap().count(), 0);
    assert!(fs::read_to_string(home.path(".codex/config.toml")).unwrap().contains("bridged"));
}

#[test]
fn a_file_that_is_not_understood_and_a_foreign_skill_are_left_alone() {
    let home = home();
    fs::write(home.path(".claude.json"), "{ not json").unwrap();
    fs::create_dir_all(home.path(".agents/skills/bridged")).unwrap();
    fs::write(home.path(".agents/skills/bridged/SKILL.md"), "mine").unwrap();
    let done = install(&home, &["claude-code", "codex"]);
    assert_eq!(done.code, 1);
    assert!(
        done.out.contains("not valid JSON") && done.out.contains("was not written by bridged"),
        "{}",
        done.out
    );
    assert_eq!(fs::read_to_string(home.path(".claude.json")).unwrap(), "{ not json");
    assert_eq!(fs::read_to_string(home.path(".agents/skills/bridged/SKILL.md")).unwrap(), "mine");
}

#[test]
fn the_skill_names_this_version_and_its_own_doors() {
    let home = Home::new();
    let mut command = home.program("bridged");
    let text = Done::of(command.arg("skill").env("BRIDGED_HTTP_PORT", "4712")).ok();
    assert!(text.starts_with("---\nname: bridged\n"));
    for part in [
        env!("CARGO_PKG_VERSION"),
        "http://127.0.0.1:4712/command",
        "bridged.sock",
        "`bridge click '#submit'`",
        "bridged doctor",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
