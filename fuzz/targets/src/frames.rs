//! The WebSocket's frames against RFC 6455 read from the top down.

use crate::stream::{Ended, read};
use bridge_core::Violation;
use bridge_driver::Codec;
use bridge_websocket::Frames;

/// The first byte says how large a message may be, the second how the stream is cut, the rest is what a client sends.
pub fn frames(data: &[u8]) {
    let [limit, step, stream @ ..] = data else { return };
    let limit = 8 * usize::from(*limit) + 1;
    let (expected, broken) = plainly(stream, limit);
    let whole = at_once(stream, limit, stream.len() + 1);
    for step in [1, usize::from(*step) + 1] {
        assert_eq!(at_once(stream, limit, step), whole, "cut every {step} bytes");
    }
    let (messages, ended) = whole;
    assert_eq!(messages, expected);
    match broken {
        Some(Broken::Closed) => assert_eq!(ended, Ended::Closed),
        Some(Broken::Rule(rule)) => assert_eq!(ended, Ended::Broken(rule)),
        None => assert_eq!(ended, Ended::Open),
    }
}

fn at_once(stream: &[u8], limit: usize, step: usize) -> (Vec<Vec<u8>>, Ended) {
    let mut codec = Frames::new();
    codec.limit(limit);
    read(&mut codec, stream, step)
}

enum Broken {
    Rule(Violation),
    Closed,
}

/// The messages of a whole stream, and what ends it if something does.
fn plainly(mut stream: &[u8], limit: usize) -> (Vec<Vec<u8>>, Option<Broken>) {
    let mut messages = Vec::new();
    let mut begun: Option<Vec<u8>> = None;
    let end = loop {
        let [first, second, rest @ ..] = stream else { break None };
        let (fin, opcode) = (first & 0x80 != 0, first & 0x0f);
        let control = opcode & 8 != 0;
        let short = second & 0x7f;
        // Reserved bits, an unmasked frame, an opcode that nobody knows, a control frame that is long or cut.
        let sound = first & 0x70 == 0
            && second & 0x80 != 0
            && matches!(opcode, 0..=2 | 8..=10)
            && !(control && (!fin || short > 125));
        if !sound {
            break Some(Broken::Rule(Violation::Protocol));
        }
        let wide = match short {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        if rest.len() < wide {
            break None;
        }
        let length = match wide {
            0 => u64::from(short),
            _ => rest[..wide].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        // A length that fits into a shorter form.
        if (wide == 2 && length < 126) || (wide == 8 && length <= 0xffff) {
            break Some(Broken::Rule(Violation::Protocol));
        }
        if rest.len() < wide + 4 {
            break None;
        }
        let so_far = begun.as_ref().map_or(0, Vec::len);
        let state = match opcode {
            0 if begun.is_none() => Err(Violation::Protocol),
            1 if begun.is_some() => Err(Violation::Protocol),
            2 => Err(Violation::Binary),
            0 | 1 if length > (limit - so_far) as u64 => Err(Violation::TooBig),
            _ => Ok(length as usize),
        };
        let length = match state {
            Ok(length) => length,
            Err(rule) => break Some(Broken::Rule(rule)),
        };
        let (mask, rest) = rest[wide..].split_at(4);
        if rest.len() < length {
            break None;
        }
        let payload: Vec<u8> =
            rest[..length].iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect();
        stream = &rest[length..];
        match opcode {
            0 | 1 => {
                let mut text = begun.take().unwrap_or_default();
                text.extend(payload);
                if !fin {
                    begun = Some(text);
                } else if std::str::from_utf8(&text).is_ok() {
                    messages.push(text);
                } else {
                    break Some(Broken::Rule(Violation::NotUtf8));
                }
            }
            8 => break Some(goodbye(&payload)),
            _ => {}
        }
    };
    (messages, end)
}

fn goodbye(payload: &[u8]) -> Broken {
    let [a, b, reason @ ..] = payload else {
        return if payload.is_empty() { Broken::Closed } else { Broken::Rule(Violation::Protocol) };
    };
    match u16::from_be_bytes([*a, *b]) {
        1000..=1003 | 1007..=1014 | 3000..=4999 if std::str::from_utf8(reason).is_ok() => Broken::Closed,
        1000..=1003 | 1007..=1014 | 3000..=4999 => Broken::Rule(Violation::NotUtf8),
        _ => Broken::Rule(Violation::Protocol),
    }
}
