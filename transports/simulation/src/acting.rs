//! What peers do of themselves: ask, answer, lie, break, and leave.

use crate::framing::Framing;
use crate::nature::Door;
use crate::peer::{Asked, Peer, Wire};
use arbitrary::{Arbitrary, Unstructured};
use bridge_model::op::{self, Form, Shows, Word};
use bridge_model::render;
use std::fmt::Write;

/// What all extensions of a run were asked, for those who want to answer for others.
pub(crate) type Wires = Vec<String>;

impl Peer {
    /// The first thing it does.
    pub(crate) fn greet(&mut self) {
        let Some(hello) = self.nature.hello else {
            self.ready = true;
            return self.ask();
        };
        let proves = hello.shows == Shows::Key && self.nature.door == Door::WebSocket;
        self.ready = !hello.two || !self.nature.honest && !proves;
        let resume = format!("{}", self.number);
        let frame = render::hello(&hello, &self.nonce, Some(&resume));
        self.say(&frame);
    }

    /// One more thing, and when the next one is due. `calm`: nothing new is begun any more.
    pub(crate) fn act(&mut self, calm: bool, wires: &mut Wires, limits: &bridge_core::Limits) -> u64 {
        self.listen();
        if !self.is_here() {
            return u64::MAX;
        }
        let time = self.time.clone();
        let chance = &time.chance;
        if calm {
            if self.nature.is_extension() {
                while let Some(asked) = self.asked.pop() {
                    self.answer(&asked, 20);
                }
            }
            return 150;
        }
        if time.now() >= self.leaves && self.nature.honest {
            self.leave();
            return u64::MAX;
        }
        if !self.ready {
            if !self.nature.honest && chance.one_in(6) {
                self.misbehave(wires, limits);
            }
            return chance.between(5, 50);
        }
        if self.nature.greedy {
            return self.devour();
        }
        match (self.nature.is_extension(), self.nature.honest) {
            (true, true) => self.serve(wires),
            (false, true) => self.request(),
            (true, false) if chance.one_in(2) => self.serve(wires),
            (false, false) if chance.one_in(2) => self.request(),
            _ => self.misbehave(wires, limits),
        }
        chance.pick(&[0, 1, 2, 5, 20, 100, 400])
    }

