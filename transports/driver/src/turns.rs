//! Turn-taking: a client that has asked for a great deal at once does not stand before everybody else.
//!
//! A browser answers one request after the other over one socket. If one client's thousand screenshots were all
//! passed on, another client's click would wait behind a gigabyte. So what one client may have under way at a
//! browser is bounded by what its answers have weighed so far; the rest is held in the hub, where deadlines
//! run and cancelling works as ever, and passed on as answers come. Where none come for a while (a client that
//! waits for many things at the same time) more is passed on regardless.

use crate::clock::Clock;
use crate::driver::Shared;
use crate::host::Host;
use crate::input::Input;
use crate::link::AnyLink;
use crate::timers::Kind;
use bridge_core::{Instant, Request, Ticket};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// So many requests pass at once before the first answer has come. Twice as many of a megabyte each stood before
/// everybody else's for a tenth of a second.
const UNKNOWN: usize = 32;
/// Requests passed on regardless when no answer has come for [`PATIENCE_MS`].
const REGARDLESS: usize = 16;
const PATIENCE_MS: u64 = 100;

/// One client's turns.
pub(crate) struct Turns {
    /// What its answers weigh, smoothed; unknown before the first.
    weight: Cell<Option<usize>>,
    /// Requests under way: never too few, and corrected by the hub's count where it matters.
    asked: Cell<usize>,
    waiting: RefCell<VecDeque<Waiting>>,
    /// What the waiting ones hold in memory.
    pub(crate) bytes: Cell<usize>,
    /// An answer came since the clock was set.
    answered: Cell<bool>,
    /// It stands in the list of those whose turn may have come.
    listed: Cell<bool>,
}

struct Waiting {
    ticket: Ticket,
    method: Box<str>,
    params: Box<[u8]>,
    once: Option<Box<str>>,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self {
            weight: Cell::new(None),
            asked: Cell::new(0),
            waiting: RefCell::default(),
            bytes: Cell::new(0),
            answered: Cell::new(false),
            listed: Cell::new(false),
        }
    }

    /// A request was passed on.
    pub(crate) fn asked(&self) {
        self.asked.set(self.asked.get() + 1);
    }

    /// An answer of this length is on its way to the client.
    fn answered(&self, len: usize, window: usize) {
        self.asked.set(self.asked.get().saturating_sub(1));
        self.answered.set(true);
        let weight = self.weight(window);
        // Up fast, down slowly: guessing too little is what hurts others.
        let weight = if len > weight { weight.midpoint(len) } else { weight - weight / 8 + len / 8 };
        self.weight.set(Some(weight));
    }

    /// What its next answer is taken to weigh.
    pub(crate) fn weight(&self, window: usize) -> usize {
        self.weight.get().unwrap_or(window / UNKNOWN)
    }

    fn fits(&self, asked: usize, window: usize) -> bool {
        asked == 0 || self.weight(window).saturating_mul(asked) < window
    }

    /// How many wait.
    #[cfg(feature = "contract")]
    pub(crate) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    pub(crate) fn clear(&self) {
        *self.waiting.borrow_mut() = VecDeque::new();
        self.bytes.set(0);
    }
}

impl<H: Host, C: Clock> Shared<H, C> {
    /// Whether the client's next request has to wait for its turn.
    pub(crate) fn must_wait(&self, link: &AnyLink) -> bool {
        let turns = &link.turns;
        self.prune(link);
        if !turns.waiting.borrow().is_empty() {
            return true;
        }
        let window = self.options.under_way;
        !turns.fits(turns.asked.get(), window) && !turns.fits(self.count(link), window)
    }

    /// How many of its requests really are under way.
    fn count(&self, link: &AnyLink) -> usize {
        let Some(conn) = link.id.get() else { return 0 };
        // Not by what waits here: some of that may have ended, and not been taken out yet.
        let asked = self.hub.borrow().connection(conn).map_or(0, |info| info.in_flight - info.held);
        link.turns.asked.set(asked);
        asked
    }

