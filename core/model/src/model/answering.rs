//! What extensions say.

use bridge_core::{Code, Fault, NoticeKind};

use super::asking::{Frame, UNREADABLE, frame as client_frame};
use super::{Call, Model, Out, Read, Said, Stage, State};
use crate::ledger::Conn;
use crate::loose::Loose;
use crate::oracle::Object;
use crate::render::prefix_id;

impl Model {
    pub(super) fn extension_frame(&mut self, conn: Conn, frame: &[u8]) -> Read {
        let Stage::Extension { proven, protocol, .. } = self.conns[&conn].stage else {
            unreachable!("an extension")
        };
        let limits = &self.config.limits;
        if frame.len() > limits.extension_bytes {
            return self.wrong(conn, "", vec![Fault::TooLarge], None);
        }
        // A proven extension's large answer is routed by its first bytes alone.
        if proven
            && frame.len() >= limits.prefix_bytes
            && let Some(wire) = prefix_id(frame)
        {
            return self.answered(conn, frame, wire, true);
        }
        let object = Loose::read(frame, limits.depth);
        let id = object.inside("id");
        let has = |name: &str| object.get(name).is_some();
        if !object.whole {
            // If it shows which call it was meant to answer, that call is over.
            if let (Some(id), false) = (id, has("method")) {
                let _ = self.answered(conn, frame, id, false);
            }
            return self.wrong(conn, "", UNREADABLE.to_vec(), None);
        }
        if has("method") {
            return self.extension_request(conn, frame);
        }
        let says = |name: &str| object.get(name).is_some_and(|raw| raw != b"null");
        let valid = match object.get("success") {
            Some(b"true") => !says("error"),
            Some(b"false") => !says("result"),
            _ => false,
        };
        let kind = object.inside("type").map(|span| &frame[span]);
        match (kind, id) {
            (None, Some(id)) => self.answered(conn, frame, id, valid),
            (Some(_), Some(id)) if has("success") => self.answered(conn, frame, id, valid),
            (Some(b"policy_set"), _) if proven && protocol == 2 => Read::Notice(NoticeKind::PolicySet),
            (Some(b"event"), _) if proven && protocol == 2 => Read::Notice(NoticeKind::Event),
            (Some(b"hello" | b"pair_confirm"), _) => {
                self.wrong(conn, "", vec![Fault::AlreadyRegistered], None)
            }
            (Some(_), _) => self.wrong(conn, "", vec![Fault::UnknownMethod], None),
            (None, None) => self.wrong(conn, "", vec![Fault::NotJson], None),
        }
    }

    fn find_sent(&self, by: Conn, id: &str) -> Option<usize> {
        let fits =
            |call: &Call| matches!(&call.state, State::Sent { asked, wire } if *asked == by && wire == id);
        self.calls.iter().find(|(_, call)| fits(call)).map(|(n, _)| *n)
    }

    fn extension_request(&mut self, conn: Conn, frame: &[u8]) -> Read {
        match client_frame(frame, &self.config.limits) {
            Frame::Request { id, method, .. } if method == "ping" => {
                self.send(conn, Said::Pong(format!("\"{id}\"")));
                Read::Absorbed
            }
            Frame::Request { id, .. } => self.wrong(conn, &id, vec![Fault::UnknownMethod], None),
            Frame::Cancel(_) => self.wrong(conn, "", vec![Fault::UnknownMethod], None),
            Frame::Wrong(id, faults, text) => self.wrong(conn, &id, faults, text),
        }
    }

    /// Counts once, from the connection that was asked, for a live call.
    fn answered(&mut self, conn: Conn, frame: &[u8], id: std::ops::Range<usize>, valid: bool) -> Read {
        let wire = String::from_utf8_lossy(&frame[id.clone()]).into_owned();
        let Some(call) = self.find_sent(conn, &wire) else { return Read::Refused(vec![Fault::Stray]) };
        if !valid {
            self.over(call, Code::InvalidResponse, Some("invalid response from extension"));
            return Read::Refused(vec![Fault::InvalidResponse]);
        }
        let Call { asker, id: theirs, .. } = self.calls[&call].clone();
        let bytes = [&frame[..id.start], theirs.as_bytes(), &frame[id.end..]].concat();
        self.forget(call);
        Read::Answer { to: asker, bytes }
    }

    /// The raw id that the hub's answer to this frame must carry, if it is one that is answered. `was_client`: whether its
    /// sender was a client before.
    pub fn asked_id(&self, conn: Conn, bytes: &[u8], was_client: bool) -> Option<String> {
        if !was_client && !self.asks(conn) {
            // An extension's own requests and faults: whatever the hub is to say to it.
            return self.out.iter().find_map(|out| match out {
                Out::Send(to, Said::Pong(id) | Said::Error { id, .. }) if *to == conn => Some(id.clone()),
                _ => None,
            });
        }
        let joins = |kind: Option<&str>| matches!(kind, Some("\"hello\"" | "\"pair_confirm\""));
        if !was_client && Object::read(bytes, usize::MAX).is_ok_and(|it| joins(it.get("type"))) {
            return None;
        }
        if bytes.len() > self.config.limits.client_bytes {
            return Some("\"\"".into());
        }
        match client_frame(bytes, &self.config.limits) {
            Frame::Request { id, .. } | Frame::Wrong(id, ..) => Some(format!("\"{id}\"")),
            Frame::Cancel(_) => None,
        }
    }
}
