//! Simulated links: two ways, each with its own delay, room, stalls and ends.

use crate::time::{Happening, Time};
use futures::io::{AsyncRead, AsyncWrite};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Who reads on a way.
enum Reader {
    /// The driver's task, if it waits.
    Task(Option<Waker>),
    /// A peer.
    Peer(usize),
}

/// One direction. Bytes keep their order; nothing is lost but by a cut.
pub(crate) struct Way {
    parcels: VecDeque<Parcel>,
    bytes: usize,
    room: usize,
    delay: (u64, u64),
    /// The moment of what was sent last.
    last: u64,
    stalled: u64,
    ended: Option<u64>,
    broken: bool,
    reader: Reader,
    writer: Option<Waker>,
}

struct Parcel {
    at: u64,
    bytes: Vec<u8>,
    taken: usize,
}

/// What a read came to.
enum Read {
    Bytes(usize),
    Nothing,
    End,
    Broken,
}

impl Way {
    fn new(reader: Reader, room: usize, delay: (u64, u64)) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            parcels: VecDeque::new(),
            bytes: 0,
            room,
            delay,
            last: 0,
            stalled: 0,
            ended: None,
            broken: false,
            reader,
            writer: None,
        }))
    }

    /// The peer that reads here, if it is one.
    pub(crate) fn peer(&self) -> Option<usize> {
        match self.reader {
            Reader::Peer(peer) => Some(peer),
            Reader::Task(_) => None,
        }
    }

    /// Tells whoever reads here; a peer's number is returned instead.
    pub(crate) fn notify(&mut self) -> Option<usize> {
        match &mut self.reader {
            Reader::Peer(peer) => Some(*peer),
            Reader::Task(waker) => {
                if let Some(waker) = waker.take() {
                    waker.wake();
                }
                None
            }
        }
    }

    fn arrives(&mut self, time: &Time) -> u64 {
        let at = time.now() + time.chance.between(self.delay.0, self.delay.1);
        self.last = self.last.max(at);
        self.last
    }

    fn read(&mut self, time: &Time, buf: &mut [u8]) -> Read {
        if self.broken {
            return Read::Broken;
        }
        let now = time.now();
        if self.stalled > now {
            return Read::Nothing;
        }
        let most = if time.chance.one_in(6) { time.chance.between(1, 40) as usize } else { buf.len() };
        let mut count = 0;
        while let Some(first) = self.parcels.front_mut() {
            let free = buf.len().min(most) - count;
            if first.at > now || free == 0 {
                break;
            }
            let part = &first.bytes[first.taken..];
            let taken = part.len().min(free);
            buf[count..count + taken].copy_from_slice(&part[..taken]);
            count += taken;
            first.taken += taken;
            if first.taken == first.bytes.len() {
                self.parcels.pop_front();
            }
        }
        if count > 0 {
            self.bytes -= count;
            if let Some(writer) = self.writer.take() {
                writer.wake();
            }
            return Read::Bytes(count);
        }
        match self.ended {
            Some(at) if at <= now && self.parcels.is_empty() => Read::End,
            _ => Read::Nothing,
        }
    }

    fn cut(&mut self) -> Option<usize> {
        self.broken = true;
        self.parcels.clear();
        self.bytes = 0;
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
        self.notify()
    }
}

fn send(way: &Rc<RefCell<Way>>, time: &Time, bytes: &[u8]) {
    let mut it = way.borrow_mut();
    if it.broken || it.ended.is_some() || bytes.is_empty() {
        return;
    }
    let at = it.arrives(time);
    it.bytes += bytes.len();
    it.parcels.push_back(Parcel { at, bytes: bytes.to_vec(), taken: 0 });
    time.at(at, Happening::Arrival(way.clone()));
}

fn end(way: &Rc<RefCell<Way>>, time: &Time) {
    let mut it = way.borrow_mut();
    if it.ended.is_none() {
        let at = it.arrives(time);
        it.ended = Some(at);
        time.at(at, Happening::Arrival(way.clone()));
    }
}

/// The driver's end.
pub(crate) struct Near {
    time: Rc<Time>,
    inward: Rc<RefCell<Way>>,
    outward: Rc<RefCell<Way>>,
}