    /// Holds a request until its turn.
    pub(crate) fn wait(&self, link: &AnyLink, request: Request<'_>, now: Instant) {
        let (method, params) = (Box::<str>::from(request.method()), Box::<[u8]>::from(request.params()));
        let once = request.once().map(Box::from);
        self.host.input(&Input::Hold);
        let held = self.hub.borrow_mut().hold(request, now);
        // If it is refused, the answer is queued.
        let Some(ticket) = self.noted(held, |ticket| Some((ticket.call(), None))) else { return };
        let turns = &link.turns;
        turns.bytes.set(turns.bytes.get() + params.len());
        turns.waiting.borrow_mut().push_back(Waiting { ticket, method, params, once });
        if link.due[Kind::Turn as usize].get() == u64::MAX {
            turns.answered.set(false);
            self.set_due(link, Kind::Turn, now.saturating_add_ms(PATIENCE_MS));
        }
    }

    /// An answer for the client was queued; others may go now.
    pub(crate) fn answered(&self, link: &AnyLink, len: usize) {
        link.turns.answered(len, self.options.under_way);
        self.list_turn(link);
    }

    /// A browser is gone or another one: whoever waits for its turn is passed on, or told.
    pub(crate) fn turn_all(&self) {
        let links: Vec<AnyLink> = self.links.borrow().iter().flatten().cloned().collect();
        for link in links {
            self.list_turn(&link);
        }
    }

    fn list_turn(&self, link: &AnyLink) {
        let turns = &link.turns;
        if !turns.waiting.borrow().is_empty() && !turns.listed.replace(true) {
            self.turns.borrow_mut().push(link.clone());
        }
    }

    /// Passes on what fits now, for everyone in the list.
    pub(crate) fn take_turns(&self) {
        loop {
            let Some(link) = self.turns.borrow_mut().pop() else { return };
            link.turns.listed.set(false);
            while link.turns.fits(self.count(&link), self.options.under_way) && self.pass_on(&link) {}
        }
    }

    /// Forgets those at the front that nobody waits for any more: timed out or cancelled.
    fn prune(&self, link: &AnyLink) {
        let turns = &link.turns;
        let mut waiting = turns.waiting.borrow_mut();
        while let Some(first) = waiting.front()
            && !self.hub.borrow().is_held(&first.ticket)
        {
            turns.bytes.set(turns.bytes.get() - first.params.len());
            waiting.pop_front();
        }
        drop(waiting);
        self.read_on(link);
    }

    /// Has a client read again that was not while too much of it waited, whether that was passed on or has ended.
    fn read_on(&self, link: &AnyLink) {
        if link.paused.get() && link.turns.bytes.get() <= self.options.fast_mark {
            self.resume();
        }
    }

    /// Passes the longest waiting one on; `false` if there is none.
    fn pass_on(&self, link: &AnyLink) -> bool {
        self.prune(link);
        let turns = &link.turns;
        let Some(next) = turns.waiting.borrow_mut().pop_front() else { return false };
        turns.bytes.set(turns.bytes.get() - next.params.len());
        let Waiting { ticket, method, params, once } = next;
        let now = self.clock.now();
        let (call, once) = (ticket.call(), once.as_deref());
        self.host.input(&Input::Release { call, method: &method, params: &params, once });
        let released = self.hub.borrow_mut().release(ticket, &method, &params, once, now);
        if let Ok(forward) = released {
            self.queue(&forward, None);
            turns.asked();
        }
        self.drain();
        self.read_on(link);
        true
    }

    /// No answer for a while: the client may be waiting for many things at once, so more goes on.
    pub(crate) fn turn_due(&self, link: &AnyLink, now: Instant) {
        self.prune(link);
        if !link.turns.answered.replace(false) {
            for _ in 0..REGARDLESS {
                if !self.pass_on(link) {
                    break;
                }
            }
        }
        if !link.turns.waiting.borrow().is_empty() {
            self.set_due(link, Kind::Turn, now.saturating_add_ms(PATIENCE_MS));
        }
    }
}
