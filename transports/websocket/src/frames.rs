//! WebSocket framing, server side, as a codec without I/O (RFC 6455, no extensions).

use crate::mask;
use bridge_core::{CloseCode, Violation};
use bridge_driver::{Codec, Decoded, End};

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const FIN: u8 = 0x80;

/// The longest payload of a control frame.
const CONTROL: usize = 125;
/// The longest head of a frame: two bytes, a length of eight, a mask.
const HEAD: usize = 14;
/// Memory asked for at once for a message that comes in pieces; more follows what has really arrived.
const STEP: usize = 64 << 10;

/// One connection's frames. Idle, it holds no memory but itself.
#[derive(Debug, Default)]
pub struct Frames {
    limit: usize,
    /// The beginning of a frame's head that was cut off.
    head: [u8; HEAD],
    have: usize,
    /// The frame whose payload is being received.
    frame: Option<Frame>,
    /// The text message in progress, if it could not be used where it was received.
    text: Option<Vec<u8>>,
    /// The payload so far of a control frame that came in pieces.
    control: Vec<u8>,
    /// The answer owed to the last ping.
    pong: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    fin: bool,
    opcode: u8,
    mask: [u8; 4],
    /// Bytes of the payload seen and still to come.
    at: usize,
    left: usize,
}

impl Frames {
    /// A connection that has just been upgraded.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: usize::MAX, ..Self::default() }
    }

    /// Reads a frame's head, from what is kept of it and from `input`.
    fn begin(&mut self, input: &mut &mut [u8]) -> Result<Option<Frame>, Violation> {
        let parsed = if self.have == 0 {
            parse(input)?
        } else {
            let more = input.len().min(HEAD - self.have);
            self.head[self.have..self.have + more].copy_from_slice(&input[..more]);
            // A head that is complete now ends inside what was added; the rest of it stays in the input.
            parse(&self.head[..self.have + more])?.map(|(frame, size)| (frame, size - self.have))
        };
        let Some((frame, size)) = parsed else {
            let kept = input.len().min(HEAD - self.have);
            if self.have == 0 {
                self.head[..kept].copy_from_slice(&input[..kept]);
            }
            self.have += kept;
            advance(input, kept);
            return Ok(None);
        };
        self.have = 0;
        advance(input, size);
        self.admit(&frame)?;
        Ok(Some(frame))
    }

    /// What the connection's state says about a frame that begins.
    fn admit(&self, frame: &Frame) -> Result<(), Violation> {
        let so_far = self.text.as_ref().map_or(0, Vec::len);
        match frame.opcode {
            TEXT if self.text.is_some() => Err(Violation::Protocol),
            CONTINUATION if self.text.is_none() => Err(Violation::Protocol),
            TEXT | CONTINUATION if frame.left > self.limit.saturating_sub(so_far) => Err(Violation::TooBig),
            BINARY => Err(Violation::Binary),
            _ => Ok(()),
        }
    }

    /// Takes what there is of a text frame's payload.
    fn text<'a>(&mut self, mut frame: Frame, input: &mut &'a mut [u8]) -> Decoded<'a> {
        if self.text.is_none() && frame.fin && frame.at == 0 && input.len() >= frame.left {
            let (message, rest) = std::mem::take(input).split_at_mut(frame.left);
            *input = rest;
            mask::apply(message, frame.mask, 0);
            return match utf8(message) {
                true => Decoded::Message(message),
                false => Decoded::Violation(Violation::NotUtf8),
            };
        }
        let text = self.text.get_or_insert_default();
        let part = take(input, frame.left);
        // The announced length is the peer's word; memory follows what has come.
        if text.capacity() - text.len() < part.len() {
            text.reserve(frame.left.min(text.len().max(STEP)).max(part.len()));
        }
        let from = text.len();
        text.extend_from_slice(part);
        mask::apply(&mut text[from..], frame.mask, frame.at);
        frame.at += part.len();
        frame.left -= part.len();
        if frame.left > 0 {
            self.frame = Some(frame);
            return Decoded::More;
        }
        if !frame.fin {
            return Decoded::More;
        }
        let message = self.text.take().unwrap_or_default();
        match utf8(&message) {
            true => Decoded::Assembled(message),
            false => Decoded::Violation(Violation::NotUtf8),
        }
    }

    /// Takes what there is of a control frame's payload; `Some` when the connection ends by it.
    fn control<'a>(
        &mut self,
        mut frame: Frame,
        input: &mut &mut [u8],
        replies: &mut Vec<u8>,
    ) -> Option<Decoded<'a>> {
        let part = take(input, frame.left);
        mask::apply(part, frame.mask, frame.at);
        self.control.extend_from_slice(part);
        frame.at += part.len();
        frame.left -= part.len();
        if frame.left > 0 {
            self.frame = Some(frame);
            return None;
        }
        let payload = std::mem::take(&mut self.control);
        match frame.opcode {
            // Only the last ping of what was read together is answered, which the RFC allows: a flood of
            // them costs the flooder more than us.
            PING => self.pong = Some(payload),
            CLOSE => {
                return Some(match goodbye(&payload) {
                    Ok(code) => {
                        replies.extend_from_slice(&[FIN | CLOSE, code.len() as u8]);
                        replies.extend_from_slice(code);
                        Decoded::Closed
                    }
                    Err(why) => Decoded::Violation(why),
                });
            }
            _ => {}
        }
        None
    }
}

