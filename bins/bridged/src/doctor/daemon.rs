//! The program itself, its folder, and the daemon with its doors.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Finding, Patient};
use crate::background::{self, said};
use crate::client::{Client, Role};
use crate::places::our_uid;
use crate::trouble::{Doing, Outcome};
use crate::{install, record, squatter};

/// How long a door may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn program() -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    let named = match install::program() {
        Ok(named) => named,
        Err(e) => {
            return Finding::fail("program", e.to_string(), "install `bridged` and `bridge` in one folder");
        }
    };
    let folder = named.parent().unwrap_or(Path::new("/"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let about = format!("bridged {version}, {}", named.display());
    if !folder.join("bridge").exists() {
        let todo = format!("ln -s bridged {}", folder.join("bridge").display());
        return Finding::warn("program", format!("{about}; there is no `bridge` beside it"), todo);
    }
    let mut found = std::env::split_paths(&path).map(|p| p.join("bridged")).filter(|p| p.is_file());
    match found.next() {
        None => Finding::warn(
            "program",
            format!("{about}; its folder is not on the PATH"),
            format!("export PATH=\"{}:$PATH\" in your shell's profile", folder.display()),
        ),
        Some(first) if first.canonicalize().ok() != named.canonicalize().ok() => Finding::warn(
            "program",
            format!("{about}; the PATH leads to another one, {}", first.display()),
            "remove one of the two",
        ),
        Some(_) => Finding::ok("program", about),
    }
}

pub(super) fn state(patient: &Patient) -> Finding {
    let folder = &patient.places.state;
    let Ok(found) = fs::symlink_metadata(folder) else {
        return Finding::ok(
            "state",
            format!("{} is not there yet; the first start makes it", folder.display()),
        );
    };
    let mut open: Vec<PathBuf> = Vec::new();
    let mut wrong = Vec::new();
    if !found.is_dir() || found.uid() != our_uid() {
        wrong.push(format!("{} is not a folder of yours", folder.display()));
    } else if found.mode() & 0o077 != 0 {
        open.push(folder.clone());
    }
    for name in ["root.key", "client.token", "pairings.json", "policy.json", "bridged.lock"] {
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() || found.uid() != our_uid() => {
                wrong.push(format!("{} is not a file of yours", path.display()))
            }
            Ok(found) if found.mode() & 0o077 != 0 => open.push(path),
            _ => {}
        }
    }
    if !wrong.is_empty() {
        return Finding::fail("state", wrong.join("; "), "find out who put that there, then move it away");
    }
    if open.is_empty() {
        return Finding::ok("state", format!("{} and the keys in it are yours alone", folder.display()));
    }
    let names: Vec<String> = open.iter().map(|p| p.display().to_string()).collect();
    Finding::fail(
        "state",
        format!("others can get at {}", names.join(", ")),
        "close it (chmod go= …); if somebody may have read a key: `bridged reset-pairing`",
    )
    .fixed_by(move || {
        for path in &open {
            let mode = fs::symlink_metadata(path).doing("look at a file")?.mode() & 0o700;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).doing("close a file")?;
        }
        Ok("closed to others; if somebody may have read a key: `bridged reset-pairing`".to_owned())
    })
}

/// Whether it runs, which version, and whether it answers; what it says is kept for the other checks.
pub(super) fn running(patient: &mut Patient) -> Vec<Finding> {
    let state = patient.places.state.clone();
    let record = match record::running(&state) {
        Some(_) => background::settled(&state),
        None => Ok(None),
    };
    let record = match record {
        Ok(Some(record)) => record,
        Ok(None) => {
            let places = patient.places.clone();
            let finding = Finding::fail(
                "daemon",
                "no daemon runs, so the extension has nobody to connect to",
                "`bridged start` (any `bridge` command starts it too)",
            );
            return vec![finding.fixed_by(move || {
                background::ensure(&places, &[]).map(|(record, _)| format!("started (pid {})", record.pid))
            })];
        }
        Err(e) => return vec![Finding::fail("daemon", e.to_string(), "see `bridged logs`")],
    };
    let ours = env!("CARGO_PKG_VERSION");
    let replaced = fs::read_link(format!("/proc/{}/exe", record.pid))
        .is_ok_and(|exe| exe.to_string_lossy().ends_with(" (deleted)"));
    let about = format!("bridged {} runs (pid {})", record.version, record.pid);
    let mut findings = vec![if record.version != ours {
        Finding::fail("daemon", format!("{about}, but this program is {ours}"), "`bridged restart`")
    } else if replaced {
        Finding::warn(
            "daemon",
            format!("{about}, from a file that has been replaced since"),
            "`bridged restart`",
        )
    } else {
        Finding::ok("daemon", about)
    }];
    if is_stopped(record.pid) {
        // Whatever else is asked of it waits until it goes on.
        let todo = format!("`kill -CONT {}`, or `fg` in its terminal", record.pid);
        findings.push(Finding::fail(
            "daemon",
            "somebody has stopped it (Ctrl-Z, SIGSTOP): it answers nobody",
            todo,
        ));
        patient.record = Some(record);
        return findings;
    }
    let about = record.socket.display().to_string();
    let asked = Client::connect(&record.socket, Role::Person)
        .and_then(|mut client| client.call("status", &json!({}), Some(PATIENCE)));
    findings.push(match asked {
        Ok(answer) => {
            patient.hub = serde_json::from_str(answer.get()).unwrap_or(Value::Null);
            Finding::ok("socket", format!("{about} answers"))
        }
        Err(failure) => Finding::fail(
            "socket",
            format!("{about}: {}", said(&failure)),
            format!("`bridged restart`; if that fails, `kill {}` and `bridged start`", record.pid),
        ),
    });
    if let Ok(mut owner) = Client::connect(&record.socket, Role::Control) {
        let mut ask = |method| {
            let answer = owner.call(method, &json!({}), Some(PATIENCE)).ok();
            answer.and_then(|a| serde_json::from_str(a.get()).ok()).unwrap_or(Value::Null)
        };
        patient.secret = ask("doctor");
        patient.policy = ask("policy_get");
        patient.audit = ask("audit");
    }
    patient.record = Some(record);
    findings
}

