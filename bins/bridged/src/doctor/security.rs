//! `bridged doctor --security`: who may come in by which door, what guards that, and what is allowed to those who are in.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Finding, Patient};
use crate::audit;
use crate::config::Compat;
use crate::extension;
use crate::keys::{Keys, unix_now};
use crate::places::our_uid;
use crate::record::Record;
use crate::show::ago;

/// A pairing that was not used for so long may be one that nobody needs: 90 days.
const STALE: u64 = 90 * 24 * 3600;

pub(super) fn examine(patient: &Patient) -> Vec<Finding> {
    let mut findings = doors(patient);
    findings.extend(files(patient));
    findings.extend(keys(patient));
    findings.extend(policy(patient));
    findings.push(core_dumps(patient));
    findings.push(audit_state(patient));
    findings
}

/// The doors, where they listen, and whom they let in.
fn doors(patient: &Patient) -> Vec<Finding> {
    // What a daemon was started with counts, and not what another one would be.
    let told = serde_json::from_value(patient.secret["compat"].clone()).ok();
    let compat: Option<Compat> = told.or(patient.settings.as_ref().map(|settings| settings.compat));
    let mut findings = match &patient.record {
        Some(record) => open_doors(record, compat),
        None => {
            vec![Finding::warn("doors", "no daemon runs, so nobody can come in by any", "`bridged start`")]
        }
    };
    findings.push(match compat {
        Some(Compat::Strict) => Finding::ok("compat", "strict: nobody comes in without a proof or the token"),
        Some(Compat::SameUser) => {
            Finding::ok("compat", "same-user: Browser Bridge v1 without a token for your own account alone")
        }
        Some(Compat::Open) => Finding::fail(
            "compat",
            "open: a program that nobody vouches for may drive the browser",
            "start the daemon without `--compat open`",
        ),
        None => Finding::fail(
            "compat",
            "the configuration cannot be read",
            "`bridged doctor` says what is wrong with it",
        ),
    });
    findings
}

fn open_doors(record: &Record, compat: Option<Compat>) -> Vec<Finding> {
    let yours = "your own programs (as the kernel tells) and those with the token or a proof";
    let (programs, over_http) = match compat {
        Some(Compat::Strict) => ("programs with the token or a proof", "programs with the token"),
        Some(Compat::Open) => ("ANY program whose user the kernel does not tell, and your own", yours),
        _ => (yours, yours),
    };
    let mut findings = vec![Finding::ok(
        "unix",
        format!(
            "{}: programs of your account; only there may the keys be changed, and but for the extension's popup the policy",
            record.socket.display()
        ),
    )];
    findings.push(listening(
        "websocket",
        &record.address,
        &format!("extensions that are paired or approved, {programs}; no page ever"),
    ));
    match &record.http {
        Some(address) => findings.push(listening(
            "http",
            address,
            &format!("{over_http}; no page ever, and a browser's own requests only with the token"),
        )),
        None => findings.push(Finding::ok("http", "closed")),
    }
    findings
}

fn listening(check: &'static str, address: &str, who: &str) -> Finding {
    match address.parse::<SocketAddr>() {
        Ok(at) if at.ip().is_loopback() => Finding::ok(check, format!("{address}, this machine only: {who}")),
        _ => Finding::fail(
            check,
            format!("{address} can be reached from elsewhere"),
            "`bridged restart`: it listens on 127.0.0.1 only",
        ),
    }
}

/// Each file and folder that guards something, with its mode and owner.
fn files(patient: &Patient) -> Vec<Finding> {
    let state = &patient.places.state;
    let mut paths: Vec<(PathBuf, bool)> = vec![(state.clone(), true)];
    let names = ["root.key", "client.token", "pairings.json", "policy.json", "bridged.lock", "bridged.log"];
    paths.extend(names.iter().map(|name| (state.join(name), false)));
    paths.push((state.join("bridged.log.1"), false));
    paths.extend(audit::pieces(state).map(|piece| (piece, false)));
    paths.push((state.join("captures"), true));
    if let Some(record) = &patient.record {
        paths.extend(record.socket.parent().map(|folder| (folder.to_owned(), true)));
        paths.push((record.socket.clone(), false));
    }
    let book = state.is_dir().then(|| Keys::open(state).ok()).flatten().map(|mut keys| keys.book().clone());
    for one in book.iter().filter_map(|book| extension::unpacked(book).ok()).flatten() {
        paths.push((one.folder.clone(), true));
        paths.push((one.folder.join("pairing.json"), false));
    }
    paths.into_iter().filter_map(|(path, folder)| file(&path, folder)).collect()
}

