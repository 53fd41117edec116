//! The driver's handle, and the state that everything in it shares.

use crate::clock::Clock;
use crate::codec::Codec;
use crate::heads::{Head, Heads};
use crate::host::Host;
use crate::input::Input;
use crate::link::{AnyLink, Link, Mailbox, State, Stream};
use crate::local::Local;
use crate::nudge::{Nudge, Ready};
use crate::options::Options;
use crate::outbox::Spares;
use crate::serving::Serving;
use crate::shutdown::Shutdown;
use crate::slots::Growing;
use crate::timers::{Dues, Kind, RunTimers};
use bridge_core::{
    CloseCode, Config, ConnId, Connection, Event, Full, Hub, Instant, Peer, Pending, Secrets, Trust,
};
use futures::io::{AsyncRead, AsyncWrite};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

/// The hub as a driver holds it.
pub type HubOf<H> = Hub<Growing<Connection>, Growing<Pending>, <H as Host>::Keys>;

/// A hub with its connections. Clones share everything.
pub struct Driver<H: Host, C: Clock>(pub(crate) Rc<Shared<H, C>>);

impl<H: Host, C: Clock> Clone for Driver<H, C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

pub(crate) struct Shared<H: Host, C: Clock> {
    pub(crate) hub: RefCell<HubOf<H>>,
    pub(crate) host: Rc<H>,
    pub(crate) clock: C,
    pub(crate) options: Options,
    pub(crate) config: Config,
    /// By the hub's slots: whom the hub knows.
    pub(crate) links: RefCell<Vec<Option<AnyLink>>>,
    /// Everything that is not over, known to the hub or not.
    pub(crate) all: RefCell<Places>,
    pub(crate) touched: RefCell<Vec<AnyLink>>,
    pub(crate) paused: RefCell<Vec<AnyLink>>,
    /// Those whose turn may have come.
    pub(crate) turns: RefCell<Vec<AnyLink>>,
    /// How many have something waiting for its turn.
    pub(crate) sharing: Cell<usize>,
    /// When anybody's heavy answer came last.
    pub(crate) heavy: Cell<Instant>,
    pub(crate) events: RefCell<VecDeque<Event>>,
    pub(crate) spares: RefCell<Spares>,
    /// Until when the large one of them is kept.
    pub(crate) spare_until: Cell<Option<Instant>>,
    /// One read buffer for all connections.
    pub(crate) scratch: RefCell<Vec<u8>>,
    pub(crate) ready: Ready,
    /// For how much reading writing was put off in a row.
    pub(crate) put_off: Cell<usize>,
    /// Bytes in all queues.
    pub(crate) queued: Cell<usize>,
    /// Bytes of messages that are unfinished or wait for their turn, of all clients.
    pub(crate) incoming: Cell<usize>,
    pub(crate) dues: RefCell<Dues>,
    pub(crate) heads: RefCell<Heads>,
}

/// A table with reused places.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) links: Vec<Option<AnyLink>>,
    free: Vec<usize>,
    /// How many of them are on a stream.
    pub(crate) count: usize,
}

impl Places {
    fn add(&mut self, link: AnyLink, stream: bool) -> usize {
        self.count += usize::from(stream);
        match self.free.pop() {
            Some(place) => {
                self.links[place] = Some(link);
                place
            }
            None => {
                self.links.push(Some(link));
                self.links.len() - 1
            }
        }
    }

    fn remove(&mut self, place: usize) {
        if let Some(link) = self.links.get_mut(place).and_then(Option::take) {
            self.free.push(place);
            self.count -= usize::from(link.wire.borrow_mut().mailbox().is_none());
        }
    }
}

