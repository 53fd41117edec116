//! A waker that is counted: how many connections have been woken and not been polled yet.
//!
//! That number tells a connection whether to write at once what it caused, or to leave it to the last of
//! those that are ready anyway, so that one write carries it all.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// How many are woken and not yet polled.
#[derive(Clone, Default)]
pub(crate) struct Ready(Arc<AtomicUsize>);

impl Ready {
    pub(crate) fn none(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

/// One connection's counted waker. It passes every wake-up on to the task's own.
pub(crate) struct Nudge {
    ready: Ready,
    woken: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Nudge {
    pub(crate) fn new(ready: Ready) -> Arc<Self> {
        Arc::new(Self { ready, woken: AtomicBool::new(false), task: Mutex::new(None) })
    }

    /// The task is being polled: later wake-ups go to `task`, and this one is served.
    pub(crate) fn polled(&self, task: &Waker) {
        let mut held = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some(held) => held.clone_from(task),
            None => *held = Some(task.clone()),
        }
        drop(held);
        self.served();
    }

    /// The task is over.
    pub(crate) fn ended(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.served();
    }

    fn served(&self) {
        if self.woken.swap(false, Relaxed) {
            self.ready.0.fetch_sub(1, Relaxed);
        }
    }
}

impl Wake for Nudge {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Under the lock, so that a task that has ended is never counted.
        let held = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = held.as_ref() {
            if !self.woken.swap(true, Relaxed) {
                self.ready.0.fetch_add(1, Relaxed);
            }
            task.wake_by_ref();
        }
    }
}
