//! `bridged demo`: the bridge at work in a browser of its own, step by step, through the doors that people and scripts use.

mod browser;
mod page;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Role};
use crate::commands::Demo;
use crate::extension;
use crate::files::random;
use crate::places::Places;
use crate::show;
use crate::trouble::{Doing, Outcome, Trouble};
use browser::Browser;

/// How long the browser may take until its extension has connected.
const CONNECT: Duration = Duration::from_secs(30);
/// With a window, a person wants to see each step.
const LOOK: Duration = Duration::from_millis(500);

/// What a person orders, and what the page must say in the end.
const NAME: &str = "Ada Lovelace";
const EXPECTED: &str = "Darjeeling with honey for Ada Lovelace, coming up.";

/// Runs the demo.
pub(crate) fn run(asked: &Demo) -> Outcome<()> {
    let begun = Instant::now();
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stopped.clone()).doing("listen for Ctrl-C")?;
    }
    let program = browser::find(asked.browser.as_deref())?;
    let output = std::path::absolute(asked.output.as_deref().unwrap_or("demo.png"))
        .doing("find the current folder")?;
    println!(
        "bridged demo: a browser with a fresh profile and a daemon of its own; nothing of yours is touched\n"
    );
    let mut stage = Stage::set(stopped)?;
    let mut windowed = !asked.headless && browser::display();
    let mut browser = match stage.open(&program, windowed) {
        Err(e) if windowed && !stage.interrupted() => {
            println!("          no window could be opened ({e}); without one then");
            windowed = false;
            stage.open(&program, windowed)?
        }
        other => other?,
    };
    let played = stage.play(&output, if windowed { LOOK } else { Duration::ZERO });
    if played.is_err()
        && let Some(how) = browser.ended()
    {
        eprintln!("the browser ended ({how}):\n  {}", browser.last_words());
    }
    played?;
    println!("\nDone in {:.1} s. The picture is in {}", begun.elapsed().as_secs_f32(), output.display());
    Ok(())
}

/// Everything the demo has for itself, gone when dropped.
struct Stage {
    folder: PathBuf,
    places: Places,
    daemon: Child,
    port: u16,
    stopped: Arc<AtomicBool>,
}

