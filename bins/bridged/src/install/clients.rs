//! The MCP clients that we know: where each keeps its configuration, in which form, and where it looks for skills.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{codex, jsonc};

/// Our name in their files.
pub(crate) const NAME: &str = "bridged";

/// A client on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    /// What to call it on the command line.
    pub name: &'static str,
    /// What its makers call it.
    pub title: &'static str,
    /// The folder or file that shows that it is used here.
    pub sign: PathBuf,
    /// Its configuration.
    pub config: PathBuf,
    /// The form of that.
    pub form: Form,
    /// Where our skill goes, if it reads skills.
    pub skill: Option<PathBuf>,
}

/// The form of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON with a section of this name; `typed`: an entry says `"type": "stdio"`.
    Json { section: &'static str, typed: bool },
    /// TOML as Codex has it.
    Codex,
}

/// What a configuration says about us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nothing.
    None,
    /// It runs this command with these arguments.
    Runs { command: String, args: Vec<String> },
}

/// All of them, whether they are here or not.
pub(crate) fn all(home: &Path, config: &Path) -> Vec<Client> {
    let settings =
        if cfg!(target_os = "macos") { home.join("Library/Application Support") } else { config.to_owned() };
    let mcp_servers = Form::Json { section: "mcpServers", typed: false };
    let skill = |folder: &str| Some(home.join(folder).join(NAME).join("SKILL.md"));
    let client =
        |name, title, sign: PathBuf, config, form, skill| Client { name, title, sign, config, form, skill };
    vec![
        client(
            "claude-code",
            "Claude Code",
            home.join(".claude"),
            home.join(".claude.json"),
            Form::Json { section: "mcpServers", typed: true },
            skill(".claude/skills"),
        ),
        client(
            "claude-desktop",
            "Claude Desktop",
            settings.join("Claude"),
            settings.join("Claude/claude_desktop_config.json"),
            mcp_servers,
            None,
        ),
        client(
            "codex",
            "Codex",
            home.join(".codex"),
            home.join(".codex/config.toml"),
            Form::Codex,
            skill(".agents/skills"),
        ),
        client("cursor", "Cursor", home.join(".cursor"), home.join(".cursor/mcp.json"), mcp_servers, None),
        client(
            "gemini",
            "Gemini CLI",
            home.join(".gemini"),
            home.join(".gemini/settings.json"),
            mcp_servers,
            skill(".agents/skills"),
        ),
        client(
            "vscode",
            "VS Code",
            settings.join("Code/User"),
            settings.join("Code/User/mcp.json"),
            Form::Json { section: "servers", typed: true },
            None,
        ),
        client(
            "windsurf",
            "Windsurf",
            home.join(".codeium/windsurf"),
            home.join(".codeium/windsurf/mcp_config.json"),
            mcp_servers,
            None,
        ),
    ]
}

impl Client {
    /// Whether it is used here.
    pub(crate) fn is_here(&self) -> bool {
        self.sign.exists() || self.config.exists()
    }

    /// What its configuration says about us; `Err`: why it cannot be read.
    pub(crate) fn entry(&self, text: &str) -> Result<Entry, String> {
        let found = match self.form {
            Form::Codex => codex::get(text, NAME)?,
            Form::Json { .. } if text.trim().is_empty() => None,
            Form::Json { section, .. } => jsonc::get(text, section, NAME)?.map(|entry| {
                let args = entry["args"].as_array().into_iter().flatten();
                let args = args.filter_map(|a| a.as_str().map(str::to_owned)).collect();
                (entry["command"].as_str().map(str::to_owned), args)
            }),
        };
        Ok(found.map_or(Entry::None, |(command, args)| Entry::Runs {
            command: command.unwrap_or_default(),
            args,
        }))
    }

    /// The configuration with an entry for `program`. Arguments and whatever else a person set there are kept.
    pub(crate) fn with_entry(&self, text: &str, program: &str) -> Result<String, String> {
        let args = match self.entry(text)? {
            Entry::Runs { command, args } if args.first().is_some_and(|a| a == "mcp") => {
                if command == program {
                    return Ok(text.to_owned());
                }
                args
            }
            _ => vec!["mcp".to_owned()],
        };
        match self.form {
            Form::Codex => codex::set(text, NAME, program, &args),
            Form::Json { section, typed } => {
                let old = if text.trim().is_empty() { None } else { jsonc::get(text, section, NAME)? };
                let mut entry = old.filter(Value::is_object).unwrap_or_else(|| json!({}));
                if typed {
                    entry["type"] = json!("stdio");
                }
                entry["command"] = json!(program);
                entry["args"] = json!(args);
                jsonc::set(text, section, NAME, &entry)
            }
        }
    }

    /// The configuration without our entry.
    pub(crate) fn without_entry(&self, text: &str) -> Result<String, String> {
        match self.form {
            Form::Codex => codex::remove(text, NAME),
            Form::Json { .. } if text.trim().is_empty() => Ok(text.to_owned()),
            Form::Json { section, .. } => jsonc::remove(text, section, NAME),
        }
    }

    /// The entry as a person would write it in, for a file that we leave alone.
    pub(crate) fn by_hand(&self, program: &str) -> String {
        self.with_entry("", program).unwrap_or_default().trim_end().to_owned()
    }
}
