//! Everything that comes due: the hub's deadlines and the driver's own, behind one timer.

use crate::clock::Clock;
use crate::driver::Shared;
use crate::host::Host;
use crate::input::Input;
use crate::link::{AnyLink, State};
use bridge_core::{Instant, Violation};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Deadlines served in a row before other tasks get their turn.
const BATCH: usize = 64;
/// Time between two looks at a half-closed peer.
const HALF_CLOSED_MS: u64 = 1_000;
/// How long a large buffer is kept for the next large message.
const SPARE_MS: u64 = 3_000;

/// The deadlines a link can have, one of each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    Ping = 0,
    Stall = 1,
    Fragment = 2,
    Linger = 3,
    Turn = 4,
}

impl Kind {
    pub(crate) const COUNT: usize = 5;
    pub(crate) const ALL: [Kind; Self::COUNT] =
        [Kind::Ping, Kind::Stall, Kind::Fragment, Kind::Linger, Kind::Turn];
}

/// The driver's own deadlines, in order, and who waits for what.
pub(crate) struct Dues {
    waiting: BTreeSet<(u64, usize, Kind)>,
    /// What the timer is set to; `u64::MAX` if it is not.
    armed: u64,
    kicked: bool,
    timer: Option<Waker>,
    ended: Option<Waker>,
}

impl Default for Dues {
    fn default() -> Self {
        Self { waiting: BTreeSet::new(), armed: u64::MAX, kicked: false, timer: None, ended: None }
    }
}

impl Dues {
    /// How many are waiting.
    #[cfg(feature = "contract")]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn wake_ended(&mut self) {
        if let Some(waker) = self.ended.take() {
            waker.wake();
        }
    }

    pub(crate) fn on_ended(&mut self, waker: &Waker) {
        self.ended = Some(waker.clone());
    }
}

impl<H: Host, C: Clock> Shared<H, C> {
    pub(crate) fn set_due(&self, link: &AnyLink, kind: Kind, at: Instant) {
        self.clear_due(link, kind);
        if link.place.get() != usize::MAX {
            link.due[kind as usize].set(at.as_millis());
            self.dues.borrow_mut().waiting.insert((at.as_millis(), link.place.get(), kind));
        }
    }

