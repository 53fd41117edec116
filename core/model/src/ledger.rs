//! What was seen at the hub's edges, in order, and the invariants as plain questions about it.
//!
//! The ledger knows nothing of the model: it takes down what went in and what came out, so that an invariant holds or
//! fails by the bytes alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::loose::Loose;
use crate::oracle::Object;

/// A connection, numbered by the test in the order of opening; never used twice.
pub type Conn = usize;

/// One thing seen.
#[derive(Debug, Clone)]
pub enum Seen {
    /// A connection was opened.
    Opened(Conn),
    /// A connection ended: by its peer (`None`) or by the hub, with a code.
    Ended(Conn, Option<u16>),
    /// A client's request went in; with the raw id that its answer must carry (`""` where it had no usable one).
    Asked(Conn, String),
    /// The hub passed a call on to an extension.
    Passed {
        /// Who asked.
        from: Conn,
        /// Who was asked.
        to: Conn,
        /// The client's own params, as bytes; nothing if the host chose others.
        params: Option<Vec<u8>>,
        /// The envelope as it was written.
        envelope: Vec<u8>,
        /// Whether its params are the very bytes of the client's frame, not a copy.
        borrowed: bool,
    },
    /// A frame that looks like an answer went in.
    Answered {
        /// From this connection.
        by: Conn,
        /// With this id, unescaped.
        wire: Option<String>,
        /// What the hub passed on because of it, to whom, and whether as the very bytes of the frame.
        passed: Option<(Conn, Vec<u8>, bool)>,
    },
    /// The hub sent something to a connection.
    Sent(Conn, Vec<u8>),
    /// `shutdown` was called.
    ShutDown,
    /// `handle_timeout` ran, and all output was drained afterwards: the moment, and when the hub wants to be woken next.
    Woken(u64, Option<u64>, bool),
}

/// Everything seen.
#[derive(Debug, Default)]
pub struct Ledger {
    /// In order.
    pub seen: Vec<Seen>,
}

type Verdict = Result<(), String>;

impl Ledger {
    /// Takes something down.
    pub fn note(&mut self, seen: Seen) {
        self.seen.push(seen);
    }

    /// All of them, at the end of a run.
    pub fn check_all(&self) -> Verdict {
        match self.each_request_has_one_answer()? {
            0 => {}
            open => return Err(format!("{open} requests without an answer")),
        }
        self.answers_count_once_and_only_from_the_one_asked()?;
        self.payloads_are_lent_not_copied()?;
        self.time_moves_on()?;
        self.nothing_is_sent_to_the_closed()?;
        self.envelopes_are_the_hubs_own()
    }

    /// Every message that reached a connection, with the place in the ledger.
    fn delivered(&self) -> impl Iterator<Item = (usize, Conn, &[u8])> {
        self.seen.iter().enumerate().filter_map(|(at, seen)| match seen {
            Seen::Sent(to, bytes) => Some((at, *to, bytes.as_slice())),
            Seen::Answered { passed: Some((to, bytes, _)), .. } => Some((at, *to, bytes.as_slice())),
            Seen::Passed { to, envelope, .. } => Some((at, *to, envelope.as_slice())),
            _ => None,
        })
    }