fn file(path: &Path, folder: bool) -> Option<Finding> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return None,
        Err(e) => return Some(Finding::fail("file", format!("{}: {e}", path.display()), "find out why")),
    };
    let about = format!("{} mode {:04o}, owner {}", path.display(), found.mode() & 0o7777, found.uid());
    Some(if found.is_symlink() || found.is_dir() != folder {
        Finding::fail(
            "file",
            format!("{about}: not what it should be"),
            "find out who put that there, then move it away",
        )
    } else if found.uid() != our_uid() {
        Finding::fail(
            "file",
            format!("{about}: not yours ({})", our_uid()),
            "find out who put that there, then move it away",
        )
    } else if found.mode() & 0o077 != 0 {
        let close = format!("chmod {} {}", if folder { "700" } else { "600" }, path.display());
        Finding::fail(
            "file",
            format!("{about}: open to others"),
            format!("{close}; if it holds a key: `bridged reset-pairing`"),
        )
    } else {
        Finding::ok("file", about)
    })
}

/// Who is paired, who was approved, and who may pair at all.
fn keys(patient: &Patient) -> Vec<Finding> {
    let state = &patient.places.state;
    let book = match state.is_dir().then(|| Keys::open(state)).transpose() {
        Ok(keys) => keys.map(|mut keys| keys.book().clone()).unwrap_or_default(),
        Err(e) => {
            return vec![Finding::fail("keys", e.to_string(), "that file is not used until this is mended")];
        }
    };
    let mut findings = Vec::new();
    for pairing in &book.extensions {
        let seen =
            pairing.last_seen.map_or_else(|| "never used".to_owned(), |at| format!("last used {}", ago(at)));
        let about = format!("the extension with the key {} ({}), {seen}", pairing.key_id, pairing.label);
        let old = unix_now().saturating_sub(pairing.last_seen.unwrap_or(pairing.created)) > STALE;
        findings.push(match old {
            true => Finding::warn(
                "pairing",
                about,
                format!("if it is not yours any more: `bridged revoke {}`", pairing.key_id),
            ),
            false => Finding::ok("pairing", about),
        });
    }
    for id in &book.approved {
        findings.push(Finding::warn(
            "approved",
            format!("the extension {id} comes in by its id alone, which a program of yours could claim"),
            format!("`bridged revoke {id}`, unless you need it"),
        ));
    }
    findings.push(Finding::ok("pinned", format!("{} is this program's own extension", extension::ID)));
    let told: Option<Vec<String>> = serde_json::from_value(patient.secret["pinned"].clone()).ok();
    let set = patient.settings.as_ref().map(|settings| settings.allow_extension.clone());
    for id in told.or(set).unwrap_or_default() {
        findings.push(Finding::warn(
            "pinned",
            format!("{id} may pair too (allow_extension)"),
            "take it out of the configuration or of what the daemon is started with, unless it is yours",
        ));
    }
    for browser in patient.hub["browsers"].as_array().into_iter().flatten() {
        let line = crate::show::browser(browser);
        findings.push(match browser["proven"] == true {
            true => Finding::ok("browser", format!("{line} proved itself, and the daemon to it")),
            false => Finding::warn(
                "browser",
                format!("{line} did not prove itself"),
                "`bridged extension install DIR` makes one that does",
            ),
        });
    }
    findings
}

