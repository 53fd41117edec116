//! What peers say in a world and what its host makes of it, given to hub and model alike.

use bridge_core::{Code, Forward, Inspected, Instant, Request, Ticket};

use crate::ledger::{Conn, Seen, wire_id};
use crate::loose::Loose;
use crate::model::{Ask, Passed, Read};
use crate::op::{Answer, Confirm, Hello, Settle, Shows, Then};
use crate::proof::{Transcript, decode};
use crate::render;
use crate::world::{Challenge, World};

impl World {
    pub(crate) fn hello(&mut self, by: u8, hello: &Hello) {
        let conn = self.pick(by, |model, conn| model.is_greeting(conn));
        let resume = match hello.shows {
            Shows::Resume(n, _) => nth_last(&self.resumes, n).cloned(),
            _ => None,
        };
        if hello.shows != Shows::OldNonce {
            self.nonces = self.nonces.wrapping_add(1);
        }
        let nonce = [self.nonces; 32];
        if let Some(place) = self.challenges.get_mut(conn) {
            *place = Some(Challenge { hello: *hello, nonce, challenge: String::new(), proof: String::new() });
        }
        self.say(conn, &render::hello(hello, &nonce, resume.as_deref()), Then::Receive);
    }

    pub(crate) fn confirm(&mut self, by: u8, confirm: Confirm) {
        let conn = self.pick(by, |model, conn| model.is_proving(conn));
        let Some(Some(Challenge { hello, nonce, challenge, proof })) = self.challenges.get(conn).cloned()
        else {
            return;
        };
        let Some(nonce_s) = decode(&challenge).filter(|_| self.model.is_proving(conn)) else { return };
        let peer = self.model.peer_of(conn);
        let transcript = Transcript {
            role: render::role(hello.role),
            key_id: render::KEY_ID,
            browser_id: render::browser(hello.browser).unwrap_or(""),
            nonce_c: nonce,
            nonce_s,
            address: peer.0,
            origin: peer.1,
        };
        assert_eq!(transcript.of_hub(&[7; 32]), proof, "the hub's own proof");
        let right = transcript.of_peer(&[7; 32]);
        let off_by_a_bit = right.replacen(['A', 'B', 'C'], "_", 1);
        let wrong = if off_by_a_bit == right { format!("{right}A") } else { off_by_a_bit };
        let frame = match confirm {
            Confirm::Right => render::confirm(&challenge, &right),
            Confirm::Wrong => render::confirm(&challenge, &wrong),
            Confirm::Reflected => render::confirm(&challenge, &proof),
            Confirm::Stale => render::confirm(&crate::proof::encode(&[9; 32]), &right),
            Confirm::Other => br#"{"id":"a","method":"ping"}"#.to_vec(),
        };
        self.model.expect_proof(conn, confirm == Confirm::Right);
        self.say(conn, &frame, Then::Receive);
    }

    pub(crate) fn answer(&mut self, nth: u8, answer: Answer) {
        let Some((asked, wire, _)) = nth_last(&self.calls, nth).cloned() else { return };
        // Someone else is most interesting if it is asked things itself.
        let by =
            answer.by.map_or(asked, |by| self.pick(by, |model, conn| model.is_asked(conn) && conn != asked));
        let wire = match answer.alter {
            None => wire,
            Some(at) => altered(&wire, at),
        };
        let frame = render::answer(answer.form, &wire, &self.hub.config().limits);
        self.say(by, &frame, Then::Receive);
    }

