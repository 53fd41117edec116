//! The load: clients that ask as soon as they may, and a browser on a thread of its own.

use rustix::event::{PollFd, PollFlags, poll};
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
    pub(crate) fn open(port: u16, role: &str) -> Result<Self> {
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
    pub(crate) fn queue(&mut self, message: &[u8]) {
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
            let from = self.out.len();
            self.out.extend_from_slice(piece);
            let mut words = self.out[from..].chunks_exact_mut(MASK.len());
            words.by_ref().for_each(|word| word.iter_mut().zip(MASK).for_each(|(byte, mask)| *byte ^= mask));
            words.into_remainder().iter_mut().zip(MASK).for_each(|(byte, mask)| *byte ^= mask);
        }
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Makes room for `count` bytes from the first that was not taken.
    fn make_room(&mut self, count: usize) {
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
    }

    /// Reads once.
    fn read(&mut self) -> Result<()> {
        let read = self.stream.read(&mut self.buffer[self.to..])?;
        if read == 0 {
            return Err(std::io::Error::other("the server hung up"));
        }
        self.to += read;
        Ok(())
    }

    /// How long the frame's head and its payload are, as far as that can be told.
    fn frame(&self) -> Option<(usize, usize)> {
        let bytes = &self.buffer[self.from..self.to];
        let short = *bytes.get(1)?;
        let head = match short {
            126 => 4,
            127 => 10,
            _ => return Some((2, usize::from(short))),
        };
        let len = bytes.get(2..head)?.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
        Some((head, len))
    }

    /// The next message, if it is here already; servers under test send each in one frame.
    pub(crate) fn here(&mut self) -> Option<&[u8]> {
        loop {
            let Some((head, len)) = self.frame() else {
                self.make_room(16);
                return None;
            };
            if self.to - self.from < head + len {
                self.make_room(head + len);
                return None;
            }
            let at = self.from;
            self.from += head + len;
            if self.buffer[at] == 0x81 {
                return Some(&self.buffer[at + head..at + head + len]);
            }
        }
    }

    /// The next message's bytes in the buffer.
    pub(crate) fn receive(&mut self) -> Result<&[u8]> {
        // Twice, for what is lent cannot be looked for in a loop.
        while !self.is_here() {
            self.read()?;
        }
        self.here().ok_or_else(|| std::io::Error::other("no message"))
    }

    fn is_here(&mut self) -> bool {
        let from = self.from;
        let is = self.here().is_some();
        if is {
            self.from = from;
        }
        is
    }
}

/// One request whose answer is a text of so many bytes.
pub(crate) fn request(id: usize, bytes: usize) -> String {
    format!(r#"{{"id":"{id}","method":"click","params":{{"target":"/0","tab_id":7,"bytes":{bytes}}}}}"#)
}

/// A browser on a thread of its own: it answers all that it finds, and writes that at once.
fn browse(mut conn: Conn) {
    let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat((10 << 20) / 24 + 1);
    loop {
        let mut answered = false;
        while let Some(asked) = conn.here() {
            let text = String::from_utf8_lossy(asked);
            // `{"id":"…"` begins each of them.
            let id = text.get(7..).and_then(|text| text.split('"').next()).unwrap_or_default();
            let bytes = text.split("\"bytes\":").nth(1).and_then(|text| text.split('}').next()?.parse().ok());
            // Not asked for anything: a cancel.
            let Some(bytes) = bytes.filter(|bytes| *bytes <= data.len()) else { continue };
            let answer = format!(r#"{{"id":"{id}","success":true,"result":"{}"}}"#, &data[..bytes]);
            conn.queue(answer.as_bytes());
            answered = true;
            if bytes > PIECE && conn.flush().is_err() {
                return;
            }
        }
        if (answered && conn.flush().is_err()) || conn.read().is_err() {
            return;
        }
    }
}

/// A browser and its clients at a server.
pub(crate) struct Load {
    clients: Vec<Conn>,
}

impl Load {
    /// Everybody connected.
    pub(crate) fn new(port: u16, clients: usize) -> Result<Self> {
        let browser = Conn::open(port, "extension")?;
        // It waits for as long as there is a server.
        browser.stream.set_read_timeout(None)?;
        std::thread::spawn(move || browse(browser));
        let clients: Result<Vec<Conn>> = (0..clients).map(|_| Conn::open(port, "client")).collect();
        let mut load = Self { clients: clients? };
        // The hellos have been taken when something comes through; until then the answer is that there is no browser.
        let begin = Instant::now();
        load.clients[0].stream.set_read_timeout(Some(Duration::from_millis(100)))?;
        loop {
            load.clients[0].queue(request(0, 1).as_bytes());
            load.clients[0].flush()?;
            match load.clients[0].receive() {
                Ok(answer) if answer.ends_with(b"\"i\"}") => break,
                Ok(_) => {}
                Err(error) if begin.elapsed() > Duration::from_secs(5) => return Err(error),
                Err(_) => {}
            }
        }
        load.clients[0].stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(load)
    }

    /// Clients alone, beside somebody else's browser.
    pub(crate) fn of(clients: Vec<Conn>) -> Self {
        Self { clients }
    }

    /// So many requests, one after the other, each answered with a text of `size` bytes; the time each took.
    pub(crate) fn one_by_one(&mut self, count: usize, size: usize) -> Result<Vec<Duration>> {
        (0..count).map(|_| self.one(size)).collect()
    }

    /// The same for so long.
    pub(crate) fn for_a_while(&mut self, time: Duration, size: usize) -> Result<Vec<Duration>> {
        let begin = Instant::now();
        let mut times = Vec::new();
        while begin.elapsed() < time {
            times.push(self.one(size)?);
        }
        Ok(times)
    }

    fn one(&mut self, size: usize) -> Result<Duration> {
        let begin = Instant::now();
        self.clients[0].queue(request(7, size).as_bytes());
        self.clients[0].flush()?;
        let mut answer = self.clients[0].receive()?;
        // What was asked while nobody knew whether there is a browser may be answered now.
        while answer.starts_with(br#"{"id":"0""#) {
            answer = self.clients[0].receive()?;
        }
        if answer.len() < size {
            return Err(std::io::Error::other(String::from_utf8_lossy(answer).into_owned()));
        }
        Ok(begin.elapsed())
    }

    /// All clients, each with `depth` requests under way all the time, until `count` are answered; requests a second.
    pub(crate) fn all_at_once(&mut self, depth: usize, count: usize) -> Result<f64> {
        let begin = Instant::now();
        for client in &mut self.clients {
            (0..depth).for_each(|n| client.queue(request(n, 64).as_bytes()));
            client.flush()?;
        }
        let under_way = self.clients.len() * depth;
        let (mut answered, mut asked) = (0, under_way);
        while answered < asked {
            let mut fds: Vec<PollFd<'_>> =
                self.clients.iter().map(|client| PollFd::new(&client.stream, PollFlags::IN)).collect();
            poll(&mut fds, None)?;
            let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            for (client, _) in self.clients.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
                client.read()?;
                let mut come = 0;
                while client.here().is_some() {
                    come += 1;
                }
                answered += come;
                let more = come.min((under_way + count).saturating_sub(asked));
                (0..more).for_each(|n| client.queue(request(asked + n, 64).as_bytes()));
                asked += more;
                client.flush()?;
            }
        }
        Ok(answered as f64 / begin.elapsed().as_secs_f64())
    }
}
