//! Frames that break the rules, sent to the real daemon: each ends its own connection with the right code, and nothing else.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use support::calm::Calm;
use support::{CEILING, Daemon, Home};

const HELLO: &[u8] = br#"{"type":"hello","role":"client","name":"x"}"#;
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// One masked frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        n @ 0..=125 => out.push(0x80 | n as u8),
        n @ 126..=0xffff => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        n => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&MASK);
    out.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ MASK[at & 3]));
    out
}

/// A connection that was upgraded, in bytes.
struct Raw(TcpStream);

impl Raw {
    /// Upgraded, and nothing said.
    fn silent(daemon: &Daemon) -> Raw {
        let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
        stream.set_read_timeout(Some(CEILING)).unwrap();
        let head = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            daemon.port
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        assert!(answer.starts_with(b"HTTP/1.1 101 "));
        Raw(stream)
    }

    fn client(daemon: &Daemon) -> Raw {
        let mut raw = Raw::silent(daemon);
        raw.send(&frame(0x81, HELLO));
        raw
    }

    fn send(&mut self, bytes: &[u8]) {
        // The far end may have closed already; what it said is what counts.
        let _ = self.0.write_all(bytes);
    }

    /// Reads to the end: the texts, and the code of the close frame.
    #[track_caller]
    fn end(mut self) -> (String, Option<u16>) {
        let mut said = Vec::new();
        match self.0.read_to_end(&mut said) {
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => {}
            Err(e) => panic!("not closed: {e}; {}", String::from_utf8_lossy(&said)),
        }
        let (mut texts, mut rest) = (String::new(), &said[..]);
        while let [first, length, more @ ..] = rest {
            let (length, more) = match length {
                126 => (usize::from(u16::from_be_bytes([more[0], more[1]])), &more[2..]),
                length => (usize::from(*length), more),
            };
            let (payload, more) = more.split_at(length);
            match first {
                0x81 => texts.push_str(std::str::from_utf8(payload).unwrap()),
                0x88 => return (texts, Some(u16::from_be_bytes([payload[0], payload[1]]))),
                _ => {}
            }
            rest = more;
        }
        (texts, None)
    }
}

/// The code that ends a client who sends this.
#[track_caller]
fn code(daemon: &Daemon, bytes: &[u8]) -> Option<u16> {
    let mut raw = Raw::client(daemon);
    raw.send(bytes);
    raw.end().1
}

/// T52, T53, T54: frames against the RFC, text that is none, lengths that nobody has room for.
#[test]
fn a_broken_frame_ends_its_connection_with_the_right_code() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let mut neighbour = daemon.client();
    for bad in [
        b"\x81\x02hi".to_vec(),
        frame(0xc1, b"{}"),
        frame(0xa1, b"{}"),
        frame(0x91, b"{}"),
        frame(0x83, b"x"),
        frame(0x8b, b"x"),
        frame(0x89, &[0; 126]),
        frame(0x09, b"x"),
        frame(0x80, b"x"),
        frame(0x00, b"x"),
        [frame(0x01, b"a"), frame(0x81, b"b")].concat(),
        frame(0x88, b"x"),
        frame(0x88, &1005u16.to_be_bytes()),
    ] {
        assert_eq!(code(&daemon, &bad), Some(1002), "{bad:x?}");
    }
    assert_eq!(code(&daemon, &frame(0x81, b"\xff")), Some(1007));
    assert_eq!(code(&daemon, &frame(0x81, b"{\"id\":\"\xed\xa0\x80\"}")), Some(1007));
    assert_eq!(code(&daemon, &[frame(0x01, b"caf"), frame(0x80, b"\xc3")].concat()), Some(1007));
    assert_eq!(code(&daemon, &frame(0x82, b"{}")), Some(1003));
    daemon.forget_peak();
    let before = daemon.peak();
    for length in [1u64 << 63, u64::MAX, 1 << 40, (8 << 20) + 1] {
        let head = [&[0x81, 0xff], &length.to_be_bytes()[..], &MASK].concat();
        assert_eq!(code(&daemon, &head), Some(1009), "{length}");
    }
    let grown = daemon.peak().saturating_sub(before);
    assert!(grown < 1 << 10, "{grown} KiB for what was only announced");
    assert_eq!(neighbour.call("ping", json!({}))["success"], true);
    drop(neighbour);
    calm.again(&daemon, None);
}

/// T55: pieces count together.
#[test]
fn a_message_in_pieces_of_one_byte_ends_at_the_limit() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    // Before the hello 16 KiB are too many.
    let pieces = |count: usize| [frame(0x01, b"{"), frame(0x00, b" ").repeat(count - 1)].concat();
    let mut raw = Raw::silent(&daemon);
    raw.send(&pieces((16 << 10) + 1));
    assert_eq!(raw.end().1, Some(1009));
    // After it 8 MiB.
    let whole = frame(0x01, &vec![b' '; 8 << 20]);
    assert_eq!(code(&daemon, &[whole, frame(0x00, b" ")].concat()), Some(1009));
    calm.again(&daemon, None);
}

/// T30, T31, T32: what comes instead of a hello.
#[test]
fn whoever_does_not_begin_with_a_hello_is_closed() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let silent = Raw::silent(&daemon);
    let mut binary = Raw::silent(&daemon);
    binary.send(&frame(0x82, HELLO));
    let (texts, code) = binary.end();
    assert!(texts.contains("expected hello message"), "{texts}");
    assert_eq!(code, Some(1003));
    let mut hasty = Raw::silent(&daemon);
    hasty.send(&frame(0x81, br#"{"id":"1","method":"ping"}"#));
    let (texts, code) = hasty.end();
    assert!(texts.contains("expected hello message") && !texts.contains("pong"), "{texts}");
    assert_eq!(code, Some(1008));
    // Five seconds, to the tick in simulated time; here only that it ends.
    assert_eq!(silent.end(), (String::new(), Some(1008)));
    calm.again(&daemon, None);
}

/// T56: a flood of frames that say nothing does not hold others up.
#[test]
fn floods_of_empty_frames_leave_the_others_served() {
    let home = Home::new();
    let daemon = home.serve();
    let calm = Calm::of(&daemon, None);
    let over = Arc::new(AtomicBool::new(false));
    let floods: Vec<_> =
        [frame(0x89, b"").repeat(10_000), frame(0x00, b"").repeat(10_000), frame(0x8a, b"x").repeat(10_000)]
            .into_iter()
            .map(|flood| {
                let (mut raw, over) = (Raw::client(&daemon), over.clone());
                raw.send(&frame(0x01, b"{"));
                std::thread::spawn(move || {
                    let mut reading = raw.0.try_clone().unwrap();
                    let reader =
                        std::thread::spawn(move || std::io::copy(&mut reading, &mut std::io::sink()));
                    while !over.load(Ordering::Relaxed) && raw.0.write_all(&flood).is_ok() {}
                    let _ = raw.0.shutdown(std::net::Shutdown::Both);
                    let _ = reader.join();
                })
            })
            .collect();
    let mut honest = daemon.client();
    for _ in 0..20 {
        assert_eq!(honest.call("ping", json!({}))["success"], true);
    }
    drop(honest);
    over.store(true, Ordering::Relaxed);
    floods.into_iter().for_each(|flood| flood.join().unwrap());
    calm.again(&daemon, None);
}
