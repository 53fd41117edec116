//! A run that was written down, done again: each input goes to a hub and to the model, as in any [`World`].
//!
//! Whoever drives a real hub writes down what it gave it. With the same secrets, times and inputs the hub here does the
//! same byte for byte, so that the driver's run is checked as closely as a run made of operations.

use std::collections::BTreeMap;

use bridge_core::{CallId, Code, Config, Congestion, ConnId, Hub, Peer, Secrets, Violation};
use serde_json::Value;

use crate::ledger::{Conn, Ledger, Seen};
use crate::model::Model;
use crate::op::{Hello, HelloRole, Shows, Then};
use crate::proof::{Transcript, decode};
use crate::stage::Keys;
use crate::talk::RESULT;
use crate::world::{Challenge, Growing, World};

/// One input of a hub.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the hub's own functions")]
pub enum Input {
    Open(Peer<'static>),
    Frame(ConnId, Vec<u8>),
    /// What the host made of the request in the frame before.
    Then(Then),
    Release {
        call: CallId,
        method: String,
        params: Vec<u8>,
        once: Option<String>,
    },
    Complete(CallId),
    Fail(CallId),
    Close(ConnId),
    HalfClose(ConnId),
    Reject(ConnId, Violation),
    Congested(ConnId, Congestion),
    Timeout,
    Shutdown,
}

/// What connections on the way to their proof said first.
type Greetings = BTreeMap<Conn, Value>;

impl World {
    /// A hub without connections, with everything as the caller has it.
    pub fn of(config: Config, secrets: &Secrets, connections: usize, calls: usize) -> Self {
        World {
            hub: Hub::new(config, secrets, Keys, Growing::new(connections), Growing::new(calls)),
            model: Model::new(config, connections, calls),
            ledger: Ledger::default(),
            now: 0,
            ids: Vec::new(),
            calls: Vec::new(),
            held: Vec::new(),
            challenges: Vec::new(),
            resumes: Vec::new(),
            left: Default::default(),
            ended: Default::default(),
            nonces: 0,
        }
    }

    /// Does everything again, comparing hub and model after each input. Panics where they differ.
    pub fn replay(&mut self, inputs: &[(u64, Input)]) {
        let mut greetings = Greetings::new();
        let mut rest = inputs.iter().peekable();
        while let Some((now, input)) = rest.next() {
            self.now = *now;
            self.model.at(*now);
            let then = match rest.peek() {
                Some((_, Input::Then(then))) => Some(*then),
                _ => None,
            };
            self.redo(input, then, &mut greetings);
            self.settle_outputs();
            self.compare_state();
        }
    }

    /// What each connection was sent, by the order in which they came.
    pub fn delivered(&self) -> Vec<Vec<&[u8]>> {
        let mut all = vec![Vec::new(); self.ids.len()];
        for seen in &self.ledger.seen {
            let (to, bytes) = match seen {
                Seen::Sent(to, bytes) | Seen::Answered { passed: Some((to, bytes, _)), .. } => (to, bytes),
                Seen::Passed { to, envelope, .. } => (to, envelope),
                _ => continue,
            };
            all[*to].push(&bytes[..]);
        }
        all
    }

    fn redo(&mut self, input: &Input, then: Option<Then>, greetings: &mut Greetings) {
        match input {
            Input::Open(peer) => self.open(peer),
            Input::Frame(id, frame) => {
                let Some(conn) = self.number(*id) else { return };
                self.expect_of(conn, frame, greetings);
                self.say(conn, frame, then.unwrap_or(Then::Receive));
            }
            // Done with its frame.
            Input::Then(_) => {}
            Input::Release { call, method, params, once } => {
                let nth = self.held_as(*call);
                self.release(nth, method, params, once.as_deref());
            }
            Input::Complete(call) => {
                let nth = self.held_as(*call);
                self.complete(nth, RESULT);
            }
            Input::Fail(call) => {
                let nth = self.held_as(*call);
                self.fail(nth, Code::DeniedByUser, "no");
            }
            Input::Close(id) => {
                let Some(conn) = self.number(*id) else { return };
                self.hub.close(*id, self.instant());
                self.model.close(conn);
            }
            Input::HalfClose(id) => {
                let Some(conn) = self.number(*id) else { return };
                self.hub.half_close(*id, self.instant());
                self.model.half_close(conn);
            }
            Input::Reject(id, why) => {
                let Some(conn) = self.number(*id) else { return };
                self.hub.reject(*id, *why, self.instant());
                self.model.reject(conn, *why);
            }
            Input::Congested(id, how) => {
                let Some(conn) = self.number(*id) else { return };
                self.hub.congested(*id, *how);
                self.model.congested(conn, *how);
            }
            Input::Timeout => {
                self.hub.handle_timeout(self.instant());
                self.model.handle_timeout(self.now);
            }
            Input::Shutdown => {
                self.ledger.note(Seen::ShutDown);
                self.hub.shutdown(self.instant());
                self.model.shutdown();
            }
        }
    }

    /// The test's number of a connection. One that was never opened here is a difference by itself.
    pub fn number(&self, id: ConnId) -> Option<Conn> {
        let number = self.ids.iter().position(|it| *it == id);
        assert!(number.is_some(), "{id:?} was opened there and not here");
        number
    }

    fn held_as(&self, call: CallId) -> usize {
        let nth = self.held.iter().position(|(ticket, ..)| ticket.call() == call);
        nth.unwrap_or_else(|| panic!("{call:?} was held there and not here"))
    }

    /// Tells the model what only the keys can tell: whether a proof that comes now is right.
    fn expect_of(&mut self, conn: Conn, frame: &[u8], greetings: &mut Greetings) {
        if self.model.is_greeting(conn) {
            greetings.insert(conn, serde_json::from_slice(frame).unwrap_or_default());
            // Has the challenge remembered when it is sent.
            let hello = Hello {
                role: HelloRole::Client,
                two: true,
                browser: 0,
                shows: Shows::Key,
                client: 0,
                class: 0,
                odd_name: false,
            };
            self.challenges[conn] =
                Some(Challenge { hello, nonce: [0; 32], challenge: String::new(), proof: String::new() });
        } else if self.model.is_proving(conn) {
            let right = self.is_right(conn, frame, greetings);
            self.model.expect_proof(conn, right);
        }
    }

    fn is_right(&self, conn: Conn, frame: &[u8], greetings: &Greetings) -> bool {
        let hello = &greetings[&conn];
        let said = |name: &str| hello[name].as_str().unwrap_or("");
        let Some(Some(Challenge { challenge, proof, .. })) = self.challenges.get(conn) else { return false };
        let (Some(nonce_c), Some(nonce_s)) = (decode(said("nonce")), decode(challenge)) else { return false };
        let (address, origin) = self.model.peer_of(conn);
        let transcript = Transcript {
            role: said("role"),
            key_id: said("key_id"),
            browser_id: said("browser_id"),
            nonce_c,
            nonce_s,
            address,
            origin,
        };
        assert_eq!(transcript.of_hub(&[7; 32]), *proof, "the hub's own proof");
        let frame: Value = serde_json::from_slice(frame).unwrap_or_default();
        frame["type"] == "pair_confirm"
            && frame["challenge"] == challenge.as_str()
            && frame["signature"] == transcript.of_peer(&[7; 32]).as_str()
    }
}