/// A peer's end.
pub(crate) struct Far {
    time: Rc<Time>,
    inward: Rc<RefCell<Way>>,
    outward: Rc<RefCell<Way>>,
}

/// A link of peer `peer`: `room` bytes fit between the driver and it; each way takes `delay` milliseconds.
pub(crate) fn link(time: &Rc<Time>, peer: usize, room: usize, delay: (u64, u64)) -> (Near, Far) {
    let there = Way::new(Reader::Peer(peer), room, delay);
    // What a peer sends is bounded by what it has to say.
    let back = Way::new(Reader::Task(None), usize::MAX, delay);
    (
        Near { time: time.clone(), inward: back.clone(), outward: there.clone() },
        Far { time: time.clone(), inward: there, outward: back },
    )
}

/// What a peer finds when it reads.
pub(crate) enum Found {
    /// Bytes, or nothing for now.
    Bytes(Vec<u8>),
    /// The driver has finished.
    End,
    /// The link is broken.
    Broken,
}

impl Far {
    /// Takes all that has arrived.
    pub(crate) fn read(&self) -> Found {
        let mut all = Vec::new();
        let mut buf = [0; 4096];
        loop {
            match self.inward.borrow_mut().read(&self.time, &mut buf) {
                Read::Bytes(count) => all.extend_from_slice(&buf[..count]),
                Read::End if all.is_empty() => return Found::End,
                Read::Broken if all.is_empty() => return Found::Broken,
                _ => return Found::Bytes(all),
            }
        }
    }

    /// Sends bytes, sometimes in several parts with time between them.
    pub(crate) fn send(&self, mut bytes: &[u8]) {
        let chance = &self.time.chance;
        while chance.one_in(5) && bytes.len() > 1 {
            let (first, rest) = bytes.split_at(1 + chance.index(bytes.len() - 1));
            send(&self.outward, &self.time, first);
            bytes = rest;
        }
        send(&self.outward, &self.time, bytes);
    }

    /// Sends nothing more; still reads.
    pub(crate) fn end(&self) {
        end(&self.outward, &self.time);
    }

    /// Goes, in good order: what was sent arrives, what comes is not read any more.
    pub(crate) fn leave(&self) {
        self.end();
        self.inward.borrow_mut().cut();
    }

    /// Both ways break at once.
    pub(crate) fn cut(&self) {
        self.inward.borrow_mut().cut();
        self.outward.borrow_mut().cut();
    }

    /// Nothing gets through any more, in either direction, and nobody is told.
    pub(crate) fn vanish(&self) {
        self.stall(true, true, u64::MAX);
    }

    /// Nothing arrives until `until`, here or there.
    pub(crate) fn stall(&self, inward: bool, outward: bool, until: u64) {
        for (way, is) in [(&self.inward, inward), (&self.outward, outward)] {
            if is {
                way.borrow_mut().stalled = until;
                if until != u64::MAX {
                    self.time.at(until, Happening::Arrival(way.clone()));
                }
            }
        }
    }
}

impl AsyncRead for Near {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut way = self.inward.borrow_mut();
        match way.read(&self.time, buf) {
            Read::Bytes(count) => Poll::Ready(Ok(count)),
            Read::End => Poll::Ready(Ok(0)),
            Read::Broken => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
            Read::Nothing => {
                way.reader = Reader::Task(Some(cx.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl AsyncWrite for Near {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let count = {
            let mut way = self.outward.borrow_mut();
            if way.broken || way.ended.is_some() {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let room = way.room.saturating_sub(way.bytes);
            if room == 0 {
                way.writer = Some(cx.waker().clone());
                return Poll::Pending;
            }
            let part =
                if self.time.chance.one_in(8) { self.time.chance.between(1, 50) as usize } else { room };
            buf.len().min(room).min(part)
        };
        send(&self.outward, &self.time, &buf[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        end(&self.outward, &self.time);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        end(&self.outward, &self.time);
        // Whatever still comes is refused.
        self.inward.borrow_mut().cut();
    }
}