    /// Gives a frame to both.
    pub(crate) fn say(&mut self, conn: Conn, frame: &[u8], then: Then) {
        let Some(&id) = self.ids.get(conn) else { return };
        let (was_open, was_client, answers) =
            (self.model.is_open(conn), self.model.asks(conn), self.model.is_asked(conn));
        let read = self.model.inspect(conn, frame);
        if was_open && let Some(asked) = self.model.asked_id(conn, frame, was_client) {
            self.ledger.note(Seen::Asked(conn, asked));
        }
        let inspected = self.hub.inspect(id, frame, self.instant());
        let mut passed = None;
        match (inspected, read) {
            (Inspected::Request(request), Read::Request(ask))
            | (Inspected::Host(request), Read::Host(ask)) => {
                self.compare_request(&request, &ask);
                self.go_on(request, ask, frame, then);
            }
            (Inspected::Forward(forward), Read::Answer { to, bytes }) => {
                let written = forward.parts().concat();
                assert_eq!(show(&written), show(&bytes), "the answer as passed on");
                assert_eq!(forward.len(), written.len());
                assert_eq!(forward.to(), self.ids[to], "who gets the answer");
                let named = self.calls.iter().any(|(_, wire, name)| {
                    *name == forward.call()
                        && name.is_some()
                        && frame.windows(wire.len()).any(|it| it == wire.as_bytes())
                });
                assert!(named, "the answer has another name than its call");
                passed = Some((to, written, is_lent(&forward, frame)));
            }
            (Inspected::Notice(notice), Read::Notice(kind)) => {
                assert_eq!((notice.conn, notice.kind), (id, kind));
                assert!(std::ptr::eq(notice.frame, frame));
            }
            (Inspected::Refused(fault), Read::Refused(expected)) => {
                assert!(
                    expected.contains(&fault),
                    "the hub says {fault:?}, the model {expected:?} to {}",
                    show(frame)
                );
            }
            (Inspected::Absorbed, Read::Absorbed) | (Inspected::Stale, Read::Stale) => {}
            (hub, model) => panic!("{conn} said {}: the hub says {hub:?}, the model {model:?}", show(frame)),
        }
        if answers {
            let wire = Loose::read(frame, self.hub.config().limits.depth)
                .inside("id")
                .map(|span| String::from_utf8_lossy(&frame[span]).into_owned());
            self.ledger.note(Seen::Answered { by: conn, wire, passed });
        }
    }

    /// What the host does with a request.
    fn go_on(&mut self, request: Request<'_>, ask: Ask, frame: &[u8], then: Then) {
        let now = self.instant();
        let from = ask.conn;
        match then {
            Then::Receive | Then::Forward => {
                let params = request.params();
                let client_params = Some(params.to_vec());
                let lent = !ask.has_params || frame.as_ptr_range().contains(&params.as_ptr());
                let (hub, model) = (self.hub.forward(request, now), self.model.forward(ask, None));
                self.passed(hub, model, from, client_params, lent.then_some(params));
            }
            Then::ForwardChanged => {
                let (hub, model) = (
                    self.hub.forward(request.with_params(CHANGED), now),
                    self.model.forward(ask, Some(CHANGED)),
                );
                self.passed(hub, model, from, None, Some(CHANGED));
            }
            Then::Refuse => {
                self.hub.refuse(request, Code::Paused, REFUSED, true);
                self.model.refuse(ask, Code::Paused, REFUSED, true);
            }
            Then::Busy => {
                self.hub.refuse(request, Code::Overloaded, BUSY, false);
                self.model.refuse(ask, Code::Overloaded, BUSY, false);
            }
            Then::Answer => {
                let written = self.hub.answer(request, RESULT);
                let bytes = written.parts().concat();
                let expected = self.model.answer(ask, RESULT);
                assert_eq!((show(&bytes), written.to()), (show(&expected), self.ids[from]));
                self.ledger.note(Seen::Sent(from, bytes));
            }
            Then::Hold => {
                let params = request.params().to_vec();
                match (self.hub.hold(request, now), self.model.hold(ask)) {
                    (Ok(ticket), Ok(call)) => self.held.push((ticket, call, params)),
                    (Err(hub), Err(model)) => assert_eq!(hub, model),
                    (hub, model) => panic!("hold: the hub says {hub:?}, the model {model:?}"),
                }
            }
        }
    }

    pub(crate) fn settle(&mut self, nth: u8, settle: Settle) {
        if self.held.is_empty() {
            return;
        }
        let nth = usize::from(nth) % self.held.len();
        match settle {
            Settle::Release => {
                let params = self.held[nth].2.clone();
                self.release(nth, "navigate", &params, Some("once-1"));
            }
            Settle::Complete => self.complete(nth, RESULT),
            Settle::Fail => self.fail(nth, Code::DeniedByUser, "no"),
        }
    }

    /// The held request is the host's no longer; its ticket, and the model's name for it and for who asked.
    fn let_go(&mut self, nth: usize) -> (Ticket, usize, Option<Conn>) {
        let (ticket, call, _) = self.held.remove(nth);
        let asker = self.model.asker_of(call);
        assert_eq!(self.hub.is_held(&ticket), asker.is_some());
        (ticket, call, asker)
    }

