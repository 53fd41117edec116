//! What can only be judged while it happens: who is cut off and for what, and whose request is passed on.

use crate::host::SimHost;
use crate::time::{SimClock, Time};
use bridge_core::{CallId, ConnId, Violation};
use bridge_driver::{Driver, Input, Options};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// Requests that are passed on although there is no room, and how long there must have been no answer.
const REGARDLESS: u64 = 8;
const PATIENCE_MS: u64 = 50;
/// Nothing is taken to weigh less than such a part of what may be under way; whose answers are that light need not have been without one.
const LIGHTEST: usize = 64;

/// The watch over a driver.
pub(crate) struct Watch {
    time: Rc<Time>,
    /// Given up at the end, for it holds the watch.
    pub(crate) driver: RefCell<Option<Driver<SimHost, SimClock>>>,
    options: Cell<Options>,
    /// Who spoke last.
    asking: Cell<Option<ConnId>>,
    /// The calls that were taken on: whose, and whether a browser was asked.
    calls: RefCell<HashMap<CallId, (ConnId, bool)>>,
    patience: RefCell<HashMap<ConnId, Patience>>,
    /// The host itself lets a request go, or answers it.
    pub(crate) deciding: Cell<bool>,
    /// Who had to go because all queues together were too long.
    pub(crate) relieved: RefCell<Vec<ConnId>>,
}

/// What was passed on to one client's browsers without room.
#[derive(Default)]
struct Patience {
    answered: u64,
    passed: u64,
    count: u64,
}

impl Watch {
    pub(crate) fn new(time: &Rc<Time>) -> Self {
        Self {
            time: time.clone(),
            driver: RefCell::default(),
            options: Cell::default(),
            asking: Cell::default(),
            calls: RefCell::default(),
            patience: RefCell::default(),
            deciding: Cell::default(),
            relieved: RefCell::default(),
        }
    }

    /// From here on.
    pub(crate) fn begin(&self, driver: &Driver<SimHost, SimClock>, options: Options) {
        *self.driver.borrow_mut() = Some(driver.clone());
        self.options.set(options);
    }

    pub(crate) fn input(&self, input: &Input<'_>) {
        match *input {
            Input::Frame(conn, _) => self.asking.set(Some(conn)),
            Input::Forward(_) => {
                if let Some(conn) = self.asking.get() {
                    assert!(self.has_room(conn), "passed on without room: {}", self.under_way(conn));
                }
            }
            Input::Release { call, .. } => self.released(call),
            Input::Reject(conn, Violation::Slow) => self.cut_off(conn),
            Input::Reject(conn, Violation::TooBig) => self.made_room(conn),
            _ => {}
        }
    }

    pub(crate) fn accepted(&self, call: CallId, sent: bool) {
        if let Some(conn) = self.asking.get() {
            self.calls.borrow_mut().insert(call, (conn, sent));
        }
    }

    /// `by_browser`: not by the hub or the host.
    pub(crate) fn answered(&self, call: CallId, by_browser: bool) {
        if let Some((conn, _)) = self.calls.borrow_mut().remove(&call)
            && by_browser
        {
            self.patience.borrow_mut().entry(conn).or_default().answered = self.time.now();
        }
    }

    pub(crate) fn left(&self, conn: ConnId) {
        self.calls.borrow_mut().retain(|_, (asker, _)| *asker != conn);
    }

    /// How many of its calls browsers are at work on.
    fn under_way(&self, conn: ConnId) -> usize {
        self.calls.borrow().values().filter(|(asker, sent)| *asker == conn && *sent).count()
    }

    /// What one client has under way is bounded, so that nobody else's request waits behind more than that.
    fn has_room(&self, conn: ConnId) -> bool {
        let driver = self.driver.borrow();
        let Some((weight, window)) = driver.as_ref().and_then(|driver| driver.turn(conn)) else {
            return true;
        };
        assert!(window <= self.options.get().under_way);
        let asked = self.under_way(conn);
        asked == 0 || weight * asked < window
    }

    fn is_light(&self, conn: ConnId) -> bool {
        let weight =
            self.driver.borrow().as_ref().and_then(|driver| driver.turn(conn)).map(|(weight, _)| weight);
        weight.is_none_or(|weight| weight <= self.options.get().under_way / LIGHTEST)
    }

    /// A held request goes on: because there is room, because there was no answer for a while, or by the host's will.
    fn released(&self, call: CallId) {
        let conn = self.calls.borrow().get(&call).map(|(conn, _)| *conn);
        if let Some(conn) = conn {
            if !self.deciding.get() && !self.has_room(conn) {
                let now = self.time.now();
                let mut patience = self.patience.borrow_mut();
                let patience = patience.entry(conn).or_default();
                if patience.count == 0 || patience.passed != now {
                    let since = if self.is_light(conn) {
                        patience.passed
                    } else {
                        patience.passed.max(patience.answered)
                    };
                    assert!(
                        now >= since + PATIENCE_MS,
                        "passed on without room {} ms after the last",
                        now - since
                    );
                    (patience.passed, patience.count) = (now, 0);
                }
                patience.count += 1;
                assert!(patience.count <= REGARDLESS, "{} were passed on without room", patience.count);
            }
            self.calls.borrow_mut().insert(call, (conn, true));
        }
    }

    /// Its message is too large, or has most of what is too much together.
    fn made_room(&self, conn: ConnId) {
        let driver = self.driver.borrow();
        let Some(driver) = driver.as_ref() else { return };
        let (queues, incoming) = (driver.queues(), driver.census().incoming);
        let its = queues.iter().find(|queue| queue.conn == conn).map(|queue| queue.unfinished);
        let most = queues.iter().map(|queue| queue.unfinished).max();
        if incoming > self.options.get().all_incoming && its == most {
            self.relieved.borrow_mut().push(conn);
        }
    }

    /// For its own queue, for taking nothing for too long, or because all queues together are too long and it is the one
    /// that has most: nobody is cut off for anything else.
    fn cut_off(&self, conn: ConnId) {
        let driver = self.driver.borrow();
        let Some(driver) = driver.as_ref() else { return };
        let (queues, options) = (driver.queues(), self.options.get());
        let Some(its) = queues.iter().find(|queue| queue.conn == conn) else {
            panic!("{conn:?} was cut off and is not there")
        };
        let stalled = its.stalled_since.is_some_and(|since| self.time.now() >= since + options.stall_ms);
        if its.behind > its.limit || stalled {
            return;
        }
        let all: usize = queues.iter().map(|queue| queue.counted).sum();
        let most = queues.iter().map(|queue| queue.counted).max();
        assert!(all > options.all_queues, "cut off for nothing: {its:?} of {all} bytes in all queues");
        assert_eq!(Some(its.counted), most, "another one has more waiting");
        self.relieved.borrow_mut().push(conn);
    }
}
