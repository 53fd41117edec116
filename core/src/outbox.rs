//! The hub's own messages: formatted when they are drained, in one buffer, so that none can overflow a queue.
//!
//! An input needs at most one direct reply; that one is formatted at once and waits in the buffer. Everything else
//! (answers to ended calls, cancels, closes) waits as a flag on its slot and is formatted when its turn comes.

use crate::browsers::{Browsers, NotNow};
use crate::code::Code;
use crate::config::Config;
use crate::peer::Role;
use crate::proof::{Bytes32, encode};
use crate::slots::{CallId, ConnId};
use crate::text::Writer;

/// Room for the longest message that is not written piecewise: an answer with an id of 256 bytes and a long text.
const ROOM: usize = 2048;
/// The longest error text.
const TEXT: usize = 1200;

/// A formatted message: where it goes, and how much of the buffer it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter {
    pub(crate) to: ConnId,
    cut: usize,
    len: usize,
    pub(crate) middle: Insert,
    /// The accepted call that it answers.
    pub(crate) call: Option<CallId>,
}

impl Letter {
    /// The same letter, as the answer to this call.
    pub(crate) const fn of(mut self, call: CallId) -> Self {
        self.call = Some(call);
        self
    }
}

/// What is written between the two halves of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insert {
    Nothing,
    Policy,
    PolicyForBrowsers,
    Browsers,
    Status,
}

