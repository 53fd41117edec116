//! From a received message to the queues it ends up in, and from the queues to the sockets.

use crate::clock::Clock;
use crate::driver::{Driver, Shared};
use crate::host::{Held, Host, Judgement};
use crate::input::Input;
use crate::link::{AnyLink, State};
use crate::outbox::Large;
use crate::timers::Kind;
use bridge_core::{
    CallId, CloseCode, Code, Congestion, ConnId, Event, Fault, Forward, Inspected, Instant, Output, Request,
    Role, Ticket, Violation,
};
use futures::task::noop_waker_ref;
use std::ops::Range;
use std::rc::Rc;
use std::task::{Context, Poll};

/// How many bytes may be read while writing is put off because others are ready.
const PATIENCE: usize = 256 << 10;
/// What a step counts for beside the bytes it read.
const STEP: usize = 4 << 10;

/// A message as it came in.
pub(crate) enum Incoming<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
}

/// A forward whose large part can be queued where it lies.
pub(crate) struct Move {
    to: AnyLink,
    lead: Vec<u8>,
    body: Range<usize>,
    trail: Vec<u8>,
}

impl<H: Host, C: Clock> Shared<H, C> {
    /// Takes one message of a link through the hub and into the queues of whoever it concerns.
    pub(crate) fn feed(self: &Rc<Self>, link: &AnyLink, message: Incoming<'_>, now: Instant) {
        let Some(conn) = link.id.get() else { return };
        let (frame, owner) = match &message {
            Incoming::Borrowed(frame) => (*frame, None),
            Incoming::Owned(frame) => (&frame[..], Some(&frame[..])),
        };
        self.host.input(&Input::Frame(conn, frame));
        let inspected = self.hub.borrow_mut().inspect(conn, frame, now);
        let moved = match inspected {
            Inspected::Forward(forward) => {
                if let Some(to) = self.link(forward.to()) {
                    self.answered(&to, forward.len());
                }
                if let Some(call) = forward.call() {
                    self.host.answered(call, &forward.parts());
                }
                self.queue(&forward, owner)
            }
            Inspected::Request(request) | Inspected::Host(request) => self.judge(link, request, owner, now),
            Inspected::Notice(notice) => {
                self.host.notice(&notice);
                None
            }
            Inspected::Refused(why) => {
                self.host.refused(conn, why);
                None
            }
            Inspected::Absorbed | Inspected::Stale => None,
        };
        if let (Some(Move { to, lead, body, trail }), Incoming::Owned(owner)) = (moved, message) {
            to.push_large(Large { lead, owner, body, trail }, &mut self.spares.borrow_mut());
            self.touch(&to);
        }
        self.drain();
    }

    fn judge(
        self: &Rc<Self>,
        link: &AnyLink,
        request: Request<'_>,
        owner: Option<&[u8]>,
        now: Instant,
    ) -> Option<Move> {
        // The hub is not borrowed here: the host may call it.
        match self.host.judge(&request) {
            Judgement::Pass => self.pass(link, request, None, owner, now),
            Judgement::Replace(params) => {
                let moved = self.pass(link, request.with_params(&params), Some(&params), None, now);
                debug_assert!(moved.is_none(), "nothing is moved that is not owned");
                None
            }
            Judgement::Refuse(code, text, maybe_executed) => {
                self.host.input(&Input::Refuse);
                self.hub.borrow_mut().refuse(request, code, &text, maybe_executed);
                None
            }
            Judgement::Answer(result) => {
                self.host.input(&Input::Answer);
                let forward = self.hub.borrow_mut().answer(request, &result);
                self.queue(&forward, None)
            }
            Judgement::Hold => {
                let conn = request.conn();
                let kept = request.clone();
                self.host.input(&Input::Hold);
                let held = self.hub.borrow_mut().hold(request, now);
                let ticket = self.noted(held, |ticket| Some((ticket.call(), None)))?;
                self.drain();
                self.host.held(&Driver(self.clone()), Held { ticket, conn }, &kept);
                None
            }
        }
    }

    /// Passes a request on, if it is its client's turn.
    fn pass(
        &self,
        link: &AnyLink,
        request: Request<'_>,
        changed: Option<&[u8]>,
        owner: Option<&[u8]>,
        now: Instant,
    ) -> Option<Move> {
        if self.must_wait(link) {
            self.wait(link, request, now);
            return None;
        }
        self.host.input(&Input::Forward(changed));
        let forward = self.hub.borrow_mut().forward(request, now);
        let forward = self.noted(forward, |forward| Some((forward.call()?, Some(forward.to()))))?;
        link.turns.asked();
        self.queue(&forward, owner)
    }

