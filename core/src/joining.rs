//! From the first frame to a role: hello, proof, takeover.

use crate::admit::{Admission, Denial, Vouched, admit};
use crate::browsers::About;
use crate::code::{CloseCode, Code, Fault};
use crate::connection::{Client, ConnList, Connection, Lost, Stage};
use crate::hello::{First, Hello, Said, confirm, first};
use crate::hub::{Hub, Inspected};
use crate::output::Event;
use crate::peer::{Class, Door, Keyring, Owner, Role, Trust};
use crate::pending::Pending;
use crate::proof::{Bytes32, Resume, Transcript};
use crate::slots::{ConnId, Slots};
use crate::text::{Name, Writer};

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    /// The first frame of a connection: a hello, or on the Unix socket also a request.
    pub(crate) fn first_frame<'f>(&mut self, conn: ConnId, frame: &'f [u8]) -> Inspected<'f> {
        let trusted = self.needs_no_proof(conn);
        let limit = if trusted { self.config.limits.client_bytes } else { self.config.limits.hello_bytes };
        if frame.len() > limit {
            let denial = Denial { close: CloseCode::TOO_BIG, ..Denial::hello("invalid hello: too large") };
            return self.deny(conn, denial);
        }
        let Ok(text) = core::str::from_utf8(frame) else {
            return self.deny(conn, Denial::hello("invalid hello: not UTF-8"));
        };
        match first(text, self.config.limits.depth) {
            Ok(First::Hello(said)) => self.hello(conn, &said),
            Ok(First::Request) if trusted => {
                let hello = Hello {
                    role: Role::Client,
                    protocol: 1,
                    class: Class::Person,
                    who: Name::new(),
                    about: About::default(),
                };
                match self.join(conn, hello, false) {
                    Ok(()) => self.client_frame(conn, frame),
                    Err(denial) => self.deny(conn, denial),
                }
            }
            Ok(First::Request) => self.deny(conn, Denial::hello("expected hello message")),
            Err(why) => self.deny(conn, Denial::hello(why.0)),
        }
    }

    fn hello<'f>(&mut self, conn: ConnId, said: &Said<'_>) -> Inspected<'f> {
        let Some(connection) = self.conns.open(conn) else { return Inspected::Stale };
        let Stage::Greeting(greeting) = &connection.stage else { return Inspected::Stale };
        let peer = Vouched {
            door: connection.door,
            trust: connection.trust,
            origin: &greeting.origin,
            approved: greeting.approved,
        };
        let admission = match admit(self.config.compat, peer, said, &self.keyring) {
            Ok(admission) => admission,
            Err(denial) => return self.deny(conn, denial),
        };
        let hello = match self.meaning(said, connection.door, connection.trust) {
            Ok(hello) => hello,
            Err(denial) => return self.deny(conn, denial),
        };
        let (key, nonce) = match admission {
            Admission::Welcome { proven } => {
                return match self.join(conn, hello, proven) {
                    Ok(()) => Inspected::Absorbed,
                    Err(denial) => self.deny(conn, denial),
                };
            }
            Admission::Prove { key, nonce } => (key, nonce),
        };
        let transcript = Transcript {
            role: said.role,
            key_id: &said.about.key_id,
            browser_id: &said.browser_id,
            client_nonce: &nonce,
            server_nonce: &self.random.next(),
            address: &greeting.address,
            origin: &greeting.origin,
        };
        let (proof, challenge) = transcript.challenge(&key, hello);
        let letter = self.outbox.challenge(conn, &challenge.nonce, &proof);
        if self.seen_before(&nonce) {
            return self.deny(conn, Denial::hello("invalid hello: nonce"));
        }
        self.outbox.queue(letter);
        self.leave_stage(conn);
        let due = self.latest.saturating_add_ms(self.config.deadlines.proof_ms);
        if let Some(connection) = self.conns.open_mut(conn) {
            connection.due = due;
            connection.stage = Stage::Proving(challenge);
            let pool = connection.pool();
            if let (Some(list), Some(count)) =
                (self.lists.proving.get_mut(pool), self.lists.waiting.get_mut(pool))
            {
                self.conns.push_back(list, ConnList::Stage, conn.slot);
                *count = count.saturating_add(1);
            }
        }
        Inspected::Absorbed
    }

    /// What a hello that may come in comes in as.
    fn meaning(&self, said: &Said<'_>, door: Door, trust: Trust) -> Result<Hello, Denial> {
        let class = match (said.protocol, said.role) {
            (1, _) | (_, Role::Control) => Class::Person,
            _ if said.person && trust == Trust::Owner && door != Door::Mcp => Class::Person,
            _ => Class::Agent,
        };
        let who = if said.role == Role::Extension {
            said.browser_id.clone()
        } else if said.protocol == 1 {
            // As v1 has it, unless it could be taken for an id of ours.
            said.client_id.clone().flatten().filter(|it| !is_reserved(it)).unwrap_or_default()
        } else if let Some(named) =
            said.client_id.as_ref().filter(|_| door.in_process() && trust == Trust::Owner)
        {
            let named = named.clone().filter(|it| is_reserved(it));
            named.ok_or(Denial::hello(
                "invalid hello: client_id of a caller inside the process must begin with c-",
            ))?
        } else {
            said.resume
                .and_then(|it| self.resume.owner(it))
                .and_then(|it| Owner::try_from(it).ok())
                .unwrap_or_default()
        };
        Ok(Hello { role: said.role, protocol: said.protocol, class, who, about: said.about.clone() })
    }

    /// What signs `resume` values is another key from now on: those given out before count no more.
    pub fn renew_resume(&mut self, key: Bytes32) {
        self.resume = Resume::new(key);
    }

    /// The second frame of a challenged connection.
    pub(crate) fn proof_frame<'f>(&mut self, conn: ConnId, frame: &'f [u8]) -> Inspected<'f> {
        let Some(Connection { stage: Stage::Proving(challenge), .. }) = self.conns.open(conn) else {
            return Inspected::Stale;
        };
        let (most, depth) = (self.config.limits.hello_bytes, self.config.limits.depth);
        let confirmed = frame.len() <= most
            && core::str::from_utf8(frame)
                .ok()
                .and_then(|text| confirm(text, depth))
                .is_some_and(|(nonce, signature)| challenge.accepts(nonce, signature));
        if !confirmed {
            return self.deny(conn, Denial::AUTH_FAILED);
        }
        let hello = challenge.hello.clone();
        // The key may have been revoked since the challenge.
        let browser = if hello.role == Role::Extension { &*hello.who } else { "" };
        if self.keyring.key_of(hello.role, &hello.about.key_id, browser).is_none() {
            return self.deny(conn, Denial::AUTH_FAILED);
        }
        match self.join(conn, hello, true) {
            Ok(()) => Inspected::Absorbed,
            Err(denial) => self.deny(conn, denial),
        }
    }

    /// Gives a connection its role.
    fn join(&mut self, conn: ConnId, hello: Hello, proven: bool) -> Result<(), Denial> {
        let now = self.latest;
        if self.joined >= self.config.limits.connections {
            return Err(Denial::TOO_MANY);
        }
        let Hello { role, protocol, class, who, about } = hello;
        let stage = if role == Role::Extension {
            let rule = (self.config.deadlines.takeover_window_ms, self.config.limits.takeovers);
            let place = self.browsers.admit(&who, proven, now, rule).map_err(|why| why.denial())?;
            let seat = self.browsers.seat(place, &who, conn, about, (proven, protocol), now);
            let (at, old) = seat.ok_or(Denial::TOO_MANY)?;
            if let Some(old) = old {
                self.counters.takeovers = self.counters.takeovers.saturating_add(1);
                let why = Some((CloseCode::REPLACED, "replaced by a new connection"));
                self.begin_close(old, why, Lost::Replaced);
                self.tell(Event::Replaced { old, new: conn });
            }
            if protocol == 2 {
                let letter = self.outbox.ack(conn, role, &who, None, &self.config);
                self.outbox.queue(letter);
            }
            Stage::Extension(at)
        } else {
            let owner = if who.is_empty() { self.fresh_owner() } else { who };
            if protocol == 2 {
                let resume = self.resume.text(&owner);
                let letter = self.outbox.ack(conn, role, &owner, Some(&resume), &self.config);
                self.outbox.queue(letter);
            }
            let control = role == Role::Control;
            Stage::Client(Client { owner, name: about.name, class, control, protocol, browser: None })
        };
        if protocol == 1 {
            self.counters.legacy = self.counters.legacy.saturating_add(1);
        }
        self.leave_stage(conn);
        if let Some(connection) = self.conns.open_mut(conn) {
            connection.stage = stage;
            self.joined = self.joined.saturating_add(1);
        }
        self.tell(Event::Joined { conn, role, protocol });
        Ok(())
    }

    /// Sends the error and closes.
    pub(crate) fn deny<'f>(&mut self, conn: ConnId, denial: Denial) -> Inspected<'f> {
        let fault = if denial.code == Code::AuthFailed {
            self.counters.auth_failed = self.counters.auth_failed.saturating_add(1);
            self.tell(Event::AuthFailed { conn });
            Fault::AuthFailed
        } else {
            Fault::Hello
        };
        if let Some((door, trust)) = self.conns.open(conn).map(|it| (it.door, it.trust)) {
            self.tell(Event::Denied { conn, door, trust, code: denial.code });
        }
        let letter = self.outbox.hello_error(conn, denial.text, denial.code);
        self.outbox.queue(letter);
        self.begin_close(conn, Some((denial.close, denial.text)), Lost::Disconnected);
        Inspected::Refused(fault)
    }

    /// An owner that nobody else has or can guess: `c<n>-<8 random characters>`.
    fn fresh_owner(&mut self) -> Owner {
        self.owners = self.owners.saturating_add(1);
        let random = crate::proof::encode(&self.random.next());
        let mut text = [0; 32];
        let mut w = Writer::new(&mut text);
        w.put(b"c");
        w.number(self.owners);
        w.put(b"-");
        w.put(random.as_bytes().get(..8).unwrap_or_default());
        Owner::try_from(w.as_str()).unwrap_or_default()
    }

    /// Whether this nonce was among the last few; it is noted if not.
    fn seen_before(&mut self, nonce: &Bytes32) -> bool {
        let hash = self.ids.hash(ConnId::NOBODY, nonce).max(1);
        if self.nonces.contains(&hash) {
            return true;
        }
        self.nonces.rotate_right(1);
        let [first, ..] = &mut self.nonces;
        *first = hash;
        false
    }

    pub(crate) fn tell(&mut self, event: Event) {
        if self.events.is_full() {
            self.events.pop_front();
        }
        // There is room: one was dropped if there was none.
        let _ = self.events.push_back(event);
    }
}

/// Whether an id could be one of the hub's own making (`c<digits>-…`), or of a caller inside the process (`c-…`).
fn is_reserved(id: &str) -> bool {
    id.strip_prefix('c')
        .is_some_and(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with('-'))
}
