//! `bridged install`: tells the MCP clients of this account about the bridge, gives their agents a skill, and the system a
//! service. Each thing it does is said; doing it again changes nothing; nothing of anybody else's is changed.

pub(crate) mod change;
pub(crate) mod clients;
mod codex;
mod jsonc;
pub(crate) mod service;

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{Given, Settings};
use crate::places::Places;
use crate::trouble::{Outcome, Trouble};
use crate::{background, extension, skill};
use clients::{Client, Entry};

/// What is asked for.
pub(crate) struct Wish {
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Take it all back.
    pub uninstall: bool,
    /// For these only; none: for all that are here.
    pub parts: Vec<String>,
}

/// Parts that are no clients.
const PARTS: [&str; 2] = ["extension", "service"];

/// Does it.
pub(crate) fn run(places: &Places, wish: &Wish) -> Outcome<()> {
    let all = clients::all(&places.home, &places.config_home);
    if let Some(unknown) =
        wish.parts.iter().find(|p| !PARTS.contains(&p.as_str()) && all.iter().all(|c| c.name != *p))
    {
        let known: Vec<&str> = all.iter().map(|c| c.name).chain(PARTS).collect();
        return Err(Trouble::usage(format!(
            "`{}` is nothing that can be installed: {}",
            unknown.escape_debug(),
            known.join(", ")
        )));
    }
    let wanted = |name: &str| wish.parts.is_empty() || wish.parts.iter().any(|p| p == name);
    let program = program()?;
    let settings = Settings::settle(Given::default(), places, false)?;
    let mut work = Work { wish, program, failed: false };
    if wanted("extension") {
        work.extension(places, settings.port);
    }
    if wanted("service") {
        work.service(places);
    }
    let text = skill::text(&settings);
    let mut found = false;
    let mut skills: Vec<PathBuf> = Vec::new();
    for client in all.iter().filter(|c| wanted(c.name)) {
        if wish.parts.is_empty() && !client.is_here() {
            continue;
        }
        found = true;
        work.client(client);
        // Some clients share a folder for skills.
        if let Some(path) = client.skill.as_ref().filter(|path| !skills.contains(path)) {
            work.skill(path, &text);
            skills.push(path.clone());
        }
    }
    if !found && wish.parts.is_empty() {
        let known: Vec<&str> = all.iter().map(|c| c.title).collect();
        say(&format!(
            "no MCP client was found ({}); docs/mcp.md shows the entry for any other",
            known.join(", ")
        ));
    }
    if work.failed { Err(Trouble::failed("not everything could be done, see above")) } else { Ok(()) }
}

struct Work<'a> {
    wish: &'a Wish,
    program: PathBuf,
    failed: bool,
}