/// The buffer, and the reply that waits in it.
#[derive(Debug)]
pub(crate) struct Outbox {
    bytes: [u8; ROOM],
    waiting: Option<Letter>,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; ROOM], waiting: None }
    }

    pub(crate) const fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Lets a letter wait for `poll_output`.
    pub(crate) fn queue(&mut self, letter: Letter) {
        self.waiting = Some(letter);
    }

    pub(crate) fn take(&mut self) -> Option<Letter> {
        self.waiting.take()
    }

    /// The two halves of a letter formatted last.
    pub(crate) fn halves(&self, letter: &Letter) -> (&[u8], &[u8]) {
        let half = |from, to| self.bytes.get(from..to).unwrap_or_default();
        (half(0, letter.cut), half(letter.cut, letter.len))
    }

    fn write(&mut self, to: ConnId, middle: Insert, write: impl FnOnce(&mut Writer<'_>) -> usize) -> Letter {
        let mut writer = Writer::new(&mut self.bytes);
        let cut = write(&mut writer);
        Letter { to, cut, len: writer.len(), middle, call: None }
    }

    /// `{"id":…,"success":false,"error":…,"code":…}`.
    pub(crate) fn error(
        &mut self,
        to: ConnId,
        id: &[u8],
        text: &str,
        code: Code,
        maybe_executed: bool,
    ) -> Letter {
        self.write(to, Insert::Nothing, |w| {
            w.put(b"{\"id\":\"");
            w.put(id);
            w.put(b"\",\"success\":false,\"error\":\"");
            w.escaped_up_to(text, TEXT);
            w.put(b"\",\"code\":\"");
            w.put(code.as_str().as_bytes());
            w.put(if maybe_executed { b"\",\"maybe_executed\":true}" } else { b"\"}" });
            w.len()
        })
    }

    /// `timeout: extension did not respond in 30s`, with the seconds as asked.
    pub(crate) fn timed_out(
        &mut self,
        to: ConnId,
        id: &[u8],
        timeout_ms: u32,
        maybe_executed: bool,
    ) -> Letter {
        let mut text = [0; 64];
        let mut w = Writer::new(&mut text);
        w.put(b"timeout: extension did not respond in ");
        w.number(u64::from(timeout_ms / 1000));
        let tail = timeout_ms % 1000;
        if tail != 0 {
            // The fraction without trailing zeros: 1500 ms are 1.5s.
            let (digits, width) = match (tail % 100, tail % 10) {
                (0, _) => (tail / 100, 1),
                (_, 0) => (tail / 10, 2),
                _ => (tail, 3),
            };
            w.put(b".");
            for place in [100, 10] {
                if digits < place && place < 10u32.saturating_pow(width) {
                    w.put(b"0");
                }
            }
            w.number(u64::from(digits));
        }
        w.put(b"s");
        self.error(to, id, w.as_str(), Code::Timeout, maybe_executed)
    }

    /// `{"type":"error","error":…,"code":…}`, before a close.
    pub(crate) fn hello_error(&mut self, to: ConnId, text: &str, code: Code) -> Letter {
        self.write(to, Insert::Nothing, |w| {
            w.put(b"{\"type\":\"error\",\"error\":\"");
            w.escaped_up_to(text, TEXT);
            w.put(b"\",\"code\":\"");
            w.put(code.as_str().as_bytes());
            w.put(b"\"}");
            w.len()
        })
    }

    /// A successful answer whose result is `{"pong":true}` or written later.
    pub(crate) fn result(&mut self, to: ConnId, id: &[u8], result: &[u8], middle: Insert) -> Letter {
        self.write(to, middle, |w| {
            w.put(b"{\"id\":\"");
            w.put(id);
            w.put(b"\",\"success\":true,\"result\":");
            w.put(result);
            let cut = w.len();
            w.put(b"}");
            cut
        })
    }

    /// `{"type":"cancel","id":…}`.
    pub(crate) fn cancel(&mut self, to: ConnId, wire_id: &[u8]) -> Letter {
        self.write(to, Insert::Nothing, |w| {
            w.put(b"{\"type\":\"cancel\",\"id\":\"");
            w.put(wire_id);
            w.put(b"\"}");
            w.len()
        })
    }

    /// `{"type":"policy","policy":{…}}`.
    pub(crate) fn policy(&mut self, to: ConnId) -> Letter {
        self.write(to, Insert::PolicyForBrowsers, |w| {
            w.put(b"{\"type\":\"policy\",\"policy\":");
            let cut = w.len();
            w.put(b"}");
            cut
        })
    }

    pub(crate) fn challenge(&mut self, to: ConnId, nonce: &Bytes32, proof: &Bytes32) -> Letter {
        self.write(to, Insert::Nothing, |w| {
            w.put(b"{\"type\":\"pair_challenge\",\"alg\":\"HMAC-SHA256\",\"challenge\":\"");
            w.put(encode(nonce).as_bytes());
            w.put(b"\",\"proof\":\"");
            w.put(encode(proof).as_bytes());
            w.put(b"\"}");
            w.len()
        })
    }

    /// `hello_ack`. `who` is a client's owner or an extension's browser id; `resume` is the signature of a client's owner.
    pub(crate) fn ack(
        &mut self,
        to: ConnId,
        role: Role,
        who: &str,
        resume: Option<&str>,
        config: &Config,
    ) -> Letter {
        let policy = if role == Role::Extension { Insert::PolicyForBrowsers } else { Insert::Policy };
        self.write(to, policy, |w| {
            w.put(b"{\"type\":\"hello_ack\",\"protocol\":2");
            if role == Role::Extension {
                if !who.is_empty() {
                    w.put(b",\"browser_id\":\"");
                    w.escaped(who);
                    w.put(b"\"");
                }
            } else {
                w.put(b",\"client_id\":\"");
                w.escaped(who);
                w.put(b"\"");
            }
            if let Some(signature) = resume {
                w.put(b",\"resume\":\"");
                w.escaped(who);
                w.put(b".");
                w.put(signature.as_bytes());
                w.put(b"\"");
            }
            let limits = &config.limits;
            let bytes = if role == Role::Extension { limits.extension_bytes } else { limits.client_bytes };
            w.put(b",\"limits\":{\"frame_bytes\":");
            w.number(bytes as u64);
            w.put(b",\"id_bytes\":");
            w.number(u64::from(limits.id_bytes));
            w.put(b",\"depth\":");
            w.number(u64::from(limits.depth));
            w.put(b",\"in_flight\":");
            w.number(limits.in_flight_client as u64);
            w.put(b",\"timeout_ms\":");
            w.number(u64::from(config.deadlines.call_max_ms));
            w.put(b"},\"server\":{\"name\":\"");
            w.escaped_up_to(config.server.name, 64);
            w.put(b"\",\"version\":\"");
            w.escaped_up_to(config.server.version, 64);
            w.put(b"\"},\"policy\":");
            let cut = w.len();
            w.put(b"}");
            cut
        })
    }

    /// `no such browser: …`, with those that are here.
    pub(crate) fn no_such_browser(
        &mut self,
        to: ConnId,
        id: &[u8],
        wanted: &str,
        browsers: &Browsers,
    ) -> Letter {
        let mut text = [0; TEXT];
        let mut w = Writer::new(&mut text);
        w.put(b"no such browser: ");
        w.put(wanted.as_bytes());
        w.put(b"; connected: ");
        for (n, browser) in browsers.here().enumerate() {
            if n > 0 {
                w.put(b", ");
            }
            w.put(if browser.id.is_empty() { b"(one without an id)" } else { browser.id.as_bytes() });
        }
        self.error(to, id, w.as_str(), Code::NoSuchBrowser, false)
    }
}

impl NotNow {
    pub(crate) const fn denial(self) -> crate::admit::Denial {
        match self {
            Self::Unproven => crate::admit::Denial::UNPROVEN,
            Self::FlipFlop => crate::admit::Denial::FLIP_FLOP,
            Self::TooMany => crate::admit::Denial::TOO_MANY,
        }
    }
}