/// What is allowed to those who are in.
fn policy(patient: &Patient) -> Vec<Finding> {
    let rules = &patient.policy;
    if rules.is_null() {
        return vec![Finding::warn("policy", "only a daemon that runs tells it", "`bridged start`")];
    }
    let spoken = |key: &str, value: &Value| match value {
        Value::Bool(true) => format!("{key} on"),
        Value::Bool(false) | Value::Null => format!("{key} off"),
        Value::Array(sites) if key == "allow" && sites.is_empty() => "allow every site".to_owned(),
        Value::Array(sites) if matches!(key, "allow" | "deny") => format!("{key} {} sites", sites.len()),
        Value::Array(list) if list.is_empty() => format!("{key} nothing"),
        Value::Object(_) => format!("{key} on for a time"),
        Value::String(word) => format!("{key} {word}"),
        other => format!("{key} {other}"),
    };
    let all: Vec<String> =
        rules.as_object().into_iter().flatten().map(|(key, value)| spoken(key, value)).collect();
    let mut findings = vec![Finding::ok("policy", all.join(", "))];
    findings.extend(unaware(patient));
    if !rules["evaluate"].is_null() {
        findings.push(Finding::warn(
            "evaluate",
            "scripts may run in the pages' own world, until the time that was set is over",
            "`bridged policy set evaluate off`",
        ));
    }
    if rules["uploads"] == true {
        findings.push(Finding::warn(
            "uploads",
            "agents may upload files",
            "`bridged policy set uploads off`",
        ));
    }
    findings
}

/// Browsers whose extension knows nothing of what was set.
fn unaware(patient: &Patient) -> Option<Finding> {
    let rules = &patient.policy;
    let listed = |list: &str| rules[list].as_array().is_some_and(|sites| !sites.is_empty());
    let set =
        listed("allow") || listed("deny") || rules["user_tabs"].as_str().is_some_and(|is| is != "allow");
    let old = patient.hub["browsers"].as_array()?.iter().filter(|browser| browser["proven"] != true).count();
    (set && old > 0).then(|| {
        Finding::warn(
            "unaware",
            format!("{old} connected, with an extension of the base protocol: it knows no user-tabs and no lists of sites, so that only the addresses that calls name are judged"),
            "`bridged extension install DIR` makes one that judges where a tab really is",
        )
    })
}

/// Keys in memory must not come to lie on a disk.
fn core_dumps(patient: &Patient) -> Finding {
    let Some(record) = &patient.record else { return Finding::ok("core-dumps", "no daemon runs") };
    let limits = fs::read_to_string(format!("/proc/{}/limits", record.pid)).unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max core file size"));
    let piped = || fs::read_to_string("/proc/sys/kernel/core_pattern").is_ok_and(|way| way.starts_with('|'));
    match line.map(|line| line.split_whitespace().skip(4).take(2).collect::<Vec<_>>()).as_deref() {
        Some(["1", "1"]) => {
            Finding::ok("core-dumps", "off for the daemon (RLIMIT_CORE 1, which holds for pipes too)")
        }
        // It was started where no more was allowed, and could not raise it.
        Some(["0", "0"]) if piped() => Finding::warn(
            "core-dumps",
            "off for the daemon but for the program that collects crashes here (/proc/sys/kernel/core_pattern)",
            "start it where the hard limit is not 0 (`ulimit -Hc`); `bridged install service` renews an older unit",
        ),
        Some(["0", "0"]) => Finding::ok("core-dumps", "off for the daemon (RLIMIT_CORE 0)"),
        Some(_) => Finding::fail(
            "core-dumps",
            "the daemon may leave its memory, keys and all, on the disk",
            "`bridged restart`",
        ),
        None => Finding::warn(
            "core-dumps",
            "this system does not tell another process's limits",
            "nothing; the daemon switches them off for itself",
        ),
    }
}

fn audit_state(patient: &Patient) -> Finding {
    let path = patient.places.state.join(audit::NAME);
    let set = patient.settings.as_ref().is_some_and(|settings| settings.audit_required);
    let required = patient.secret["audit_required"].as_bool().unwrap_or(set);
    let then = if required { "nothing is changed without it" } else { "calls go on without it" };
    match (patient.audit["degraded"].as_str(), path.exists()) {
        (Some(why), _) => Finding::fail(
            "audit",
            format!("lines are missing: {why}; {then}"),
            "make room, or mend that file; it is tried again by itself",
        ),
        (None, true) => Finding::ok("audit", format!("{} is written; {then}", path.display())),
        (None, false) => Finding::ok("audit", format!("nothing was written yet; {then}")),
    }
}
