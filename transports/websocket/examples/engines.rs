//! What a message costs in framing alone: this crate's codec against tungstenite's, both without sockets.
//!
//!     cargo run --release -p bridge-websocket --example engines

use async_tungstenite::tungstenite::protocol::{Role, WebSocket, WebSocketConfig};
use async_tungstenite::tungstenite::{Error, Message};
use bridge_driver::{Codec, Decoded};
use bridge_websocket::Frames;
use std::io::{self, Read, Write};
use std::time::Instant;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];
/// What a browser puts into one frame of a large message.
const FRAGMENT: usize = 131_000;

fn main() {
    let request = br#"{"id":"c00012-1","method":"get_value","params":{"target":{"by":"css","value":"q"}}}"#;
    let cjk = "浏览器 提交按钮 the page ".repeat(10 << 15);
    println!("{:28}{:>14}{:>14}", "", "tungstenite", "frames");
    for (name, message, count) in [
        ("85 bytes, 64 a read", &request[..], 64),
        ("85 bytes, 1 a read", &request[..], 1),
        ("10 MB ASCII in fragments", &vec![b'x'; 10 << 20][..], 1),
        ("10 MB CJK in fragments", cjk.as_bytes(), 1),
    ] {
        let wire = wire(message).repeat(count);
        let rounds = (200 << 20) / wire.len().max(1 << 10);
        let theirs = best(|| tungstenite(&wire, count, rounds));
        let ours = best(|| frames(&wire, count, rounds));
        let per = |seconds: f64| seconds * 1e9 / (rounds * count) as f64;
        println!("{name:28}{:>11.0} ns{:>11.0} ns", per(theirs), per(ours));
    }
}

fn best(mut run: impl FnMut() -> f64) -> f64 {
    (0..5).map(|_| run()).fold(f64::MAX, f64::min)
}

fn wire(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let last = message.chunks(FRAGMENT).count() - 1;
    for (at, piece) in message.chunks(FRAGMENT).enumerate() {
        out.push(if at == last { 0x80 } else { 0 } | u8::from(at == 0));
        match piece.len() {
            n @ 0..=125 => out.push(0x80 | n as u8),
            n @ 126..=0xffff => {
                out.push(0xfe);
                out.extend_from_slice(&(n as u16).to_be_bytes());
            }
            n => {
                out.push(0xff);
                out.extend_from_slice(&(n as u64).to_be_bytes());
            }
        }
        out.extend_from_slice(&MASK);
        out.extend(piece.iter().enumerate().map(|(at, byte)| byte ^ MASK[at & 3]));
    }
    out
}

/// Bytes that come as if from a socket; what is written goes nowhere.
struct Source<'a>(&'a [u8]);

impl Read for Source<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.0.read(buf)
    }
}

impl Write for Source<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        Ok(buf.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn tungstenite(wire: &[u8], count: usize, rounds: usize) -> f64 {
    let config = WebSocketConfig::default().read_buffer_size(8 << 10);
    let mut socket = WebSocket::from_raw_socket(Source(b""), Role::Server, Some(config));
    let start = Instant::now();
    for _ in 0..rounds {
        socket.get_mut().0 = wire;
        let mut seen = 0;
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => seen += usize::from(!text.as_str().is_empty()),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    eprintln!("{error}");
                    return f64::NAN;
                }
            }
        }
        assert_eq!(seen, count);
    }
    start.elapsed().as_secs_f64()
}

fn frames(wire: &[u8], count: usize, rounds: usize) -> f64 {
    let mut codec = Frames::new();
    let mut buffer = vec![0; 128 << 10];
    let mut replies = Vec::new();
    let start = Instant::now();
    for _ in 0..rounds {
        let mut source = Source(wire);
        let mut seen = 0;
        while let Ok(read) = source.read(&mut buffer) {
            let mut input = &mut buffer[..read];
            loop {
                match codec.decode(&mut input, &mut replies) {
                    Decoded::Message(text) => seen += usize::from(!text.is_empty()),
                    Decoded::Assembled(text) => seen += usize::from(!text.is_empty()),
                    Decoded::More => break,
                    other => {
                        eprintln!("{other:?}");
                        return f64::NAN;
                    }
                }
            }
        }
        assert_eq!(seen, count);
    }
    start.elapsed().as_secs_f64()
}
