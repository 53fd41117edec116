//! The daemon in the background: start it, find it, end it.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Failure, Role};
use crate::commands::Start;
use crate::config::{Given, Settings};
use crate::log_file;
use crate::places::{Places, private_folder};
use crate::record::{self, Record};
use crate::show::harmless;
use crate::squatter;
use crate::trouble::{Doing, Outcome, Trouble};

/// How long a daemon may take to start.
const START: Duration = Duration::from_secs(10);
/// How long one may take to end.
const STOP: Duration = Duration::from_secs(10);

/// Starts a daemon if none runs; says whether it did.
pub(crate) fn ensure(places: &Places, flags: &[String]) -> Outcome<(Record, bool)> {
    if let Some(record) = settled(&places.state)? {
        return Ok((record, false));
    }
    private_folder(&places.state)?;
    let log = log_file::path(places);
    let output = log_file::open(&log)?;
    let started_at = output.metadata().map_or(0, |found| found.len());
    let program = sibling()?;
    let mut child = Command::new(&program)
        .arg0("bridged")
        .args(["serve", "--background"])
        .args(flags)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| is_ours(name)))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(output)
        .process_group(0)
        .spawn()
        .doing(format_args!("start {}", program.display()))?;
    let until = Instant::now() + START;
    loop {
        if let Some(Some(record)) = record::running(&places.state) {
            // It may be another one's that was started at the same instant; then ours leaves by itself.
            return Ok((record, true));
        }
        if let Ok(Some(status)) = child.try_wait() {
            if record::running(&places.state).is_some() {
                continue;
            }
            let said = log_file::since(&log, started_at)
                .lines()
                .last()
                .map(strip_prefix)
                .unwrap_or_default()
                .to_owned();
            return Err(Trouble::new(
                status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(1),
                if said.is_empty() {
                    // Its log may be what it could not write.
                    format!("the daemon ended at once ({status}); `bridged serve` says why on the terminal")
                } else {
                    said
                },
            ));
        }
        if Instant::now() >= until {
            return Err(Trouble::failed(format!(
                "the daemon did not come up within {} s; see `bridged logs`",
                START.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// `bridged start`.
pub(crate) fn start(places: &Places, asked: &Start) -> Outcome<()> {
    let flags = asked.flags();
    if !flags.is_empty() {
        // What makes no sense is wrong even where a daemon runs that nobody asks to take it.
        Settings::settle(asked.given()?, places, false)?;
    }
    launch(places, &flags)
}

fn launch(places: &Places, flags: &[String]) -> Outcome<()> {
    let (record, new) = ensure(places, flags)?;
    let was = if new { "started" } else { "runs already" };
    println!("bridged {was} (pid {}) at ws://{}", record.pid, record.address);
    if !new && !flags.is_empty() && record.flags != flags {
        let flags = harmless(&flags.join(" "));
        println!("  it keeps what it was started with: `{flags}` counts only after `bridged stop`");
    }
    Ok(())
}

/// `bridged stop`.
pub(crate) fn stop(places: &Places) -> Outcome<()> {
    let Some(record) = settled(&places.state)? else {
        println!("bridged does not run");
        return Ok(());
    };
    match Client::connect(&record.socket, Role::Control)
        .and_then(|mut c| c.call("shutdown", &json!({}), None))
    {
        Ok(_) | Err(Failure::Broken(_)) => {}
        Err(failure) => {
            return Err(Trouble::failed(format!(
                "cannot ask the daemon to stop ({}); `kill {}` ends it as well",
                said(&failure),
                record.pid
            )));
        }
    }
    if !record::wait_until_gone(&places.state, STOP) {
        return Err(Trouble::failed(format!(
            "the daemon (pid {}) has not ended yet; `kill {0}` again ends it at once",
            record.pid
        )));
    }
    println!("bridged stopped (pid {})", record.pid);
    Ok(())
}

/// `bridged restart`, with the flags it was started with.
pub(crate) fn restart(places: &Places) -> Outcome<()> {
    let before = settled(&places.state)?;
    if before.is_some() {
        stop(places)?;
    }
    launch(places, &before.map(|record| record.flags).unwrap_or_default())
}

/// `bridged status`.
pub(crate) fn status(places: &Places, as_json: bool) -> Outcome<()> {
    let Some(record) = settled(&places.state)? else {
        // Whoever has the extension's port meanwhile gets nothing from it, but keeps the daemon from coming up.
        let settings = Settings::settle(Given::default(), places, false).ok();
        let taken = settings.and_then(|settings| Some((settings.port, squatter::of(settings.port)?)));
        match taken {
            _ if as_json => {
                let whose = taken.map(|(_, whose)| whose);
                println!("{}", json!({"running": false, "port_taken_by": whose}));
            }
            Some((port, whose)) => println!(
                "bridged does not run, and cannot: its port {port} is taken by {whose}, which gets nothing from the extension; \
                 `bridged doctor` says what to do"
            ),
            None => println!("bridged does not run; `bridged start` starts it"),
        }
        return Err(Trouble::new(crate::trouble::NO_DAEMON, ""));
    };
    let mut client = Client::connect(&record.socket, Role::Person).map_err(|f| {
        Trouble::failed(format!("bridged runs (pid {}) but does not answer: {}", record.pid, said(&f)))
    })?;
    let mut ask = |method| {
        let answer = client.call(method, &json!({}), None).map_err(|f| Trouble::failed(said(&f)))?;
        serde_json::from_str::<Value>(answer.get()).doing("understand the daemon")
    };
    let (hub, browsers) = (ask("status")?, ask("list_browsers")?["browsers"].take());
    // Only the owner is told these; a daemon that knows no policy has not been paused.
    let mut owner = Client::connect(&record.socket, Role::Control).ok();
    let mut owns = |method| {
        let answer = owner.as_mut()?.call(method, &json!({}), None).ok()?;
        serde_json::from_str::<Value>(answer.get()).ok()
    };
    let paused = owns("policy_get").is_some_and(|policy| policy["paused"] == true);
    let degraded = owns("audit").and_then(|audit| audit["degraded"].as_str().map(str::to_owned));
    if as_json {
        println!(
            "{}",
            json!({
                "running": true, "paused": paused, "audit_degraded": degraded.is_some(), "pid": record.pid, "address": record.address, "http": record.http, "socket": record.socket,
                "version": record.version, "started": record.started, "browsers": browsers, "hub": hub
            })
        );
        return Ok(());
    }
    println!(
        "bridged {} runs (pid {}), started {}",
        record.version,
        record.pid,
        crate::show::ago(record.started)
    );
    if paused {
        println!("  paused: every call is refused until `bridged policy set pause off`");
    }
    if let Some(why) = degraded {
        println!("  the audit has gaps: {}", crate::show::harmless(&why));
    }
    println!("  WebSocket    ws://{}", record.address);
    println!("  HTTP         {}", record.http.as_ref().map_or("off".to_owned(), |at| format!("http://{at}")));
    println!("  Unix socket  {}", record.socket.display());
    match browsers.as_array().map(Vec::as_slice) {
        None | Some([]) => println!("  no browser is connected; {}", crate::show::NO_BROWSER),
        Some(list) => list.iter().for_each(|b| println!("  browser      {}", crate::show::browser(b))),
    }
    Ok(())
}

/// What a failure comes to, in words.
pub(crate) fn said(failure: &Failure) -> String {
    match failure {
        Failure::NoDaemon(e) => format!("nobody answers at its socket: {e}"),
        Failure::Broken(text) => text.clone(),
        Failure::Refused(refusal) => refusal.error.clone(),
    }
}

/// The daemon that runs, once it has said where it is.
pub(crate) fn settled(state: &Path) -> Outcome<Option<Record>> {
    let until = Instant::now() + START;
    loop {
        match record::running(state) {
            None => return Ok(None),
            Some(Some(record)) => return Ok(Some(record)),
            Some(None) if Instant::now() >= until => {
                return Err(Trouble::failed("a daemon is starting but does not come up; see `bridged logs`"));
            }
            Some(None) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Whether a variable goes along into the background: what says where things are, and our own. The daemon serves others too,
/// and outlives whoever happened to start it; neither what they load into their programs nor a secret of theirs belongs there.
fn is_ours(name: &OsStr) -> bool {
    const PLAIN: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "RUST_BACKTRACE", "TMPDIR", "TZ", "USER"];
    let name = name.to_string_lossy();
    PLAIN.contains(&&*name) || ["BRIDGED_", "XDG_", "LC_"].iter().any(|start| name.starts_with(start))
}

/// The `bridged` beside the program that runs now; never one from the PATH or the current folder.
pub(crate) fn sibling() -> Outcome<PathBuf> {
    let own = std::env::current_exe().and_then(|p| p.canonicalize()).doing("find this program's own file")?;
    let daemon = own.with_file_name("bridged");
    match daemon.symlink_metadata() {
        Ok(found) if found.is_file() => Ok(daemon),
        _ if own.file_name().is_some_and(|name| name == "bridged") => Ok(own),
        _ => Err(Trouble::usage(format!(
            "there is no `bridged` beside {}: install both, or start the daemon yourself with `bridged start`",
            own.display()
        ))),
    }
}

fn strip_prefix(line: &str) -> &str {
    line.strip_prefix("bridged: ").unwrap_or(line)
}