impl Work<'_> {
    fn client(&mut self, client: &Client) {
        let program = self.program.to_string_lossy().into_owned();
        let done = change::read(&client.config).and_then(|before| {
            let text = before.clone().unwrap_or_default();
            let wrong = |why| format!("{}: {why}", client.config.display());
            let changed = match self.wish.uninstall {
                true => client.without_entry(&text).map_err(wrong)?,
                false => client.with_entry(&text, &program).map_err(wrong)?,
            };
            self.replace(&client.config, before, changed, 0o600, &format!("{}: MCP entry", client.title))
        });
        if let Err(why) = done {
            self.failed = true;
            say(&format!("{}: left alone, {why}", client.title));
            if !self.wish.uninstall {
                let entry = client.by_hand(&program).replace('\n', "\n    ");
                say(&format!("  to add it by hand to {}:\n    {entry}", client.config.display()));
            }
        }
    }

    fn skill(&mut self, path: &Path, text: &str) {
        let done = change::read(path).and_then(|before| match (&before, self.wish.uninstall) {
            (Some(found), _) if !skill::is_ours(found) => {
                Err(format!("{} was not written by bridged", path.display()))
            }
            (Some(_), true) => self.remove(path, "skill"),
            (None, true) => Ok(()),
            (_, false) => self.replace(path, before, text.to_owned(), 0o644, "skill"),
        });
        self.note("skill", done);
    }

    fn service(&mut self, places: &Places) {
        let path = service::path(places);
        if cfg!(not(target_os = "linux")) {
            return;
        }
        let done = change::read(&path).and_then(|before| match (&before, self.wish.uninstall) {
            (Some(found), _) if !service::is_ours(found) => {
                Err(format!("{} was not written by bridged", path.display()))
            }
            (Some(_), true) => {
                say("  first: systemctl --user disable --now bridged");
                self.remove(&path, "service")
            }
            (None, true) => Ok(()),
            (before_text, false) => {
                let text = service::text(&self.program);
                let same = before_text.as_deref() == Some(text.as_str());
                self.replace(&path, before, text, 0o644, "service")?;
                if !same {
                    say("  to use it: systemctl --user daemon-reload && systemctl --user enable --now bridged");
                }
                Ok(())
            }
        });
        self.note("service", done);
    }

    fn extension(&mut self, places: &Places, port: u16) {
        let done = match (extension::path(places), self.wish.uninstall) {
            (Ok(folder), true) => {
                say(&format!(
                    "extension: kept in {}; remove it in chrome://extensions, then the folder",
                    folder.display()
                ));
                Ok(())
            }
            (Err(_), true) => Ok(()),
            (Ok(folder), false) => {
                say(&format!("extension: already in {}", folder.display()));
                Ok(())
            }
            (Err(_), false) if self.wish.dry_run => {
                say(&format!("extension: would be unpacked to {}", places.extension.display()));
                Ok(())
            }
            (Err(_), false) => extension::install(places, &places.extension, port).map(|done| {
                say(&format!(
                    "extension: unpacked to {}; load it once: chrome://extensions, Developer mode, `Load unpacked`",
                    done.folder.display()
                ));
            }),
        };
        self.note("extension", done.map_err(|e| e.to_string()));
    }

    fn note(&mut self, what: &str, done: Result<(), String>) {
        if let Err(why) = done {
            self.failed = true;
            say(&format!("{what}: left alone, {why}"));
        }
    }

    fn replace(
        &self,
        path: &Path,
        before: Option<String>,
        text: String,
        mode: u32,
        what: &str,
    ) -> Result<(), String> {
        let verb = match (self.wish.uninstall, before.is_some()) {
            (true, _) => "removed from",
            (false, true) => "written to",
            (false, false) => "written to the new",
        };
        if before.as_deref().unwrap_or_default() == text {
            let how = if self.wish.uninstall { "not in" } else { "already in" };
            say(&format!("{what}: {how} {}", path.display()));
            return Ok(());
        }
        if self.wish.dry_run {
            say(&format!("{what}: would be {verb} {}", path.display()));
            return Ok(());
        }
        let kept = change::write(path, before.as_deref(), &text, mode)?;
        let kept = kept.map_or(String::new(), |kept| format!(" (before: {})", kept.display()));
        say(&format!("{what}: {verb} {}{kept}", path.display()));
        Ok(())
    }

    fn remove(&self, path: &Path, what: &str) -> Result<(), String> {
        if self.wish.dry_run {
            say(&format!("{what}: {} would be removed", path.display()));
            return Ok(());
        }
        fs::remove_file(path).map_err(|e| format!("{} cannot be removed: {e}", path.display()))?;
        // Our own folder, if nothing else is in it; anybody else's stays.
        if let Some(folder) = path.parent().filter(|f| f.file_name().is_some_and(|n| n == clients::NAME)) {
            let _ = fs::remove_file(path.with_file_name("SKILL.md.before-bridged"));
            let _ = fs::remove_dir(folder);
        }
        say(&format!("{what}: removed {}", path.display()));
        Ok(())
    }
}

/// The program that entries name: the one on the PATH if it is this one, since its name outlives an upgrade, else its own file.
pub(crate) fn program() -> Outcome<PathBuf> {
    let own = background::sibling()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).filter(|p| p.is_absolute()).map(|p| p.join("bridged"));
    Ok(named.into_iter().find(|p| p.canonicalize().is_ok_and(|p| p == own)).unwrap_or(own))
}

/// Whether a client's entry leads to this program.
pub(crate) fn leads_here(entry: &Entry, program: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    matches!(entry, Entry::Runs { command, args } if args.first().is_some_and(|a| a == "mcp")
        && (real(Path::new(command)).is_some() && real(Path::new(command)) == real(program)))
}

fn say(line: &str) {
    println!("{line}");
}