impl<H: Host, C: Clock> Driver<H, C> {
    /// A driver with an empty hub. Its storage grows as connections and calls come.
    pub fn new(
        config: Config,
        secrets: &Secrets,
        keys: H::Keys,
        host: Rc<H>,
        clock: C,
        options: Options,
    ) -> Self {
        let limits = &config.limits;
        // Closing connections hold their slot a little longer than the pools count them.
        let conns = limits.connections
            + limits.greeting_strangers
            + limits.greeting_same_user
            + limits.greeting_local
            + 64;
        let hub = Hub::new(config, secrets, keys, Growing::new(conns), Growing::new(limits.in_flight));
        Self(Rc::new(Shared {
            hub: RefCell::new(hub),
            host,
            clock,
            options: options.consistent(),
            config,
            links: RefCell::default(),
            all: RefCell::default(),
            touched: RefCell::default(),
            paused: RefCell::default(),
            turns: RefCell::default(),
            sharing: Cell::new(0),
            heavy: Cell::new(Instant::from_millis(0)),
            events: RefCell::default(),
            spares: RefCell::default(),
            spare_until: Cell::new(None),
            scratch: RefCell::default(),
            ready: Ready::default(),
            put_off: Cell::new(0),
            queued: Cell::new(0),
            incoming: Cell::new(0),
            dues: RefCell::default(),
            heads: RefCell::default(),
        }))
    }

    /// A place among the streams whose head is still to come (a WebSocket's upgrade request). Too many, and
    /// the oldest is ousted.
    #[must_use]
    pub fn head(&self) -> Head {
        let shared = &self.0;
        let due = shared.clock.now().saturating_add_ms(shared.options.head_ms);
        let head = shared.heads.borrow_mut().enter(due, shared.options.heads);
        shared.kick();
        head
    }

    /// Serves a connection until it is over. Spawn the future, or poll it where the stream belongs.
    ///
    /// The connection is open in the hub when this returns. `TCP_NODELAY` is the business of whoever
    /// accepted the stream: without it, a small answer behind another one waits 40 ms.
    pub fn serve<IO, K>(&self, peer: &Peer<'_>, io: IO, codec: K) -> Serving<H, C, IO, K>
    where
        IO: AsyncRead + AsyncWrite + Unpin + 'static,
        K: Codec,
    {
        self.serve_after(peer, io, codec, &[])
    }

    /// [`Driver::serve`] with what was received already, behind the head.
    pub fn serve_after<IO, K>(
        &self,
        peer: &Peer<'_>,
        io: IO,
        codec: K,
        received: &[u8],
    ) -> Serving<H, C, IO, K>
    where
        IO: AsyncRead + AsyncWrite + Unpin + 'static,
        K: Codec,
    {
        let nudge = Nudge::new(self.0.ready.clone());
        let link = Rc::new(Link::new(nudge.clone(), Stream { io, codec }));
        let any: AnyLink = link.clone();
        link.place.set(self.0.all.borrow_mut().add(any.clone(), true));
        if self.0.enter(peer, &any).is_ok() {
            let due = self.0.clock.now().saturating_add_ms(self.0.options.ping_ms);
            self.0.set_due(&any, Kind::Ping, due);
        }
        Serving::new(self.0.clone(), link, any, nudge, received)
    }

    /// A connection inside the process, for the doors that translate another protocol, and for tests.
    pub fn local(&self, peer: &Peer<'_>) -> Result<Local<H, C>, Full> {
        let nudge = Nudge::new(self.0.ready.clone());
        let link = Rc::new(Link::new(nudge, Mailbox::default()));
        let any: AnyLink = link.clone();
        self.0.enter(peer, &any)?;
        link.place.set(self.0.all.borrow_mut().add(any.clone(), false));
        Ok(Local::new(self.0.clone(), link, any))
    }

    /// Looks after everything that comes due. Spawn it once; it never ends.
    #[must_use = "without it no deadline is ever noticed"]
    pub fn run_timers(&self) -> RunTimers<H, C> {
        RunTimers::new(self.0.clone())
    }

    /// Answers everything, closes every connection and waits until all are gone, `grace` at most.
    /// Stop accepting first.
    #[must_use = "the connections are closed already, but only awaiting this lets them go"]
    pub fn shutdown(&self, grace: Duration) -> Shutdown<H, C> {
        Shutdown::new(self.0.clone(), grace)
    }

    /// Calls the hub and sends whatever comes of it.
    pub fn with_hub<R>(&self, call: impl FnOnce(&mut HubOf<H>) -> R) -> R {
        let value = call(&mut self.0.hub.borrow_mut());
        self.0.drain();
        self.0.settle();
        value
    }

    /// Looks at the hub, and changes nothing.
    pub fn look<R>(&self, at: impl FnOnce(&HubOf<H>) -> R) -> R {
        at(&self.0.hub.borrow())
    }

    /// Writes one message of the host's own to a connection; `false` if it is gone.
    pub fn push(&self, conn: ConnId, message: &[u8]) -> bool {
        let Some(link) = self.0.link(conn) else { return false };
        link.push(&[message], &mut self.0.spares.borrow_mut());
        self.0.touch(&link);
        self.0.settle();
        true
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Rc<H> {
        &self.0.host
    }

    /// The clock's present moment.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.0.clock.now()
    }

    /// Bytes that wait in all write queues.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.0.queued.get()
    }
}