    /// Tells the host what became of the request it judged last.
    pub(crate) fn noted<T>(
        &self,
        taken: Result<T, Fault>,
        call: impl Fn(&T) -> Option<(CallId, Option<ConnId>)>,
    ) -> Option<T> {
        match taken {
            Ok(taken) => {
                if let Some((call, browser)) = call(&taken) {
                    self.host.accepted(call, browser);
                }
                Some(taken)
            }
            Err(why) => {
                self.host.declined(why);
                None
            }
        }
    }

    /// Queues a forward, or says how to without copying.
    pub(crate) fn queue(&self, forward: &Forward<'_>, owner: Option<&[u8]>) -> Option<Move> {
        let to = self.link(forward.to())?;
        let parts = forward.parts();
        if let Some((index, body)) = owner.and_then(|owner| Large::find(owner, &parts)) {
            let (lead, trail) = (parts[..index].concat(), parts[index + 1..].concat());
            return Some(Move { to, lead, body, trail });
        }
        to.push(&parts, &mut self.spares.borrow_mut());
        self.touch(&to);
        None
    }

    pub(crate) fn release(&self, held: Held, method: &str, params: &[u8], once: Option<&str>) {
        let Held { ticket, conn } = held;
        let now = self.clock.now();
        self.host.input(&Input::Release { call: ticket.call(), method, params, once });
        let released = self.hub.borrow_mut().release(ticket, method, params, once, now);
        if let Ok(forward) = released {
            self.queue(&forward, None);
            if let Some(link) = self.link(conn) {
                link.turns.asked();
            }
        }
        self.drain();
        self.settle();
    }

    pub(crate) fn complete(&self, ticket: Ticket, result: &[u8]) {
        self.host.input(&Input::Complete(ticket.call()));
        let completed = self.hub.borrow_mut().complete(ticket, result);
        if let Ok(forward) = completed {
            if let Some(call) = forward.call() {
                self.host.answered(call, &forward.parts());
            }
            self.queue(&forward, None);
        }
        self.drain();
        self.settle();
    }

    pub(crate) fn fail(&self, ticket: Ticket, code: Code, text: &str) {
        self.host.input(&Input::Fail(ticket.call()));
        self.hub.borrow_mut().fail(ticket, code, text);
        self.drain();
        self.settle();
    }

    /// The link broke a rule of its transport, or of the queues.
    pub(crate) fn reject(&self, link: &AnyLink, why: Violation) {
        if let Some(conn) = link.id.get() {
            self.host.input(&Input::Reject(conn, why));
            self.hub.borrow_mut().reject(conn, why, self.clock.now());
            self.drain();
        }
    }

    /// Carries out what the hub wants. Called after every input.
    pub(crate) fn drain(&self) {
        {
            let hub = &mut *self.hub.borrow_mut();
            let spares = &mut *self.spares.borrow_mut();
            while let Some(output) = hub.poll_output() {
                match output {
                    Output::Send { to, message } => {
                        if let Some(link) = self.link(to) {
                            let mut whole = spares.take();
                            message.each(|piece| whole.extend_from_slice(piece));
                            if let Some(call) = message.call() {
                                self.host.answered(call, &[&whole]);
                                link.turns.ended();
                            }
                            link.push(&[&whole], spares);
                            spares.give(whole);
                            self.touch(&link);
                        }
                    }
                    Output::Close { conn, code, reason } => {
                        if let Some(link) = self.link(conn) {
                            self.forget(&link);
                            link.close(code, reason, spares);
                            self.touch(&link);
                            link.nudge();
                        }
                    }
                    Output::Event(event) => self.events.borrow_mut().push_back(event),
                }
            }
        }
        loop {
            let Some(event) = self.events.borrow_mut().pop_front() else { break };
            match event {
                Event::Joined { conn, role, .. } => self.joined(conn, role),
                Event::Left { role, .. } => {
                    self.resume();
                    if role == Some(Role::Extension) {
                        self.turn_all();
                    }
                }
                Event::Replaced { .. } => self.turn_all(),
                _ => {}
            }
            self.host.event(&event);
        }
    }

    fn joined(&self, conn: bridge_core::ConnId, role: Role) {
        if let Some(link) = self.link(conn) {
            link.role.set(Some(role));
            let limits = &self.config.limits;
            if let Some(codec) = link.wire.borrow_mut().codec() {
                codec.limit(match role {
                    Role::Extension => limits.extension_bytes,
                    _ => limits.client_bytes,
                });
            }
        }
    }

