//! What is no call: those who were turned away at a door or at their hello, messages that the hub took for no request of
//! theirs, and changes of the policy.

use bridge_core::{Code, ConnId, Door, Fault, Trust};

use super::entry::{self, Entry, Who};
use super::peers::{transport, vouched};
use super::{Audit, TOLD_ELSEWHERE, code_of, this_second};

/// What stands for the method where a message was refused before it had one.
const NO_METHOD: &str = "message";

impl Audit {
    /// Somebody was turned away at a door.
    pub(crate) fn knocked(&self, transport: &'static str, origin: Option<&str>, code: &str, who: Who) {
        self.turned_away(transport, code, || Entry {
            origin: origin.and_then(entry::origin),
            who: who.with_program(),
            ..self.now()
        });
    }

    /// A hello was refused, or whoever said it could not prove themselves.
    pub(crate) fn denied(&self, conn: ConnId, door: Door, trust: Trust, code: Code) {
        self.turned_away(transport(door), code.as_str(), || {
            let mut told = self.told_of(conn);
            told.who.uid = vouched(door, trust);
            told
        });
    }

    fn turned_away(&self, transport: &'static str, code: &str, told: impl FnOnce() -> Entry) {
        let Some(collapsed) = self.knocks.borrow_mut().again(transport, code, this_second()) else { return };
        self.book.add(Entry {
            transport,
            method: "hello".to_owned(),
            decision: "deny",
            outcome: "denied",
            code: Some(code.to_owned()),
            collapsed,
            ..told()
        });
    }

    /// The hub refused a message of somebody who is in, before the host was asked about it.
    pub(crate) fn refused_message(&self, conn: ConnId, why: Fault) {
        let code = code_of(why).as_str();
        let first = self.with_peer(conn, |peer| peer.seen.again(NO_METHOD, code, this_second()));
        let Some(collapsed) = first else { return };
        self.book.add(Entry {
            method: NO_METHOD.to_owned(),
            decision: "deny",
            outcome: "denied",
            code: Some(code.to_owned()),
            collapsed,
            ..self.told_of(conn)
        });
    }

    /// The policy was changed by `who`.
    pub(crate) fn policy_changed(&self, who: &str) {
        self.book.add(Entry {
            method: TOLD_ELSEWHERE.to_owned(),
            client_id: who.to_owned(),
            decision: "allow",
            outcome: "ok",
            ..self.now()
        });
    }
}
