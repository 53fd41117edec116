//! One connection's task: reads, feeds the hub, writes what did not go at once, and ends cleanly.

use crate::clock::Clock;
use crate::codec::{Codec, Decoded, End};
use crate::driver::Shared;
use crate::feed::Incoming;
use crate::host::Host;
use crate::input::Input;
use crate::link::{AnyLink, Link, State, Stream};
use crate::nudge::Nudge;
use crate::timers::Kind;
use bridge_core::{ConnId, Instant};
use futures::io::{AsyncRead, AsyncWrite};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Reads in one poll. A full buffer ends it earlier: others want their turn.
const READS: u32 = 4;
/// What a lingering peer may still send before it is cut off.
const DISCARDED: usize = 1 << 20;

/// A connection being served; ready when it is over.
#[must_use = "a connection that is not polled is not served"]
pub struct Serving<H: Host, C: Clock, IO, K> {
    shared: Rc<Shared<H, C>>,
    link: Rc<Link<Stream<IO, K>>>,
    any: AnyLink,
    nudge: Arc<Nudge>,
    waker: Waker,
    received: Vec<u8>,
    discarded: usize,
}

/// What a step came to.
enum Step {
    Again,
    Wait,
    Over,
}

impl<H, C, IO, K> Serving<H, C, IO, K>
where
    H: Host,
    C: Clock,
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
    K: Codec,
{
    pub(crate) fn new(
        shared: Rc<Shared<H, C>>,
        link: Rc<Link<Stream<IO, K>>>,
        any: AnyLink,
        nudge: Arc<Nudge>,
        received: &[u8],
    ) -> Self {
        let waker = Waker::from(nudge.clone());
        Self { shared, link, any, nudge, waker, received: received.to_vec(), discarded: 0 }
    }

    /// Its handle in the hub; `None` once it is closed.
    #[must_use]
    pub fn conn(&self) -> Option<ConnId> {
        self.link.id.get()
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        if self.link.blocked.get() && self.link.state.get() != State::Dead {
            self.write_on(cx);
        }
        match self.link.state.get() {
            State::Open => self.read(cx),
            State::HalfClosed => {
                if self.link.wire.borrow_mut().codec.gone() {
                    self.link.state.set(State::Dead);
                    return Step::Over;
                }
                Step::Wait
            }
            State::Closing => self.close(cx),
            State::Lingering => self.linger(cx),
            State::Dead => Step::Over,
        }
    }

    /// Goes on with a write that did not fit.
    fn write_on(&mut self, cx: &mut Context<'_>) {
        let before = self.link.out.borrow().written;
        let outcome = self.any.poll_flush(cx, &mut self.shared.spares.borrow_mut());
        match outcome {
            Poll::Pending => {
                if self.link.out.borrow().written != before {
                    self.link.progress.set(self.shared.clock.now().as_millis());
                }
            }
            Poll::Ready(Ok(())) => self.shared.clear_due(&self.any, Kind::Stall),
            Poll::Ready(Err(_)) => self.link.state.set(State::Dead),
        }
        self.shared.check(&self.any);
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Step {
        if !self.received.is_empty() {
            let mut received = std::mem::take(&mut self.received);
            self.take(&mut received);
        }
        for _ in 0..READS {
            if self.link.state.get() != State::Open {
                return Step::Again;
            }
            let unread = self.pause();
            self.link.unread.set(unread);
            if unread {
                return Step::Wait;
            }
            let shared = self.shared.clone();
            let scratch = &mut *shared.scratch.borrow_mut();
            if scratch.is_empty() {
                scratch.resize(shared.options.read_bytes.max(1024), 0);
            }
            let outcome = Pin::new(&mut self.link.wire.borrow_mut().io).poll_read(cx, scratch);
            match outcome {
                Poll::Pending => return Step::Wait,
                Poll::Ready(Err(_)) => {
                    self.link.state.set(State::Dead);
                    return Step::Over;
                }
                Poll::Ready(Ok(0)) => {
                    self.ended();
                    return Step::Again;
                }
                Poll::Ready(Ok(count)) => {
                    let full = count == scratch.len();
                    shared.put_off.set(shared.put_off.get() + count);
                    self.take(&mut scratch[..count]);
                    if full {
                        break;
                    }
                }
            }
        }
        // There may be more; others first.
        cx.waker().wake_by_ref();
        Step::Wait
    }

    /// Whether it must not be read now. Whoever makes it readable again nudges it.
    fn pause(&self) -> bool {
        let link = &self.link;
        let wanted = link.turns.bytes.get() <= self.shared.options.slow_mark
            && link.id.get().is_none_or(|conn| self.shared.hub.borrow().wants_read(conn));
        if wanted && link.out.borrow().len() <= self.shared.options.slow_mark {
            return false;
        }
        if !wanted && !link.paused.replace(true) {
            self.shared.paused.borrow_mut().push(self.any.clone());
        }
        true
    }

    /// Feeds the hub with what was received.
    fn take(&mut self, mut input: &mut [u8]) {
        let shared = &self.shared;
        let now = shared.clock.now();
        self.link.unheard.set(0);
        let mut replies = shared.spares.borrow_mut().take();
        let mut completed = false;
        loop {
            let decoded = self.link.wire.borrow_mut().codec.decode(&mut input, &mut replies);
            match decoded {
                Decoded::More => break,
                Decoded::Message(message) => {
                    completed = true;
                    shared.feed(&self.any, Incoming::Borrowed(message), now);
                }
                Decoded::Assembled(message) => {
                    completed = true;
                    shared.feed(&self.any, Incoming::Owned(message), now);
                }
                Decoded::Violation(why) => {
                    shared.reject(&self.any, why);
                    break;
                }
                Decoded::Closed => {
                    shared.leave(&self.any);
                    if self.link.state.get() == State::Open {
                        self.link.state.set(State::Closing);
                    }
                    break;
                }
            }
            if self.link.state.get() != State::Open {
                break;
            }
        }
        let mut spares = shared.spares.borrow_mut();
        if !replies.is_empty() {
            self.link.out.borrow_mut().push_raw(&replies, &mut spares);
            shared.touch(&self.any);
        }
        spares.give(replies);
        drop(spares);
        shared.check_unfinished(&self.any);
        self.lend();
        self.time_message(completed, now);
    }

    /// Gives a large message that is coming in the memory of one that has gone out.
    fn lend(&self) {
        let mut spares = self.shared.spares.borrow_mut();
        if spares.has_large() {
            let codec = &mut self.link.wire.borrow_mut().codec;
            if codec.unfinished()
                && let Some(buffer) = spares.take_large()
                && let Some(buffer) = codec.lend(buffer)
            {
                spares.give(buffer);
            }
        }
    }

    /// Runs the clock of a message that has begun and is not complete.
    fn time_message(&self, completed: bool, now: Instant) {
        let unfinished = self.link.wire.borrow().codec.unfinished();
        let timed = self.link.due[Kind::Fragment as usize].get() != u64::MAX;
        if timed && (completed || !unfinished) {
            self.shared.clear_due(&self.any, Kind::Fragment);
        }
        if unfinished && (completed || !timed) && self.link.state.get() == State::Open {
            let due = now.saturating_add_ms(self.shared.options.fragment_ms);
            self.shared.set_due(&self.any, Kind::Fragment, due);
        }
    }

    /// The peer sends nothing more.
    fn ended(&mut self) {
        let end = self.link.wire.borrow_mut().codec.end();
        self.shared.check_unfinished(&self.any);
        match end {
            End::Closed => self.link.state.set(State::Dead),
            End::Half(last) => {
                let now = self.shared.clock.now();
                if let Some(message) = last {
                    self.shared.feed(&self.any, Incoming::Owned(message), now);
                }
                self.shared.clear_due(&self.any, Kind::Fragment);
                if self.link.state.get() == State::Open {
                    self.link.state.set(State::HalfClosed);
                    if let Some(conn) = self.link.id.get() {
                        self.shared.host.input(&Input::HalfClose(conn));
                        self.shared.hub.borrow_mut().half_close(conn, now);
                        self.shared.drain();
                        self.shared.watch_half_closed(&self.any, now);
                    }
                }
            }
        }
    }

    /// Writes out what is left, then shuts the sending side.
    fn close(&mut self, cx: &mut Context<'_>) -> Step {
        for kind in [Kind::Ping, Kind::Fragment] {
            self.shared.clear_due(&self.any, kind);
        }
        if self.link.due[Kind::Linger as usize].get() == u64::MAX {
            let due = self.shared.clock.now().saturating_add_ms(self.shared.options.linger_ms);
            self.shared.set_due(&self.any, Kind::Linger, due);
        }
        let flushed = self.any.poll_flush(cx, &mut self.shared.spares.borrow_mut());
        self.shared.recount(&self.any);
        match flushed {
            Poll::Pending => Step::Wait,
            Poll::Ready(Err(_)) => Step::Over,
            Poll::Ready(Ok(())) => match Pin::new(&mut self.link.wire.borrow_mut().io).poll_close(cx) {
                Poll::Pending => Step::Wait,
                Poll::Ready(Err(_)) => Step::Over,
                Poll::Ready(Ok(())) => {
                    self.link.state.set(State::Lingering);
                    Step::Again
                }
            },
        }
    }

    /// Reads away what the peer still sends: closing with bytes unread would take the goodbye back.
    fn linger(&mut self, cx: &mut Context<'_>) -> Step {
        let shared = self.shared.clone();
        let scratch = &mut *shared.scratch.borrow_mut();
        if scratch.is_empty() {
            scratch.resize(shared.options.read_bytes.max(1024), 0);
        }
        for _ in 0..READS {
            match Pin::new(&mut self.link.wire.borrow_mut().io).poll_read(cx, scratch) {
                Poll::Pending => return Step::Wait,
                Poll::Ready(Ok(count)) if count > 0 && self.discarded < DISCARDED => self.discarded += count,
                Poll::Ready(_) => return Step::Over,
            }
        }
        cx.waker().wake_by_ref();
        Step::Wait
    }
}

impl<H, C, IO, K> Future for Serving<H, C, IO, K>
where
    H: Host,
    C: Clock,
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
    K: Codec,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        this.nudge.polled(cx.waker());
        let waker = this.waker.clone();
        let mut cx = Context::from_waker(&waker);
        let over = loop {
            match this.step(&mut cx) {
                Step::Again => {}
                Step::Wait => break false,
                Step::Over => break true,
            }
        };
        if over {
            this.nudge.ended();
            this.shared.bury(&this.any);
        }
        this.shared.settle();
        if over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl<H: Host, C: Clock, IO, K> Drop for Serving<H, C, IO, K> {
    fn drop(&mut self) {
        self.nudge.ended();
        if self.any.place.get() != usize::MAX {
            self.shared.bury(&self.any);
        }
        self.shared.settle();
    }
}
