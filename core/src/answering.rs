//! What extensions say: answers to the hub's calls, and the few frames of their own.

use core::ops::Range;

use crate::browsers::BrowserRef;
use crate::client_frame::{Said, Wrong, read};
use crate::code::Fault;
use crate::connection::{Connection, Stage};
use crate::forward::Forward;
use crate::hub::{Hub, Inspected};
use crate::ids::{WIRE_ID, read_wire_id};
use crate::outbox::Insert;
use crate::output::Event;
use crate::peer::Keyring;
use crate::pending::{CallState, Outcome, Pending};
use crate::request::{Notice, NoticeKind};
use crate::scan::{Grammar, Loose, prefix, whole};
use crate::slots::{ConnId, Slots};

/// What the first level of an extension's frame holds.
#[derive(Default)]
struct Fields<'f> {
    /// Where the inside of the id stands.
    id: Option<Range<usize>>,
    method: bool,
    kind: Option<&'f [u8]>,
    success: Option<&'f [u8]>,
    result: bool,
    error: bool,
}

impl<'f> Fields<'f> {
    /// Reads as far as the frame makes sense: what was read before a fault is kept.
    fn read(&mut self, frame: &'f [u8], depth: u16) -> Result<(), Fault> {
        whole::<Loose>(frame, depth, |key, cursor| {
            let start = cursor.at();
            Loose::value(cursor, 1)?;
            let raw = cursor.since(start);
            let text = || raw.strip_prefix(b"\"")?.strip_suffix(b"\"");
            match key {
                b"id" => {
                    self.id = text().map(|inside| {
                        let from = start.saturating_add(1);
                        from..from.saturating_add(inside.len())
                    });
                }
                b"method" => self.method = true,
                b"type" => self.kind = text(),
                b"success" => self.success = Some(raw),
                // Old libraries write the absent one as null.
                b"result" => self.result = raw != b"null",
                b"error" => self.error = raw != b"null",
                _ => {}
            }
            Ok(())
        })
    }

    fn is_valid_answer(&self) -> bool {
        match self.success {
            Some(b"true") => !self.error,
            Some(b"false") => !self.result,
            _ => false,
        }
    }
}

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    pub(crate) fn extension_frame<'f>(
        &mut self,
        conn: ConnId,
        at: BrowserRef,
        frame: &'f [u8],
    ) -> Inspected<'f> {
        let limits = &self.config.limits;
        if frame.len() > limits.extension_bytes {
            return self.wrong(conn, Wrong::frame(Fault::TooLarge));
        }
        let Some(browser) = self.browsers.get(at) else { return Inspected::Stale };
        let (proven, protocol) = (browser.proven, browser.protocol);
        if proven
            && frame.len() >= limits.prefix_bytes
            && let Some(id) = prefix(frame, WIRE_ID)
        {
            return self.answered(conn, at, frame, id, true);
        }
        let mut fields = Fields::default();
        if let Err(fault) = fields.read(frame, limits.depth) {
            // Whoever waits for this answer need not wait for its deadline.
            if let (Some(id), false) = (fields.id, fields.method) {
                let _ = self.answered(conn, at, frame, id, false);
            }
            return self.wrong(conn, Wrong::frame(fault));
        }
        if fields.method {
            return self.extension_request(conn, frame);
        }
        let valid = fields.is_valid_answer();
        match (fields.kind, fields.id) {
            (None, Some(id)) => self.answered(conn, at, frame, id, valid),
            (_, Some(id)) if fields.success.is_some() => self.answered(conn, at, frame, id, valid),
            (Some(b"policy_set"), _) if proven && protocol == 2 => {
                Inspected::Notice(Notice { conn, kind: NoticeKind::PolicySet, frame })
            }
            (Some(b"event"), _) if proven && protocol == 2 => {
                Inspected::Notice(Notice { conn, kind: NoticeKind::Event, frame })
            }
            (Some(b"hello" | b"pair_confirm"), _) => self.wrong(conn, Wrong::frame(Fault::AlreadyRegistered)),
            (Some(_), _) => self.wrong(conn, UNKNOWN_METHOD),
            (None, None) => self.wrong(conn, Wrong::frame(Fault::NotJson)),
        }
    }

    /// An extension may ask for `ping` and nothing else.
    fn extension_request<'f>(&mut self, conn: ConnId, frame: &'f [u8]) -> Inspected<'f> {
        match read(frame, &self.config.limits) {
            Ok(Said::Request(asked)) if asked.method == "ping" => {
                let letter =
                    self.outbox.result(conn, asked.id.as_bytes(), b"{\"pong\":true}", Insert::Nothing);
                self.outbox.queue(letter);
                Inspected::Absorbed
            }
            Ok(Said::Request(asked)) => self.wrong(conn, Wrong { id: asked.id, ..UNKNOWN_METHOD }),
            Ok(Said::Cancel(_)) => self.wrong(conn, UNKNOWN_METHOD),
            Err(wrong) => self.wrong(conn, wrong),
        }
    }

    /// An answer with the hub's id at `id`: counts once, from the connection that was asked, for a live call.
    fn answered<'f>(
        &mut self,
        conn: ConnId,
        at: BrowserRef,
        frame: &'f [u8],
        id: Range<usize>,
        valid: bool,
    ) -> Inspected<'f> {
        let wire = frame.get(id.clone()).and_then(|text| read_wire_id(text, self.salt));
        let found = wire.and_then(|name| {
            let call: &Pending = self.calls.at(name.slot)?;
            let counts =
                call.generation == name.generation && call.asked == conn && call.state == CallState::Sent;
            counts.then_some((name, call))
        });
        let Some((name, call)) = found else {
            self.counters.stray = self.counters.stray.saturating_add(1);
            if self.browsers.stray(at, self.latest) {
                self.tell(Event::StrayAnswers { conn });
            }
            return Inspected::Refused(Fault::Stray);
        };
        if !valid {
            self.counters.invalid_answers = self.counters.invalid_answers.saturating_add(1);
            self.end_call(name.slot, Outcome::InvalidResponse);
            return Inspected::Refused(Fault::InvalidResponse);
        }
        let asker = call.asker;
        let lead = frame.get(..id.start).unwrap_or_default();
        let rest = frame.get(id.end..).unwrap_or_default();
        let forward = Forward::build(asker, Some(name), [lead, rest, b""], |w| {
            w.put(call.id());
            (w.len(), w.len())
        });
        let heard = self.conns.open(asker).is_some_and(|it| matches!(it.stage, Stage::Client(_)));
        self.drop_call(name.slot);
        if !heard {
            return Inspected::Absorbed;
        }
        self.counters.answers = self.counters.answers.saturating_add(1);
        Inspected::Forward(forward)
    }
}

const UNKNOWN_METHOD: Wrong<'static> = Wrong { id: "", fault: Fault::UnknownMethod, text: "unknown method" };
