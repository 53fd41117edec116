//! A codec that is fed a stream in pieces, and what came out of it.

use bridge_core::Violation;
use bridge_driver::{Codec, Decoded};

/// How a stream's reading ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Not at all: more could come.
    Open,
    /// By a broken rule.
    Broken(Violation),
    /// By a goodbye.
    Closed,
}

/// Everything that comes out of `input` when it arrives `step` bytes at a time.
pub(crate) fn read(codec: &mut impl Codec, input: &[u8], step: usize) -> (Vec<Vec<u8>>, Ended) {
    let (mut messages, mut replies) = (Vec::new(), Vec::new());
    for piece in input.chunks(step) {
        let mut piece = piece.to_vec();
        let mut rest = &mut piece[..];
        loop {
            let before = rest.len();
            match codec.decode(&mut rest, &mut replies) {
                Decoded::More => {
                    assert!(rest.is_empty(), "it asks for more and left {} bytes", rest.len());
                    break;
                }
                Decoded::Message(text) => messages.push(text.to_vec()),
                Decoded::Assembled(text) => messages.push(text),
                Decoded::Violation(why) => return (messages, Ended::Broken(why)),
                Decoded::Closed => return (messages, Ended::Closed),
            }
            assert!(rest.len() < before, "a message was made of nothing");
        }
        // What a peer sends must not make us hold more than it sent.
        assert!(replies.len() <= input.len() + 2);
    }
    (messages, Ended::Open)
}
