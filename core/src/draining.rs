//! `poll_output`: what is due, one thing at a time, and `poll_timeout`: when to come back.

use crate::code::{CloseCode, Code};
use crate::connection::{ConnList, Connection, Lost, Stage};
use crate::hub::{Hub, Phase, SHUTTING_DOWN};
use crate::ids::wire_id;
use crate::list::NONE;
use crate::listing::{Listing, Status};
use crate::outbox::{Insert, Letter};
use crate::output::{Event, Message, Middle, Output, Wake};
use crate::peer::Keyring;
use crate::pending::{CallState, Outcome, Pending};
use crate::slots::{CallId, ConnId, Slots};
use crate::time::Instant;

/// The next thing to do, before it borrows from the hub.
enum Next {
    Send(Letter),
    Close(ConnId, CloseCode, &'static str),
    Event(Event),
}

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    /// The next thing to do. Drain until `None` after every input.
    pub fn poll_output(&mut self) -> Option<Output<'_>> {
        Some(match self.next()? {
            Next::Send(letter) => Output::Send { to: letter.to, message: self.message(&letter) },
            Next::Close(conn, code, reason) => Output::Close { conn, code, reason },
            Next::Event(event) => Output::Event(event),
        })
    }

    /// When `handle_timeout` is due, and why. With queued output: the beginning of time, [`Wake::Output`].
    pub fn poll_timeout(&self) -> Option<(Instant, Wake)> {
        if self.has_output() {
            return Some((Instant::from_millis(0), Wake::Output));
        }
        let heads = self.lists.greeting.iter().chain(&self.lists.proving).map(|list| list.head);
        let hello = heads.filter_map(|head| self.conns.at(head).map(|it: &Connection| (it.due, Wake::Hello)));
        let call = self.wheel.poll_timeout().map(|due| (due, Wake::Call));
        hello.chain(call).min_by_key(|(due, _)| *due)
    }

    fn has_output(&self) -> bool {
        let lists = &self.lists;
        self.outbox.is_waiting()
            || !self.events.is_empty()
            || !lists.over.is_empty()
            || !lists.closing.is_empty()
            || (self.policy_due != 0 && self.browsers.here().next().is_some())
            || (self.phase == Phase::Ending && !(lists.held.is_empty() && lists.live.is_empty()))
    }

    fn next(&mut self) -> Option<Next> {
        if let Some(letter) = self.outbox.take().filter(|it| self.hears(it.to)) {
            return Some(Next::Send(letter));
        }
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Next::Event(event));
            }
            if self.lists.over.head != NONE {
                if let Some(letter) = self.finish_call(self.lists.over.head) {
                    return Some(Next::Send(letter));
                }
            } else if self.lists.closing.head != NONE {
                if let Some(next) = self.finish_connection(self.lists.closing.head) {
                    return Some(next);
                }
            } else if self.policy_due != 0 {
                if let Some(letter) = self.next_policy() {
                    return Some(Next::Send(letter));
                }
            } else if self.phase != Phase::Ending {
                return None;
            } else if self.lists.held.head != NONE {
                self.end_call(self.lists.held.head, Outcome::ShuttingDown);
            } else {
                let live = self.lists.live.head;
                let epoch = self.conns.at(live).map(|it: &Connection| it.epoch)?;
                self.begin_close(ConnId { slot: live, epoch }, Some(SHUTTING_DOWN), Lost::Shutdown);
            }
        }
    }

    /// A call that is over: first its answer, then a cancel for the browser, then it is gone.
    fn finish_call(&mut self, slot: u16) -> Option<Letter> {
        let call = self.calls.at_mut(slot)?;
        let CallState::Over { answer, cancel, executed } = call.state else {
            self.drop_call(slot);
            return None;
        };
        if let Some(outcome) = answer {
            call.state = CallState::Over { answer: None, cancel, executed };
            let letter = self.hub_answer(slot, outcome, executed);
            self.leave_asker(slot);
            if letter.is_some() {
                return letter;
            }
        }
        let letter = if cancel { self.cancel_letter(slot) } else { None };
        self.drop_call(slot);
        letter
    }

    /// The next bit of a connection's end: its close, then one of its calls, then its slot.
    fn finish_connection(&mut self, slot: u16) -> Option<Next> {
        let connection: &mut Connection = self.conns.at_mut(slot)?;
        let epoch = connection.epoch;
        let call = connection.calls.head;
        let conn = ConnId { slot, epoch };
        let Stage::Closing(ending) = &mut connection.stage else {
            self.conns.unlink::<Connection, _>(&mut self.lists.closing, ConnList::Stage, slot);
            return None;
        };
        if let Some((code, reason)) = ending.close.take() {
            return Some(Next::Close(conn, code, reason));
        }
        if call == NONE {
            let role = ending.role;
            self.conns.unlink::<Connection, _>(&mut self.lists.closing, ConnList::Stage, slot);
            self.conns.give_back::<Connection>(slot);
            return Some(Next::Event(Event::Left { conn, role }));
        }
        let letter = match Self::outcome_of(ending) {
            Some(outcome) => self.hub_answer(call, outcome, true),
            None => self.cancel_letter(call),
        };
        self.drop_call(call);
        letter.map(Next::Send)
    }

    /// The hub's own answer to a call, if its asker still hears.
    fn hub_answer(&mut self, slot: u16, outcome: Outcome, executed: bool) -> Option<Letter> {
        let call: &Pending = self.calls.at(slot)?;
        if !self.hears(call.asker) {
            return None;
        }
        let name = CallId { slot, generation: call.generation };
        let (text, code) = match outcome {
            Outcome::TimedOut => {
                return Some(
                    self.outbox.timed_out(call.asker, call.id(), call.timeout_ms, executed).of(name),
                );
            }
            Outcome::Cancelled => ("cancelled", Code::Cancelled),
            Outcome::InvalidResponse => ("invalid response from extension", Code::InvalidResponse),
            Outcome::ShuttingDown => ("shutting down", Code::ShuttingDown),
            Outcome::Disconnected => ("extension disconnected", Code::ExtensionDisconnected),
            Outcome::Replaced => ("extension replaced by a new connection", Code::ExtensionReplaced),
        };
        Some(self.outbox.error(call.asker, call.id(), text, code, executed).of(name))
    }

    /// Tells the browser that nobody waits for this call any more.
    fn cancel_letter(&mut self, slot: u16) -> Option<Letter> {
        let call: &Pending = self.calls.at(slot)?;
        let pointless = matches!(call.state, CallState::Over { cancel: false, .. } | CallState::Held);
        if pointless || !self.understands_cancel(call.asked) {
            return None;
        }
        Some(
            self.outbox.cancel(call.asked, &wire_id(CallId { slot, generation: call.generation }, self.salt)),
        )
    }

    fn next_policy(&mut self) -> Option<Letter> {
        let at = self.policy_due.trailing_zeros();
        self.policy_due &= self.policy_due.wrapping_sub(1);
        let conn = self.browsers.at_index(at as usize)?.conn;
        self.understands_cancel(conn).then(|| self.outbox.policy(conn))
    }

    fn message(&self, letter: &Letter) -> Message<'_> {
        let (before, after) = self.outbox.halves(letter);
        let middle = match letter.middle {
            Insert::Nothing => Middle::Bytes(b""),
            Insert::Policy => Middle::Bytes(self.keyring.policy().as_bytes()),
            Insert::PolicyForBrowsers => Middle::Bytes(self.keyring.policy_for_browsers().as_bytes()),
            Insert::Browsers => Middle::Listing(Listing::Browsers(&self.browsers)),
            Insert::Status => Middle::Listing(Listing::Status(Status {
                config: &self.config,
                browsers: &self.browsers,
                counters: &self.counters,
                uptime_ms: self.latest.saturating_since(self.started.unwrap_or_default()),
                connections: self.joined,
                in_flight: self.calls.used(),
                more: self.keyring.more_status(),
            })),
        };
        Message { before, middle, after, call: letter.call }
    }
}