pub(super) fn port(patient: &Patient) -> Finding {
    if let Some(record) = &patient.record {
        if is_stopped(record.pid) {
            return Finding::warn("port", format!("ws://{} waits for it too", record.address), "as above");
        }
        return match get(&record.address, "/") {
            Ok(answer) if answer.starts_with("HTTP/1.1 426") => {
                Finding::ok("port", format!("ws://{} is ours", record.address))
            }
            Ok(_) => Finding::fail(
                "port",
                format!("{} answers, but not as bridged does", record.address),
                "`bridged restart`, perhaps with another --port",
            ),
            Err(e) => Finding::fail(
                "port",
                format!("ws://{} does not answer: {e}", record.address),
                "a firewall or sandbox may be in the way of 127.0.0.1; else `bridged restart`",
            ),
        };
    }
    let port = patient.settings.as_ref().map_or(crate::config::DEFAULT_PORT, |s| s.port);
    match TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), PATIENCE) {
        Err(_) => Finding::ok("port", format!("{port} is free for the daemon")),
        Ok(_) => Finding::fail(
            "port",
            format!(
                "{port} is taken by {}, which is no daemon of this state folder",
                squatter::describe(port)
            ),
            "end that program, or set another `port` and run `bridged extension install` again",
        ),
    }
}

pub(super) fn http(patient: &Patient) -> Finding {
    let off = patient.settings.as_ref().is_some_and(|s| s.http.is_none());
    match patient.record.as_ref().map(|record| &record.http) {
        None if off => Finding::ok("http", "switched off"),
        None => Finding::warn("http", "no daemon, so nobody answers", "`bridged start`"),
        Some(None) if off => Finding::ok("http", "switched off"),
        Some(None) => {
            let port = patient.settings.as_ref().and_then(|s| s.http).map_or(10088, |http| http.port);
            Finding::warn(
                "http",
                format!(
                    "the daemon runs without it; port {port} was taken, now by {}",
                    squatter::describe(port)
                ),
                "end that program and `bridged restart`, or choose another --http-port",
            )
        }
        Some(Some(address)) => match get(address, "/health") {
            Ok(answer) if answer.contains("\"name\":\"bridged\"") => {
                Finding::ok("http", format!("http://{address} answers"))
            }
            Ok(_) => Finding::fail(
                "http",
                format!("{address} answers, but not as bridged does"),
                "`bridged restart`, perhaps with another --http-port",
            ),
            Err(e) => {
                Finding::fail("http", format!("http://{address} does not answer: {e}"), "`bridged restart`")
            }
        },
    }
}

pub(super) fn pause(patient: &Patient) -> Option<Finding> {
    let paused = patient.policy["paused"] == true;
    paused.then(|| {
        Finding::warn(
            "pause",
            "you paused the bridge: every call is refused",
            "`bridged policy set pause off`",
        )
    })
}

pub(super) fn audit(patient: &Patient) -> Option<Finding> {
    let why = patient.audit["degraded"].as_str()?;
    let todo = "make room, or mend that file; it is tried again by itself";
    Some(Finding::warn("audit", format!("lines are missing: {why}"), todo))
}

/// Whether a process was stopped and not continued, where /proc tells.
fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

/// The answer's first few hundred bytes.
fn get(address: &str, path: &str) -> Outcome<String> {
    let to: SocketAddr = address.parse().doing(format_args!("read the address {address}"))?;
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE).doing("connect")?;
    stream.set_read_timeout(Some(PATIENCE)).doing("wait")?;
    stream.set_write_timeout(Some(PATIENCE)).doing("wait")?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").doing("ask")?;
    let mut answer = Vec::new();
    // The kernel's word on an answer that came and a connection that was reset behind it varies: what came counts.
    let read = stream.take(4096).read_to_end(&mut answer);
    if answer.is_empty() {
        // The kernel's own words for an answer that does not come help nobody.
        let read = read.map_err(|e| match e.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                std::io::Error::other(format!("nothing came in {} s", PATIENCE.as_secs()))
            }
            _ => e,
        });
        read.doing("read its answer")?;
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
