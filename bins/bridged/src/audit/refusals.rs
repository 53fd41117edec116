//! What is no call: those who were turned away at a door or at their hello, messages that the hub took for no request of
//! theirs, and changes of the policy.

use bridge_core::{Code, ConnId, Door, Fault};

use super::entry::{self, Entry};
use super::peers::transport;
use super::{Audit, TOLD_ELSEWHERE, code_of, this_second};

/// What stands for the method where a message was refused before it had one.
const NO_METHOD: &str = "message";

impl Audit {
    /// Somebody was turned away at a door, or could not prove themselves.
    pub(crate) fn knocked(&self, transport: &'static str, origin: Option<&str>, code: &str) {
        let Some(collapsed) = self.knocks.borrow_mut().again(transport, code, this_second()) else { return };
        self.book.add(Entry {
            transport,
            method: "hello".to_owned(),
            origin: origin.and_then(entry::origin),
            decision: "deny",
            outcome: "denied",
            code: Some(code.to_owned()),
            collapsed,
            ..self.now()
        });
    }

    /// A hello was refused.
    pub(crate) fn denied(&self, door: Door, code: Code) {
        self.knocked(transport(door), None, code.as_str());
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
