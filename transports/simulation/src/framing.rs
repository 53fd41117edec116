//! The peers' half of the framing, written from the standards alone.

use crate::chance::Chance;

/// How a peer frames its messages, and what it has received of one.
pub(crate) enum Framing {
    /// NDJSON.
    Lines(Vec<u8>),
    /// WebSocket: bytes not understood yet, and a message in pieces.
    Frames(Vec<u8>, Option<Vec<u8>>),
}

/// What came.
#[derive(Debug)]
pub(crate) enum Came {
    /// A message.
    Message(Vec<u8>),
    /// A ping with its payload.
    Ping(Vec<u8>),
    /// A close, with its code and reason.
    Close(String),
}

impl Framing {
    /// One message as it goes over the link.
    pub(crate) fn encode(&self, message: &[u8], chance: &Chance) -> Vec<u8> {
        match self {
            Self::Lines(_) => {
                let mut line: Vec<u8> = message
                    .iter()
                    .map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte })
                    .collect();
                line.extend(if chance.one_in(10) { &b"\r\n"[..] } else { b"\n" });
                line
            }
            Self::Frames(..) => {
                let mut out = Vec::with_capacity(message.len() + 14);
                let mut rest = message;
                let mut opcode = 1;
                while chance.one_in(6) {
                    let (first, other) = rest.split_at(chance.index(rest.len() + 1));
                    frame(opcode, first, chance, &mut out);
                    (rest, opcode) = (other, 0);
                    if chance.one_in(4) {
                        frame(0x89, b"between", chance, &mut out);
                    }
                }
                frame(0x80 | opcode, rest, chance, &mut out);
                out
            }
        }
    }

    /// The answer to a ping.
    pub(crate) fn pong(payload: &[u8], chance: &Chance) -> Vec<u8> {
        let mut out = Vec::new();
        frame(0x8a, payload, chance, &mut out);
        out
    }

    /// A goodbye, where there is one.
    pub(crate) fn goodbye(&self, chance: &Chance) -> Vec<u8> {
        let mut out = Vec::new();
        if let Self::Frames(..) = self {
            frame(0x88, &1000u16.to_be_bytes(), chance, &mut out);
        }
        out
    }

    /// Takes bytes and says what they complete. Panics where the driver breaks the rules.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Vec<Came> {
        let mut came = Vec::new();
        match self {
            Self::Lines(part) => {
                for byte in bytes {
                    if *byte == b'\n' {
                        came.push(Came::Message(std::mem::take(part)));
                    } else {
                        part.push(*byte);
                    }
                }
            }
            Self::Frames(part, text) => {
                part.extend_from_slice(bytes);
                let mut at = 0;
                while let Some((first, payload, size)) = split(&part[at..]) {
                    match first {
                        0x81 => came.push(Came::Message(payload.to_vec())),
                        0x01 => *text = Some(payload.to_vec()),
                        0x00 | 0x80 => {
                            let mut whole = text.take().expect("a continuation of nothing");
                            whole.extend_from_slice(payload);
                            match first {
                                0x80 => came.push(Came::Message(whole)),
                                _ => *text = Some(whole),
                            }
                        }
                        0x89 => came.push(Came::Ping(payload.to_vec())),
                        0x8a => {}
                        0x88 => {
                            let code = payload.first_chunk().map_or(1005, |code| u16::from_be_bytes(*code));
                            let reason = String::from_utf8_lossy(payload.get(2..).unwrap_or_default());
                            came.push(Came::Close(format!("{code} {reason}")));
                        }
                        other => panic!("the driver sent a frame that begins with {other:#x}"),
                    }
                    at += size;
                }
                part.drain(..at);
            }
        }
        came
    }
}

/// One masked frame.
fn frame(first: u8, payload: &[u8], chance: &Chance, out: &mut Vec<u8>) {
    out.push(first);
    match payload.len() {
        len @ 0..126 => out.push(0x80 | len as u8),
        len @ 126..0x1_0000 => {
            out.push(0x80 | 126);
            out.extend((len as u16).to_be_bytes());
        }
        len => {
            out.push(0x80 | 127);
            out.extend((len as u64).to_be_bytes());
        }
    }
    let mask = (chance.next() as u32).to_be_bytes();
    out.extend(mask);
    out.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ mask[at & 3]));
}

/// The first frame of the hub's in `bytes`: its first byte, its payload and its size.
fn split(bytes: &[u8]) -> Option<(u8, &[u8], usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    assert!(second & 0x80 == 0, "the driver masks");
    let (len, head) = match second {
        126 => (usize::from(u16::from_be_bytes(*bytes.get(2..4)?.first_chunk()?)), 4),
        127 => (u64::from_be_bytes(*bytes.get(2..10)?.first_chunk()?) as usize, 10),
        len => (usize::from(len), 2),
    };
    Some((first, bytes.get(head..head + len)?, head + len))
}
