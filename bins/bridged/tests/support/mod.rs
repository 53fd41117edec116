//! A home of its own for every test, the real binary in it, and peers of the base protocol.

// Each test file uses its part of this, and may stop at the first surprise.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

pub mod calm;
pub mod extension;
pub mod http;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

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
        command.arg("serve").args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
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
        Daemon { port: port.parse().unwrap(), child, log: Some(log), socket: self.socket() }
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

    /// The command failed with this code, and what it said is one sentence that holds all of these.
    #[track_caller]
    pub fn fails(self, code: i32, said: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for part in said {
            assert!(self.err.contains(part), "`{part}` is not in: {}", self.err);
        }
    }
}

/// A daemon in the foreground; killed when dropped.
pub struct Daemon {
    pub port: u16,
    pub child: Child,
    log: Option<std::thread::JoinHandle<String>>,
    socket: PathBuf,
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
        self.signal(rustix::process::Signal::TERM);
        self.ended();
        self.log.take().unwrap().join().unwrap()
    }

    pub fn lines(&self) -> Lines {
        Lines::open(&self.socket)
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
}

/// Lives in its thread until the daemon closes it.
pub struct FakeBrowser;

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A WebSocket peer that waits for what it reads.
#[derive(Debug)]
pub struct Peer {
    socket: WebSocket<TcpStream>,
    calls: u32,
}

impl Peer {
    /// Connects, optionally as a page or an extension would, and says hello. `Err`: the HTTP status.
    pub fn open(port: u16, origin: Option<&str>, hello: &Value) -> Result<Peer, u16> {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(CEILING)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request =
            tungstenite::client::IntoClientRequest::into_client_request(format!("ws://127.0.0.1:{port}/"))
                .unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", origin.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => {
                let mut peer = Peer { socket, calls: 0 };
                peer.send(hello);
                Ok(peer)
            }
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(e) => panic!("{e}"),
        }
    }

    pub fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub fn send_text(&mut self, message: &str) {
        let _ = self.socket.send(Message::text(message));
    }

    /// The next message; none once the connection is closed.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.send(&json!({"id": id, "method": method, "params": params}));
        let answer = self.next().unwrap_or_else(|| panic!("{method}: the connection was closed"));
        assert_eq!(answer["id"], id);
        answer
    }

    /// Reads until the close frame and returns its code.
    pub fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return frame.map(|f| u16::from(f.code)),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }
}

/// The Unix socket, one JSON text a line.
pub struct Lines(BufReader<UnixStream>);

impl Lines {
    pub fn open(socket: &Path) -> Lines {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(CEILING)).unwrap();
        Lines(BufReader::new(stream))
    }

    pub fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub fn send_text(&mut self, message: &str) {
        self.0.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.next().unwrap()
    }

    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).ok()
    }

    pub fn control(mut self) -> Lines {
        let ack = self.ask(&json!({"type": "hello", "role": "control", "protocol": 2}));
        assert_eq!(ack["type"], "hello_ack", "{ack}");
        self
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