impl Codec for Frames {
    fn decode<'a>(&mut self, input: &mut &'a mut [u8], replies: &mut Vec<u8>) -> Decoded<'a> {
        loop {
            let frame = match self.frame.take() {
                Some(frame) => frame,
                None if input.is_empty() => break,
                None => match self.begin(input) {
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    Err(why) => return Decoded::Violation(why),
                },
            };
            if frame.opcode >= CLOSE {
                if let Some(end) = self.control(frame, input, replies) {
                    return end;
                }
            } else {
                match self.text(frame, input) {
                    // The end of a fragment, or of the input.
                    Decoded::More => {}
                    other => return other,
                }
            }
            if self.frame.is_some() && input.is_empty() {
                break;
            }
        }
        if let Some(payload) = self.pong.take() {
            replies.extend_from_slice(&[FIN | PONG, payload.len() as u8]);
            replies.extend_from_slice(&payload);
        }
        Decoded::More
    }

    fn limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    fn unfinished(&self) -> bool {
        self.have > 0 || self.frame.is_some() || self.text.is_some()
    }

    fn held(&self) -> usize {
        self.text.as_ref().map_or(0, Vec::len)
    }

    fn give_up(&mut self) {
        self.text = None;
    }

    fn lend(&mut self, mut buffer: Vec<u8>) -> Option<Vec<u8>> {
        match &mut self.text {
            Some(text) if text.len() >= STEP && text.capacity() < buffer.capacity() => {
                buffer.clear();
                buffer.extend_from_slice(text);
                *text = buffer;
                None
            }
            _ => Some(buffer),
        }
    }

    fn end(&mut self) -> End {
        End::Closed
    }

    fn head(&mut self, len: usize, out: &mut Vec<u8>) {
        match len {
            0..=125 => out.extend_from_slice(&[FIN | TEXT, len as u8]),
            126..=0xffff => {
                let [a, b] = (len as u16).to_be_bytes();
                out.extend_from_slice(&[FIN | TEXT, 126, a, b]);
            }
            _ => {
                out.extend_from_slice(&[FIN | TEXT, 127]);
                out.extend_from_slice(&(len as u64).to_be_bytes());
            }
        }
    }

    fn ping(&mut self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&[FIN | PING, 0]);
        true
    }

    fn close(&mut self, code: CloseCode, reason: &str, out: &mut Vec<u8>) {
        let mut cut = reason.len().min(CONTROL - 2);
        while !reason.is_char_boundary(cut) {
            cut -= 1;
        }
        out.extend_from_slice(&[FIN | CLOSE, (cut + 2) as u8]);
        out.extend_from_slice(&code.0.to_be_bytes());
        out.extend_from_slice(&reason.as_bytes()[..cut]);
    }
}

/// The head at the beginning of `bytes` and its size, if it is complete.
fn parse(bytes: &[u8]) -> Result<Option<(Frame, usize)>, Violation> {
    let &[first, second, ..] = bytes else { return Ok(None) };
    let opcode = first & 0x0f;
    let fin = first & FIN != 0;
    let masked = second & 0x80 != 0;
    let short = usize::from(second & 0x7f);
    let known = matches!(opcode, CONTINUATION | TEXT | BINARY | CLOSE | PING | PONG);
    let control = opcode >= CLOSE;
    if first & 0x70 != 0 || !known || !masked || (control && (!fin || short > CONTROL)) {
        return Err(Violation::Protocol);
    }
    let (left, at) = match short {
        126 => match bytes.get(2..4) {
            Some(&[a, b]) => (usize::from(u16::from_be_bytes([a, b])), 4),
            _ => return Ok(None),
        },
        127 => match bytes.get(2..10).and_then(|length| length.first_chunk::<8>()) {
            Some(length) => {
                let length = u64::from_be_bytes(*length);
                (usize::try_from(length).map_err(|_| Violation::TooBig)?, 10)
            }
            None => return Ok(None),
        },
        short => (short, 2),
    };
    // RFC 6455 5.2: a length has the shortest form that it fits into, so that there is one way to write it.
    if matches!((short, left), (126, ..126) | (127, ..0x1_0000)) {
        return Err(Violation::Protocol);
    }
    let Some(mask) = bytes.get(at..at + 4).and_then(|mask| mask.first_chunk::<4>()) else {
        return Ok(None);
    };
    Ok(Some((Frame { fin, opcode, mask: *mask, at: 0, left }, at + 4)))
}

/// The code to give back in answer to a close frame.
fn goodbye(payload: &[u8]) -> Result<&[u8], Violation> {
    match payload {
        [] => Ok(&[]),
        [_] => Err(Violation::Protocol),
        [a, b, reason @ ..] => {
            let code = u16::from_be_bytes([*a, *b]);
            if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
                return Err(Violation::Protocol);
            }
            std::str::from_utf8(reason).map_err(|_| Violation::NotUtf8)?;
            Ok(&payload[..2])
        }
    }
}

/// The wide check pays from a few vectors on; requests are mostly shorter.
fn utf8(message: &[u8]) -> bool {
    match message.len() {
        0..256 => std::str::from_utf8(message).is_ok(),
        _ => simdutf8::basic::from_utf8(message).is_ok(),
    }
}

fn advance(input: &mut &mut [u8], count: usize) {
    take(input, count);
}

/// Up to `count` bytes off the front.
fn take<'a>(input: &mut &'a mut [u8], count: usize) -> &'a mut [u8] {
    let whole = std::mem::take(input);
    let count = count.min(whole.len());
    let (front, rest) = whole.split_at_mut(count);
    *input = rest;
    front
}