    /// Invariant 1: each request gets exactly one answer or its client is gone; nobody gets an answer to what it did not
    /// ask. Holds at any moment but for calls still in flight, whose number is returned.
    pub fn each_request_has_one_answer(&self) -> Result<usize, String> {
        let mut open: BTreeMap<Conn, Vec<&str>> = BTreeMap::new();
        let mut ending = false;
        for (at, seen) in self.seen.iter().enumerate() {
            match seen {
                Seen::Asked(by, id) => open.entry(*by).or_default().push(id),
                Seen::ShutDown => ending = true,
                Seen::Ended(conn, code) => {
                    let left = open.remove(conn).unwrap_or_default();
                    if ending && code.is_some() && !left.is_empty() {
                        return Err(format!("at {at}: shut down while {left:?} of {conn} waited"));
                    }
                }
                Seen::Sent(to, bytes) | Seen::Answered { passed: Some((to, bytes, _)), .. } => {
                    let Some(id) = answer_id(bytes)? else { continue };
                    let waiting = open.entry(*to).or_default();
                    let place = waiting.iter().position(|it| *it == id);
                    match place {
                        Some(place) => drop(waiting.remove(place)),
                        None => {
                            return Err(format!(
                                "at {at}: {to} got an answer to {id}, which it had not asked"
                            ));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(open.values().map(Vec::len).sum())
    }

    /// Invariant 2: an answer counts only from the connection that was asked, for a live call, once.
    pub fn answers_count_once_and_only_from_the_one_asked(&self) -> Verdict {
        let mut ever = BTreeSet::new();
        let mut live: BTreeMap<String, (Conn, Conn)> = BTreeMap::new();
        for (at, seen) in self.seen.iter().enumerate() {
            match seen {
                Seen::Passed { from, to, envelope, .. } => {
                    let wire = wire_id(envelope)?;
                    if !ever.insert(wire.clone()) {
                        return Err(format!("at {at}: the id {wire} was used before"));
                    }
                    live.insert(wire, (*from, *to));
                }
                Seen::Answered { by, wire, passed } => {
                    let call = wire.as_ref().and_then(|wire| live.get(wire)).filter(|call| call.1 == *by);
                    let Some((to, ..)) = passed else { continue };
                    if call.is_none_or(|call| call.0 != *to) {
                        return Err(format!(
                            "at {at}: {by} answered {wire:?} and {to} got it; asked: {call:?}"
                        ));
                    }
                    // Once.
                    live.retain(|live, _| Some(live) != wire.as_ref());
                }
                Seen::Ended(conn, _) => live.retain(|_, call| call.0 != *conn && call.1 != *conn),
                _ => {}
            }
        }
        Ok(())
    }

    /// Invariant 3: what is passed on is the bytes that came in, lent and not copied.
    pub fn payloads_are_lent_not_copied(&self) -> Verdict {
        self.seen.iter().enumerate().try_for_each(|(at, seen)| match seen {
            Seen::Passed { borrowed: false, .. } | Seen::Answered { passed: Some((_, _, false)), .. } => {
                Err(format!("at {at}: a payload was copied"))
            }
            _ => Ok(()),
        })
    }

    /// Invariant 5, first half: after `handle_timeout(t)` the next wake-up is later than `t`, or output is queued.
    pub fn time_moves_on(&self) -> Verdict {
        self.seen.iter().enumerate().try_for_each(|(at, seen)| match seen {
            Seen::Woken(now, Some(next), queued) if !queued && next <= now => {
                Err(format!("at {at}: woken at {now}, it wants to be woken at {next}"))
            }
            _ => Ok(()),
        })
    }

    /// Invariant 5, second half: nothing is sent to a connection that is not open.
    pub fn nothing_is_sent_to_the_closed(&self) -> Verdict {
        let mut open = BTreeSet::new();
        let mut delivered = self.delivered().peekable();
        for (at, seen) in self.seen.iter().enumerate() {
            match seen {
                Seen::Opened(conn) => drop(open.insert(*conn)),
                Seen::Ended(conn, _) if !open.remove(conn) => {
                    return Err(format!("at {at}: {conn} ended twice"));
                }
                _ => {}
            }
            while let Some((_, to, _)) = delivered.next_if(|it| it.0 == at) {
                if !open.contains(&to) {
                    return Err(format!("at {at}: something was sent to {to}, which is closed"));
                }
            }
        }
        Ok(())
    }

    /// Invariant 6: what reaches an extension is the hub's own envelope: every member once and known, and of the
    /// client's only method, params and `once`.
    pub fn envelopes_are_the_hubs_own(&self) -> Verdict {
        let mut owners: BTreeMap<Conn, String> = BTreeMap::new();
        for (at, seen) in self.seen.iter().enumerate() {
            let Seen::Passed { from, params, envelope, .. } = seen else { continue };
            let object = Object::read(envelope, usize::MAX).map_err(|why| format!("at {at}: {why:?}"))?;
            let known = ["id", "method", "params", "client_id", "class", "timeout_ms", "once"];
            for (key, _) in object.members() {
                if !known.iter().any(|name| *key == format!("\"{name}\"")) {
                    return Err(format!("at {at}: an envelope with {key}"));
                }
            }
            for name in known {
                let count = object.count(name);
                if count > 1 || (count == 0 && name != "once") {
                    return Err(format!("at {at}: an envelope with {count} {name}"));
                }
            }
            if let Some(params) = params
                && object.get("params").map(str::as_bytes) != Some(params)
            {
                return Err(format!("at {at}: other params than the client's"));
            }
            let owner = object.get("client_id").unwrap_or_default().to_owned();
            let known = owners.entry(*from).or_insert_with(|| owner.clone());
            if *known != owner {
                return Err(format!("at {at}: {from} was {known}, now {owner}"));
            }
        }
        Ok(())
    }
}

/// The raw id of a message that is an answer. A browser's answer is passed on unread, so it need not be JSON.
fn answer_id(bytes: &[u8]) -> Result<Option<&str>, String> {
    let object = Loose::read(bytes, u16::MAX);
    if object.get("success").is_none() && object.whole {
        return Ok(None);
    }
    let id = object
        .get("id")
        .ok_or_else(|| format!("an answer without id: {}", String::from_utf8_lossy(bytes)))?;
    std::str::from_utf8(id).map(Some).map_err(|_| "an id that is no text".to_owned())
}

/// The hub's own id in an envelope.
pub fn wire_id(envelope: &[u8]) -> Result<String, String> {
    let object = Object::read(envelope, usize::MAX).map_err(|why| format!("{why:?}"))?;
    object.get("id").and_then(crate::oracle::unquote).ok_or_else(|| "an envelope without id".to_owned())
}