    pub(crate) fn clear_due(&self, link: &AnyLink, kind: Kind) {
        let due = link.due[kind as usize].replace(u64::MAX);
        if due != u64::MAX {
            self.dues.borrow_mut().waiting.remove(&(due, link.place.get(), kind));
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let hub = self.hub.borrow().poll_timeout().map(|(at, _)| at);
        let own = self.dues.borrow().waiting.first().map(|first| Instant::from_millis(first.0));
        let head = self.heads.borrow_mut().next();
        [hub, own, head, self.spare_due()].into_iter().flatten().min()
    }

    /// When the large spare buffer goes back to the system: some seconds after it was left over.
    fn spare_due(&self) -> Option<Instant> {
        if !self.spares.borrow().has_large() {
            self.spare_until.set(None);
        } else if self.spare_until.get().is_none() {
            self.spare_until.set(Some(self.clock.now().saturating_add_ms(SPARE_MS)));
        }
        self.spare_until.get()
    }

    /// Sets the timer earlier, if something has come up that is due before it.
    pub(crate) fn kick(&self) {
        let next = self.next_due().map_or(u64::MAX, Instant::as_millis);
        let mut dues = self.dues.borrow_mut();
        if next < dues.armed
            && !dues.kicked
            && let Some(timer) = &dues.timer
        {
            timer.wake_by_ref();
            dues.kicked = true;
        }
    }

    /// Serves what is due.
    fn expire(&self, now: Instant) {
        self.host.input(&Input::Timeout);
        self.hub.borrow_mut().handle_timeout(now);
        self.drain();
        self.heads.borrow_mut().expire(now);
        if self.spare_until.get().is_some_and(|until| until <= now) {
            drop(self.spares.borrow_mut().take_large());
        }
        for _ in 0..BATCH {
            let due = {
                let mut dues = self.dues.borrow_mut();
                match dues.waiting.first() {
                    Some(first) if first.0 <= now.as_millis() => dues.waiting.pop_first(),
                    _ => None,
                }
            };
            let Some((_, place, kind)) = due else { break };
            let link = self.all.borrow().links.get(place).cloned().flatten();
            if let Some(link) = link {
                link.due[kind as usize].set(u64::MAX);
                self.due(&link, kind, now);
            }
        }
        self.flush();
    }

    fn due(&self, link: &AnyLink, kind: Kind, now: Instant) {
        match kind {
            Kind::Ping => self.ping(link, now),
            Kind::Stall => {
                let due = link.progress.get() + self.options.stall_ms;
                if !link.blocked.get() {
                } else if due > now.as_millis() {
                    self.set_due(link, Kind::Stall, Instant::from_millis(due));
                } else if link.id.get().is_some() {
                    self.reject(link, Violation::Slow);
                } else {
                    self.kill(link);
                }
            }
            Kind::Fragment => {
                if link.state.get() == State::Open && link.unread.get() {
                    // The rest of it may have been here for long.
                    self.set_due(link, kind, now.saturating_add_ms(self.options.fragment_ms));
                } else if link.state.get() == State::Open {
                    self.reject(link, Violation::Unfinished);
                }
            }
            Kind::Linger => self.kill(link),
            Kind::Turn => self.turn_due(link, now),
        }
    }

    /// A peer that sends nothing more is asked about from time to time: one that has gone altogether is not
    /// noticed by reading.
    pub(crate) fn watch_half_closed(&self, link: &AnyLink, now: Instant) {
        if link.state.get() == State::HalfClosed {
            self.set_due(link, Kind::Ping, now.saturating_add_ms(HALF_CLOSED_MS));
        }
    }

    fn ping(&self, link: &AnyLink, now: Instant) {
        match link.state.get() {
            State::Open => {}
            State::HalfClosed => {
                // Its task looks whether the peer has gone.
                link.nudge();
                return self.watch_half_closed(link, now);
            }
            _ => return,
        }
        // A peer that takes what is written to it lives; one that does not is caught by the stall clock. Of one that
        // is not read nothing can be heard.
        if link.blocked.get() || link.unread.get() {
            link.unheard.set(0);
        }
        if link.unheard.get() >= self.options.pings_missed {
            self.reject(link, Violation::Silent);
            return;
        }
        let spares = &mut *self.spares.borrow_mut();
        let mut ping = spares.take();
        let can = link.wire.borrow_mut().codec().is_some_and(|codec| codec.ping(&mut ping));
        if can {
            link.out.borrow_mut().push_raw(&ping, spares);
            link.unheard.set(link.unheard.get() + 1);
            self.touch(link);
            self.set_due(link, Kind::Ping, now.saturating_add_ms(self.options.ping_ms));
        }
        spares.give(ping);
    }

    /// Ends it without ceremony.
    pub(crate) fn kill(&self, link: &AnyLink) {
        link.state.set(State::Dead);
        link.nudge();
    }
}

/// The one timer of a driver; never ready.
#[must_use = "without it no deadline is ever noticed"]
pub struct RunTimers<H: Host, C: Clock> {
    shared: Rc<Shared<H, C>>,
    sleep: Option<Pin<Box<C::Sleep>>>,
}

impl<H: Host, C: Clock> RunTimers<H, C> {
    pub(crate) fn new(shared: Rc<Shared<H, C>>) -> Self {
        Self { shared, sleep: None }
    }
}

impl<H: Host, C: Clock> Future for RunTimers<H, C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let shared = &this.shared;
        {
            let mut dues = shared.dues.borrow_mut();
            dues.kicked = false;
            dues.timer = Some(cx.waker().clone());
        }
        for _ in 0..8 {
            let now = shared.clock.now();
            let Some(at) = shared.next_due() else {
                this.sleep = None;
                shared.dues.borrow_mut().armed = u64::MAX;
                return Poll::Pending;
            };
            if at <= now {
                shared.expire(now);
                continue;
            }
            if shared.dues.borrow().armed != at.as_millis() || this.sleep.is_none() {
                shared.dues.borrow_mut().armed = at.as_millis();
                this.sleep = Some(Box::pin(shared.clock.sleep_until(at)));
            }
            match this.sleep.as_mut().map(|sleep| sleep.as_mut().poll(cx)) {
                Some(Poll::Pending) => return Poll::Pending,
                _ => this.sleep = None,
            }
        }
        // Much is due; others first.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
