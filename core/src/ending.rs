//! How calls and connections end: by time, by cancel, by loss. Each is unlinked from every list it stands in, at a cost
//! that depends on nothing else.

use crate::code::CloseCode;
use crate::connection::{ConnList, Connection, Ending, Lost, Stage};
use crate::hub::{DONE, Hub};
use crate::peer::{Keyring, Role};
use crate::pending::{CallList, CallState, NO_BUCKET, Outcome, Pending};
use crate::slots::{ConnId, Slots};
use crate::time::Instant;

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    /// Time has passed. Call it at the latest when `poll_timeout` says.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        while let Some(slot) = self.wheel.next_due(&mut self.calls, now) {
            self.end_call(slot, Outcome::TimedOut);
        }
        let late = [
            (self.lists.greeting.map(|it| it.head), "no hello in time"),
            (self.lists.proving.map(|it| it.head), "no proof in time"),
        ];
        for (heads, reason) in late {
            for mut head in heads {
                while let Some(conn) = self.conns.at::<Connection>(head).filter(|it| it.due <= now) {
                    let next = conn.stage_link.next;
                    let id = ConnId { slot: head, epoch: conn.epoch };
                    self.begin_close(id, Some((CloseCode::POLICY, reason)), Lost::Disconnected);
                    head = next;
                }
            }
        }
    }

    /// Ends a call with an answer of the hub's own, which `poll_output` formats.
    pub(crate) fn end_call(&mut self, slot: u16, outcome: Outcome) {
        self.wheel.remove(&mut self.calls, slot);
        let Some(call) = self.calls.at_mut(slot) else { return };
        if matches!(call.state, CallState::Over { .. }) {
            return;
        }
        let executed = call.state == CallState::Sent;
        let cancel = executed && outcome != Outcome::InvalidResponse;
        call.state = CallState::Over { answer: Some(outcome), cancel, executed };
        self.calls.push_back(&mut self.lists.over, CallList::Time, slot);
        let counter = match outcome {
            Outcome::TimedOut => &mut self.counters.timeouts,
            Outcome::Cancelled => &mut self.counters.cancelled,
            _ => return,
        };
        *counter = counter.saturating_add(1);
    }

    /// Takes a call from its asker: the id is free again.
    pub(crate) fn leave_asker(&mut self, slot: u16) {
        let Some(call) = self.calls.at_mut(slot) else { return };
        let held = call.asked == ConnId::NOBODY;
        let asker = core::mem::replace(&mut call.asker, ConnId::NOBODY);
        if asker == ConnId::NOBODY {
            return;
        }
        self.ids.remove(&mut self.calls, slot);
        // Also of an asker that is ending.
        if let Some(connection) =
            self.conns.at_mut(asker.slot).filter(|it: &&mut Connection| it.epoch == asker.epoch)
        {
            self.calls.unlink(&mut connection.calls, CallList::Asker, slot);
            connection.in_flight = connection.in_flight.saturating_sub(1);
            connection.held = connection.held.saturating_sub(u16::from(held));
            self.close_if_done(asker);
        }
    }

    /// Takes a call out of all lists and frees its slot.
    pub(crate) fn drop_call(&mut self, slot: u16) {
        self.leave_asker(slot);
        let Some(call) = self.calls.at(slot) else { return };
        let Pending { state, asked, bucket, .. } = *call;
        if bucket != NO_BUCKET {
            self.wheel.remove(&mut self.calls, slot);
        } else if matches!(state, CallState::Over { .. }) {
            self.calls.unlink(&mut self.lists.over, CallList::Time, slot);
        }
        if asked == ConnId::NOBODY {
            self.calls.unlink(&mut self.lists.held, CallList::Asked, slot);
        } else if let Some(connection) =
            self.conns.at_mut(asked.slot).filter(|it: &&mut Connection| it.epoch == asked.epoch)
        {
            self.calls.unlink(&mut connection.calls, CallList::Asked, slot);
            connection.in_flight = connection.in_flight.saturating_sub(1);
        }
        self.calls.give_back(slot);
    }

    /// Closes a half-closed client once its last call is answered.
    pub(crate) fn close_if_done(&mut self, conn: ConnId) {
        if self.conns.open(conn).is_some_and(|it| it.half_closed && it.in_flight == 0) {
            self.begin_close(conn, Some(DONE), Lost::Disconnected);
        }
    }

    /// From here on the connection is stale; what must still be said and answered comes from `poll_output`, bit by bit.
    pub(crate) fn begin_close(&mut self, conn: ConnId, close: Option<(CloseCode, &'static str)>, lost: Lost) {
        self.leave_stage(conn);
        let Some(connection) = self.conns.open_mut(conn) else { return };
        let role = connection.role();
        if let Stage::Extension(at) = connection.stage {
            self.browsers.left(at, conn);
        }
        if role.is_some() {
            self.joined = self.joined.saturating_sub(1);
        }
        connection.stage = Stage::Closing(Ending { role, close, lost });
        self.conns.unlink(&mut self.lists.live, ConnList::Live, conn.slot);
        self.conns.push_back(&mut self.lists.closing, ConnList::Stage, conn.slot);
        self.counters.closed = self.counters.closed.saturating_add(1);
    }

    pub(crate) fn ending_mut(&mut self, conn: ConnId) -> Option<&mut Ending> {
        match self.conns.at_mut(conn.slot)? {
            Connection { epoch, stage: Stage::Closing(ending), .. } if *epoch == conn.epoch => Some(ending),
            _ => None,
        }
    }

    /// Takes a connection out of the list of those whose hello or proof is due.
    pub(crate) fn leave_stage(&mut self, conn: ConnId) {
        let Some(connection) = self.conns.open(conn) else { return };
        let pool = connection.pool();
        let list = match connection.stage {
            Stage::Greeting(_) => self.lists.greeting.get_mut(pool),
            Stage::Proving(_) => self.lists.proving.get_mut(pool),
            _ => None,
        };
        if let (Some(list), Some(count)) = (list, self.lists.waiting.get_mut(pool)) {
            self.conns.unlink(list, ConnList::Stage, conn.slot);
            *count = count.saturating_sub(1);
        }
    }

    /// Whether a message may still be sent to this connection: it is open, or is to hear why it is closed.
    pub(crate) fn hears(&self, conn: ConnId) -> bool {
        self.conns.at(conn.slot).is_some_and(|it: &Connection| {
            it.epoch == conn.epoch
                && match &it.stage {
                    Stage::Closing(ending) => ending.close.is_some(),
                    _ => true,
                }
        })
    }

    /// Whether this is an extension that understands `cancel` and `policy`.
    pub(crate) fn understands_cancel(&self, conn: ConnId) -> bool {
        self.conns.open(conn).is_some_and(|it| match it.stage {
            Stage::Extension(at) => {
                self.browsers.get(at).is_some_and(|it| it.protocol == 2 && it.conn == conn)
            }
            _ => false,
        })
    }

    /// What the askers of an ending browser hear; `None` if the one that ends is itself an asker.
    pub(crate) const fn outcome_of(ending: &Ending) -> Option<Outcome> {
        match (ending.role, ending.lost) {
            (Some(Role::Extension), Lost::Disconnected) => Some(Outcome::Disconnected),
            (Some(Role::Extension), Lost::Replaced) => Some(Outcome::Replaced),
            (Some(Role::Extension), Lost::Shutdown) => Some(Outcome::ShuttingDown),
            _ => None,
        }
    }
}
