//! One connection as everybody but its own task sees it: a queue, a state, and something to write to.

use crate::codec::Codec;
use crate::nudge::Nudge;
use crate::outbox::{Large, Outbox, Spares};
use crate::timers::Kind;
use crate::turns::Turns;
use bridge_core::{CloseCode, Congestion, ConnId, Role};
use futures::io::{AsyncRead, AsyncWrite};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Pieces handed to the kernel with one call.
const SLICES: usize = 8;

/// A connection, whatever carries it.
pub(crate) type AnyLink = Rc<Link<dyn Wire>>;

pub(crate) struct Link<W: ?Sized> {
    /// Its handle, while the hub knows it.
    pub(crate) id: Cell<Option<ConnId>>,
    /// Its place in the driver's table of everything that is not over yet.
    pub(crate) place: Cell<usize>,
    pub(crate) state: Cell<State>,
    pub(crate) role: Cell<Option<Role>>,
    pub(crate) out: RefCell<Outbox>,
    /// The socket did not take everything; the connection's own task goes on when it does.
    pub(crate) blocked: Cell<bool>,
    /// Not read at present, because what it would ask for has nowhere to go.
    pub(crate) paused: Cell<bool>,
    /// Not read at present, for whatever reason: its silence is not its own.
    pub(crate) unread: Cell<bool>,
    pub(crate) congestion: Cell<Congestion>,
    /// It stands in the list of those to write to.
    pub(crate) touched: Cell<bool>,
    /// Pings since anything was heard.
    pub(crate) unheard: Cell<u8>,
    /// When each of its deadlines is due, in milliseconds; `u64::MAX` if not set.
    pub(crate) due: [Cell<u64>; Kind::COUNT],
    /// While blocked: when the socket last took something, in milliseconds.
    pub(crate) progress: Cell<u64>,
    /// Its bytes in the sum of all queues.
    pub(crate) counted: Cell<usize>,
    /// Bytes of the message that it has begun, in the sum of what came in.
    pub(crate) unfinished: Cell<usize>,
    pub(crate) turns: Turns,
    pub(crate) nudge: Arc<Nudge>,
    pub(crate) wire: RefCell<W>,
}

/// From open to gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Both ways.
    Open,
    /// The peer has sent its last; it still gets answers.
    HalfClosed,
    /// The hub is done with it; the queue is written out.
    Closing,
    /// Written out and shut; waiting for the peer to let go, so that it can read all that was written.
    Lingering,
    /// Over.
    Dead,
}

/// What carries a connection: a stream with its codec, or a mailbox inside the process.
pub(crate) trait Wire: 'static {
    /// Writes pieces.
    fn poll_write(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>>;
    /// How messages are framed; `None` for a mailbox.
    fn codec(&mut self) -> Option<&mut dyn Codec>;
    /// Where messages go that are not framed.
    fn mailbox(&mut self) -> Option<&mut Mailbox> {
        None
    }
}

/// A stream with its codec.
pub(crate) struct Stream<IO, K> {
    pub(crate) io: IO,
    pub(crate) codec: K,
}

impl<IO, K> Wire for Stream<IO, K>
where
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
    K: Codec,
{
    fn poll_write(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match slices {
            [one] => Pin::new(&mut self.io).poll_write(cx, one),
            many => Pin::new(&mut self.io).poll_write_vectored(cx, many),
        }
    }

    fn codec(&mut self) -> Option<&mut dyn Codec> {
        Some(&mut self.codec)
    }
}

/// Messages for a caller inside the process.
#[derive(Default)]
pub(crate) struct Mailbox {
    pub(crate) messages: VecDeque<Vec<u8>>,
    pub(crate) bytes: usize,
    pub(crate) waker: Option<Waker>,
    pub(crate) closed: Option<CloseCode>,
}

impl Wire for Mailbox {
    fn poll_write(&mut self, _: &mut Context<'_>, _: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(0))
    }

    fn codec(&mut self) -> Option<&mut dyn Codec> {
        None
    }

    fn mailbox(&mut self) -> Option<&mut Mailbox> {
        Some(self)
    }
}

