//! Waiting with an end: for anything, and for a peer that takes what is written to it.

use bridge_driver::Clock;
use futures::io::AsyncWrite;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Waits for something, not for ever.
pub(crate) async fn within<C: Clock, T>(clock: &C, ms: u64, wanted: impl Future<Output = T>) -> Option<T> {
    let mut wanted = pin!(wanted);
    let mut sleep = None;
    poll_fn(|cx| {
        if let Poll::Ready(value) = wanted.as_mut().poll(cx) {
            return Poll::Ready(Some(value));
        }
        let sleep =
            sleep.get_or_insert_with(|| Box::pin(clock.sleep_until(clock.now().saturating_add_ms(ms))));
        sleep.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// A stream to write to that fails when nothing of what is written is taken for too long.
pub(crate) struct Slow<'a, IO, C: Clock> {
    io: &'a mut IO,
    clock: &'a C,
    stall_ms: u64,
    sleep: Option<Pin<Box<C::Sleep>>>,
}

impl<'a, IO: AsyncWrite + Unpin, C: Clock> Slow<'a, IO, C> {
    pub(crate) fn new(io: &'a mut IO, clock: &'a C, stall_ms: u64) -> Self {
        Self { io, clock, stall_ms, sleep: None }
    }

    fn attempt<T>(
        &mut self,
        cx: &mut Context<'_>,
        act: impl FnOnce(Pin<&mut IO>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(outcome) = act(Pin::new(&mut *self.io), cx) {
            self.sleep = None;
            return Poll::Ready(outcome);
        }
        let until = self.clock.now().saturating_add_ms(self.stall_ms);
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(self.clock.sleep_until(until)));
        sleep.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<IO: AsyncWrite + Unpin, C: Clock> AsyncWrite for Slow<'_, IO, C> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().attempt(cx, |io, cx| io.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().attempt(cx, |io, cx| io.poll_write_vectored(cx, bufs))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().attempt(cx, |io, cx| io.poll_flush(cx))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().attempt(cx, |io, cx| io.poll_close(cx))
    }
}
