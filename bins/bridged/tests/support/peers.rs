//! Peers of the daemon: over the WebSocket, and over the Unix socket.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use super::CEILING;

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

    pub fn stream(&self) -> &TcpStream {
        self.socket.get_ref()
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
