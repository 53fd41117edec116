//! A clock that stands still.

use crate::Clock;
use bridge_core::Instant;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Moves only by [`StillClock::advance`]. Clones are the same clock.
#[derive(Clone, Default)]
pub struct StillClock(Rc<Inner>);

#[derive(Default)]
struct Inner {
    now: Cell<u64>,
    sleeping: RefCell<Vec<Waker>>,
    armed: Cell<usize>,
}

impl StillClock {
    /// At zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `ms` milliseconds pass and wakes whoever sleeps. Run the tasks afterwards.
    pub fn advance(&self, ms: u64) {
        self.0.now.set(self.0.now.get() + ms);
        for waker in self.0.sleeping.take() {
            waker.wake();
        }
    }

    /// How many timers are armed.
    #[must_use]
    pub fn armed(&self) -> usize {
        self.0.armed.get()
    }
}

/// A timer of a [`StillClock`].
pub struct Sleep {
    clock: StillClock,
    at: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.clock.0.now.get() >= self.at {
            return Poll::Ready(());
        }
        self.clock.0.sleeping.borrow_mut().push(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.0.armed.set(self.clock.0.armed.get() - 1);
    }
}

impl Clock for StillClock {
    type Sleep = Sleep;

    fn now(&self) -> Instant {
        Instant::from_millis(self.0.now.get())
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        self.0.armed.set(self.0.armed.get() + 1);
        Sleep { clock: self.clone(), at: at.as_millis() }
    }
}