    /// Something was queued for it.
    pub(crate) fn touch(&self, link: &AnyLink) {
        if !link.touched.replace(true) {
            self.touched.borrow_mut().push(link.clone());
        }
    }

    /// Ends a step: writes what was queued, unless others that are ready will queue more in a moment.
    pub(crate) fn settle(&self) {
        self.take_turns();
        if self.touched.borrow().is_empty() {
            self.put_off.set(0);
            self.kick();
            return;
        }
        if !self.ready.none() && self.put_off.get() < PATIENCE {
            self.put_off.set(self.put_off.get() + STEP);
            return;
        }
        self.flush();
    }

    /// Writes what was queued.
    pub(crate) fn flush(&self) {
        self.put_off.set(0);
        self.take_turns();
        let mut batch = Vec::new();
        loop {
            std::mem::swap(&mut batch, &mut self.touched.borrow_mut());
            if batch.is_empty() {
                break;
            }
            for link in batch.drain(..) {
                link.touched.set(false);
                self.write(&link);
                self.check(&link);
            }
        }
        // Its capacity is worth keeping.
        *self.touched.borrow_mut() = batch;
        self.kick();
    }

    /// One attempt to write, without waiting. What does not go at once is the link's own task's business.
    fn write(&self, link: &AnyLink) {
        if link.blocked.get() || matches!(link.state.get(), State::Lingering | State::Dead) {
            return;
        }
        let mut cx = Context::from_waker(noop_waker_ref());
        match link.poll_flush(&mut cx, &mut self.spares.borrow_mut()) {
            Poll::Pending => self.stalled(link),
            // It was not read while its queue was long, and no writing of its own will wake it.
            Poll::Ready(Ok(())) if link.unread.get() => link.nudge(),
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(_)) => {
                link.state.set(State::Dead);
                link.nudge();
            }
        }
    }

    /// The socket is full: from here on its own task writes, and a clock runs.
    fn stalled(&self, link: &AnyLink) {
        let now = self.clock.now();
        link.progress.set(now.as_millis());
        self.set_due(link, Kind::Stall, now.saturating_add_ms(self.options.stall_ms));
        link.nudge();
    }

    /// Keeps the count of queued bytes, and acts on queues that are too long.
    pub(crate) fn check(&self, link: &AnyLink) {
        let waiting = self.recount(link);
        let was = link.congestion.get();
        if waiting <= self.options.fast_mark && was == Congestion::Clear {
            return;
        }
        let limit = match link.role.get() {
            Some(Role::Extension) => self.options.extension_queue,
            _ => self.options.client_queue,
        };
        let now = if waiting >= limit {
            Congestion::Full
        } else if waiting > self.options.slow_mark {
            Congestion::Slow
        } else if waiting <= self.options.fast_mark {
            Congestion::Clear
        } else {
            was
        };
        if let Some(conn) = link.id.get()
            && now != was
        {
            link.congestion.set(now);
            self.host.input(&Input::Congested(conn, now));
            self.hub.borrow_mut().congested(conn, now);
            self.drain();
            if now == Congestion::Clear {
                self.resume();
            }
        }
        if waiting > limit && link.behind() > limit {
            self.reject(link, Violation::Slow);
            self.recount(link);
        }
        if self.queued.get() > self.options.all_queues {
            self.relieve();
        }
    }

    /// Cuts off the longest queue until all together are within bounds.
    fn relieve(&self) {
        loop {
            // Whoever was cut off may still have a message under way, which cutting off others does not end sooner.
            let open: usize = self.links.borrow().iter().flatten().map(|link| link.counted.get()).sum();
            if open <= self.options.all_queues {
                return;
            }
            let longest = self.links.borrow().iter().flatten().max_by_key(|link| link.counted.get()).cloned();
            match longest {
                Some(link) if link.counted.get() > 0 && link.id.get().is_some() => {
                    self.reject(&link, Violation::Slow);
                    if link.id.get().is_some() {
                        // The hub always closes for this; if it did not, going on would never end.
                        self.leave(&link);
                        link.close(CloseCode::SLOW, "too slow", &mut self.spares.borrow_mut());
                    }
                    self.recount(&link);
                }
                _ => return,
            }
        }
    }

    pub(crate) fn recount(&self, link: &AnyLink) -> usize {
        let waiting = link.waiting();
        let before = link.counted.replace(waiting);
        self.queued.set(self.queued.get() - before + waiting);
        waiting
    }

    /// Has those read again that were not while a queue was long.
    pub(crate) fn resume(&self) {
        for link in self.paused.borrow_mut().drain(..) {
            link.paused.set(false);
            link.nudge();
        }
    }
}
