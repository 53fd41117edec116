//! What the hub lets out and shows, held against the model.

use std::collections::BTreeMap;

use bridge_core::{ConnId, Output, Request, Role, Wake};
use serde_json::Value;

use crate::ledger::{Conn, Seen};
use crate::model::{Ask, Connection, Out, Said, Stage};
use crate::oracle::Object;
use crate::talk::show;
use crate::world::World;

/// What the hub let out.
enum Got {
    Send(Vec<u8>),
    Close(u16),
}

impl World {
    /// Drains the hub and compares, connection by connection: the messages, then the close.
    pub(crate) fn settle_outputs(&mut self) {
        let expected = self.model.take_out();
        // Who went by itself hears nothing from here on.
        for conn in 0..self.ids.len() {
            let is_told = expected.iter().any(|out| matches!(out, Out::Close(it, _) if *it == conn));
            if !self.model.is_open(conn) && !is_told && self.ended.insert(conn) {
                self.ledger.note(Seen::Ended(conn, None));
            }
        }
        let mut got: BTreeMap<Conn, Vec<Got>> = BTreeMap::new();
        loop {
            let wake = self.hub.poll_timeout();
            let Some(output) = self.hub.poll_output() else { break };
            assert!(matches!(wake, Some((at, Wake::Output)) if at.as_millis() == 0), "output without notice");
            match output {
                Output::Send { to, message } => {
                    let mut bytes = Vec::new();
                    message.each(|piece| bytes.extend_from_slice(piece));
                    assert_eq!(message.len(), bytes.len());
                    let conn = number(&self.ids, to);
                    got.entry(conn).or_default().push(Got::Send(bytes));
                }
                Output::Close { conn, code, reason } => {
                    assert!(reason.len() <= 123, "{reason}");
                    let conn = number(&self.ids, conn);
                    got.entry(conn).or_default().push(Got::Close(code.0));
                }
                Output::Event(bridge_core::Event::Left { conn, .. }) => {
                    let conn = number(&self.ids, conn);
                    assert!(self.left.insert(conn), "{conn} left twice");
                    assert!(!self.model.is_open(conn), "{conn} left, but is open");
                }
                Output::Event(_) => {}
            }
        }
        assert!(!matches!(self.hub.poll_timeout(), Some((_, Wake::Output))), "drained, and still output");
        let mut sorted: BTreeMap<Conn, Vec<Out>> = BTreeMap::new();
        for out in expected {
            let (Out::Send(conn, _) | Out::Close(conn, _)) = out;
            sorted.entry(conn).or_default().push(out);
        }
        let mut expected = sorted;
        let conns: Vec<Conn> = got.keys().chain(expected.keys()).copied().collect();
        for conn in conns {
            let (got, expected) =
                (got.remove(&conn).unwrap_or_default(), expected.remove(&conn).unwrap_or_default());
            self.compare_outputs(conn, got, expected);
        }
        for conn in 0..self.ids.len() {
            assert_eq!(self.left.contains(&conn), !self.model.is_open(conn), "whether {conn} has left");
        }
    }

    fn compare_outputs(&mut self, conn: Conn, got: Vec<Got>, mut expected: Vec<Out>) {
        let unexpected =
            |it: &str, expected: &[Out]| format!("to {conn}: {it}; still expected: {expected:?}");
        for got in got {
            let place = expected.iter().position(|out| match (&got, out) {
                (Got::Send(bytes), Out::Send(_, said)) => self.is(bytes, said),
                // A close comes last.
                (Got::Close(code), Out::Close(_, expected_code)) => {
                    code == expected_code && expected.len() == 1
                }
                _ => false,
            });
            match &got {
                Got::Send(bytes) => {
                    let place = place.unwrap_or_else(|| panic!("{}", unexpected(&show(bytes), &expected)));
                    let out = expected.remove(place);
                    if let Out::Send(_, said) = out {
                        self.remember(conn, &said, bytes);
                    }
                    self.ledger.note(Seen::Sent(conn, bytes.clone()));
                }
                Got::Close(code) => {
                    let place = place
                        .unwrap_or_else(|| panic!("{}", unexpected(&format!("close {code}"), &expected)));
                    expected.remove(place);
                    self.ended.insert(conn);
                    self.ledger.note(Seen::Ended(conn, Some(*code)));
                }
            }
        }
        assert!(expected.is_empty(), "to {conn}: missing {expected:?}");
    }

    /// Whether a message says this.
    fn is(&self, bytes: &[u8], said: &Said) -> bool {
        let Ok(object) = Object::read(bytes, usize::MAX) else { panic!("no JSON was sent: {}", show(bytes)) };
        let value: Value = serde_json::from_slice(bytes).unwrap();
        let keys = |names: &[&str]| {
            object.members().len() == names.len()
                && object.members().iter().zip(names).all(|((key, _), name)| *key == format!("\"{name}\""))
        };
        let success = |id: &str| {
            keys(&["id", "success", "result"]) && object.get("id") == Some(id) && value["success"] == true
        };
        match said {
            Said::Pong(id) => success(id) && value["result"] == serde_json::json!({"pong": true}),
            Said::Browsers(id) => success(id) && self.are_the_browsers(&value["result"]["browsers"]),
            Said::Status(id) => success(id) && self.is_the_status(&value["result"]),
            Said::Error { id, code, text, maybe_executed } => {
                let right = if *maybe_executed {
                    keys(&["id", "success", "error", "code", "maybe_executed"])
                        && value["maybe_executed"] == true
                } else {
                    keys(&["id", "success", "error", "code"])
                };
                right
                    && object.get("id") == Some(id)
                    && value["success"] == false
                    && value["code"] == code.as_str()
                    && value["error"].as_str().is_some_and(|it| text.as_ref().is_none_or(|text| it == text))
            }
            Said::Fatal(code, text) => {
                keys(&["type", "error", "code"])
                    && value["type"] == "error"
                    && value["code"] == code.as_str()
                    && value["error"].as_str().is_some_and(|it| text.is_none_or(|text| it == text))
            }
            Said::Challenge => value["type"] == "pair_challenge" && value["alg"] == "HMAC-SHA256",
            Said::Ack => {
                value["type"] == "hello_ack" && value["protocol"] == 2 && value["policy"]["paused"] == false
            }
            Said::Cancel(wire) => {
                keys(&["type", "id"]) && value["type"] == "cancel" && value["id"] == wire.as_str()
            }
            Said::Policy => {
                keys(&["type", "policy"]) && value["type"] == "policy" && value["policy"]["paused"] == false
            }
        }
    }

