//! A home of its own for every test, the real binary in it, and peers of the base protocol.

// Each test file uses its part of this, and may stop at the first surprise.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod calm;
pub mod extension;
pub mod http;
mod peers;

use std::cell::Cell;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use calm::Start;
pub use peers::{Lines, Peer};

/// What nothing here may take longer than; reaching it is a failure.
pub const CEILING: Duration = Duration::from_secs(20);

/// Folders for one test.
pub struct Home {
    pub dir: TempDir,
}

impl Home {
    pub fn new() -> Home {
        let dir = TempDir::new().unwrap();
        let home = Home { dir };
        std::fs::create_dir(home.path("run")).unwrap();
        std::fs::set_permissions(home.path("run"), PermissionsExt::from_mode(0o700)).unwrap();
        home
    }

    pub fn path(&self, beneath: &str) -> PathBuf {
        self.dir.path().join(beneath)
    }

    pub fn state(&self, file: &str) -> PathBuf {
        self.path("state/bridged").join(file)
    }

    pub fn socket(&self) -> PathBuf {
        self.path("run/bridged/bridged.sock")
    }

    /// The program under a name, in this home and with nothing of the real user's.
    pub fn program(&self, name: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bridged"));
        command.arg0(name);
        self.settle(&mut command);
        command
    }

    pub fn settle(&self, command: &mut Command) {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.dir.path()).env("XDG_RUNTIME_DIR", self.path("run"));
        command.env("XDG_STATE_HOME", self.path("state")).env("XDG_CONFIG_HOME", self.path("config"));
        command.env("XDG_DATA_HOME", self.path("data")).current_dir(self.dir.path()).stdin(Stdio::null());
        // What a test starts in the background must not take the port of a daemon that runs on this machine.
        command.env("BRIDGED_PORT", free_port().to_string()).env("BRIDGED_HTTP_PORT", "off");
    }

    pub fn bridged<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Done {
        Done::of(self.program("bridged").args(args))
    }

    pub fn bridge<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Done {
        Done::of(self.program("bridge").args(args))
    }

    /// A daemon on a free port that listens by the time this returns.
    pub fn serve(&self) -> Daemon {
        self.serve_with(&["--port", "0"])
    }

    pub fn serve_with(&self, args: &[&str]) -> Daemon {
        let mut command = self.program("bridged");
        command.arg("serve").args(args);
        self.begin(command)
    }

    /// The same by a command that becomes it.
    pub fn begin(&self, mut command: Command) -> Daemon {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Some((_, port)) = line.trim().rsplit_once(':') else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("no daemon: {said}");
        };
        // The log is drained, so that a full pipe never holds the daemon up.
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        Daemon {
            port: port.parse().unwrap(),
            start: Start::of(child.id()),
            child,
            log: Some(log),
            state: self.state(""),
            browsers: Mutex::default(),
            kept: Cell::default(),
        }
    }
}

impl Drop for Home {
    /// A test that stopped half-way must leave no daemon behind.
    fn drop(&mut self) {
        let _ = self.program("bridged").arg("stop").stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Copies the program. By a process of its own: a file that this one has open for writing, and with it every child that
/// another test starts just then, cannot be executed.
pub fn copy_program(to: &Path) {
    assert!(Command::new("cp").arg(env!("CARGO_BIN_EXE_bridged")).arg(to).status().unwrap().success());
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What a command came to.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
    pub bytes: Vec<u8>,
}

impl Done {
    pub fn of(command: &mut Command) -> Done {
        let Output { status, stdout, stderr } = command.output().unwrap();
        Done {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&stdout).into_owned(),
            err: String::from_utf8_lossy(&stderr).into_owned(),
            bytes: stdout,
        }
    }

    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self.out
    }

    /// The command failed, and this is in what it said.
    #[track_caller]
    pub fn said(self, part: &str) {
        assert!(self.code != 0 && self.err.contains(part), "`{part}` is not in: {}{}", self.out, self.err);
    }

    /// The command failed with this code, and what it said is one sentence that holds all of these.
    #[track_caller]
    pub fn fails(self, code: i32, said: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for part in said {
            assert!(self.err.contains(part), "`{part}` is not in: {}", self.err);
        }
    }
}

/// A daemon in the foreground. When it is dropped, and it lives still, it is asked for what must hold after every test
/// ([`calm`]), and killed.
pub struct Daemon {
    pub port: u16,
    pub child: Child,
    log: Option<std::thread::JoinHandle<String>>,
    /// The folder that says where it listens.
    state: PathBuf,
    start: Start,
    /// The browsers that live in threads of their own, to be hung up on at the end.
    browsers: Mutex<Vec<TcpStream>>,
    /// What the allocator may keep of this test, in MiB.
    kept: Cell<u64>,
}

impl Daemon {
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        within("the daemon ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Ends it and returns its log.
    pub fn log(mut self) -> String {
        self.is_calm();
        self.signal(rustix::process::Signal::TERM);
        self.ended();
        self.log.take().unwrap().join().unwrap()
    }

    pub fn lines(&self) -> Lines {
        Lines::open(Path::new(self.record()["socket"].as_str().unwrap()))
    }

    /// What it says of itself: where it listens, above all.
    pub fn record(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.state.join("bridged.lock")).unwrap()).unwrap()
    }

    /// Ends it in the middle of everything, and asks nothing of it any more.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// A client of the base protocol: a hello, nothing else.
    pub fn client(&self) -> Peer {
        Peer::open(self.port, None, &json!({"type": "hello", "role": "client", "name": "test"})).unwrap()
    }

    /// An extension of the base protocol that answers every request with what `answer` makes of it.
    pub fn extension(&self, answer: impl Fn(&str, &Value) -> Option<Value> + Send + 'static) -> FakeBrowser {
        let hello = json!({"type": "hello", "role": "extension", "name": "fake"});
        let mut peer = Peer::open(self.port, None, &hello).unwrap();
        // Its own ping is answered only after its hello was, so from here on the hub knows it.
        assert_eq!(peer.call("ping", json!({}))["result"]["pong"], true);
        self.hangs_up_on(&peer);
        std::thread::spawn(move || {
            while let Some(request) = peer.next() {
                let Some(result) = answer(request["method"].as_str().unwrap_or(""), &request["params"])
                else {
                    continue;
                };
                let mut reply = result;
                reply["id"] = request["id"].clone();
                peer.send(&reply);
            }
        });
        FakeBrowser
    }

    /// This peer lives in a thread until the test is over.
    pub fn hangs_up_on(&self, peer: &Peer) {
        self.browsers.lock().unwrap().push(peer.stream().try_clone().unwrap());
    }

    /// The browsers are gone.
    pub fn hang_up(&self) {
        for browser in self.browsers.lock().unwrap().drain(..) {
            let _ = browser.shutdown(Shutdown::Both);
        }
    }
}

/// Lives in its thread until the test is over.
pub struct FakeBrowser;

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that was ended has nothing to show, and a test that fails already must not hide why.
        if !std::thread::panicking() && matches!(self.child.try_wait(), Ok(None)) {
            self.is_calm();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something holds, looking again and again; a generous ceiling stands for "never".
#[track_caller]
pub fn within(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + CEILING;
    while !holds() {
        assert!(Instant::now() < until, "in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

pub fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).mode() & 0o7777
}
