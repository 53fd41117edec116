//! A connection's write queue: small messages run together, large ones keep the memory they came in.

use crate::codec::Codec;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;

/// Small messages are run together up to about this size.
const RUN: usize = 64 << 10;
/// A message from this size on is queued without copying it, if its memory can be had.
const LARGE: usize = 32 << 10;
/// No larger buffer than this is kept.
const LARGEST: usize = 64 << 20;
/// Emptied buffers kept for the next one who needs one.
const SPARES: usize = 16;

/// Buffers that wait for work; shared by all queues, so that an idle connection holds none.
#[derive(Default)]
pub(crate) struct Spares {
    small: Vec<Vec<u8>>,
    /// One large buffer: memory fresh from the system costs more than all that is done with it.
    large: Option<Vec<u8>>,
}

impl Spares {
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.small.pop().unwrap_or_default()
    }

    pub(crate) fn give(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        if buffer.capacity() > 2 * RUN {
            let kept = self.large.as_ref().map_or(0, Vec::capacity);
            if (kept..=LARGEST).contains(&buffer.capacity()) {
                self.large = Some(buffer);
            }
        } else if self.small.len() < SPARES && buffer.capacity() > 0 {
            self.small.push(buffer);
        }
    }

    pub(crate) fn has_large(&self) -> bool {
        self.large.is_some()
    }

    pub(crate) fn take_large(&mut self) -> Option<Vec<u8>> {
        self.large.take()
    }
}

/// Bytes waiting to be written, in order.
#[derive(Default)]
pub(crate) struct Outbox {
    chunks: VecDeque<Chunk>,
    bytes: usize,
    /// Bytes ever written, to see progress.
    pub(crate) written: u64,
}

struct Chunk {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
    /// More may be appended.
    open: bool,
    /// The last byte here is a message's last.
    whole: bool,
}

impl Outbox {
    /// Bytes waiting.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Bytes waiting behind the message that is being written.
    pub(crate) fn behind(&self) -> usize {
        let mut front = 0;
        for chunk in &self.chunks {
            front += chunk.end - chunk.at;
            if chunk.whole {
                break;
            }
        }
        self.bytes - front
    }

    /// Queues bytes as they are, whole on the transport's level.
    pub(crate) fn push_raw(&mut self, bytes: &[u8], spares: &mut Spares) {
        if !bytes.is_empty() {
            self.append(spares, bytes.len(), |out| out.extend_from_slice(bytes));
        }
    }

    /// Queues one message made of parts.
    pub(crate) fn push(&mut self, codec: &mut dyn Codec, len: usize, parts: &[&[u8]], spares: &mut Spares) {
        self.append(spares, len, |out| {
            codec.head(len, out);
            let from = out.len();
            for part in parts {
                out.extend_from_slice(part);
            }
            codec.body(&mut out[from..]);
            codec.tail(out);
        });
    }

    /// Queues one message whose largest part stays in the memory it came in.
    pub(crate) fn push_large(&mut self, codec: &mut dyn Codec, message: Large, spares: &mut Spares) {
        let Large { lead, mut owner, body, trail } = message;
        let mut before = spares.take();
        codec.head(lead.len() + body.len() + trail.len(), &mut before);
        let from = before.len();
        before.extend_from_slice(&lead);
        codec.body(&mut before[from..]);
        codec.body(&mut owner[body.clone()]);
        let mut behind = spares.take();
        behind.extend_from_slice(&trail);
        codec.body(&mut behind);
        codec.tail(&mut behind);
        let (first, last) = (before.len(), behind.len());
        for (bytes, range, whole) in
            [(before, 0..first, false), (owner, body, false), (behind, 0..last, true)]
        {
            self.bytes += range.len();
            self.chunks.push_back(Chunk { bytes, at: range.start, end: range.end, open: whole, whole });
        }
    }

    /// Lets `write` append whole messages of about `len` bytes.
    fn append(&mut self, spares: &mut Spares, len: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let fits = self.chunks.back().is_some_and(|last| last.open && last.end + len <= RUN);
        if !fits {
            let chunk = Chunk { bytes: spares.take(), at: 0, end: 0, open: true, whole: true };
            self.chunks.push_back(chunk);
        }
        if let Some(last) = self.chunks.back_mut() {
            write(&mut last.bytes);
            self.bytes += last.bytes.len() - last.end;
            last.end = last.bytes.len();
        }
    }

    /// The next bytes to write, in up to `slices.len()` pieces; returns how many.
    pub(crate) fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slot, chunk) in slices.iter_mut().zip(&self.chunks) {
            *slot = IoSlice::new(&chunk.bytes[chunk.at..chunk.end]);
            count += 1;
        }
        count
    }

    /// `count` bytes were written.
    pub(crate) fn wrote(&mut self, mut count: usize, spares: &mut Spares) {
        self.bytes -= count;
        self.written += count as u64;
        while let Some(first) = self.chunks.front_mut() {
            let held = first.end - first.at;
            if count < held {
                first.at += count;
                return;
            }
            count -= held;
            if let Some(chunk) = self.chunks.pop_front() {
                spares.give(chunk.bytes);
            }
        }
    }

    /// Gives up all that is not part of the message being written.
    pub(crate) fn cut(&mut self) {
        let keep = self.chunks.iter().position(|chunk| chunk.whole).map_or(0, |last| last + 1);
        // A run of small messages cannot be cut inside; at most `RUN` bytes stay.
        self.chunks.truncate(keep);
        self.bytes = self.chunks.iter().map(|chunk| chunk.end - chunk.at).sum();
    }

    /// Gives up everything.
    pub(crate) fn clear(&mut self) {
        self.chunks = VecDeque::new();
        self.bytes = 0;
    }
}

/// A message in pieces, the largest of them still in the buffer it arrived in.
pub(crate) struct Large {
    pub(crate) lead: Vec<u8>,
    pub(crate) owner: Vec<u8>,
    pub(crate) body: Range<usize>,
    pub(crate) trail: Vec<u8>,
}

impl Large {
    /// Where in `owner` the one large part of `parts` lies, and which it is; `None` if copying is as good.
    pub(crate) fn find(owner: &[u8], parts: &[&[u8]]) -> Option<(usize, Range<usize>)> {
        let (index, part) = parts.iter().enumerate().max_by_key(|(_, part)| part.len())?;
        let start = (part.as_ptr() as usize).checked_sub(owner.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (part.len() >= LARGE && end <= owner.len()).then_some((index, start..end))
    }
}