impl Stage {
    /// A folder and a daemon.
    fn set(stopped: Arc<AtomicBool>) -> Outcome<Stage> {
        let start = Instant::now();
        let unique: String = random()?[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let folder = std::env::temp_dir().join(format!("bridged-demo-{unique}"));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .doing(format_args!("create {}", folder.display()))?;
        let places = Places {
            state: folder.join("state/bridged"),
            config: folder.join("config/bridged/config.toml"),
            config_home: folder.join("config"),
            home: folder.clone(),
            extension: folder.join("extension"),
            socket: folder.join("state/bridged/run/bridged.sock"),
            warning: None,
        };
        let mut command = own_program("bridged", &folder)?;
        let log = fs::File::create(folder.join("daemon.log")).doing("write the daemon's log")?;
        let started = command
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .stderr(log)
            .process_group(0)
            .spawn();
        let daemon = started.doing("start the daemon");
        let mut stage = match daemon {
            Ok(daemon) => Stage { folder, places, daemon, port: 0, stopped },
            Err(e) => {
                let _ = fs::remove_dir_all(&folder);
                return Err(e);
            }
        };
        let mut line = String::new();
        if let Some(stdout) = stage.daemon.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).doing("hear from the daemon")?;
        }
        let port = line.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        stage.port = port.ok_or_else(|| stage.daemon_said("the daemon did not start"))?;
        step(start, &format!("a daemon listens on ws://127.0.0.1:{} and on a Unix socket", stage.port));
        Ok(stage)
    }

    /// A browser whose extension has connected.
    fn open(&mut self, program: &Path, windowed: bool) -> Outcome<Browser> {
        let start = Instant::now();
        let unpacked = extension::install(&self.places, &self.places.extension, self.port)?;
        step(start, &format!("the extension is unpacked, with a key of its own ({})", unpacked.key_id));
        let start = Instant::now();
        let mut browser = Browser::start(program, &self.folder, &unpacked.folder, !windowed)?;
        let mut client = Client::connect(&self.places.socket, Role::Person)
            .map_err(|f| self.daemon_said(&crate::background::said(&f)))?;
        loop {
            let answer = client.call("list_browsers", &json!({}), None);
            let answer = answer.map_err(|f| self.daemon_said(&crate::background::said(&f)))?;
            let known: Value = serde_json::from_str(answer.get()).doing("understand the daemon")?;
            if let Some(browser_id) = known["browsers"][0]["browser_id"].as_str() {
                let how = if windowed { "in a window" } else { "without a window" };
                step(
                    start,
                    &format!(
                        "{} runs {how}; daemon and extension have proved themselves to each other ({browser_id})",
                        program.display()
                    ),
                );
                return Ok(browser);
            }
            if let Some(how) = browser.ended() {
                return Err(Trouble::failed(format!(
                    "the browser ended at once ({how}):\n  {}",
                    browser.last_words()
                )));
            }
            if self.interrupted() {
                return Err(Trouble::failed("interrupted"));
            }
            if start.elapsed() > CONNECT {
                let what = format!("no extension connected within {} s", CONNECT.as_secs());
                return Err(self.daemon_said(&what));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The steps.
    fn play(&self, output: &Path, look: Duration) -> Outcome<()> {
        let url = page::serve()?;
        let picture = output.to_string_lossy();
        let pause = || std::thread::sleep(look);
        println!();
        self.bridge(&["new-tab", &url])?;
        self.bridge(&["set-value", "label=Your name", NAME])?;
        pause();
        self.bridge(&["select-option", "#tea", "Darjeeling"])?;
        pause();
        self.bridge(&["check", "label=with honey"])?;
        pause();
        self.bridge(&["click", "role=button[Place order]"])?;
        pause();
        let value = self.line(&json!({"id": "1", "method": "get_value", "params": {"selector": "#name"}}))?;
        expect(&value["result"]["value"], NAME)?;
        let text = self.line(
            &json!({"id": "2", "method": "scrape", "params": {"item": "main", "fields": {"said": "output"}}}),
        )?;
        expect(&text["result"]["items"][0]["said"], EXPECTED)?;
        self.bridge(&["screenshot", "-o", &picture])?;
        let written = fs::read(output).doing(format_args!("read {}", output.display()))?;
        match written.starts_with(b"\x89PNG\r\n\x1a\n") && written.len() > 1000 {
            true => Ok(()),
            false => Err(Trouble::failed(format!("{} holds no picture", output.display()))),
        }
    }

    /// One command as a person types it.
    fn bridge(&self, args: &[&str]) -> Outcome<()> {
        let start = Instant::now();
        let done = own_program("bridge", &self.folder)?.args(args).output().doing("run bridge")?;
        let typed: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        step(start, &format!("$ bridge {}", typed.join(" ")));
        let said = String::from_utf8_lossy(&done.stdout);
        said.trim_end().lines().for_each(|line| println!("          {}", show::harmless(line)));
        match done.status.success() {
            true => Ok(()),
            false if self.interrupted() => Err(Trouble::failed("interrupted")),
            false => {
                let why = String::from_utf8_lossy(&done.stderr);
                Err(self.daemon_said(why.trim().trim_start_matches("bridge: ")))
            }
        }
    }

    /// One line into the Unix socket, one line back: no hello, no library.
    fn line(&self, request: &Value) -> Outcome<Value> {
        let start = Instant::now();
        let mut stream = UnixStream::connect(&self.places.socket).doing("connect to the Unix socket")?;
        stream.set_read_timeout(Some(Duration::from_secs(40))).doing("wait for the Unix socket")?;
        stream.write_all(format!("{request}\n").as_bytes()).doing("write to the Unix socket")?;
        let mut answer = String::new();
        BufReader::new(&stream).read_line(&mut answer).doing("read from the Unix socket")?;
        step(start, &format!("$ echo '{request}' | nc -N -U bridged.sock"));
        println!("          {}", show::harmless(answer.trim_end()));
        let answer: Value = serde_json::from_str(&answer).doing("understand the answer")?;
        match answer["success"] == true {
            true => Ok(answer),
            false => Err(self.daemon_said(answer["error"].as_str().unwrap_or("the call failed"))),
        }
    }

    fn interrupted(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// A failure, with the end of the daemon's log where that has something to say.
    fn daemon_said(&self, what: &str) -> Trouble {
        let log = fs::read_to_string(self.folder.join("daemon.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().filter(|line| !line.contains(" info ")).collect();
        match &lines[lines.len().saturating_sub(3)..] {
            [] => Trouble::failed(what),
            last => {
                Trouble::failed(format!("{what}\n  the daemon's log ends with:\n  {}", last.join("\n  ")))
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.daemon.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let until = Instant::now() + Duration::from_secs(5);
        while matches!(self.daemon.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// This very program under one of its names, with the demo's folders and none of the user's settings.
fn own_program(name: &str, folder: &Path) -> Outcome<Command> {
    let own = std::env::current_exe().doing("find this program's own file")?;
    let mut command = Command::new(own);
    command.arg0(name).stdin(Stdio::null()).env_remove("XDG_RUNTIME_DIR");
    for (variable, _) in std::env::vars_os().filter(|(v, _)| v.to_string_lossy().starts_with("BRIDGED_")) {
        command.env_remove(variable);
    }
    for (variable, beneath) in
        [("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")]
    {
        command.env(variable, folder.join(beneath));
    }
    Ok(command)
}

fn step(start: Instant, what: &str) {
    println!("{:>6} ms {what}", start.elapsed().as_millis());
    let _ = std::io::stdout().flush();
}

fn expect(got: &Value, wanted: &str) -> Outcome<()> {
    match got == wanted {
        true => Ok(()),
        false => Err(Trouble::failed(format!("the page should say `{wanted}`, it says {got}"))),
    }
}

/// As a shell wants it.
fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        arg.to_owned()
    } else {
        format!("'{}'", arg.replace('\'', "'\\''"))
    }
}
