//! One connection: head, judgement, body, answer, and again. Every wait has an end.

use crate::chunks::Chunks;
use crate::door::Inside;
use crate::head::{self, Head, Length};
use crate::patience::{Slow, within};
use crate::refusal::Refusal;
use crate::response::{Body, Next, Response, write, write_all, write_chunk};
use bridge_driver::{Clock, Host, Ousted};
use bridge_websocket::User;
use bridge_websocket::request::{self, MAX_HEAD};
use futures::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Sizes in bytes, times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Of a body.
    pub(crate) body: usize,
    /// A body may not stall for longer.
    pub(crate) stall_ms: u64,
    /// How long a connection may wait for its next request.
    pub(crate) idle_ms: u64,
    /// How long a client that was turned away may take to read why.
    pub(crate) linger_ms: u64,
    /// What is read ahead of a request that is being answered.
    pub(crate) ahead: usize,
    /// Connections at once.
    pub(crate) connections: usize,
    /// How many of those that were turned away are waited for at once.
    pub(crate) leaving: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 8 << 20,
            stall_ms: 10_000,
            idle_ms: 60_000,
            linger_ms: 1_000,
            ahead: 64 << 10,
            connections: 512,
            leaving: 32,
        }
    }
}

/// Bytes read at once.
const READ: usize = 32 << 10;

/// Serves a connection to its end.
pub(crate) async fn serve<H, C, IO>(inside: &Inside<H, C>, io: IO, local: SocketAddr, peer: SocketAddr)
where
    H: Host,
    C: Clock,
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = Connection { inside, io, have: Vec::new(), user: None, local, peer };
    inside.connections.set(inside.connections.get() + 1);
    let last = connection.run().await;
    inside.connections.set(inside.connections.get() - 1);
    if let Ok(Some(refusal)) = last {
        connection.turn_away(refusal).await;
    }
}

struct Connection<'d, H: Host, C: Clock, IO> {
    inside: &'d Inside<H, C>,
    io: IO,
    /// Received and not used yet.
    have: Vec<u8>,
    user: Option<User>,
    local: SocketAddr,
    peer: SocketAddr,
}

/// What ends a connection: nothing left to say, or this.
type Last = io::Result<Option<Refusal>>;

