//! The Unix socket's lines against `split`.

use crate::stream::{Ended, read};
use bridge_core::Violation;
use bridge_driver::{Codec, End};
use bridge_unix::Lines;

/// The first byte says how large a line may be, the second how the stream is cut, the rest is the stream.
pub fn lines(data: &[u8]) {
    let [limit, step, stream @ ..] = data else { return };
    let limit = 4 * usize::from(*limit) + 1;
    let (expected, ended, last) = plainly(stream, limit);
    for step in [1, usize::from(*step) + 1, stream.len() + 1] {
        let mut codec = Lines::new();
        codec.limit(limit);
        let (messages, how) = read(&mut codec, stream, step);
        let messages: Vec<&[u8]> = messages.iter().map(|message| message.trim_ascii()).collect();
        assert_eq!((&messages, &how), (&expected, &ended), "cut every {step} bytes");
        if how == Ended::Open {
            let End::Half(rest) = codec.end() else { panic!("a stream that ended is not half closed") };
            assert_eq!(rest.as_deref().map(<[u8]>::trim_ascii), last, "cut every {step} bytes");
        }
    }
    // What is written is one line, whatever is in it.
    let mut written = stream.to_vec();
    let mut codec = Lines::new();
    codec.body(&mut written);
    codec.tail(&mut written);
    assert_eq!(written.iter().position(|byte| *byte == b'\n'), Some(stream.len()));
}

/// The lines, how it ends, and the line without an end.
fn plainly(stream: &[u8], limit: usize) -> (Vec<&[u8]>, Ended, Option<&[u8]>) {
    let mut messages = Vec::new();
    let mut all: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    let rest = all.pop().unwrap_or_default();
    for line in all {
        if line.len() > limit {
            return (messages, Ended::Broken(Violation::TooBig), None);
        }
        let line = line.trim_ascii();
        if std::str::from_utf8(line).is_err() {
            return (messages, Ended::Broken(Violation::NotUtf8), None);
        }
        if !line.is_empty() {
            messages.push(line);
        }
    }
    if rest.len() > limit {
        return (messages, Ended::Broken(Violation::TooBig), None);
    }
    let rest = rest.trim_ascii();
    (messages, Ended::Open, (!rest.is_empty() && std::str::from_utf8(rest).is_ok()).then_some(rest))
}
