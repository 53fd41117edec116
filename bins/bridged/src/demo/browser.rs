//! A Chromium for the demo: found, given a fresh profile, started with the extension, and ended for certain.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use crate::extension;
use crate::places::our_uid;
use crate::trouble::{Doing, Outcome, Trouble};

/// Where Chromium is beyond the PATH; the first is Debian's without its wrapper script.
const KNOWN: [&str; 3] = [
    "/usr/lib/chromium/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
];
/// What it is called. Not the branded Chrome: that one loads no extension from the command line.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "chrome-for-testing", "ungoogled-chromium"];

/// A running browser; ended when dropped, with all its processes.
pub(crate) struct Browser {
    child: Child,
    output: PathBuf,
}

/// The browser to use: the one that was named, or the first that is found.
pub(crate) fn find(named: Option<&str>) -> Outcome<PathBuf> {
    if let Some(named) = named {
        let path = PathBuf::from(named);
        return match path.is_file() {
            true => Ok(path),
            false => Err(Trouble::usage(format!("--browser: there is no file {named}"))),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).filter(|p| p.is_absolute());
    let called = in_path.flat_map(|folder| NAMES.map(|name| folder.join(name)));
    KNOWN.iter().map(PathBuf::from).chain(called).find(|p| p.is_file()).ok_or_else(|| {
        Trouble::failed(
            "no Chromium found: install one (`apt-get install chromium`), or name one with --browser; \
             the branded Chrome loads no extension from the command line",
        )
    })
}

/// Whether there is a display to show a window on.
pub(crate) fn display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()))
        || cfg!(target_os = "macos")
}

impl Browser {
    /// Starts `program` with a fresh profile in `folder` and the unpacked extension.
    pub(crate) fn start(program: &Path, folder: &Path, unpacked: &Path, headless: bool) -> Outcome<Browser> {
        let profile = folder.join("profile");
        let _ = fs::remove_dir_all(&profile);
        fs::create_dir_all(profile.join("Default")).doing("make a browser profile")?;
        // What a person does by hand in chrome://extensions: developer mode, and leave to run user scripts.
        let preferences = json!({"extensions": {
            "ui": {"developer_mode": true},
            "settings": {extension::ID: {"user_scripts_enabled": true}}
        }});
        fs::write(profile.join("Default/Preferences"), preferences.to_string())
            .doing("make a browser profile")?;
        let output = folder.join("browser.log");
        let log = File::create(&output).doing("write the browser's log")?;
        let mut command = Command::new(program);
        command.args([
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
            "--disable-backgrounding-occluded-windows",
            "--silent-debugger-extension-api",
            "--password-store=basic",
            "--use-mock-keychain",
            "--window-size=1280,800",
        ]);
        if headless {
            command.args(["--headless=new", "--disable-gpu"]);
        }
        if our_uid() == 0 {
            // Chromium's sandbox refuses to run as root.
            command.arg("--no-sandbox");
        }
        let mut with = |flag: &str, path: &Path| {
            let mut text = std::ffi::OsString::from(flag);
            text.push(path);
            command.arg(text);
        };
        with("--user-data-dir=", &profile);
        with("--load-extension=", unpacked);
        let child = command
            .arg("about:blank")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .doing(format_args!("start {}", program.display()))?;
        Ok(Browser { child, output })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// The last things it said, for an error.
    pub(crate) fn last_words(&self) -> String {
        let text = fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join("\n  ")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return };
        let _ = kill_process_group(group, Signal::TERM);
        let until = Instant::now() + Duration::from_secs(3);
        while self.ended().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
    }
}