impl<H, C, IO> Connection<'_, H, C, IO>
where
    H: Host,
    C: Clock,
    IO: AsyncRead + AsyncWrite + Unpin,
{
    async fn run(&mut self) -> Last {
        if self.inside.connections.get() > self.inside.limits.connections {
            return Ok(Some(Refusal::new(503, "OVERLOADED", "too many connections")));
        }
        let mut first = true;
        loop {
            let end = match self.head(first).await? {
                None => return Ok(None),
                Some(Ok(end)) => end,
                Some(Err(refusal)) => return Ok(Some(refusal)),
            };
            first = false;
            let judged = head::judge(&self.have[..end], self.local.port(), self.inside.limits.body);
            self.have.drain(..end);
            let head = match judged {
                Ok(head) => head,
                Err(refusal) => return Ok(Some(refusal)),
            };
            let credential = match self.judge(&head) {
                Ok(credential) => credential,
                Err(refusal) => return Ok(Some(refusal)),
            };
            let body = match self.body(&head).await? {
                Ok(body) => body,
                Err(refusal) => return Ok(Some(refusal)),
            };
            let (inside, port) = (self.inside, self.local.port());
            let answer = self.attended(inside.answer(&head, &body, credential, port)).await?;
            // What was sent ahead was meant for another answer than a refusal: nothing of it is run.
            let ahead = (400..500).contains(&answer.status) && self.has_more().await;
            // A stranger has no business that takes more than one request.
            let close = head.close || answer.close || credential.is_none() || ahead;
            let response = Response { close, ..answer };
            self.send(&response, head.method == "HEAD").await?;
            if ahead {
                self.let_go().await;
            }
            if close {
                return Ok(None);
            }
        }
    }

    fn judge(&mut self, head: &Head) -> Result<crate::door::Credential, Refusal> {
        let (inside, peer, local) = (self.inside, self.peer, self.local);
        let user = &mut self.user;
        inside.judge(head, || *user.get_or_insert_with(|| inside.user(peer, local)))
    }

    /// Reads until a head is complete and returns where it ends; nothing if the peer has no more to say.
    async fn head(&mut self, first: bool) -> io::Result<Option<Result<usize, Refusal>>> {
        if !first && self.have.is_empty() {
            let idle = self.inside.limits.idle_ms;
            match within(&*self.inside.clock, idle, fill(self.inside, &mut self.io, &mut self.have)).await {
                Some(Ok(count)) if count > 0 => {}
                Some(Err(error)) => return Err(error),
                _ => return Ok(None),
            }
        }
        let mut searched = 0;
        let mut place = None;
        loop {
            let from = self.have.len().min(searched).saturating_sub(3);
            if let Some(end) = request::end(&self.have[from..]).map(|end| end + from) {
                return Ok(Some(if end > MAX_HEAD { Err(too_long()) } else { Ok(end) }));
            }
            if !self.have.is_empty() && request::hopeless(&self.have, searched) {
                return Ok(Some(Err(Refusal::malformed("this is not an HTTP/1.1 request"))));
            }
            if self.have.len() > MAX_HEAD {
                return Ok(Some(Err(too_long())));
            }
            searched = self.have.len();
            // Few may be in this state at once, and not for long.
            let place = place.get_or_insert_with(|| self.inside.driver.head());
            let mut more = pin!(fill(self.inside, &mut self.io, &mut self.have));
            let read = poll_fn(|cx| match more.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
                Poll::Pending => Pin::new(&mut *place).poll(cx).map(Err),
            });
            match read.await {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error),
                Err(Ousted::Late) if searched > 0 => return Ok(Some(Err(Refusal::late("head")))),
                Err(_) => return Ok(None),
            }
        }
    }

    /// Reads the body.
    async fn body(&mut self, head: &Head) -> io::Result<Result<Vec<u8>, Refusal>> {
        if head.expects && self.have.is_empty() && head.length != Length::Known(0) {
            let (clock, stall_ms) = (&*self.inside.clock, self.inside.limits.stall_ms);
            write_all(&mut Slow::new(&mut self.io, clock, stall_ms), &[b"HTTP/1.1 100 Continue\r\n\r\n"])
                .await?;
        }
        let mut chunks = match head.length {
            Length::Known(length) if self.have.len() >= length => {
                let rest = self.have.split_off(length);
                return Ok(Ok(std::mem::replace(&mut self.have, rest)));
            }
            Length::Known(_) => None,
            Length::Chunked => Some(Chunks::new(self.inside.limits.body)),
        };
        let mut body = Vec::new();
        loop {
            if let Some(chunks) = &mut chunks {
                match chunks.take(&self.have, &mut body) {
                    Ok(taken) => drop(self.have.drain(..taken)),
                    Err(refusal) => return Ok(Err(refusal)),
                }
                if chunks.is_done() {
                    return Ok(Ok(body));
                }
            } else if let Length::Known(length) = head.length
                && self.have.len() >= length
            {
                let rest = self.have.split_off(length);
                return Ok(Ok(std::mem::replace(&mut self.have, rest)));
            }
            let more = fill(self.inside, &mut self.io, &mut self.have);
            match within(&*self.inside.clock, self.inside.limits.stall_ms, more).await {
                None => return Ok(Err(Refusal::late("body"))),
                Some(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(outcome) => drop(outcome?),
            }
        }
    }

    /// Waits for an answer, and notices if the client goes: then nobody needs it.
    async fn attended<T>(&mut self, work: impl Future<Output = T>) -> io::Result<T> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            self.poll_gone(cx).map(Err)
        })
        .await
    }

    /// Ready if the client has hung up. What it sends meanwhile is kept, so much of it.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        while self.have.len() < self.inside.limits.ahead {
            match poll_fill(self.inside, &mut self.io, &mut self.have, cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(io::ErrorKind::UnexpectedEof.into()),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(error),
                Poll::Pending => break,
            }
        }
        Poll::Pending
    }

    /// Whether something is here already that was not asked for yet.
    async fn has_more(&mut self) -> bool {
        if self.have.is_empty() {
            // Whether there is nothing more or never will be is for whoever waits for it to see.
            poll_fn(|cx| {
                let _ = poll_fill(self.inside, &mut self.io, &mut self.have, cx);
                Poll::Ready(())
            })
            .await;
        }
        !self.have.is_empty()
    }

    async fn send(&mut self, response: &Response, bodiless: bool) -> io::Result<()> {
        let stall_ms = self.inside.limits.stall_ms;
        let Body::Stream(pipe) = &response.body else {
            let mut io = Slow::new(&mut self.io, &*self.inside.clock, stall_ms);
            return write(&mut io, response, bodiless).await;
        };
        let streamed = self.stream(response, pipe, stall_ms).await;
        if streamed.is_err() {
            pipe.lose();
        }
        streamed
    }

    async fn stream(
        &mut self,
        response: &Response,
        pipe: &crate::response::Pipe,
        stall_ms: u64,
    ) -> io::Result<()> {
        let clock = &*self.inside.clock;
        write(&mut Slow::new(&mut self.io, clock, stall_ms), response, false).await?;
        loop {
            let next = poll_fn(|cx| match pipe.poll_next(cx) {
                Poll::Ready(next) => Poll::Ready(Ok(next)),
                Poll::Pending => self.poll_gone(cx).map(Err),
            });
            let next = next.await?;
            let mut io = Slow::new(&mut self.io, clock, stall_ms);
            match next {
                Next::Piece(piece) if piece.is_empty() => {}
                Next::Piece(piece) => write_chunk(&mut io, &piece).await?,
                Next::End => return write_chunk(&mut io, b"").await,
                Next::Cut => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Says why, and lets the peer read it.
    async fn turn_away(&mut self, refusal: Refusal) {
        self.inside.porter.refused(&refusal, self.user);
        let response = Response::from(refusal);
        let linger = self.inside.limits.linger_ms;
        let told = within(&*self.inside.clock, linger, write(&mut self.io, &response, false)).await;
        if matches!(told, Some(Ok(()))) {
            self.let_go().await;
        }
    }

    /// Closes so that the peer can read what it was told: with its bytes unread that would be taken back.
    async fn let_go(&mut self) {
        let clock = &*self.inside.clock;
        let linger = self.inside.limits.linger_ms;
        if !matches!(within(clock, linger, self.io.close()).await, Some(Ok(()))) {
            return;
        }
        // Anybody may be turned away, as often as they like: of a crowd the rest is closed at once.
        let Some(_leaving) = Leaving::enter(self.inside) else { return };
        let drained = async {
            loop {
                self.have.clear();
                match fill(self.inside, &mut self.io, &mut self.have).await {
                    Ok(count) if count > 0 => {}
                    _ => break,
                }
            }
        };
        let _ = within(clock, linger, drained).await;
    }
}

/// One that was turned away and is waited for.
struct Leaving<'a>(&'a Cell<usize>);

impl<'a> Leaving<'a> {
    fn enter<H: Host, C: Clock>(inside: &'a Inside<H, C>) -> Option<Self> {
        let leaving = &inside.leaving;
        (leaving.get() < inside.limits.leaving).then(|| {
            leaving.set(leaving.get() + 1);
            Self(leaving)
        })
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

fn too_long() -> Refusal {
    Refusal::head_too_large("more than 16 KiB")
}

async fn fill<H: Host, C: Clock, IO>(
    inside: &Inside<H, C>,
    io: &mut IO,
    have: &mut Vec<u8>,
) -> io::Result<usize>
where
    IO: AsyncRead + Unpin,
{
    poll_fn(|cx| poll_fill(inside, io, have, cx)).await
}

/// Reads once.
fn poll_fill<H: Host, C: Clock, IO>(
    inside: &Inside<H, C>,
    io: &mut IO,
    have: &mut Vec<u8>,
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>>
where
    IO: AsyncRead + Unpin,
{
    let mut scratch = inside.scratch.borrow_mut();
    scratch.resize(READ, 0);
    let read = Pin::new(io).poll_read(cx, &mut scratch);
    if let Poll::Ready(Ok(count)) = read {
        have.extend_from_slice(scratch.get(..count).unwrap_or_default());
    }
    read
}
