//! Timers: an ordered map of deadlines beside the sockets, so that waiting for both is one call.

use crate::epoll::Reactor;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct Timers {
    waiting: RefCell<BTreeMap<(Instant, u64), Waker>>,
    made: Cell<u64>,
}

impl Timers {
    pub(crate) fn next(&self) -> Option<Instant> {
        self.waiting.borrow().first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn fire(&self, now: Instant) {
        loop {
            let waker = {
                let mut waiting = self.waiting.borrow_mut();
                match waiting.first_entry() {
                    Some(first) if first.key().0 <= now => first.remove(),
                    _ => return,
                }
            };
            waker.wake();
        }
    }
}

/// A future that is ready at its time.
///
/// It costs nothing until it is polled, and nothing in the kernel at any time.
pub struct Timer {
    reactor: Rc<Reactor>,
    at: Instant,
    /// Set while it stands in the map.
    key: Option<(Instant, u64)>,
}

impl Timer {
    /// Ready at `at`, or at once if that has passed.
    pub fn at(at: Instant) -> Self {
        Self { reactor: Reactor::current(), at, key: None }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.at <= Instant::now() {
            this.stop();
            return Poll::Ready(());
        }
        let timers = &this.reactor.timers;
        let key = *this.key.get_or_insert_with(|| {
            timers.made.set(timers.made.get() + 1);
            (this.at, timers.made.get())
        });
        timers.waiting.borrow_mut().insert(key, cx.waker().clone());
        Poll::Pending
    }
}

impl Timer {
    fn stop(&mut self) {
        if let Some(key) = self.key.take() {
            self.reactor.timers.waiting.borrow_mut().remove(&key);
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.stop();
    }
}
