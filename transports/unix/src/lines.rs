//! NDJSON as a codec without I/O: one message a line, `\n` at its end.

use bridge_core::{CloseCode, Code, Violation};
use bridge_driver::{Codec, Decoded, End};

/// A line from this size on may take over a spare buffer.
const WORTH: usize = 64 << 10;

/// One connection's lines. Idle, it holds no memory but itself.
///
/// A message that was written over several lines (legal on a WebSocket) goes out on one: a raw line end can
/// only stand between the tokens of a JSON text, so a space does the same there.
#[derive(Default)]
pub struct Lines {
    limit: usize,
    /// A line that has begun.
    part: Vec<u8>,
    /// Why no more lines are taken; nobody has told the peer yet.
    broken: Option<Violation>,
    gone: Option<Box<dyn FnMut() -> bool>>,
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("part", &self.part.len()).finish_non_exhaustive()
    }
}

impl Lines {
    /// A new connection.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: usize::MAX, ..Self::default() }
    }

    /// Lets the codec ask whether a peer that sends nothing more has gone altogether (see
    /// [`hung_up`](crate::hung_up)): one that has is not worth an answer, and its calls are cancelled.
    #[must_use]
    pub fn with_hangup(mut self, gone: impl FnMut() -> bool + 'static) -> Self {
        self.gone = Some(Box::new(gone));
        self
    }

    fn line<'a>(&mut self, input: &mut &'a mut [u8]) -> Decoded<'a> {
        loop {
            let Some(end) = memchr::memchr(b'\n', input) else {
                if self.part.len() + input.len() > self.limit {
                    return Decoded::Violation(Violation::TooBig);
                }
                self.part.extend_from_slice(input);
                *input = &mut [];
                return Decoded::More;
            };
            let (line, rest) = std::mem::take(input).split_at_mut(end);
            *input = rest.split_first_mut().map_or(&mut [], |(_, rest)| rest);
            if self.part.len() + line.len() > self.limit {
                return Decoded::Violation(Violation::TooBig);
            }
            if self.part.is_empty() {
                let line = trim(line);
                if !line.is_empty() {
                    return match simdutf8::basic::from_utf8(line) {
                        Ok(_) => Decoded::Message(line),
                        Err(_) => Decoded::Violation(Violation::NotUtf8),
                    };
                }
            } else {
                let mut whole = std::mem::take(&mut self.part);
                whole.extend_from_slice(line);
                match last(whole) {
                    Ok(Some(whole)) => return Decoded::Assembled(whole),
                    Ok(None) => {}
                    Err(why) => return Decoded::Violation(why),
                }
            }
        }
    }
}

impl Codec for Lines {
    fn decode<'a>(&mut self, input: &mut &'a mut [u8], _: &mut Vec<u8>) -> Decoded<'a> {
        let decoded = self.line(input);
        if let Decoded::Violation(why) = decoded {
            self.broken = Some(why);
        }
        decoded
    }

    fn limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    fn unfinished(&self) -> bool {
        !self.part.is_empty()
    }

    fn held(&self) -> usize {
        self.part.len()
    }

    fn give_up(&mut self) {
        self.part = Vec::new();
    }

    fn lend(&mut self, mut buffer: Vec<u8>) -> Option<Vec<u8>> {
        if self.part.len() < WORTH || self.part.capacity() >= buffer.capacity() {
            return Some(buffer);
        }
        buffer.clear();
        buffer.extend_from_slice(&self.part);
        self.part = buffer;
        None
    }

    fn end(&mut self) -> End {
        if self.gone() {
            return End::Closed;
        }
        // A last line without its end is still a line (`printf '{…}' | nc -U …`).
        End::Half(last(std::mem::take(&mut self.part)).ok().flatten())
    }

    fn head(&mut self, _: usize, _: &mut Vec<u8>) {}

    fn body(&mut self, bytes: &mut [u8]) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
            rest[at] = b' ';
            rest = &mut rest[at + 1..];
        }
    }

    fn tail(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }

    fn close(&mut self, code: CloseCode, reason: &str, out: &mut Vec<u8>) {
        // A WebSocket's close says why; here a last line does, where nothing else has.
        let name = match self.broken {
            Some(Violation::TooBig) => Code::TooLarge,
            Some(_) => Code::InvalidRequest,
            None if code == CloseCode::TRY_LATER => Code::Overloaded,
            None => return,
        };
        let line = format!(r#"{{"type":"error","error":"{reason}","code":"{}"}}"#, name.as_str());
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }

    fn gone(&mut self) -> bool {
        self.gone.as_mut().is_some_and(|gone| gone())
    }
}

/// Without the white space around it.
fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// A line that came in pieces, if it says anything.
fn last(mut line: Vec<u8>) -> Result<Option<Vec<u8>>, Violation> {
    line.truncate(line.trim_ascii_end().len());
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    match simdutf8::basic::from_utf8(&line) {
        Ok(_) => Ok(Some(line)),
        Err(_) => Err(Violation::NotUtf8),
    }
}