impl<H: Host, C: Clock> Shared<H, C> {
    /// Opens a link in the hub, or has it closed at once.
    fn enter(&self, peer: &Peer<'_>, link: &AnyLink) -> Result<(), Full> {
        let limits = &self.config.limits;
        let first = if peer.trust == Trust::Owner { limits.client_bytes } else { limits.hello_bytes };
        if let Some(codec) = link.wire.borrow_mut().codec() {
            codec.limit(first);
        }
        self.host.input(&Input::Open(peer));
        let opened = self.hub.borrow_mut().open(peer, self.clock.now());
        match opened {
            Ok(conn) => {
                link.id.set(Some(conn));
                let mut links = self.links.borrow_mut();
                let slot = usize::from(conn.slot());
                if links.len() <= slot {
                    links.resize(slot + 1, None);
                }
                links[slot] = Some(link.clone());
            }
            Err(Full) => {
                link.close(CloseCode::TRY_LATER, "too many connections", &mut self.spares.borrow_mut());
            }
        }
        // The oldest that has not said hello may have had to go for it.
        self.drain();
        self.settle();
        opened.map(drop)
    }

    /// The hub knows it no longer.
    pub(crate) fn forget(&self, link: &AnyLink) {
        let Some(conn) = link.id.take() else { return };
        // Nothing that it still sends is decoded.
        if let Some(codec) = link.wire.borrow_mut().codec() {
            codec.give_up();
        }
        self.count_unfinished(link, 0);
        let mut links = self.links.borrow_mut();
        if let Some(slot) = links.get_mut(usize::from(conn.slot()))
            && slot.as_ref().is_some_and(|held| Rc::ptr_eq(held, link))
        {
            *slot = None;
        }
    }

    pub(crate) fn link(&self, conn: ConnId) -> Option<AnyLink> {
        let links = self.links.borrow();
        let link = links.get(usize::from(conn.slot()))?.as_ref()?;
        (link.id.get() == Some(conn)).then(|| link.clone())
    }

    /// It is over: nothing of it stays.
    pub(crate) fn bury(&self, link: &AnyLink) {
        self.leave(link);
        link.state.set(State::Dead);
        link.out.borrow_mut().clear();
        self.forgo(link);
        self.count_unfinished(link, 0);
        self.recount(link);
        for kind in Kind::ALL {
            self.clear_due(link, kind);
        }
        self.all.borrow_mut().remove(link.place.replace(usize::MAX));
        if self.all.borrow().count == 0 {
            self.dues.borrow_mut().wake_ended();
        }
    }

    /// The peer is gone: tells the hub, if the hub does not know.
    pub(crate) fn leave(&self, link: &AnyLink) {
        if let Some(conn) = link.id.get() {
            self.forget(link);
            self.host.input(&Input::Close(conn));
            self.hub.borrow_mut().close(conn, self.clock.now());
            self.drain();
            self.resume();
        }
    }
}
