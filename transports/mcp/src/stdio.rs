//! The stdio driver: lines in, lines out, calls side by side, over any futures-io streams and any runtime.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::{AbortHandle, Abortable, LocalBoxFuture};
use futures::io::{AsyncRead, AsyncWrite};
use futures::stream::{FuturesUnordered, Stream as _};

use crate::provider::{Answer, BridgeCall, Provider, SaveFile};
use crate::session::{CallId, Lane, Output, Session};

/// The way to the bridge: what carries calls out and brings their answers back.
pub trait Bridge {
    /// Makes a call. The future is dropped when the call is given up (after [`Bridge::cancel`]).
    fn call(&self, call: CallId, request: BridgeCall) -> impl Future<Output = Answer>;

    /// Gives a call up: the page is to stop working on it.
    fn cancel(&self, call: CallId);

    /// The client has opened the session; `name` is what it calls itself, if it said. Comes before its first call, again
    /// whenever that changes.
    fn opened(&self, _name: Option<&str>) {}

    /// Writes a file and says where, or why not.
    fn save(&self, file: SaveFile) -> impl Future<Output = Result<String, String>>;
}

/// The host's clock.
pub trait Clock {
    /// What [`Clock::sleep_until`] returns.
    type Sleep: Future<Output = ()>;

    /// Time since a moment of the host's choice; never goes back.
    fn now(&self) -> Duration;

    /// Ready when `now()` has reached `at`.
    fn sleep_until(&self, at: Duration) -> Self::Sleep;
}

/// What the driver may hold, and how long it waits at the end.
#[derive(Clone, Debug)]
pub struct Options {
    /// With more unwritten output than this, no further line is read.
    pub max_unwritten: usize,
    /// How long calls under way may still be answered once the client has closed its end.
    pub linger: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_unwritten: 16 << 20, linger: Duration::from_secs(2) }
    }
}

/// Serves one client until it closes its end or takes no more output; calls that are left are given up.
///
/// # Errors
/// Where reading or writing fails in any other way.
pub async fn serve<P, R, W, B, C>(
    session: &mut Session<P>,
    reader: R,
    writer: W,
    bridge: &B,
    clock: &C,
    options: &Options,
) -> io::Result<()>
where
    P: Provider,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    B: Bridge,
    C: Clock,
{
    let mut driver = Driver {
        lines: Lines::new(reader, session.config().max_message),
        outbox: Outbox { writer, queue: VecDeque::new(), written: 0, bytes: 0, dirty: false },
        jobs: FuturesUnordered::new(),
        aborts: BTreeMap::new(),
        bridge,
    };
    let done = driver.run(session, clock, options).await;
    // Whatever the end was: nobody waits for these any more.
    session.close();
    while let Some(output) = session.poll_output() {
        if let Output::Cancel { call } = output {
            bridge.cancel(call);
        }
    }
    match done {
        Err(error) if is_gone(&error) => Ok(()),
        done => done,
    }
}

const LANE: Lane = Lane(0);

enum Event {
    Line(Line),
    Job(Job),
    Time,
    Room,
}

enum Job {
    Answer(CallId, Answer),
    Saved(CallId, Result<String, String>),
    Aborted,
}

struct Driver<'b, R, W, B> {
    lines: Lines<R>,
    outbox: Outbox<W>,
    jobs: FuturesUnordered<LocalBoxFuture<'b, Job>>,
    aborts: BTreeMap<CallId, AbortHandle>,
    bridge: &'b B,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin, B: Bridge> Driver<'_, R, W, B> {
    async fn run<P: Provider, C: Clock>(
        &mut self,
        session: &mut Session<P>,
        clock: &C,
        options: &Options,
    ) -> io::Result<()> {
        let mut end: Option<Duration> = None;
        let mut timer: Option<(Duration, Pin<Box<C::Sleep>>)> = None;
        let mut opened = None;
        loop {
            while let Some(output) = session.poll_output() {
                self.act(output);
            }
            let idle = session.in_flight() == 0 || end.is_some_and(|end| end <= clock.now());
            if end.is_some() && idle {
                return self.outbox.finish().await;
            }
            let wake = [session.poll_timeout(), end].into_iter().flatten().min();
            if timer.as_ref().map(|(at, _)| *at) != wake {
                timer = wake.map(|at| (at, Box::pin(clock.sleep_until(at))));
            }
            let may_read = end.is_none();
            let event = poll_fn(|cx| {
                let was_full = self.outbox.bytes > options.max_unwritten;
                self.outbox.poll(cx)?;
                let is_full = self.outbox.bytes > options.max_unwritten;
                if let Poll::Ready(Some(job)) = Pin::new(&mut self.jobs).poll_next(cx) {
                    return Poll::Ready(Ok::<_, io::Error>(Event::Job(job)));
                }
                if let Some((_, sleep)) = &mut timer
                    && sleep.as_mut().poll(cx).is_ready()
                {
                    return Poll::Ready(Ok(Event::Time));
                }
                if may_read && !is_full {
                    if let Poll::Ready(line) = self.lines.poll(cx) {
                        return Poll::Ready(line.map(Event::Line));
                    }
                    if was_full {
                        return Poll::Ready(Ok(Event::Room));
                    }
                }
                Poll::Pending
            })
            .await?;
            let now = clock.now();
            match event {
                Event::Line(Line::Text(line)) if line.trim_ascii().is_empty() => {}
                Event::Line(Line::Text(line)) => {
                    session.handle_message(LANE, &line, now);
                    let client = session.client();
                    if (session.version().is_some() || client.is_some())
                        && opened.as_ref() != Some(&client.cloned())
                    {
                        opened = Some(client.cloned());
                        self.bridge.opened(client.map(|name| &**name));
                    }
                }
                Event::Line(Line::TooLong) => session.handle_too_large(LANE),
                Event::Line(Line::End) => end = Some(now + options.linger),
                Event::Job(Job::Answer(call, answer)) => {
                    self.aborts.remove(&call);
                    session.handle_answer(call, answer);
                }
                Event::Job(Job::Saved(call, path)) => {
                    self.aborts.remove(&call);
                    session.handle_saved(call, path.as_deref().map_err(String::as_str));
                }
                Event::Time => {
                    timer = None;
                    session.handle_timeout(now);
                }
                Event::Job(Job::Aborted) | Event::Room => {}
            }
        }
    }

    fn act(&mut self, output: Output) {
        match output {
            Output::Send { message, .. } => self.outbox.push(message),
            Output::Call { call, request, .. } => {
                let bridge = self.bridge;
                self.start(call, async move { Job::Answer(call, bridge.call(call, request).await) });
            }
            Output::Save { call, file } => {
                let bridge = self.bridge;
                self.start(call, async move { Job::Saved(call, bridge.save(file).await) });
            }
            Output::Cancel { call } => {
                self.bridge.cancel(call);
                if let Some(handle) = self.aborts.remove(&call) {
                    handle.abort();
                }
            }
            // A bridge never asks its client anything.
            Output::Told { .. } | Output::Silent { .. } => {}
        }
    }
}

