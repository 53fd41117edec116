//! Those who watch: each call is told to them as it passes, in the audit's words.

use std::cell::RefCell;

use bridge_core::ConnId;

use super::entry::Entry;

/// How many frames may wait to be sent; what comes beyond is not shown.
const WAITING: usize = 4096;

/// The control connections that asked to watch, and what they have not been told yet.
#[derive(Default)]
pub(crate) struct Watchers {
    conns: RefCell<Vec<ConnId>>,
    waiting: RefCell<Vec<String>>,
    /// Has what waits sent, once the hub can be called.
    nudge: RefCell<Option<Box<dyn Fn()>>>,
}

impl Watchers {
    /// Says how to have [`Watchers::take`] called soon.
    pub(crate) fn on_news(&self, nudge: Box<dyn Fn()>) {
        *self.nudge.borrow_mut() = Some(nudge);
    }

    /// One more.
    pub(crate) fn add(&self, conn: ConnId) {
        let mut conns = self.conns.borrow_mut();
        if !conns.contains(&conn) {
            conns.push(conn);
        }
    }

    /// One less.
    pub(crate) fn left(&self, conn: ConnId) {
        self.conns.borrow_mut().retain(|of| *of != conn);
    }

    /// Whether nobody watches.
    pub(crate) fn none(&self) -> bool {
        self.conns.borrow().is_empty()
    }

    pub(super) fn tell(&self, phase: &str, entry: &Entry) {
        if self.none() {
            return;
        }
        let mut waiting = self.waiting.borrow_mut();
        let first = waiting.is_empty();
        if waiting.len() < WAITING {
            waiting.push(format!(r#"{{"type":"watch","phase":"{phase}","call":{}}}"#, entry.line(None)));
        }
        drop(waiting);
        if first && let Some(nudge) = &*self.nudge.borrow() {
            nudge();
        }
    }

    /// What is to be sent, and to whom.
    pub(crate) fn take(&self) -> (Vec<ConnId>, Vec<String>) {
        (self.conns.borrow().clone(), std::mem::take(&mut *self.waiting.borrow_mut()))
    }
}
