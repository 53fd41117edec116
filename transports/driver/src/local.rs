//! A connection inside the process: messages in by a call, messages out by a future.

use crate::clock::Clock;
use crate::driver::Shared;
use crate::feed::Incoming;
use crate::host::Host;
use crate::link::{AnyLink, Link, Mailbox, State};
use bridge_core::{CloseCode, ConnId};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

/// One end of a connection to the hub without a stream. Closed when dropped.
pub struct Local<H: Host, C: Clock> {
    shared: Rc<Shared<H, C>>,
    link: Rc<Link<Mailbox>>,
    any: AnyLink,
}

impl<H: Host, C: Clock> Local<H, C> {
    pub(crate) fn new(shared: Rc<Shared<H, C>>, link: Rc<Link<Mailbox>>, any: AnyLink) -> Self {
        Self { shared, link, any }
    }

    /// Its handle in the hub; `None` once it is closed.
    #[must_use]
    pub fn conn(&self) -> Option<ConnId> {
        self.link.id.get()
    }

    /// Sends one message: one JSON text. What it causes has been queued, and usually written, when this
    /// returns. Nothing happens on a closed connection.
    pub fn send(&self, message: &[u8]) {
        let now = self.shared.clock.now();
        self.shared.feed(&self.any, Incoming::Borrowed(message), now);
        self.shared.settle();
    }

    /// The next message; `None` when the connection is closed and everything was read.
    pub async fn recv(&self) -> Option<Vec<u8>> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// [`Local::recv`] for hand-written futures.
    pub fn poll_recv(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        let taken = self.link.wire.borrow_mut().take();
        if let Some(message) = taken {
            self.shared.check(&self.any);
            return Poll::Ready(Some(message));
        }
        if self.link.state.get() != State::Open {
            return Poll::Ready(None);
        }
        self.link.wire.borrow_mut().waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// A message that is here already.
    #[must_use]
    pub fn try_recv(&self) -> Option<Vec<u8>> {
        let message = self.link.wire.borrow_mut().take()?;
        self.shared.check(&self.any);
        Some(message)
    }

    /// Why it was closed, if it was.
    #[must_use]
    pub fn closed(&self) -> Option<CloseCode> {
        self.link.wire.borrow().closed
    }
}

impl<H: Host, C: Clock> Drop for Local<H, C> {
    fn drop(&mut self) {
        *self.link.wire.borrow_mut() = Mailbox::default();
        self.shared.bury(&self.any);
        self.shared.settle();
    }
}
