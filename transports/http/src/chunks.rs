//! A body in chunks, read strictly: plain sizes, no extensions, no trailers. Whoever needs more can give a length.

use crate::refusal::Refusal;

/// Digits of a chunk's size at most.
const DIGITS: usize = 8;

/// How far a chunked body has been read.
#[derive(Debug)]
pub struct Chunks {
    state: State,
    most: usize,
}

#[derive(Debug)]
enum State {
    /// In a size line: what it says so far, and how many digits that were.
    Size {
        value: usize,
        digits: usize,
    },
    /// The size line's LF is due.
    SizeEnd(usize),
    /// So many bytes of the chunk are still to come.
    Data(usize),
    /// The line end behind a chunk.
    DataCr,
    DataLf,
    /// The empty line at the end.
    LastCr,
    LastLf,
    Done,
}

impl Chunks {
    /// For a body of `most` bytes at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { state: State::Size { value: 0, digits: 0 }, most }
    }

    /// Whether its end has come.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Takes what belongs to the body from the front of `input` and returns how much that was.
    pub fn take(&mut self, input: &[u8], body: &mut Vec<u8>) -> Result<usize, Refusal> {
        let wrong = || Refusal::malformed("the body's chunks are malformed");
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            self.state = match (&self.state, byte) {
                (State::Done, _) => break,
                (State::Data(left), _) => {
                    let count = (*left).min(input.len() - at);
                    if body.len() + count > self.most {
                        return Err(Refusal::too_large(self.most));
                    }
                    body.extend_from_slice(&input[at..at + count]);
                    at += count;
                    self.state = if count == *left { State::DataCr } else { State::Data(left - count) };
                    continue;
                }
                (State::Size { digits: 1.., value }, b'\r') => State::SizeEnd(*value),
                (State::Size { value, digits }, _) => {
                    let digit =
                        char::from(byte).to_digit(16).filter(|_| *digits < DIGITS).ok_or_else(wrong)?;
                    State::Size { value: value * 16 + digit as usize, digits: digits + 1 }
                }
                (State::SizeEnd(0), b'\n') => State::LastCr,
                (State::SizeEnd(size), b'\n') => State::Data(*size),
                (State::DataCr, b'\r') => State::DataLf,
                (State::DataLf, b'\n') => State::Size { value: 0, digits: 0 },
                (State::LastCr, b'\r') => State::LastLf,
                (State::LastLf, b'\n') => State::Done,
                _ => return Err(wrong()),
            };
            at += 1;
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), u16> {
        let (mut chunks, mut body, mut at) = (Chunks::new(20), Vec::new(), 0);
        for piece in input.chunks(step) {
            let taken = chunks.take(piece, &mut body).map_err(|refusal| refusal.status)?;
            at += taken;
            if taken < piece.len() {
                break;
            }
        }
        Ok((body, at, chunks.is_done()))
    }

    #[test]
    fn a_body_is_the_same_however_it_is_cut() {
        let input = b"5\r\nhello\r\nA\r\n, world!!!\r\n0\r\n\r\nPOST /";
        for step in 1..=input.len() {
            let (body, at, done) = read(input, step).unwrap_or_default();
            assert_eq!((body.as_slice(), at, done), (&b"hello, world!!!"[..], 30, true), "by {step}");
        }
    }

    /// T18.
    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let wrong: [&[u8]; 10] = [
            b"+5\r\nhello\r\n",
            b"0x5\r\nhello\r\n",
            b"5;ext=1\r\nhello\r\n",
            b" 5\r\nhello\r\n",
            b"\r\n",
            b"5\nhello\r\n",
            b"5\r\nhelloX\r\n",
            b"000000005\r\nhello\r\n",
            b"0\r\nContent-Length: 5\r\n\r\n",
            b"5\r\nhello\n",
        ];
        for input in wrong {
            assert_eq!(read(input, 64), Err(400), "{:?}", String::from_utf8_lossy(input));
        }
        assert_eq!(read(b"ffffffff\r\n012345678901234567890", 64), Err(413));
    }
}
