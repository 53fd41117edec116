//! Who there is: the connections by the hub's slots, what is known of each, and the browsers among them.

use bridge_core::{ConnId, ConnInfo, Door, Trust};

use super::Audit;
use super::entry::{Entry, Who};
use super::seen::Seen;
use crate::places::our_uid;

/// A connection.
pub(super) struct Peer {
    pub(super) conn: ConnId,
    /// Whether it is known who that is.
    introduced: bool,
    owner: String,
    label: String,
    auth: &'static str,
    transport: &'static str,
    who: Who,
    pub(super) seen: Seen,
}

impl Audit {
    /// The process behind a connection that has just come.
    pub(crate) fn arrived(&self, conn: ConnId, pid: Option<i32>) {
        self.with_peer(conn, |peer| peer.who.pid = pid);
    }

    /// Whether it is known who that is.
    pub(crate) fn knows(&self, conn: ConnId) -> bool {
        let peers = self.peers.borrow();
        let peer = peers.get(usize::from(conn.slot())).and_then(Option::as_ref);
        peer.is_some_and(|peer| peer.conn == conn && peer.introduced)
    }

    /// Who that is; told at the first request, so that those who only stay cost nothing.
    pub(crate) fn introduce(&self, info: &ConnInfo<'_>) {
        self.with_peer(info.conn, |peer| {
            peer.introduced = true;
            peer.owner = info.owner.to_owned();
            peer.label = info.name.to_owned();
            peer.auth = auth(info);
            peer.transport = transport(info.door);
            peer.who.uid = vouched(info.door, info.trust);
        });
    }

    /// A browser is here. One of the base protocol may have no id of its own.
    pub(crate) fn browser_joined(&self, conn: ConnId, id: &str) {
        if !id.is_empty() {
            self.browsers.borrow_mut().push((conn, id.to_owned()));
        }
    }

    /// A connection is gone, and with it whoever waited on it.
    pub(crate) fn left(&self, conn: ConnId) {
        if let Some(place) = self.peers.borrow_mut().get_mut(usize::from(conn.slot()))
            && place.as_ref().is_some_and(|peer| peer.conn == conn)
        {
            *place = None;
        }
        self.browsers.borrow_mut().retain(|(of, _)| *of != conn);
        self.watchers.left(conn);
        self.abandoned(conn);
    }

    pub(super) fn with_peer<R>(&self, conn: ConnId, work: impl FnOnce(&mut Peer) -> R) -> R {
        let mut peers = self.peers.borrow_mut();
        let place = usize::from(conn.slot());
        if peers.len() <= place {
            peers.resize_with(place + 1, || None);
        }
        let fresh = || {
            let (owner, label, who, seen) = Default::default();
            Box::new(Peer { conn, introduced: false, owner, label, auth: "", transport: "", who, seen })
        };
        match &mut peers[place] {
            Some(peer) if peer.conn == conn => work(peer),
            stale => work(stale.insert(fresh())),
        }
    }

    /// What there is to tell of whoever is behind a connection.
    pub(super) fn told_of(&self, conn: ConnId) -> Entry {
        self.with_peer(conn, |peer| {
            peer.who = std::mem::take(&mut peer.who).with_program();
            Entry {
                conn: Some((conn.slot(), conn.epoch())),
                client_id: peer.owner.clone(),
                label: peer.label.clone(),
                who: peer.who.clone(),
                transport: peer.transport,
                auth: peer.auth,
                ..self.now()
            }
        })
    }

    pub(super) fn only_browser(&self) -> Option<String> {
        match self.browsers.borrow().as_slice() {
            [(_, only)] => Some(only.clone()),
            _ => None,
        }
    }
}

/// The door, in the audit's word for it.
pub(super) const fn transport(door: Door) -> &'static str {
    match door {
        Door::WebSocket => "websocket",
        Door::Unix => "unix",
        Door::Http => "http",
        Door::Mcp => "mcp-http",
        Door::Memory => "inside",
    }
}

/// The user, where the kernel has vouched for one; what it has not is not told.
pub(super) fn vouched(door: Door, trust: Trust) -> Option<u32> {
    (trust != Trust::Unknown && !door.in_process()).then(our_uid)
}

/// What let a connection in, as far as it shows.
fn auth(info: &ConnInfo<'_>) -> &'static str {
    match (info.door, info.trust, info.protocol) {
        (Door::Unix, ..) => "socket",
        (Door::WebSocket, _, 2) => "proof",
        (Door::WebSocket, Trust::SameUser, _) => "same-user",
        (Door::WebSocket, ..) => "token",
        _ => "door",
    }
}
