//! Streams that have not shown a head yet: few at a time, and not for long.

use bridge_core::Instant;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Why a stream lost its place before its head was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ousted {
    /// Its time ran out.
    Late,
    /// Too many others came after it.
    Crowded,
    /// The driver shuts down.
    Closing,
}

/// A stream's place among those whose head is being read; given back when dropped.
///
/// As a future it is ready when the place is lost.
#[derive(Debug)]
pub struct Head(Rc<Place>);

#[derive(Debug)]
struct Place {
    due: u64,
    left: Cell<bool>,
    ousted: Cell<Option<Ousted>>,
    waker: RefCell<Option<Waker>>,
}

/// All of them, oldest first. Places that were left are skipped when they come up.
#[derive(Default)]
pub(crate) struct Heads {
    places: VecDeque<Rc<Place>>,
}

impl Heads {
    /// A place until `due`, which must not lie before the due time of any earlier place.
    pub(crate) fn enter(&mut self, due: Instant, limit: usize) -> Head {
        if self.places.len() >= limit {
            self.places.retain(|place| !place.left.get());
        }
        while self.places.len() >= limit.max(1) {
            if let Some(oldest) = self.places.pop_front() {
                oldest.oust(Ousted::Crowded);
            }
        }
        let place = Rc::new(Place {
            due: due.as_millis(),
            left: Cell::new(false),
            ousted: Cell::new(None),
            waker: RefCell::new(None),
        });
        self.places.push_back(place.clone());
        Head(place)
    }

    /// When the next one is due.
    pub(crate) fn next(&mut self) -> Option<Instant> {
        while self.places.front().is_some_and(|place| place.left.get()) {
            self.places.pop_front();
        }
        self.places.front().map(|place| Instant::from_millis(place.due))
    }

    pub(crate) fn expire(&mut self, now: Instant) {
        while self.next().is_some_and(|due| due <= now) {
            if let Some(place) = self.places.pop_front() {
                place.oust(Ousted::Late);
            }
        }
    }

    pub(crate) fn close(&mut self) {
        for place in self.places.drain(..) {
            place.oust(Ousted::Closing);
        }
    }
}

impl Place {
    fn oust(&self, why: Ousted) {
        self.ousted.set(Some(why));
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

impl Head {
    /// Whether the place is lost already.
    #[must_use]
    pub fn ousted(&self) -> Option<Ousted> {
        self.0.ousted.get()
    }
}

impl Future for Head {
    type Output = Ousted;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Ousted> {
        match self.0.ousted.get() {
            Some(why) => Poll::Ready(why),
            None => {
                *self.0.waker.borrow_mut() = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        self.0.left.set(true);
    }
}