    fn are_the_browsers(&self, list: &Value) -> bool {
        let mut listed: Vec<(String, bool)> = list
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["browser_id"].as_str().unwrap_or("").to_owned(), it["proven"] == true))
            .collect();
        listed.sort();
        let expected: Vec<_> =
            self.model.browsers_here().map(|(id, _, it)| (id.to_owned(), it.proven)).collect();
        listed == expected
    }

    fn is_the_status(&self, status: &Value) -> bool {
        let joined = |it: &Connection| matches!(it.stage, Stage::Client { .. } | Stage::Extension { .. });
        self.are_the_browsers(&status["browsers"])
            && status["in_flight"] == self.model.calls().count()
            && status["connections"] == self.model.connections().filter(|(_, it)| joined(it)).count()
    }

    /// What a peer needs later: a challenge, a `resume` value, its owner.
    fn remember(&mut self, conn: Conn, said: &Said, bytes: &[u8]) {
        let value: Value = serde_json::from_slice(bytes).unwrap();
        let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
        match said {
            Said::Challenge => {
                if let Some(challenge) = &mut self.challenges[conn] {
                    (challenge.challenge, challenge.proof) = (text("challenge"), text("proof"));
                }
            }
            Said::Ack if value["client_id"].is_string() => {
                self.model.check_owner(conn, &text("client_id"));
                self.resumes.push(text("resume"));
            }
            _ => {}
        }
    }

    /// A request as the host sees it.
    pub(crate) fn compare_request(&mut self, request: &Request<'_>, ask: &Ask) {
        self.model.check_owner(ask.conn, request.owner());
        assert_eq!(request.conn(), self.ids[ask.conn]);
        assert_eq!((request.id(), request.method()), (ask.id.as_str(), ask.method.as_str()));
        assert!(request.params() == ask.params.as_bytes(), "params: {}", show(request.params()));
        assert_eq!((request.browser_id(), request.once()), (ask.browser.as_deref(), ask.once.as_deref()));
        assert_eq!(request.timeout_ms(), ask.timeout_ms);
        assert_eq!((request.role(), request.class(), request.door()), (ask.role, ask.class, ask.door));
        let params = Object::read(ask.params.as_bytes(), usize::MAX).unwrap();
        for (key, raw) in params.members() {
            let found = request.param(key.trim_matches('"'));
            assert!(found == Some(raw.as_bytes()), "the parameter {key}");
        }
        assert_eq!(request.param("no such"), None);
    }

    /// Everything the getters show.
    pub(crate) fn compare_state(&mut self) {
        let shown: Vec<(Conn, Option<Role>, String, [usize; 2])> = self
            .hub
            .connections()
            .map(|it| (number(&self.ids, it.conn), it.role, it.owner.to_owned(), [it.in_flight, it.held]))
            .collect();
        for (conn, role, owner, in_flight) in &shown {
            if matches!(role, Some(Role::Client | Role::Control)) {
                self.model.check_owner(*conn, owner);
            }
            let expected = [self.model.in_flight_of(*conn), self.model.held_of(*conn)];
            assert_eq!(*in_flight, expected, "calls of {conn}, and those held");
        }
        let expected: Vec<(Conn, Option<Role>)> =
            self.model.connections().map(|(conn, it)| (conn, it.role())).collect();
        assert_eq!(shown.iter().map(|(conn, role, ..)| (*conn, *role)).collect::<Vec<_>>(), expected);
        assert_eq!(self.hub.in_flight(), self.model.calls().count());
        let mut browsers: Vec<(String, Conn, bool)> = self
            .hub
            .browsers()
            .map(|it| (it.browser_id.to_owned(), number(&self.ids, it.conn), it.proven))
            .collect();
        browsers.sort();
        let expected: Vec<_> =
            self.model.browsers_here().map(|(id, conn, it)| (id.to_owned(), conn, it.proven)).collect();
        assert_eq!(browsers, expected);
        for (conn, id) in self.ids.iter().enumerate() {
            assert_eq!(self.hub.wants_read(*id), self.model.wants_read(conn), "whether {conn} is read");
            assert_eq!(self.hub.connection(*id).is_some(), self.model.is_open(conn));
        }
        match (self.hub.poll_timeout(), self.model.next_due()) {
            (None, None) => {}
            // A call far ahead is looked at once or twice on the way.
            (Some((at, _)), Some(due)) => assert!(at.as_millis() <= due, "due at {due}, woken at {at:?}"),
            (hub, model) => panic!("next wake-up: the hub says {hub:?}, the model {model:?}"),
        }
    }
}

fn number(ids: &[ConnId], id: ConnId) -> Conn {
    ids.iter().position(|it| *it == id).unwrap_or_else(|| panic!("{id:?} was never opened"))
}