impl Mailbox {
    fn put(&mut self, message: Vec<u8>) {
        self.bytes += message.len();
        self.messages.push_back(message);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.len();
        Some(message)
    }
}

impl<W> Link<W> {
    pub(crate) fn new(nudge: Arc<Nudge>, wire: W) -> Self {
        Self {
            id: Cell::new(None),
            place: Cell::new(usize::MAX),
            state: Cell::new(State::Open),
            role: Cell::new(None),
            out: RefCell::default(),
            blocked: Cell::new(false),
            paused: Cell::new(false),
            unread: Cell::new(false),
            congestion: Cell::new(Congestion::Clear),
            touched: Cell::new(false),
            unheard: Cell::new(0),
            due: [const { Cell::new(u64::MAX) }; Kind::COUNT],
            progress: Cell::new(0),
            counted: Cell::new(0),
            unfinished: Cell::new(0),
            turns: Turns::new(),
            nudge,
            wire: RefCell::new(wire),
        }
    }
}

impl Link<dyn Wire> {
    /// Bytes waiting to go out.
    pub(crate) fn waiting(&self) -> usize {
        match self.wire.borrow_mut().mailbox() {
            Some(mailbox) => mailbox.bytes,
            None => self.out.borrow().len(),
        }
    }

    /// Bytes waiting behind the message that is on its way.
    pub(crate) fn behind(&self) -> usize {
        match self.wire.borrow_mut().mailbox() {
            Some(mailbox) => mailbox.bytes - mailbox.messages.front().map_or(0, Vec::len),
            None => self.out.borrow().behind(),
        }
    }

    /// Queues one message.
    pub(crate) fn push(&self, parts: &[&[u8]], spares: &mut Spares) {
        let wire = &mut *self.wire.borrow_mut();
        if let Some(codec) = wire.codec() {
            let len = parts.iter().map(|part| part.len()).sum();
            self.out.borrow_mut().push(codec, len, parts, spares);
        } else if let Some(mailbox) = wire.mailbox() {
            mailbox.put(parts.concat());
        }
    }

    /// Queues one message that owns its largest part.
    pub(crate) fn push_large(&self, message: Large, spares: &mut Spares) {
        let wire = &mut *self.wire.borrow_mut();
        if let Some(codec) = wire.codec() {
            self.out.borrow_mut().push_large(codec, message, spares);
        } else if let Some(mailbox) = wire.mailbox() {
            let Large { lead, owner, body, trail } = message;
            mailbox.put([&lead[..], &owner[body], &trail].concat());
        }
    }

    /// The hub is done with it: what is queued goes out, then the goodbye, then nothing.
    pub(crate) fn close(&self, code: CloseCode, reason: &str, spares: &mut Spares) {
        if !matches!(self.state.get(), State::Open | State::HalfClosed) {
            return;
        }
        self.state.set(State::Closing);
        let wire = &mut *self.wire.borrow_mut();
        if let Some(codec) = wire.codec() {
            let mut out = self.out.borrow_mut();
            if code == CloseCode::SLOW {
                out.cut();
            }
            let mut goodbye = spares.take();
            codec.close(code, reason, &mut goodbye);
            out.push_raw(&goodbye, spares);
            spares.give(goodbye);
        } else if let Some(mailbox) = wire.mailbox() {
            mailbox.closed = Some(code);
            if let Some(waker) = mailbox.waker.take() {
                waker.wake();
            }
        }
    }

    /// Writes what the socket takes. `Ready(Ok)` if nothing is left.
    pub(crate) fn poll_flush(&self, cx: &mut Context<'_>, spares: &mut Spares) -> Poll<io::Result<()>> {
        let wire = &mut *self.wire.borrow_mut();
        let mut out = self.out.borrow_mut();
        while !out.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = out.slices(&mut slices);
            match wire.poll_write(cx, &slices[..count]) {
                Poll::Pending => {
                    self.blocked.set(true);
                    return Poll::Pending;
                }
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => out.wrote(count, spares),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            }
        }
        self.blocked.set(false);
        Poll::Ready(Ok(()))
    }

    /// Has its task polled soon.
    pub(crate) fn nudge(&self) {
        use std::task::Wake;
        self.nudge.wake_by_ref();
    }
}
