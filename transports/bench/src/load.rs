//! The load: clients and a browser on one thread, in lock step, so that on one core nothing but the path is measured.

use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What Chrome puts into one frame at most.
const PIECE: usize = 131_000;
const MASK: [u8; 4] = [1, 2, 3, 4];

/// One connection to a server under test.
pub(crate) struct Conn {
    stream: TcpStream,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    out: Vec<u8>,
}

impl Conn {
    fn open(port: u16, role: &str) -> Result<Self> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let head = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        let mut byte = [0];
        while !answer.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte)?;
            answer.push(byte[0]);
        }
        if !answer.starts_with(b"HTTP/1.1 101") {
            return Err(std::io::Error::other(String::from_utf8_lossy(&answer).into_owned()));
        }
        let mut conn = Self { stream, buffer: vec![0; 256 << 10], from: 0, to: 0, out: Vec::new() };
        conn.queue(format!(r#"{{"type":"hello","role":"{role}","name":"bench"}}"#).as_bytes());
        conn.flush()?;
        Ok(conn)
    }

    /// Frames one message, masked, in pieces as Chrome does.
    fn queue(&mut self, message: &[u8]) {
        let last = message.len().saturating_sub(1) / PIECE;
        for (nth, piece) in message.chunks(PIECE).enumerate() {
            let first = u8::from(nth == 0) | if nth == last { 0x80 } else { 0 };
            self.out.push(first);
            match piece.len() {
                len @ 0..126 => self.out.push(0x80 | len as u8),
                len @ 126..0x1_0000 => {
                    self.out.push(0x80 | 126);
                    self.out.extend((len as u16).to_be_bytes());
                }
                len => {
                    self.out.push(0x80 | 127);
                    self.out.extend((len as u64).to_be_bytes());
                }
            }
            self.out.extend(MASK);
            self.out.extend(piece.iter().enumerate().map(|(at, byte)| byte ^ MASK[at & 3]));
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Reads until `count` more bytes are there; where they begin.
    fn have(&mut self, count: usize) -> Result<usize> {
        if self.from == self.to {
            (self.from, self.to) = (0, 0);
        }
        if self.buffer.len() - self.from < count {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            if self.buffer.len() < count {
                self.buffer.resize(count + PIECE, 0);
            }
        }
        while self.to - self.from < count {
            let read = self.stream.read(&mut self.buffer[self.to..])?;
            if read == 0 {
                return Err(std::io::Error::other("the server hung up"));
            }
            self.to += read;
        }
        Ok(self.from)
    }

    /// The next message's bytes in the buffer; servers under test send each in one frame.
    fn receive(&mut self) -> Result<&[u8]> {
        loop {
            let at = self.have(2)?;
            let (first, short) = (self.buffer[at], self.buffer[at + 1]);
            let head = match short {
                126 => 4,
                127 => 10,
                _ => 2,
            };
            let at = self.have(head)?;
            let len = match head {
                2 => usize::from(short),
                _ => self.buffer[at + 2..at + head].iter().fold(0, |len, byte| len << 8 | usize::from(*byte)),
            };
            let at = self.have(head + len)?;
            self.from = at + head + len;
            if first == 0x81 {
                return Ok(&self.buffer[at + head..at + head + len]);
            }
        }
    }
}

/// A browser and its clients at a server.
pub(crate) struct Load {
    browser: Conn,
    clients: Vec<Conn>,
}

impl Load {
    /// Everybody connected.
    pub(crate) fn new(port: u16, clients: usize) -> Result<Self> {
        let browser = Conn::open(port, "extension")?;
        let clients: Result<Vec<Conn>> = (0..clients).map(|_| Conn::open(port, "client")).collect();
        let mut load = Self { browser, clients: clients? };
        // The hellos have been taken when something comes through.
        let begin = Instant::now();
        loop {
            load.browser.stream.set_read_timeout(Some(Duration::from_millis(100)))?;
            load.clients[0].queue(br#"{"id":"0","method":"m"}"#);
            load.clients[0].flush()?;
            match load.answer(1, b"0") {
                Ok(()) => break,
                Err(error) if begin.elapsed() > Duration::from_secs(5) => return Err(error),
                // The answer says that there is no browser yet.
                Err(_) => drop(load.clients[0].receive()?),
            }
        }
        load.clients[0].receive()?;
        load.browser.stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(load)
    }

    /// The browser answers so many requests with this result.
    fn answer(&mut self, count: usize, result: &[u8]) -> Result<()> {
        for _ in 0..count {
            // `{"id":"…"` begins each of them.
            let id = self.browser.receive()?.get(7..).unwrap_or_default();
            let id = id.split(|byte| *byte == b'"').next().unwrap_or_default().to_vec();
            let answer = [br#"{"id":""#, &id[..], br#"","success":true,"result":"#, result, b"}"].concat();
            self.browser.queue(&answer);
        }
        self.browser.flush()
    }

    /// So many requests, one after the other, each answered with a text of `size` bytes; the time each took.
    pub(crate) fn one_by_one(&mut self, count: usize, size: usize) -> Result<Vec<Duration>> {
        let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(size / 24 + 1);
        let result = format!("\"{}\"", &data[..size]);
        let mut times = Vec::with_capacity(count);
        for n in 0..count {
            let begin = Instant::now();
            self.clients[0].queue(
                format!(r#"{{"id":"{n}","method":"click","params":{{"target":"/0","tab_id":7}}}}"#)
                    .as_bytes(),
            );
            self.clients[0].flush()?;
            self.answer(1, result.as_bytes())?;
            self.clients[0].receive()?;
            times.push(begin.elapsed());
        }
        Ok(times)
    }

    /// All clients, each with `depth` requests under way, in so many rounds; requests a second.
    pub(crate) fn all_at_once(&mut self, depth: usize, rounds: usize) -> Result<f64> {
        let begin = Instant::now();
        let count = self.clients.len() * depth;
        for _ in 0..rounds {
            for client in &mut self.clients {
                for n in 0..depth {
                    client.queue(
                        format!(r#"{{"id":"{n}","method":"click","params":{{"tab_id":7}}}}"#).as_bytes(),
                    );
                }
                client.flush()?;
            }
            self.answer(count, b"true")?;
            for client in &mut self.clients {
                for _ in 0..depth {
                    client.receive()?;
                }
            }
        }
        Ok((count * rounds) as f64 / begin.elapsed().as_secs_f64())
    }
}
