//! What is answered: a whole body in up to three pieces, or a stream of events; and how it is written.

use crate::refusal::Refusal;
use futures::io::AsyncWrite;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// An answer.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Its media type; none for an answer without a body.
    pub(crate) kind: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
    /// Whether the connection ends with it.
    pub(crate) close: bool,
}

/// What follows the head.
pub(crate) enum Body {
    /// All of it.
    Whole(Pieces),
    /// As it comes.
    Stream(Rc<Pipe>),
}

/// A body whose largest part lies where it was received: a picture is not copied to be wrapped.
#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) lead: Vec<u8>,
    pub(crate) owner: Vec<u8>,
    pub(crate) part: Range<usize>,
    pub(crate) trail: Vec<u8>,
}

impl Pieces {
    fn middle(&self) -> &[u8] {
        self.owner.get(self.part.clone()).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.lead.len() + self.middle().len() + self.trail.len()
    }
}

impl From<String> for Pieces {
    fn from(text: String) -> Self {
        Self { lead: text.into_bytes(), ..Self::default() }
    }
}

impl Response {
    /// JSON.
    pub(crate) fn json(status: u16, body: impl Into<Pieces>) -> Self {
        Self::new(status, "application/json", body.into())
    }

    /// A body of some kind.
    pub(crate) fn new(status: u16, kind: &'static str, body: Pieces) -> Self {
        Self { status, kind, headers: Vec::new(), body: Body::Whole(body), close: false }
    }

    fn head(&self) -> Vec<u8> {
        use std::io::Write as _;
        let mut head = Vec::with_capacity(192);
        let _ = write!(head, "HTTP/1.1 {} {}\r\n", self.status, phrase(self.status));
        if !self.kind.is_empty() {
            let _ = write!(head, "Content-Type: {}\r\nX-Content-Type-Options: nosniff\r\n", self.kind);
        }
        if !self.headers.iter().any(|(name, _)| *name == "Cache-Control") {
            head.extend_from_slice(b"Cache-Control: no-store\r\n");
        }
        for (name, value) in &self.headers {
            // A value of ours never holds a line end; a session's name might one day.
            let value = value.replace(['\r', '\n'], " ");
            let _ = write!(head, "{name}: {value}\r\n");
        }
        match &self.body {
            Body::Stream(_) => head.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Body::Whole(_) if matches!(self.status, 204 | 304) => {}
            Body::Whole(pieces) => drop(write!(head, "Content-Length: {}\r\n", pieces.len())),
        }
        if self.close {
            head.extend_from_slice(b"Connection: close\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        let body = refusal.body();
        Self { headers: refusal.headers, close: true, ..Self::json(refusal.status, body) }
    }
}

/// Writes a whole answer, or a stream's head. `bodiless`: the request was HEAD.
pub(crate) async fn write<IO>(io: &mut IO, response: &Response, bodiless: bool) -> io::Result<()>
where
    IO: AsyncWrite + Unpin,
{
    let head = response.head();
    match &response.body {
        Body::Whole(pieces) if !bodiless => {
            write_all(io, &[&head, &pieces.lead, pieces.middle(), &pieces.trail]).await
        }
        _ => write_all(io, &[&head]).await,
    }
}

/// Writes one chunk of a stream, the empty one at its end.
pub(crate) async fn write_chunk<IO>(io: &mut IO, data: &[u8]) -> io::Result<()>
where
    IO: AsyncWrite + Unpin,
{
    let size = format!("{:x}\r\n", data.len());
    write_all(io, &[size.as_bytes(), data, b"\r\n"]).await
}

/// Writes all of these, with as few calls as possible.
pub(crate) async fn write_all<IO>(io: &mut IO, parts: &[&[u8]]) -> io::Result<()>
where
    IO: AsyncWrite + Unpin,
{
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let mut written = 0;
    while written < total {
        let mut slices = [IoSlice::new(&[]); 4];
        let (mut skip, mut used) = (written, 0);
        for part in parts {
            let rest = part.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(part.len());
            if let (false, Some(slice)) = (rest.is_empty(), slices.get_mut(used)) {
                *slice = IoSlice::new(rest);
                used += 1;
            }
        }
        let wrote = poll_fn(|cx| Pin::new(&mut *io).poll_write_vectored(cx, &slices[..used])).await;
        match wrote {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    poll_fn(|cx| Pin::new(&mut *io).poll_flush(cx)).await
}

/// Pieces of a stream that wait for a slow reader at most; one more, and it is cut off.
const WAITING: usize = 256;

/// A stream's pieces on their way from whoever makes them to the connection.
#[derive(Default)]
pub(crate) struct Pipe(RefCell<Inside>);

#[derive(Default)]
struct Inside {
    /// What to do when the reader goes before the end.
    lost: Option<Box<dyn FnOnce()>>,
    pieces: VecDeque<Vec<u8>>,
    ended: bool,
    cut: bool,
    waker: Option<Waker>,
}

/// What comes next out of a [`Pipe`].
pub(crate) enum Next {
    /// This.
    Piece(Vec<u8>),
    /// Nothing more.
    End,
    /// Nothing more, and what came is not all.
    Cut,
}

impl Pipe {
    pub(crate) fn push(&self, piece: Vec<u8>) {
        let mut inside = self.0.borrow_mut();
        if inside.pieces.len() >= WAITING {
            inside.cut = true;
            inside.pieces.clear();
        } else if !inside.ended && !inside.cut {
            inside.pieces.push_back(piece);
        }
        inside.wake();
    }

    /// Has `lost` called if the reader goes before the end.
    pub(crate) fn on_lost(&self, lost: Box<dyn FnOnce()>) {
        self.0.borrow_mut().lost = Some(lost);
    }

    /// The reader is gone.
    pub(crate) fn lose(&self) {
        let lost = self.0.borrow_mut().lost.take();
        if let Some(lost) = lost {
            lost();
        }
    }

    pub(crate) fn end(&self) {
        let mut inside = self.0.borrow_mut();
        inside.ended = true;
        inside.lost = None;
        inside.wake();
    }

    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Next> {
        let mut inside = self.0.borrow_mut();
        if inside.cut {
            return Poll::Ready(Next::Cut);
        }
        if let Some(piece) = inside.pieces.pop_front() {
            return Poll::Ready(Next::Piece(piece));
        }
        if inside.ended {
            return Poll::Ready(Next::End);
        }
        inside.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Inside {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

const fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
