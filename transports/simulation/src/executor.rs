//! Tasks that run in an order that only the seed decides.

use crate::chance::Chance;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// All tasks of a run.
#[derive(Default)]
pub(crate) struct Executor {
    tasks: Vec<Option<(Task, Waker)>>,
    ready: Arc<Mutex<Vec<usize>>>,
}

struct Bell {
    task: usize,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if !ready.contains(&self.task) {
            ready.push(self.task);
        }
    }
}

impl Executor {
    /// A new task, ready to run; its number.
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + 'static) -> usize {
        let number = self.tasks.len();
        let bell = Arc::new(Bell { task: number, ready: self.ready.clone() });
        bell.wake_by_ref();
        self.tasks.push(Some((Box::pin(task), Waker::from(bell))));
        number
    }

    /// Runs one task that is ready, or now and then one that is not; its number, if there was one.
    pub(crate) fn run_one(&mut self, chance: &Chance) -> Option<usize> {
        let next = {
            let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
            if ready.is_empty() {
                return None;
            }
            if chance.one_in(64) {
                chance.index(self.tasks.len())
            } else {
                let nth = chance.index(ready.len());
                ready.swap_remove(nth)
            }
        };
        if let Some(Some((task, waker))) = self.tasks.get_mut(next) {
            let waker = waker.clone();
            if let Poll::Ready(()) = task.as_mut().poll(&mut Context::from_waker(&waker)) {
                self.tasks[next] = None;
            }
        }
        Some(next)
    }

    /// Whether nothing is ready.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether this task is over.
    pub(crate) fn is_over(&self, task: usize) -> bool {
        self.tasks[task].is_none()
    }

    /// Drops a task where it stands, as a host may that is told to let a connection go.
    pub(crate) fn abandon(&mut self, task: usize) {
        self.tasks[task] = None;
    }
}
