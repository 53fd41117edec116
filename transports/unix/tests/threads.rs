//! The example host on plain threads really is one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![cfg(unix)]

#[path = "../examples/threads.rs"]
#[allow(unreachable_pub, reason = "an example, included")]
mod threads;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};

struct End(BufReader<UnixStream>);

impl End {
    fn open(path: &std::path::Path) -> Self {
        Self(BufReader::new(UnixStream::connect(path).unwrap()))
    }

    fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn recv(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }
}

#[test]
fn a_host_without_any_runtime_serves_browsers_and_clients() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || threads::serve(&listener));

    let mut browser = End::open(&path);
    browser.send(r#"{"type":"hello","role":"extension","name":"b"}"#);
    browser.send(r#"{"id":"sync","method":"ping"}"#);
    assert!(browser.recv().contains("pong"));

    // A request and its answer, from a client that says no hello and ends its side at once.
    let mut client = End::open(&path);
    client.0.get_mut().write_all(br#"{"id":"1","method":"list_tabs","timeout_ms":60000}"#).unwrap();
    client.0.get_mut().shutdown(Shutdown::Write).unwrap();
    let asked = browser.recv();
    let id = asked.strip_prefix(r#"{"id":""#).unwrap().split('"').next().unwrap();
    browser.send(&format!(r#"{{"id":"{id}","success":true,"result":[]}}"#));
    assert_eq!(client.recv(), "{\"id\":\"1\",\"success\":true,\"result\":[]}\n");
    assert_eq!(client.0.read(&mut [0]).unwrap(), 0);

    // A deadline, and a browser that goes away.
    let mut client = End::open(&path);
    client.send(r#"{"id":"2","method":"m","timeout_ms":20}"#);
    browser.recv();
    assert!(client.recv().contains("TIMEOUT"));
    client.send(r#"{"id":"3","method":"m"}"#);
    browser.recv();
    drop(browser);
    assert!(client.recv().contains("extension disconnected"));
}
