//! A stream in memory: two ends, and as much room between them as the test gives.

use futures::io::{AsyncRead, AsyncWrite};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// One end. Dropped, the other end reads what is left and then the end of the stream, and can write no more.
pub struct Pipe {
    read: Rc<RefCell<Way>>,
    write: Rc<RefCell<Way>>,
}

/// One direction.
struct Way {
    bytes: VecDeque<u8>,
    room: usize,
    /// The writer has finished.
    ended: bool,
    /// The reader is gone.
    dead: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Two connected ends with `room` bytes of buffer each way.
#[must_use]
pub fn pipe(room: usize) -> (Pipe, Pipe) {
    let way = || {
        Rc::new(RefCell::new(Way {
            bytes: VecDeque::new(),
            room,
            ended: false,
            dead: false,
            reader: None,
            writer: None,
        }))
    };
    let (there, back) = (way(), way());
    (Pipe { read: back.clone(), write: there.clone() }, Pipe { read: there, write: back })
}

impl Pipe {
    /// Bytes that have arrived and were not read.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.read.borrow().bytes.len()
    }

    /// Takes all that has arrived.
    pub fn take(&self) -> Vec<u8> {
        let mut way = self.read.borrow_mut();
        if let Some(writer) = way.writer.take() {
            writer.wake();
        }
        way.bytes.drain(..).collect()
    }

    /// Whether the other end will send nothing more.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.read.borrow().ended
    }

    /// Sends bytes, however little room there is.
    pub fn put(&self, bytes: &[u8]) {
        let mut way = self.write.borrow_mut();
        way.bytes.extend(bytes);
        if let Some(reader) = way.reader.take() {
            reader.wake();
        }
    }
}

impl AsyncRead for Pipe {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let way = &mut *self.read.borrow_mut();
        if way.bytes.is_empty() && !way.ended {
            way.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let count = buf.len().min(way.bytes.len());
        for (to, from) in buf.iter_mut().zip(way.bytes.drain(..count)) {
            *to = from;
        }
        if let Some(writer) = way.writer.take() {
            writer.wake();
        }
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let way = &mut *self.write.borrow_mut();
        if way.dead || way.ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let count = buf.len().min(way.room.saturating_sub(way.bytes.len()));
        if count == 0 && !buf.is_empty() {
            way.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        way.bytes.extend(&buf[..count]);
        if let Some(reader) = way.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let way = &mut *self.write.borrow_mut();
        way.ended = true;
        if let Some(reader) = way.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let mut write = self.write.borrow_mut();
        write.ended = true;
        if let Some(reader) = write.reader.take() {
            reader.wake();
        }
        drop(write);
        let mut read = self.read.borrow_mut();
        read.dead = true;
        read.bytes.clear();
        if let Some(writer) = read.writer.take() {
            writer.wake();
        }
    }
}