    pub(crate) fn release(&mut self, nth: usize, method: &str, params: &[u8], once: Option<&str>) {
        let (ticket, call, asker) = self.let_go(nth);
        let hub = self.hub.release(ticket, method, params, once, Instant::from_millis(self.now));
        let model = self.model.release(call, method, params, once);
        self.passed(hub, model, asker.unwrap_or(usize::MAX), None, Some(params));
    }

    pub(crate) fn complete(&mut self, nth: usize, result: &[u8]) {
        let (ticket, call, _) = self.let_go(nth);
        match (self.hub.complete(ticket, result), self.model.complete(call, result)) {
            (Ok(written), Ok((to, expected))) => {
                let bytes = written.parts().concat();
                assert_eq!((show(&bytes), written.to()), (show(&expected), self.ids[to]));
                self.ledger.note(Seen::Sent(to, bytes));
            }
            (Err(hub), Err(model)) => assert_eq!(hub, model),
            (hub, model) => panic!("complete: the hub says {hub:?}, the model {model:?}"),
        }
    }

    pub(crate) fn fail(&mut self, nth: usize, code: Code, text: &str) {
        let (ticket, call, _) = self.let_go(nth);
        self.hub.fail(ticket, code, text);
        self.model.fail(call, code, text);
    }

    /// Compares an envelope, or why there is none.
    fn passed(
        &mut self,
        hub: Result<Forward<'_>, bridge_core::Fault>,
        model: Result<Passed, bridge_core::Fault>,
        from: Conn,
        params: Option<Vec<u8>>,
        lent: Option<&[u8]>,
    ) {
        match (hub, model) {
            (Ok(forward), Ok(passed)) => {
                let envelope = forward.parts().concat();
                assert_eq!(forward.len(), envelope.len());
                assert_eq!(forward.to(), self.ids[passed.to], "which browser is asked");
                let wire = self.model.check_envelope(&passed, &envelope);
                assert_eq!(wire_id(&envelope).unwrap(), wire);
                let borrowed = lent.is_some_and(|lent| {
                    forward.parts().iter().any(|part| std::ptr::eq(*part, lent)) || lent == b"{}"
                });
                self.calls.push((passed.to, wire, forward.call()));
                self.ledger.note(Seen::Passed { from, to: passed.to, params, envelope, borrowed });
            }
            (Err(hub), Err(model)) => assert_eq!(hub, model, "why it is not passed on"),
            (hub, model) => panic!("the hub says {hub:?}, the model {model:?}"),
        }
    }
}

/// The params that a host puts in place of a client's.
pub const CHANGED: &[u8] = br#"{"url":"https://checked.example/"}"#;
/// Why a host refuses.
pub const REFUSED: &str = "paused \"by\" user\n";
/// Why a driver does.
pub const BUSY: &str = "busy: too much waits for its turn";
/// What a host answers by itself.
pub const RESULT: &[u8] = br#"{"paused":false}"#;

/// Whether everything but the id is the very bytes of the frame.
fn is_lent(forward: &Forward<'_>, frame: &[u8]) -> bool {
    let range = frame.as_ptr_range();
    let lent: usize =
        forward.parts().iter().filter(|part| range.contains(&part.as_ptr())).map(|part| part.len()).sum();
    // The id is at most 256 bytes with its quotes beside it.
    forward.len() - lent <= 258
}

/// The n-th from the end: what happened last is the most telling.
fn nth_last<T>(list: &[T], n: u8) -> Option<&T> {
    if list.is_empty() { None } else { list.get(list.len() - 1 - usize::from(n) % list.len()) }
}

/// An id with another character in one place, or shorter, or longer.
fn altered(wire: &str, at: u8) -> String {
    let place = usize::from(at) % (wire.len() + 2);
    if place >= wire.len() {
        return if place == wire.len() { wire[..wire.len() - 1].to_owned() } else { format!("{wire}0") };
    }
    let other = if &wire[place..=place] == "1" { "2" } else { "1" };
    format!("{}{other}{}", &wire[..place], &wire[place + 1..])
}

pub(crate) fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(2_000).collect()
}
