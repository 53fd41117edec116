//! Turn-taking: a client that has asked for a great deal at once does not stand before everybody else.
//!
//! A browser answers one request after the other over one socket. If one client's thousand screenshots were all
//! passed on, another client's click would wait behind a gigabyte. So what one client may have under way at a
//! browser is bounded in number, and by what its answers have weighed so far; the rest is held in the hub, where
//! deadlines run and cancelling works as ever, and passed on as answers come. Where none come for a while (a client
//! that waits for many things at the same time) more is passed on regardless.

use crate::clock::Clock;
use crate::driver::Shared;
use crate::host::Host;
use crate::input::Input;
use crate::link::AnyLink;
use crate::timers::Kind;
use bridge_core::{Code, Fault, Instant, Request, Ticket};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// So many requests pass at once when a client begins, and when it begins anew after all of them were answered: what
/// the next ones will weigh nobody knows, whatever the last ones weighed.
const FIRST: usize = 8;
/// No more are under way than these, however light the answers were: those to come may be heavy.
const MOST: usize = 64;
/// Requests passed on regardless when no answer has come for [`PATIENCE_MS`], at most.
const REGARDLESS: usize = 8;
const PATIENCE_MS: u64 = 50;
/// So often others' heavy answers are why a heavy client has none; then one more passes.
const EXPLAINED: u8 = 10;
/// Among so many at most newcomers share their patience: a second is long.
const SHARERS: usize = 20;

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
    /// How often in a row others' heavy answers have explained why it has none.
    explained: Cell<u8>,
    /// It is one of those among whom the window is shared.
    shares: Cell<bool>,
    /// The hub has answered some by itself, which are under way no more.
    stale: Cell<bool>,
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
            explained: Cell::new(0),
            shares: Cell::new(false),
            stale: Cell::new(false),
        }
    }

    /// The hub answered one by itself: its time was over, or its browser has gone.
    pub(crate) fn ended(&self) {
        self.stale.set(true);
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
        self.begin_anew(window);
    }

    /// Once nothing is under way and nothing waits, what was light says nothing about what comes next.
    fn begin_anew(&self, window: usize) {
        let light = self.weight.get().is_some_and(|weight| weight < window / FIRST);
        if light && self.asked.get() == 0 && self.waiting.borrow().is_empty() {
            self.weight.set(None);
        }
    }

    /// What its next answer is taken to weigh.
    pub(crate) fn weight(&self, window: usize) -> usize {
        self.weight.get().unwrap_or(window / FIRST).max(window / MOST)
    }

    /// How many wait.
    #[cfg(feature = "contract")]
    pub(crate) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// What the waiting ones hold in memory, counted now.
    #[cfg(feature = "contract")]
    pub(crate) fn held(&self) -> usize {
        self.waiting.borrow().iter().map(|waiting| waiting.params.len()).sum()
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
        if turns.stale.replace(false) {
            self.count(link);
        }
        !self.fits(link, turns.asked.get()) && !self.fits(link, self.count(link))
    }

    /// Whether one more may go to so many that are under way.
    fn fits(&self, link: &AnyLink, asked: usize) -> bool {
        let weight = link.turns.weight(self.options.under_way);
        asked == 0 || weight.saturating_mul(asked) < self.window(link)
    }

    /// How many bytes of answers it may have under way. Those who have more waiting share what one alone would have, so that
    /// what stands before everybody else's hardly grows with them. Who is known to be light need not stand back. A newcomer
    /// takes half beside one of them and less beside more, for others may have come with it, and nobody knows what is coming.
    pub(crate) fn window(&self, link: &AnyLink) -> usize {
        let (turns, window) = (&link.turns, self.options.under_way);
        let others = self.sharing.get() - usize::from(turns.shares.get());
        match turns.weight.get() {
            None if others > 0 => window / (2 * others),
            Some(weight) if weight > window / MOST => window / (others + 1),
            _ => window,
        }
    }

    /// Counts it among those who share, as long as something of it waits.
    fn share(&self, link: &AnyLink) {
        let waits = !link.turns.waiting.borrow().is_empty();
        match (link.turns.shares.replace(waits), waits) {
            (false, true) => self.sharing.set(self.sharing.get() + 1),
            (true, false) => self.sharing.set(self.sharing.get() - 1),
            _ => {}
        }
    }

    /// Notes what of it waits, here and in the sum of all that came in and went nowhere yet.
    fn weigh(&self, link: &AnyLink, bytes: usize) {
        let before = link.turns.bytes.replace(bytes);
        self.incoming.set(self.incoming.get() - before + bytes);
    }

    /// Forgets what waits.
    pub(crate) fn forgo(&self, link: &AnyLink) {
        *link.turns.waiting.borrow_mut() = VecDeque::new();
        self.weigh(link, 0);
        self.share(link);
    }

    /// How many of its requests really are under way.
    fn count(&self, link: &AnyLink) -> usize {
        let Some(conn) = link.id.get() else { return 0 };
        // Not by what waits here: some of that may have ended, and not been taken out yet.
        let asked = self.hub.borrow().connection(conn).map_or(0, |info| info.in_flight - info.held);
        link.turns.asked.set(asked);
        link.turns.begin_anew(self.options.under_way);
        asked
    }

    /// Holds a request until its turn, or says that too much waits already.
    pub(crate) fn wait(&self, link: &AnyLink, request: Request<'_>, now: Instant) {
        // The other half is for messages that are not complete: nobody is cut off for what others have waiting.
        if self.incoming.get() + request.params().len() > self.options.all_incoming / 2 {
            self.host.declined(Fault::Overloaded);
            self.host.input(&Input::Busy);
            self.hub.borrow_mut().refuse(
                request,
                Code::Overloaded,
                "busy: too much waits for its turn",
                false,
            );
            return;
        }
        let (method, params) = (Box::<str>::from(request.method()), Box::<[u8]>::from(request.params()));
        let once = request.once().map(Box::from);
        self.host.input(&Input::Hold);
        let held = self.hub.borrow_mut().hold(request, now);
        // If it is refused, the answer is queued.
        let Some(ticket) = self.noted(held, |ticket| Some((ticket.call(), None))) else { return };
        let turns = &link.turns;
        self.weigh(link, turns.bytes.get() + params.len());
        turns.waiting.borrow_mut().push_back(Waiting { ticket, method, params, once });
        self.share(link);
        if link.due[Kind::Turn as usize].get() == u64::MAX {
            turns.answered.set(false);
            self.be_patient(link, now);
        }
    }

    /// An answer for the client was queued; others may go now.
    pub(crate) fn answered(&self, link: &AnyLink, len: usize) {
        if len > self.options.under_way / MOST {
            self.heavy.set(self.clock.now());
        }
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
            while self.fits(&link, self.count(&link)) && self.pass_on(&link) {}
        }
    }

    /// Forgets those at the front that nobody waits for any more: timed out or cancelled.
    fn prune(&self, link: &AnyLink) {
        let turns = &link.turns;
        let mut waiting = turns.waiting.borrow_mut();
        while let Some(first) = waiting.front()
            && !self.hub.borrow().is_held(&first.ticket)
        {
            self.weigh(link, turns.bytes.get() - first.params.len());
            waiting.pop_front();
        }
        drop(waiting);
        self.share(link);
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
        self.weigh(link, turns.bytes.get() - next.params.len());
        self.share(link);
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

    /// No answer for a while: the client may be waiting for many things at once, so more goes on; as much again as it may
    /// have under way, for it may as well be that its answers take long because they are heavy. Where they are known to be
    /// light, answers that trickle in say nothing against it. Where they are known to be heavy, anybody's heavy answer explains
    /// the wait, but not for ever: what it has under way may be one long call, behind which a short one is not to stay.
    pub(crate) fn turn_due(&self, link: &AnyLink, now: Instant) {
        self.prune(link);
        let (turns, window) = (&link.turns, self.options.under_way);
        let weight = turns.weight(window);
        let light = weight <= window / MOST;
        let answered = turns.answered.replace(false);
        let others = self.heavy.get().saturating_add_ms(PATIENCE_MS) > now;
        let busy = others && !light && turns.weight.get().is_some();
        let explained = busy && turns.explained.get() < EXPLAINED;
        turns.explained.set(if explained && !answered { turns.explained.get() + 1 } else { 0 });
        if light || !(answered || explained) {
            let more = if busy { 1 } else { self.window(link) / weight.max(1) };
            for _ in 0..more.clamp(1, REGARDLESS) {
                if !self.pass_on(link) {
                    break;
                }
            }
        } else {
            // What it had under way may have ended without an answer.
            while self.fits(link, self.count(link)) && self.pass_on(link) {}
        }
        if !turns.waiting.borrow().is_empty() {
            self.be_patient(link, now);
        }
    }

    /// Sets the clock after which more passes regardless. Newcomers share that, too: while they have no answer yet, those of
    /// the others may stand before theirs.
    fn be_patient(&self, link: &AnyLink, now: Instant) {
        let sharing =
            if link.turns.weight.get().is_none() { self.sharing.get().clamp(1, SHARERS) } else { 1 };
        self.set_due(link, Kind::Turn, now.saturating_add_ms(PATIENCE_MS * sharing as u64));
    }
}