impl<'b, R, W, B> Driver<'b, R, W, B> {
    fn start(&mut self, call: CallId, job: impl Future<Output = Job> + 'b) {
        let (handle, registration) = AbortHandle::new_pair();
        let job = Abortable::new(job, registration);
        self.jobs.push(Box::pin(async move { job.await.unwrap_or(Job::Aborted) }));
        self.aborts.insert(call, handle);
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::WriteZero
            | io::ErrorKind::ConnectionAborted
    )
}

/// Lines from a stream, none longer than a limit held.
struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: Vec<u8>,
    /// How far the buffer was searched.
    searched: usize,
    /// What comes up to the next line break belongs to a line that was too long.
    discarding: bool,
    ended: bool,
}

enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

const CHUNK: usize = 16 << 10;

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, buffer: Vec::new(), searched: 0, discarding: false, ended: false }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Line>> {
        loop {
            if let Some(line) = self.take() {
                return Poll::Ready(Ok(line));
            }
            if self.ended {
                return Poll::Ready(Ok(Line::End));
            }
            let mut chunk = [0; CHUNK];
            match futures::ready!(Pin::new(&mut self.reader).poll_read(cx, &mut chunk)) {
                Ok(0) => self.ended = true,
                Ok(n) => self.buffer.extend_from_slice(chunk.get(..n).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_gone(&error) => self.ended = true,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// The next line that the buffer holds, or what is left of it at the end.
    fn take(&mut self) -> Option<Line> {
        loop {
            let fresh = self.buffer.get(self.searched..).unwrap_or_default();
            let at = memchr::memchr(b'\n', fresh).map(|at| at.saturating_add(self.searched));
            match at {
                Some(at) => {
                    let rest = self.buffer.split_off(at.saturating_add(1));
                    let mut line = std::mem::replace(&mut self.buffer, rest);
                    self.searched = 0;
                    if std::mem::take(&mut self.discarding) {
                        continue;
                    }
                    line.truncate(at);
                    return Some(if line.len() > self.limit { Line::TooLong } else { Line::Text(line) });
                }
                None if self.ended => {
                    let line = std::mem::take(&mut self.buffer);
                    self.searched = 0;
                    return (!line.is_empty() && !self.discarding).then_some(Line::Text(line));
                }
                None if self.discarding => {
                    self.buffer.clear();
                    self.searched = 0;
                    return None;
                }
                None if self.buffer.len() > self.limit => {
                    self.buffer = Vec::new();
                    self.searched = 0;
                    self.discarding = true;
                    return Some(Line::TooLong);
                }
                None => {
                    self.searched = self.buffer.len();
                    return None;
                }
            }
        }
    }
}

/// Messages on their way out.
struct Outbox<W> {
    writer: W,
    queue: VecDeque<Vec<u8>>,
    written: usize,
    bytes: usize,
    dirty: bool,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    fn push(&mut self, mut message: Vec<u8>) {
        message.push(b'\n');
        self.bytes = self.bytes.saturating_add(message.len());
        self.queue.push_back(message);
    }

    /// Writes what can be written; `Pending` while there is more.
    fn poll(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        while let Some(first) = self.queue.front() {
            let rest = first.get(self.written..).unwrap_or_default();
            match Pin::new(&mut self.writer).poll_write(cx, rest) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(n)) => {
                    self.dirty = true;
                    self.bytes = self.bytes.saturating_sub(n);
                    self.written = self.written.saturating_add(n);
                    if self.written >= first.len() {
                        self.queue.pop_front();
                        self.written = 0;
                    }
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        if self.dirty {
            match Pin::new(&mut self.writer).poll_flush(cx) {
                Poll::Pending => return Ok(false),
                Poll::Ready(done) => done?,
            }
            self.dirty = false;
        }
        Ok(true)
    }

    async fn finish(&mut self) -> io::Result<()> {
        poll_fn(|cx| match self.poll(cx) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        })
        .await
    }
}
