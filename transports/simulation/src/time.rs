//! Simulated time: a list of what happens when, and a clock that jumps from one thing to the next.

use crate::chance::Chance;
use crate::wire::Way;
use bridge_core::Instant;
use bridge_driver::Clock;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// A timer may fire this much too late, as on a busy machine.
pub(crate) const LATE_MS: u64 = 25;

/// Something that happens at a moment.
pub(crate) enum Happening {
    /// A timer fires.
    Wake(Waker),
    /// Something arrives on one way of a link, or its stall ends.
    Arrival(Rc<RefCell<Way>>),
    /// A peer wants to do something.
    Peer(usize),
    /// Somebody new comes.
    Newcomer,
    /// The host makes up its mind about a held request.
    Host,
}

impl Happening {
    /// What it is, and whom it concerns.
    pub(crate) fn name(&self) -> (&'static str, usize) {
        match self {
            Self::Wake(_) => ("timer", 0),
            Self::Arrival(way) => ("arrival at peer", way.borrow().peer().unwrap_or(usize::MAX)),
            Self::Peer(peer) => ("peer", *peer),
            Self::Newcomer => ("newcomer", 0),
            Self::Host => ("host", 0),
        }
    }
}

/// Everything that shares one time and one chance.
pub(crate) struct Time {
    now: Cell<u64>,
    count: Cell<u64>,
    list: RefCell<BinaryHeap<Entry>>,
    /// The run's chance.
    pub(crate) chance: Chance,
}

struct Entry {
    at: u64,
    /// Things of the same moment happen in any order.
    tie: u64,
    count: u64,
    what: Happening,
}

impl Time {
    /// At a moment that is not zero, with nothing to come.
    pub(crate) fn new(seed: u64) -> Rc<Self> {
        let chance = Chance::new(seed);
        Rc::new(Self { now: Cell::new(1_000), count: Cell::new(0), list: RefCell::default(), chance })
    }

    /// The present, in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Lets something happen at a moment.
    pub(crate) fn at(&self, at: u64, what: Happening) {
        let count = self.count.get();
        self.count.set(count + 1);
        let tie = if self.chance.one_in(2) { 0 } else { self.chance.next() };
        self.list.borrow_mut().push(Entry { at: at.max(self.now()), tie, count, what });
    }

    /// Lets something happen in so many milliseconds.
    pub(crate) fn after(&self, ms: u64, what: Happening) {
        self.at(self.now() + ms, what);
    }

    /// The next thing, if its moment is here already.
    pub(crate) fn due(&self) -> Option<Happening> {
        let mut list = self.list.borrow_mut();
        if list.peek()?.at > self.now() {
            return None;
        }
        list.pop().map(|entry| entry.what)
    }

    /// Moves on to the next moment with something in it; `false` if there is none.
    pub(crate) fn advance(&self) -> bool {
        match self.list.borrow().peek() {
            Some(next) => {
                self.now.set(next.at.max(self.now()));
                true
            }
            None => false,
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.tie, other.count).cmp(&(self.at, self.tie, self.count))
    }
}

/// The driver's clock.
#[derive(Clone)]
pub(crate) struct SimClock(pub(crate) Rc<Time>);

/// A timer of it.
pub(crate) struct Sleep {
    time: Rc<Time>,
    at: u64,
    fires: u64,
    set: bool,
}

impl Clock for SimClock {
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        Instant::from_millis(self.0.now())
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let chance = &self.0.chance;
        let late = if chance.one_in(8) { chance.below(LATE_MS) } else { 0 };
        let at = at.as_millis();
        Sleep { time: self.0.clone(), at, fires: at.max(self.0.now()) + late, set: false }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.time.now() >= self.at {
            return Poll::Ready(());
        }
        // A task is always woken by the same waker here, so once is enough.
        if !self.set {
            self.set = true;
            self.time.at(self.fires, Happening::Wake(cx.waker().clone()));
        }
        Poll::Pending
    }
}
