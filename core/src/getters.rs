//! Looking at a hub without changing it.

use crate::code::Fault;
use crate::config::Config;
use crate::connection::{Connection, Stage};
use crate::hub::Hub;
use crate::output::{Congestion, Counters};
use crate::peer::{BrowserInfo, Class, ConnInfo, Keyring};
use crate::pending::Pending;
use crate::slots::{ConnId, Slots};

impl<C: Slots<Connection>, P: Slots<Pending>, K: Keyring> Hub<C, P, K> {
    /// Whether to read from this connection: not from a client while its browser's link is congested.
    pub fn wants_read(&self, conn: ConnId) -> bool {
        match self.conns.open(conn).map(|it| &it.stage) {
            Some(Stage::Client(client)) => client
                .browser
                .and_then(|at| self.browsers.get(at))
                .is_none_or(|it| !it.is_here() || it.congestion == Congestion::Clear),
            Some(_) => true,
            None => false,
        }
    }

    /// One connection.
    pub fn connection(&self, conn: ConnId) -> Option<ConnInfo<'_>> {
        self.conns.open(conn).map(|it| self.info(conn, it))
    }

    /// All open connections, oldest first.
    pub fn connections(&self) -> impl Iterator<Item = ConnInfo<'_>> {
        let mut slot = self.lists.live.head;
        core::iter::from_fn(move || {
            let connection: &Connection = self.conns.at(slot)?;
            let conn = ConnId { slot, epoch: connection.epoch };
            slot = connection.live.next;
            Some(self.info(conn, connection))
        })
    }

    fn info<'h>(&'h self, conn: ConnId, it: &'h Connection) -> ConnInfo<'h> {
        let (class, protocol, owner, name) = match &it.stage {
            Stage::Client(client) => (client.class, client.protocol, &*client.owner, &*client.name),
            Stage::Extension(at) => match self.browsers.get(*at).filter(|it| it.conn == conn) {
                Some(browser) => (Class::Agent, browser.protocol, "", &*browser.about.name),
                None => (Class::Agent, 1, "", ""),
            },
            _ => (Class::Person, 0, "", ""),
        };
        let in_flight = usize::from(it.in_flight);
        ConnInfo {
            conn,
            door: it.door,
            trust: it.trust,
            role: it.role(),
            class,
            protocol,
            owner,
            name,
            in_flight,
            held: usize::from(it.held),
        }
    }

    /// The connected browsers.
    pub fn browsers(&self) -> impl Iterator<Item = BrowserInfo<'_>> {
        self.browsers.here().map(|it| BrowserInfo {
            conn: it.conn,
            browser_id: &it.id,
            name: &it.about.name,
            key_id: &it.about.key_id,
            version: &it.about.version,
            build: &it.about.build,
            proven: it.proven,
            protocol: it.protocol,
            methods: it.about.methods,
            fingerprint: it.about.fingerprint,
            since: it.since,
            in_flight: self.conns.open(it.conn).map_or(0, |it| usize::from(it.in_flight)),
        })
    }

    /// Calls that wait for an answer.
    pub fn in_flight(&self) -> usize {
        self.calls.used()
    }

    /// Numbers since the start.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The host's keys.
    pub const fn keyring(&self) -> &K {
        &self.keyring
    }

    /// The host's keys, to change them.
    pub const fn keyring_mut(&mut self) -> &mut K {
        &mut self.keyring
    }
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self, f)
    }
}
