//! How messages stand in a byte stream: one trait, sans I/O, implemented by each transport.

use bridge_core::{CloseCode, Violation};

/// The framing of one connection, both directions. It sees bytes and never a socket.
pub trait Codec: 'static {
    /// Takes bytes that were received and returns the next thing they hold.
    ///
    /// `input` is moved past what was used. On [`Decoded::More`] all of it was, and what belongs to an
    /// unfinished message is kept inside. Answers on the transport's own level (a pong, the echo of a close)
    /// are appended to `replies` as they shall be written.
    fn decode<'a>(&mut self, input: &mut &'a mut [u8], replies: &mut Vec<u8>) -> Decoded<'a>;

    /// The largest message accepted from now on.
    fn limit(&mut self, bytes: usize);

    /// Whether a message has begun that is not complete.
    fn unfinished(&self) -> bool;

    /// How many bytes of it are held.
    fn held(&self) -> usize;

    /// Lets go of the message in progress. Nothing is decoded any more.
    fn give_up(&mut self);

    /// Offers memory for a large message in progress, so that it need not be asked of the system again; what
    /// is not wanted comes back.
    fn lend(&mut self, buffer: Vec<u8>) -> Option<Vec<u8>> {
        Some(buffer)
    }

    /// The peer will send nothing more. Not called after [`Decoded::Closed`].
    fn end(&mut self) -> End;

    /// What stands before a message of `len` bytes.
    fn head(&mut self, len: usize, out: &mut Vec<u8>);

    /// Passes over a message's bytes where they lie in the write queue, in order.
    fn body(&mut self, bytes: &mut [u8]) {
        let _ = bytes;
    }

    /// What stands behind a message.
    fn tail(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// A sign of life is wanted: appends one that makes the peer answer, or returns `false` if this
    /// transport has none.
    fn ping(&mut self, out: &mut Vec<u8>) -> bool {
        let _ = out;
        false
    }

    /// What announces the end of the connection; nothing follows it.
    fn close(&mut self, code: CloseCode, reason: &str, out: &mut Vec<u8>) {
        let _ = (code, reason, out);
    }

    /// After [`End::Half`]: whether the peer has gone altogether, as far as the transport can tell without
    /// writing to it.
    fn gone(&mut self) -> bool {
        false
    }
}

/// What received bytes turned out to be.
#[derive(Debug)]
pub enum Decoded<'a> {
    /// Nothing more for now.
    More,
    /// A whole message, where it was received.
    Message(&'a [u8]),
    /// A whole message that came in pieces.
    Assembled(Vec<u8>),
    /// The peer broke the transport's rules; decoding ends here.
    Violation(Violation),
    /// The peer said goodbye by the transport's rules; decoding ends here.
    Closed,
}

/// What the end of the incoming stream means.
#[derive(Debug)]
pub enum End {
    /// The connection is over.
    Closed,
    /// The peer may still read: what it asked for (with this last message, if any) is answered first.
    Half(Option<Vec<u8>>),
}
