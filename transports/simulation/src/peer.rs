//! One peer: a connection, what it heard and said, and what it is owed.

use crate::framing::{Came, Framing};
use crate::host::SimHost;
use crate::nature::Nature;
use crate::time::{SimClock, Time};
use crate::wire::{Far, Found};
use bridge_driver::Local;
use bridge_model::loose::Loose;
use bridge_model::proof::{Transcript, decode};
use bridge_model::render;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a peer is connected by.
pub(crate) enum Wire {
    /// A link.
    Link(Far, Framing),
    /// A mailbox.
    Local(Local<SimHost, SimClock>),
    /// Nothing any more.
    Gone,
}

/// See the module.
pub(crate) struct Peer {
    /// Its number among all that ever came; part of everything it asks for.
    pub(crate) number: usize,
    /// Its number among those that the hub took in.
    pub(crate) conn: Option<usize>,
    /// What it is.
    pub(crate) nature: Nature,
    /// By what it is connected.
    pub(crate) wire: Wire,
    /// The task that serves it.
    pub(crate) task: Option<usize>,
    /// Nothing bad was ever done to it or by it.
    pub(crate) blameless: bool,
    /// It has said hello, and proved itself if it must.
    pub(crate) ready: bool,
    /// What it heard, in order.
    pub(crate) heard: Vec<Vec<u8>>,
    /// How many messages it said.
    pub(crate) said: usize,
    /// The connection ended from the other side.
    pub(crate) ended: bool,
    /// It went without a word.
    pub(crate) vanished: bool,
    /// Why, if that was said.
    pub(crate) why: String,
    /// Asked and not answered: by id, the number of the request and when its time is over at the latest.
    pub(crate) pending: BTreeMap<String, (u64, u64)>,
    /// Calls that it has not answered.
    pub(crate) asked: Vec<Asked>,
    /// When it leaves.
    pub(crate) leaves: u64,
    /// How long after its deadline an answer may come: timers fire late, the wheel has its ticks, links are slow.
    pub(crate) grace_ms: u64,
    pub(crate) nonce: [u8; 32],
    pub(crate) requests: u64,
    pub(crate) time: Rc<Time>,
}

/// A call as an extension sees it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The hub's id.
    pub(crate) wire: String,
    /// The client's own mark, to be sent back.
    pub(crate) mark: Option<String>,
}

impl Peer {
    /// A peer that has just connected.
    pub(crate) fn new(
        time: &Rc<Time>,
        number: usize,
        nature: Nature,
        wire: Wire,
        task: Option<usize>,
    ) -> Self {
        Self {
            number,
            conn: None,
            blameless: nature.honest,
            leaves: time.now().saturating_add(nature.life_ms),
            nature,
            wire,
            task,
            ready: false,
            heard: Vec::new(),
            said: 0,
            ended: false,
            vanished: false,
            why: String::new(),
            pending: BTreeMap::new(),
            asked: Vec::new(),
            grace_ms: 0,
            nonce: time.chance.key(),
            requests: 0,
            time: time.clone(),
        }
    }

    /// Whether it is connected, as far as it knows.
    pub(crate) fn is_here(&self) -> bool {
        !matches!(self.wire, Wire::Gone) && !self.ended
    }

    /// Says one message.
    pub(crate) fn say(&mut self, message: &[u8]) {
        if !self.is_here() {
            return;
        }
        self.said += 1;
        match &self.wire {
            Wire::Link(far, framing) => far.send(&framing.encode(message, &self.time.chance)),
            Wire::Local(local) => local.send(message),
            Wire::Gone => {}
        }
    }

    /// Reads all that has come.
    pub(crate) fn listen(&mut self) {
        loop {
            let came = match &mut self.wire {
                Wire::Gone => return,
                Wire::Local(local) => match local.try_recv() {
                    Some(message) => vec![Came::Message(message)],
                    None => {
                        self.ended |= local.closed().is_some();
                        return;
                    }
                },
                Wire::Link(far, framing) => match far.read() {
                    Found::Bytes(bytes) if bytes.is_empty() => return,
                    Found::Bytes(bytes) => framing.decode(&bytes),
                    Found::End => {
                        self.ended = true;
                        far.end();
                        return;
                    }
                    Found::Broken => {
                        self.ended = true;
                        return;
                    }
                },
            };
            for came in came {
                match came {
                    Came::Message(message) => self.hear(message),
                    Came::Ping(payload) => {
                        if let Wire::Link(far, _) = &self.wire {
                            far.send(&Framing::pong(&payload, &self.time.chance));
                        }
                    }
                    Came::Close(why) => {
                        self.ended = true;
                        self.why = why;
                        if let Wire::Link(far, _) = &self.wire {
                            far.end();
                        }
                    }
                }
            }
        }
    }

    fn hear(&mut self, message: Vec<u8>) {
        let text = String::from_utf8_lossy(&message);
        if text.contains("\"pair_challenge\"") {
            self.prove(&text);
        } else if text.contains("\"hello_ack\"") {
            self.ready = true;
        } else if self.nature.is_extension() && text.contains("\"method\":") {
            let wire = between(&text, "{\"id\":\"", "\"").expect("a call without id").to_owned();
            let mark = between(&text, "{\"who\":", "}").map(str::to_owned);
            self.asked.push(Asked { wire, mark });
        } else if text.contains("\"success\"") && !self.nature.is_extension() {
            self.answered(&text);
        }
        self.heard.push(message);
    }

    /// The second half of a proof.
    fn prove(&mut self, text: &str) {
        let challenge = between(text, "\"challenge\":\"", "\"").unwrap_or("").to_owned();
        let (Some(hello), Some(nonce_s)) = (self.nature.hello, decode(&challenge)) else { return };
        let opening = self.nature.opening;
        let transcript = Transcript {
            role: render::role(hello.role),
            key_id: render::KEY_ID,
            browser_id: render::browser(hello.browser).unwrap_or(""),
            nonce_c: self.nonce,
            nonce_s,
            address: opening.address,
            origin: opening.origin.unwrap_or(""),
        };
        let mut signature = transcript.of_peer(&[7; 32]);
        if !self.nature.honest && self.time.chance.one_in(4) {
            signature.make_ascii_uppercase();
        }
        self.say(&render::confirm(&challenge, &signature));
    }

    /// An answer must be to something asked, and hold this client's own mark.
    fn answered(&mut self, text: &str) {
        let mark = between(text, "\"echo\":{\"who\":", "}");
        if let Some(mark) = mark {
            let who = mark.split(',').next();
            assert_eq!(who, Some(&*self.number.to_string()), "another one's answer came to {}", self.number);
        }
        if !self.nature.honest {
            return;
        }
        // A browser's answer is passed on as it was written, so the id may stand anywhere in it.
        let id = Loose::read(text.as_bytes(), u16::MAX).inside("id").map_or("", |span| &text[span]);
        let now = self.time.now();
        let Some((nth, due)) = self.pending.remove(id) else {
            panic!("{} was answered what it did not ask: {text}", self.number);
        };
        if let Some(mark) = mark {
            assert!(mark.ends_with(&format!("\"n\":{nth}")), "{} asked {nth} and got {text}", self.number);
        }
        assert!(
            !self.blameless || now <= due,
            "{} got its answer at {now}, due at {due}: {text}",
            self.number
        );
    }
}

/// What stands between two texts.
fn between<'t>(text: &'t str, before: &str, behind: &str) -> Option<&'t str> {
    let from = text.find(before)? + before.len();
    text[from..].split(behind).next()
}
