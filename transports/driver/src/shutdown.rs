//! The end of a driver: everybody answered, everybody told, nobody waited for too long.

use crate::clock::Clock;
use crate::driver::Shared;
use crate::host::Host;
use crate::input::Input;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Ready when all connections are gone, or when the grace is over and they have been dropped.
#[must_use = "only awaiting this lets the connections go"]
pub struct Shutdown<H: Host, C: Clock> {
    shared: Rc<Shared<H, C>>,
    grace: Pin<Box<C::Sleep>>,
}

impl<H: Host, C: Clock> Shutdown<H, C> {
    pub(crate) fn new(shared: Rc<Shared<H, C>>, grace: Duration) -> Self {
        let now = shared.clock.now();
        let end = now.saturating_add_ms(u64::try_from(grace.as_millis()).unwrap_or(u64::MAX));
        shared.heads.borrow_mut().close();
        shared.host.input(&Input::Shutdown);
        shared.hub.borrow_mut().shutdown(now);
        shared.drain();
        shared.flush();
        let grace = Box::pin(shared.clock.sleep_until(end));
        Self { shared, grace }
    }
}

impl<H: Host, C: Clock> Future for Shutdown<H, C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.shared.all.borrow().count == 0 {
            return Poll::Ready(());
        }
        if this.grace.as_mut().poll(cx).is_ready() {
            let left: Vec<_> = this.shared.all.borrow().links.iter().flatten().cloned().collect();
            for link in left {
                this.shared.kill(&link);
            }
            return Poll::Ready(());
        }
        this.shared.dues.borrow_mut().on_ended(cx.waker());
        Poll::Pending
    }
}
