//! The loop: one epoll set a thread, what waits in it, and `block_on`.

use crate::timer::Timers;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

/// Events taken from the kernel at once. More only means another wait that returns immediately.
const BATCH: usize = 256;
const WAKE: u64 = u64::MAX;
/// Bytes of full reads after which the kernel is asked who else is ready. An executor runs a task that always has more to read
/// some hundred times before it lets the loop turn, and whoever comes meanwhile would wait for all of that.
const GREED: usize = 256 << 10;

/// Runs a future on this thread, serving this thread's sockets and timers meanwhile.
///
/// Other threads may wake the future (and the tasks in it) at any time. Nested calls are allowed but the
/// outer future does not move meanwhile.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let reactor = Reactor::current();
    let mut future = pin!(future);
    let waker = Waker::from(reactor.alarm.clone());
    let mut cx = Context::from_waker(&waker);
    reactor.alarm.rung.store(true, SeqCst);
    loop {
        if reactor.alarm.rung.swap(false, SeqCst)
            && let Poll::Ready(value) = future.as_mut().poll(&mut cx)
        {
            return value;
        }
        reactor.turn();
    }
}

/// One thread's set of sockets and timers.
pub(crate) struct Reactor {
    epoll: OwnedFd,
    alarm: Arc<Alarm>,
    sources: RefCell<Sources>,
    /// Bytes of full reads since the kernel was asked last.
    greed: Cell<usize>,
    pub(crate) timers: Timers,
}

/// What wakes the loop from outside it.
struct Alarm {
    rung: AtomicBool,
    /// The loop sleeps in the kernel, so that ringing takes a write.
    asleep: AtomicBool,
    bell: OwnedFd,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, SeqCst) && self.asleep.load(SeqCst) {
            // The bell is edge-triggered and never read; its counter would take centuries to fill.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }
}

#[derive(Default)]
struct Sources {
    slots: Vec<(u32, Option<Rc<Source>>)>,
    free: Vec<u32>,
}

/// One registered socket, as its owner and the loop see it.
pub(crate) struct Source {
    key: u64,
    read: Side,
    write: Side,
    /// The peer is gone or half gone: a short read no longer means that nothing is left.
    ended: Cell<bool>,
    /// The kernel reports events (only a listener is ever silenced).
    armed: Cell<bool>,
}

/// One direction of a socket.
pub(crate) struct Side {
    ready: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Reactor>>> = const { RefCell::new(None) };
}

impl Reactor {
    /// This thread's reactor; made on first use.
    ///
    /// # Panics
    /// If the process is out of descriptors at that moment: without its reactor the thread can do nothing.
    pub(crate) fn current() -> Rc<Reactor> {
        CURRENT.with(|current| {
            #[allow(clippy::expect_used, reason = "a thread without a reactor cannot go on; documented")]
            current
                .borrow_mut()
                .get_or_insert_with(|| Rc::new(Reactor::new().expect("no descriptor left for epoll")))
                .clone()
        })
    }

    fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(
            &epoll,
            &bell,
            epoll::EventData::new_u64(WAKE),
            epoll::EventFlags::IN | epoll::EventFlags::ET,
        )?;
        Ok(Self {
            epoll,
            alarm: Arc::new(Alarm { rung: false.into(), asleep: false.into(), bell }),
            sources: RefCell::default(),
            greed: Cell::new(0),
            timers: Timers::default(),
        })
    }

    /// Registers a socket for its whole life. Streams are edge-triggered; a listener is level-triggered, so
    /// that an accept loop needs no second `accept` to learn that nobody else waits.
    pub(crate) fn add(&self, fd: impl AsFd, kind: Kind) -> io::Result<Rc<Source>> {
        let mut sources = self.sources.borrow_mut();
        let slot = match sources.free.pop() {
            Some(slot) => slot,
            None => {
                sources.slots.push((0, None));
                u32::try_from(sources.slots.len() - 1).map_err(io::Error::other)?
            }
        };
        let entry = &mut sources.slots[slot as usize];
        entry.0 = entry.0.wrapping_add(1);
        let key = u64::from(entry.0) << 32 | u64::from(slot);
        if let Err(error) = epoll::add(&self.epoll, fd, epoll::EventData::new_u64(key), kind.flags()) {
            sources.free.push(slot);
            return Err(error.into());
        }
        // Optimistic: whoever connects has mostly written already when we get to it.
        let side = || Side { ready: Cell::new(true), waker: RefCell::new(None) };
        let source = Rc::new(Source {
            key,
            read: side(),
            write: side(),
            ended: Cell::new(false),
            armed: Cell::new(true),
        });
        entry.1 = Some(source.clone());
        Ok(source)
    }

    /// Forgets a socket whose descriptor is about to be closed, which takes it out of the epoll set.
    pub(crate) fn forget(&self, source: &Source) {
        let mut sources = self.sources.borrow_mut();
        let slot = source.key as u32;
        if let Some(entry) = sources.slots.get_mut(slot as usize)
            && entry.1.as_ref().is_some_and(|held| held.key == source.key)
        {
            entry.1 = None;
            sources.free.push(slot);
        }
    }

    /// Switches a listener's events on or off: level-triggered ones nobody takes would keep the loop awake.
    pub(crate) fn arm(&self, fd: impl AsFd, source: &Source, on: bool) -> io::Result<()> {
        if source.armed.replace(on) == on {
            return Ok(());
        }
        let flags = if on { Kind::Listener.flags() } else { epoll::EventFlags::empty() };
        Ok(epoll::modify(&self.epoll, fd, epoll::EventData::new_u64(source.key), flags)?)
    }

    /// Waits for the next event, unless there is work already, and hands out wake-ups.
    fn turn(&self) {
        self.alarm.asleep.store(true, SeqCst);
        let patience = if self.alarm.rung.load(SeqCst) {
            Some(NONE)
        } else {
            self.timers.next().map(|at| whole_millis(at.saturating_duration_since(Instant::now())))
        };
        self.look(patience);
    }

    /// A read filled its buffer with so many bytes, so there are more: others get their turn, too.
    pub(crate) fn read_full(&self, bytes: usize) {
        self.greed.set(self.greed.get().saturating_add(bytes));
        if self.greed.get() >= GREED {
            self.look(Some(NONE));
        }
    }

    /// Asks the kernel what is ready, for so long if nothing is, and hands out wake-ups.
    fn look(&self, patience: Option<Timespec>) {
        self.greed.set(0);
        let mut buffer = [MaybeUninit::<epoll::Event>::uninit(); BATCH];
        let events: &[epoll::Event] = match epoll::wait(&self.epoll, &mut buffer, patience.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => &[],
            // Only a broken descriptor set ends here; not to spin is all that can be done.
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
                &[]
            }
        };
        self.alarm.asleep.store(false, SeqCst);
        for event in events {
            let (key, flags) = (event.data.u64(), event.flags);
            if key == WAKE {
                continue;
            }
            let source = {
                let sources = self.sources.borrow();
                match sources.slots.get(key as u32 as usize) {
                    Some((_, Some(source))) if source.key == key => source.clone(),
                    _ => continue,
                }
            };
            use epoll::EventFlags as Flags;
            if flags.intersects(Flags::RDHUP | Flags::HUP | Flags::ERR) {
                source.ended.set(true);
            }
            if flags.intersects(Flags::IN | Flags::RDHUP | Flags::HUP | Flags::ERR) {
                source.read.wake();
            }
            if flags.intersects(Flags::OUT | Flags::HUP | Flags::ERR) {
                source.write.wake();
            }
        }
        if self.timers.next().is_some_and(|at| at <= Instant::now()) {
            self.timers.fire(Instant::now());
        }
    }
}

const NONE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// How a descriptor is watched.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Stream,
    Listener,
}

impl Kind {
    fn flags(self) -> epoll::EventFlags {
        use epoll::EventFlags as Flags;
        match self {
            Kind::Stream => Flags::IN | Flags::OUT | Flags::RDHUP | Flags::ET,
            Kind::Listener => Flags::IN,
        }
    }
}

/// Rounds up: a timer must not fire early, or its owner would wait again for nothing.
fn whole_millis(span: std::time::Duration) -> Timespec {
    let millis = span.as_nanos().div_ceil(1_000_000).min(86_400_000) as i64;
    Timespec { tv_sec: millis / 1000, tv_nsec: (millis % 1000) * 1_000_000 }
}

impl Side {
    fn wake(&self) {
        self.ready.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    fn wait(&self, cx: &mut Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        match waker.as_mut() {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
    }

    /// Tries an operation while the kernel is believed to be ready for it.
    pub(crate) fn attempt<T>(
        &self,
        cx: &mut Context<'_>,
        mut operation: impl FnMut() -> io::Result<T>,
    ) -> Poll<io::Result<T>> {
        while self.ready.get() {
            match operation() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.ready.set(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return Poll::Ready(outcome),
            }
        }
        self.wait(cx);
        Poll::Pending
    }
}

impl Source {
    pub(crate) fn read(&self) -> &Side {
        &self.read
    }

    pub(crate) fn write(&self) -> &Side {
        &self.write
    }

    /// Tells the loop that a read came back short: the next byte will announce itself.
    pub(crate) fn drained(&self) {
        if !self.ended.get() {
            self.read.ready.set(false);
        }
    }

    /// A listener asks before every accept.
    pub(crate) fn spent(&self) {
        self.read.ready.set(false);
    }
}