    fn request(&mut self) {
        let time = self.time.clone();
        let chance = &time.chance;
        match chance.below(24) {
            0 => self.say_and_expect("hub", r#"{"id":"hub","method":"ping"}"#, 30_000),
            1 => self.say_and_expect("hub", r#"{"id":"hub","method":"list_browsers"}"#, 30_000),
            2 if !self.pending.is_empty() => {
                let nth = chance.index(self.pending.len());
                let id = self.pending.keys().nth(nth).cloned().unwrap_or_default();
                self.say(format!("{{\"type\":\"cancel\",\"id\":\"{id}\"}}").as_bytes());
            }
            3 if chance.one_in(20) => (0..chance.between(50, 150)).for_each(|_| self.ask()),
            _ => self.ask(),
        }
    }

    /// It asks for many things at once and leaves what comes lying for a while.
    fn devour(&mut self) -> u64 {
        let time = self.time.clone();
        let chance = &time.chance;
        if let (Wire::Link(far, _), true) = (&self.wire, chance.one_in(3)) {
            far.stall(true, false, time.now() + chance.pick(&[200, 2_000, 8_000]));
        }
        for _ in 0..chance.between(1, 40) {
            self.requests += 1;
            let (who, n) = (self.number, self.requests);
            self.say(
                format!(r#"{{"id":"{n}","method":"click","params":{{"mark":{{"who":{who},"n":{n}}}}}}}"#)
                    .as_bytes(),
            );
        }
        // It thinks better of some of it, wherever that waits.
        if chance.one_in(3) {
            let from = self.requests.saturating_sub(40);
            (from..self.requests)
                .step_by(2)
                .for_each(|n| self.say(format!(r#"{{"type":"cancel","id":"{n}"}}"#).as_bytes()));
        }
        chance.pick(&[20, 100, 400])
    }

    /// An ordinary request with this client's mark in it.
    pub(crate) fn ask(&mut self) {
        let time = self.time.clone();
        let chance = &time.chance;
        if self.pending.len() >= 200 {
            return;
        }
        // The same ids at every client.
        let mut id = String::from(chance.pick(&["a", "b", "c", "7", "é"]));
        while self.pending.contains_key(&id) {
            let _ = write!(id, "{}", chance.below(10));
        }
        let timeout = chance.pick(&[10, 300, 2_000, 30_000, 30_000]);
        self.requests += 1;
        let (who, n) = (self.number, self.requests);
        let mut text =
            format!(r#"{{"id":"{id}","method":"click","params":{{"mark":{{"who":{who},"n":{n}}}}}"#);
        if timeout != 30_000 {
            let _ = write!(text, r#","timeout_ms":{timeout}"#);
        }
        text.push('}');
        self.say_and_expect(&id, &text, timeout);
    }

    fn say_and_expect(&mut self, id: &str, text: &str, timeout: u64) {
        if self.nature.honest {
            if self.pending.contains_key(id) {
                return;
            }
            self.pending.insert(id.to_owned(), (self.requests, self.time.now() + timeout + self.grace_ms));
        }
        self.say(text.as_bytes());
    }

    /// An extension does its work: some of what it was asked, in any order.
    fn serve(&mut self, wires: &mut Wires) {
        let time = self.time.clone();
        for _ in 0..time.chance.below(4) {
            if self.asked.is_empty() {
                return;
            }
            let nth = time.chance.index(self.asked.len());
            let asked = self.asked.swap_remove(nth);
            if wires.len() < 64 {
                wires.push(asked.wire.clone());
            } else {
                let place = time.chance.index(64);
                wires[place].clone_from(&asked.wire);
            }
            let pad = time.chance.pick(&[0, 0, 10, 200, 1_500, 6_000, 20_000]);
            self.answer(&asked, pad);
        }
    }

    fn answer(&mut self, asked: &Asked, pad: usize) {
        let echo = asked.mark.as_ref().map_or(String::new(), |mark| format!("\"echo\":{{\"who\":{mark}}},"));
        let pad = "x".repeat(pad);
        let wire = &asked.wire;
        self.say(format!(r#"{{"id":"{wire}","success":true,"result":{{{echo}"pad":"{pad}"}}}}"#).as_bytes());
    }

    /// It ends its connection in one of the ways that the protocol has.
    pub(crate) fn leave(&mut self) {
        if let Wire::Link(far, framing) = &self.wire {
            far.send(&framing.goodbye(&self.time.chance));
            far.leave();
        }
        self.wire = Wire::Gone;
    }

    /// Everything that honest peers on good links do not do.
    fn misbehave(&mut self, wires: &Wires, limits: &bridge_core::Limits) {
        self.blameless = false;
        let time = self.time.clone();
        let chance = &time.chance;
        let bytes = chance.bytes(48);
        let mut u = Unstructured::new(&bytes);
        match chance.below(16) {
            0 | 1 => {
                let until = time.now() + chance.pick(&[10, 200, 3_000, 11_000, 40_000]);
                if let Wire::Link(far, _) = &self.wire {
                    far.stall(chance.one_in(2), chance.one_in(2), until);
                }
            }
            2 if chance.one_in(4) => {
                if let Wire::Link(far, _) = &self.wire {
                    far.cut();
                }
                self.wire = Wire::Gone;
            }
            3 if chance.one_in(4) => self.leave(),
            4 if self.nature.door == Door::WebSocket && chance.one_in(4) => {
                // Gone without a word: the driver has to find out.
                if let Wire::Link(far, _) = &self.wire {
                    far.vanish();
                }
                self.vanished = true;
                self.ended = true;
            }
            5 if self.nature.door == Door::Unix && chance.one_in(4) => {
                if let Wire::Link(far, _) = &self.wire {
                    far.end();
                }
            }
            6 if chance.one_in(3) => self.garbage(),
            7 | 8 => self.say(&render::nasty(chance.next() as u8, limits)),
            9 | 10 => {
                if let Ok(ask) = op::Ask::arbitrary(&mut u) {
                    self.say(&render::ask(&ask, limits));
                }
            }
            11 if !wires.is_empty() => {
                // In another one's name, or late, or twice.
                let wire = &wires[chance.index(wires.len())];
                self.say(format!(r#"{{"id":"{wire}","success":true,"result":"stolen"}}"#).as_bytes());
            }
            12 | 13 if !self.asked.is_empty() => {
                let nth = chance.index(self.asked.len());
                let wire = self.asked.swap_remove(nth).wire;
                let form = Form::arbitrary(&mut u).unwrap_or(Form::Broken);
                self.say(&render::answer(form, &wire, limits));
            }
            14 => {
                if let Ok(word) = Word::arbitrary(&mut u) {
                    self.say(&render::word(word));
                }
            }
            15 if chance.one_in(8) => {
                let over = chance.pick(&[limits.hello_bytes, limits.client_bytes, limits.extension_bytes]);
                let data = "y".repeat(over.saturating_sub(40) + chance.index(60));
                self.say(format!(r#"{{"id":"big","method":"m","params":{{"x":"{data}"}}}}"#).as_bytes());
            }
            _ => {}
        }
    }

    /// Bytes that are no message.
    fn garbage(&mut self) {
        let chance = &self.time.chance;
        if let Wire::Link(far, framing) = &self.wire {
            let bytes = match framing {
                Framing::Lines(_) => b"{\"id\":\"half a line".to_vec(),
                Framing::Frames(..) => chance.bytes(1 + chance.index(40)),
            };
            far.send(&bytes);
        }
    }
}
