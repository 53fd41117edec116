//! The unpacked extension, its key, the browsers that are connected, and those that were turned away.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bridge_catalogue::{Scope, catalogue};
use serde_json::Value;

use super::{Finding, Patient};
use crate::extension;
use crate::keys::Keys;
use crate::show::NO_BROWSER;

/// The oldest Chrome that the extension loads in.
const OLDEST: u32 = 135;

/// The installations on the disk: their files, and their keys.
pub(super) fn files(patient: &Patient) -> Vec<Finding> {
    let places = patient.places.clone();
    // Without a state folder nothing was ever installed, and looking must not make one.
    let book = match places.state.is_dir().then(|| Keys::open(&places.state)).transpose() {
        Ok(keys) => keys.map(|mut keys| keys.book().clone()).unwrap_or_default(),
        Err(e) => return vec![Finding::fail("key", e.to_string(), "see `state` above")],
    };
    let installed = match extension::unpacked(&book) {
        Ok(installed) => installed,
        Err(e) => {
            return vec![Finding::fail("extension", e.to_string(), "`make build` in the source folder")];
        }
    };
    if installed.is_empty() {
        let mut findings = vec![Finding::warn(
            "extension",
            "it was not unpacked on this machine",
            "`bridged extension install DIR`, then load that folder in chrome://extensions",
        )];
        if book.extensions.is_empty() && book.approved.is_empty() {
            findings.push(Finding::fail(
                "key",
                "no extension may connect yet",
                "`bridged extension install DIR`",
            ));
        }
        return findings;
    }
    let mut findings = Vec::new();
    for one in installed {
        let folder = one.folder.display();
        findings.push(match one.same {
            true => Finding::ok("extension", format!("{folder} has this program's files")),
            false => Finding::fail(
                "extension",
                format!("{folder} has files of another build than this program"),
                "`bridged extension upgrade`, then the reload arrow in chrome://extensions",
            )
            .fixed_by({
                let places = places.clone();
                move || {
                    extension::upgrade(&places).map(|_| {
                        "files renewed, keys kept; press the reload arrow in chrome://extensions".to_owned()
                    })
                }
            }),
        });
        let again = format!("`bridged extension install {folder}`");
        let key_id = one.pairing["key_id"].as_str().unwrap_or_default();
        let mode = std::fs::symlink_metadata(one.folder.join("pairing.json")).map_or(0, |found| found.mode());
        let dials = one.pairing["url"].as_str().unwrap_or_default();
        let address = patient.record.as_ref().map(|r| format!("ws://{}", r.address));
        findings.push(if !book.extensions.iter().any(|p| p.key_id == key_id) {
            Finding::fail("key", format!("the key in {folder} is not, or no longer, in the pairings"), again)
        } else if mode & 0o077 != 0 {
            Finding::fail(
                "key",
                format!("others can read pairing.json in {folder}"),
                format!("{again}: that ends the old key"),
            )
        } else if let Some(address) = address.filter(|address| address != dials) {
            Finding::fail(
                "key",
                format!("the extension in {folder} dials {dials}, the daemon is at {address}"),
                again,
            )
        } else {
            Finding::ok("key", format!("{key_id} in {folder} dials {dials}"))
        });
    }
    findings
}

/// The browsers, by what the daemon says of them.
pub(super) fn connected(patient: &Patient) -> Vec<Finding> {
    if patient.hub.is_null() {
        return Vec::new();
    }
    let browsers = patient.hub["browsers"].as_array().map(Vec::as_slice).unwrap_or_default();
    if browsers.is_empty() {
        return vec![Finding::fail("browser", "no browser is connected", NO_BROWSER)];
    }
    browsers.iter().flat_map(|browser| one(browser, &patient.secret)).collect()
}

fn one(browser: &Value, secret: &Value) -> Vec<Finding> {
    let line = crate::show::browser(browser);
    let id = browser["browser_id"].as_str().unwrap_or_default();
    if browser["proven"] != true {
        return vec![Finding::warn(
            "browser",
            format!("{line} is connected, but did not prove itself: it speaks only the base protocol"),
            "use the extension of `bridged extension install` if you can",
        )];
    }
    let mut findings = vec![Finding::ok("browser", format!("{line} is connected"))];
    let known = catalogue().methods().iter().filter(|m| m.scope != Scope::Hub).count() as u64;
    let named = browser["methods"].as_u64().unwrap_or_default();
    let build = browser["build"].as_str().unwrap_or_default();
    let todo = "`bridged extension upgrade`, then the reload arrow in chrome://extensions";
    findings.push(if named != known {
        Finding::fail(
            "methods",
            format!("its extension named {named} methods, this version has {known}"),
            todo,
        )
    } else if extension::is_our_build(build) == Some(false) {
        Finding::warn(
            "methods",
            format!("all {known}, but its extension is another build ({build}) than the one in this program"),
            todo,
        )
    } else {
        Finding::ok("methods", format!("its extension named all {known}"))
    });
    // Only extensions of this version say it.
    match secret["user_scripts"][id].as_bool() {
        Some(true) => findings.push(Finding::ok("scripts", "`run-script` is allowed there")),
        Some(false) => findings.push(Finding::warn(
            "scripts",
            "`run-script` cannot work there; everything else does",
            "chrome://extensions, the extension's Details, switch on `Allow User Scripts`",
        )),
        None => {}
    }
    findings
}

/// Extensions that knocked and were turned away.
pub(super) fn strangers(patient: &Patient) -> Vec<Finding> {
    let refused = patient.secret["refused"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let finding = |id: &str| {
        Finding::warn(
            "strangers",
            format!("the extension {id} tried to connect and was refused"),
            format!("if you trust it: `bridged approve {id}`"),
        )
    };
    refused.map(finding).collect()
}

/// A browser that the extension loads in.
pub(super) fn chrome() -> Finding {
    let names = [
        "google-chrome",
        "google-chrome-stable",
        "google-chrome-beta",
        "chromium",
        "chromium-browser",
        "microsoft-edge",
        "brave-browser",
        "vivaldi",
    ];
    let fixed = [
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/opt/google/chrome/chrome",
        "/usr/lib/chromium/chromium",
        "/snap/bin/chromium",
    ];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|p| p.is_absolute()).collect();
    let called = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let mut old = None;
    for program in called.chain(fixed.iter().map(PathBuf::from)).filter(|p| p.is_file()) {
        let Some(said) = version_of(&program) else { continue };
        match major(&said) {
            Some(version) if version >= OLDEST => {
                return Finding::ok("chrome", format!("{said} ({})", program.display()));
            }
            _ => old = Some(said),
        }
    }
    match old {
        Some(said) => {
            Finding::fail("chrome", format!("{said} is too old"), format!("update it to {OLDEST} or newer"))
        }
        None => Finding::warn(
            "chrome",
            "no Chrome or Chromium was found in the usual places",
            format!("install Chrome or Chromium {OLDEST} or newer, unless it is elsewhere"),
        ),
    }
}

fn version_of(program: &PathBuf) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let until = Instant::now() + Duration::from_secs(10);
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.lines().next()?.trim().chars().take(80).collect())
}

fn major(said: &str) -> Option<u32> {
    said.split_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_is_found_in_what_browsers_say() {
        assert_eq!(major("Chromium 150.0.7871.128 built on Debian"), Some(150));
        assert_eq!(major("Google Chrome 135.0.1.2"), Some(135));
        assert_eq!(major("what?"), None);
    }
}
