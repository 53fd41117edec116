//! HTTP as it goes over the wire: bytes out, an answer read back, nothing added by a library.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::{CEILING, Daemon, Home};

/// The HTTP door of a daemon.
pub struct Web {
    pub port: u16,
}

impl Home {
    /// A daemon with an HTTP door.
    pub fn serve_web(&self) -> (Daemon, Web) {
        self.serve_web_with(&[])
    }

    pub fn serve_web_with(&self, args: &[&str]) -> (Daemon, Web) {
        let daemon = self.serve_with(&[&["--port", "0", "--http-port", "0"], args].concat());
        let status: Value = serde_json::from_str(&self.bridged(["status", "--json"]).ok()).unwrap();
        let address = status["http"].as_str().unwrap();
        let port = address.rsplit_once(':').unwrap().1.parse().unwrap();
        (daemon, Web { port })
    }

    pub fn token(&self) -> String {
        std::fs::read_to_string(self.state("client.token")).unwrap().trim().to_owned()
    }
}

impl Web {
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Opens a connection.
    pub fn talk(&self) -> Talk {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(CEILING)).unwrap();
        stream.set_nodelay(true).unwrap();
        Talk { stream, have: Vec::new() }
    }

    /// Sends these bytes on a connection of their own.
    pub fn raw(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut talk = self.talk();
        talk.send(bytes);
        talk.answer()
    }

    /// A head with a good Host and these lines.
    pub fn head(&self, first: &str, lines: &[&str]) -> String {
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        format!("{first} HTTP/1.1\r\nHost: {}\r\n{lines}\r\n", self.host())
    }

    pub fn get(&self, path: &str, lines: &[&str]) -> Answer {
        self.raw(self.head(&format!("GET {path}"), lines))
    }

    pub fn post_bytes(&self, path: &str, lines: &[&str]) -> impl Fn(&str) -> String {
        let start =
            self.head(&format!("POST {path}"), &[lines, &["Content-Type: application/json"]].concat());
        move |body| {
            let head = start.strip_suffix("\r\n").unwrap();
            format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
        }
    }

    pub fn post(&self, path: &str, lines: &[&str], body: &Value) -> Answer {
        self.raw(self.post_bytes(path, lines)(&body.to_string()))
    }

    /// `POST /command` with a tool and its arguments.
    pub fn command(&self, tool: &str, args: Value) -> Answer {
        self.post("/command", &[], &serde_json::json!({"toolName": tool, "args": args}))
    }
}

/// A connection.
pub struct Talk {
    pub stream: TcpStream,
    have: Vec<u8>,
}

impl Talk {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // The far end may have closed already; what it said is what counts.
        let _ = self.stream.write_all(bytes.as_ref());
    }

    /// Reads until `holds` finds what it wants; false at the end.
    fn until<T>(&mut self, holds: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
        let mut chunk = [0; 16384];
        loop {
            if let Some(found) = holds(&self.have) {
                return Some(found);
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(count) => self.have.extend_from_slice(&chunk[..count]),
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(e) => panic!("{e}: {}", String::from_utf8_lossy(&self.have)),
            }
        }
    }

    /// The head of an answer; none if the connection was closed without one.
    pub fn answer_head(&mut self) -> Option<Answer> {
        let end = self.until(|have| have.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4))?;
        let rest = self.have.split_off(end);
        let head = String::from_utf8(std::mem::replace(&mut self.have, rest)).unwrap();
        let mut lines = head.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<(String, String)> = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let answer = Answer { status, headers, body: Vec::new() };
        for (name, _) in &answer.headers {
            assert!(!name.starts_with("access-control-"), "{answer:?}");
        }
        Some(answer)
    }

    /// A whole answer.
    #[track_caller]
    pub fn answer(&mut self) -> Answer {
        self.maybe_answer().unwrap_or_else(|| panic!("closed without an answer"))
    }

    pub fn maybe_answer(&mut self) -> Option<Answer> {
        let mut answer = self.answer_head()?;
        if answer.header("transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk() {
                answer.body.extend_from_slice(&chunk);
            }
        } else if let Some(length) = answer.header("content-length") {
            let length: usize = length.parse().unwrap();
            self.until(|have| (have.len() >= length).then_some(())).unwrap();
            let rest = self.have.split_off(length);
            answer.body = std::mem::replace(&mut self.have, rest);
        }
        Some(answer)
    }

    /// The next chunk of a stream; none at its end.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let (size, from) = self.until(|have| {
            let end = have.windows(2).position(|two| two == b"\r\n")?;
            let size = usize::from_str_radix(std::str::from_utf8(&have[..end]).ok()?, 16).ok()?;
            (have.len() >= end + 2 + size + 2).then_some((size, end + 2))
        })?;
        let rest = self.have.split_off(from + size + 2);
        let mut chunk = std::mem::replace(&mut self.have, rest);
        chunk.truncate(from + size);
        Some(chunk.split_off(from)).filter(|chunk| !chunk.is_empty())
    }

    /// Whether the far end has closed, and nothing came before that.
    pub fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        self.have.is_empty() && !matches!(self.stream.read(&mut byte), Ok(1..))
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// What a call of `/command` came to, which must have gone well.
    #[track_caller]
    pub fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()["data"].take()
    }

    /// The code of the error it carries.
    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// A daemon of another user with an HTTP door. None where we are not root, who alone can play two users.
pub fn theirs(home: &Home) -> Option<(std::process::Child, Web)> {
    use std::io::{BufRead, BufReader};
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const OTHER: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    // A copy, for the folder that programs are built in may be closed to others.
    let program = home.path("bridged");
    super::copy_program(&program);
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    for path in [home.dir.path().to_owned(), home.path("run")] {
        chown(path, Some(OTHER), Some(OTHER)).unwrap();
    }
    let mut command = std::process::Command::new(&program);
    home.settle(&mut command);
    command.args(["serve", "--port", "0", "--http-port", "0"]).uid(OTHER).gid(OTHER);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let second = lines.nth(1).unwrap().unwrap();
    let port = second.rsplit_once(':').unwrap().1.parse().unwrap();
    Some((child, Web { port }))
}
