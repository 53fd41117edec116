//! `/mcp`: the front of `bridge-mcp` behind this door, its calls made in the hub as agents, its files left to the host.

use crate::callers::{Caller, Callers, Crowded, Failure};
use crate::door::Porter;
use crate::head::Head;
use crate::response::{Body, Pieces, Pipe, Response};
use bridge_core::Door;
use bridge_driver::{Clock, Host};
use bridge_mcp::Seed;
use bridge_mcp::http::{self, CallKey, Exchange, Front, FrontConfig, HttpOutput, HttpRequest};
use bridge_mcp::provider::{Answer, BridgeCall};
use bridge_mcp::tools::{BridgeTools, Tools, ToolsConfig};
use futures::channel::oneshot;
use futures::future::{AbortHandle, Abortable, LocalBoxFuture};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// How tasks are started that outlive the request they began with.
pub(crate) type Spawn = Rc<dyn Fn(LocalBoxFuture<'static, ()>)>;

/// The endpoint.
pub(crate) struct Mcp<H: Host, C: Clock> {
    front: RefCell<Front<BridgeTools>>,
    callers: Rc<Callers<H, C>>,
    porter: Rc<dyn Porter>,
    clock: Rc<C>,
    spawn: Spawn,
    open: RefCell<BTreeMap<Exchange, Open>>,
    calls: RefCell<BTreeMap<CallKey, AbortHandle>>,
    /// When the timer is set to, and how to set it earlier.
    armed: Cell<Option<Duration>>,
    timer: RefCell<Option<Waker>>,
}

/// A request whose answer has not begun, or is a stream that has not ended.
enum Open {
    Waits(oneshot::Sender<Response>),
    Streams(Rc<Pipe>),
}

impl<H: Host, C: Clock> Mcp<H, C> {
    pub(crate) fn new(
        callers: Rc<Callers<H, C>>,
        porter: Rc<dyn Porter>,
        clock: Rc<C>,
        spawn: Spawn,
        tools: Tools,
        mut seed: Seed,
    ) -> Rc<Self> {
        let names = seed.split();
        let provider = BridgeTools::new(Arc::new(ToolsConfig::default()), Arc::new(tools), seed);
        let provider = RefCell::new(provider);
        let front = Front::new(FrontConfig::default(), move || provider.borrow_mut().fork(), names);
        Rc::new(Self {
            front: RefCell::new(front),
            callers,
            porter,
            clock,
            spawn,
            open: RefCell::default(),
            calls: RefCell::default(),
            armed: Cell::new(None),
            timer: RefCell::default(),
        })
    }

    /// Whether nobody has a session or a request here.
    pub(crate) fn is_idle(&self) -> bool {
        let front = self.front.borrow();
        front.sessions() == 0 && front.open() == 0 && self.calls.borrow().is_empty()
    }

    fn now(&self) -> Duration {
        Duration::from_millis(self.clock.now().as_millis())
    }

    /// Ends every session.
    pub(crate) fn end_sessions(self: &Rc<Self>) {
        self.front.borrow_mut().end_sessions();
        self.act();
    }

    /// Answers one request; dropped, its client is gone.
    pub(crate) async fn run(self: &Rc<Self>, head: &Head, body: &[u8], credential: &str) -> Response {
        let headers: Vec<(&str, &str)> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // Which of a credential's callers it is belongs to who it is: neither may use the other's sessions.
        let caller = match &head.session {
            None => credential.to_owned(),
            Some(session) => format!("{credential} {session}"),
        };
        let request = HttpRequest { method: &head.method, headers: &headers, body, caller: &caller };
        let (sender, receiver) = oneshot::channel();
        let exchange = self.front.borrow_mut().handle_request(&request, self.now());
        self.open.borrow_mut().insert(exchange, Open::Waits(sender));
        let mut gone = Gone { mcp: self.clone(), exchange: Some(exchange) };
        self.act();
        let answered = receiver.await;
        // From here on whoever reads a stream notices if the client goes.
        gone.exchange = None;
        answered.unwrap_or_else(|_| {
            Response::json(503, Failure::new("SHUTTING_DOWN", "the bridge is going down").body())
        })
    }

    /// Carries out whatever the front wants.
    fn act(self: &Rc<Self>) {
        loop {
            let Some(output) = self.front.borrow_mut().poll_output() else { break };
            self.carry_out(output);
        }
        let next = self.front.borrow().poll_timeout();
        if next.is_some_and(|next| self.armed.get().is_none_or(|armed| next < armed))
            && let Some(timer) = self.timer.borrow_mut().take()
        {
            timer.wake();
        }
    }

    fn carry_out(self: &Rc<Self>, output: HttpOutput) {
        match output {
            HttpOutput::Respond { exchange, response } => self.respond(exchange, whole(response)),
            HttpOutput::Begin { exchange, headers } => self.begin(exchange, headers),
            HttpOutput::Event { exchange, data } => {
                if let Some(Open::Streams(pipe)) = self.open.borrow().get(&exchange) {
                    pipe.push(data);
                }
            }
            HttpOutput::End { exchange } => {
                if let Some(Open::Streams(pipe)) = self.open.borrow_mut().remove(&exchange) {
                    pipe.end();
                }
            }
            HttpOutput::Call { key, caller, session, client, request } => {
                let name = client.as_deref().unwrap_or("mcp over http");
                let caller = self.callers.caller((Door::Mcp, name), "mcp", &caller, session.as_deref());
                self.call(key, caller, request);
            }
            HttpOutput::Cancel { key } => {
                if let Some(call) = self.calls.borrow_mut().remove(&key) {
                    call.abort();
                }
            }
            HttpOutput::Save { key, file } => {
                let (mcp, saved) = (self.clone(), self.porter.save(file));
                (self.spawn)(Box::pin(async move {
                    let path = saved.await;
                    let now = mcp.now();
                    mcp.front.borrow_mut().handle_saved(key, path.as_deref().map_err(String::as_str), now);
                    mcp.act();
                }));
            }
            HttpOutput::Ended { session, caller } => self.callers.forget("mcp", &caller, Some(&session)),
            // A bridge never asks its client anything.
            HttpOutput::Told { .. } => {}
        }
    }

    fn respond(&self, exchange: Exchange, response: Response) {
        if let Some(Open::Waits(sender)) = self.open.borrow_mut().remove(&exchange) {
            let _ = sender.send(response);
        }
    }

    fn begin(self: &Rc<Self>, exchange: Exchange, headers: Vec<(&'static str, String)>) {
        let pipe = Rc::new(Pipe::default());
        let before = self.open.borrow_mut().insert(exchange, Open::Streams(pipe.clone()));
        let Some(Open::Waits(sender)) = before else { return };
        let (mcp, lost) = (self.clone(), exchange);
        pipe.on_lost(Box::new(move || mcp.gone(lost)));
        let body = Body::Stream(pipe);
        let headers = headers.into_iter().filter(|(name, _)| *name != "Content-Type").collect();
        let _ = sender.send(Response { status: 200, kind: "text/event-stream", headers, body, close: false });
    }

    fn gone(self: &Rc<Self>, exchange: Exchange) {
        if self.open.borrow_mut().remove(&exchange).is_some() {
            let now = self.now();
            self.front.borrow_mut().handle_gone(exchange, now);
            self.act();
        }
    }

    /// Makes a call in a task of its own: with a session it goes on when its request's connection is lost.
    fn call(self: &Rc<Self>, key: CallKey, caller: Result<Rc<Caller<H, C>>, Crowded>, request: BridgeCall) {
        let (handle, registration) = AbortHandle::new_pair();
        self.calls.borrow_mut().insert(key, handle);
        let mcp = self.clone();
        let work = async move {
            let answer = match caller {
                Err(_) => Answer::Lost("too many callers at once".to_owned()),
                Ok(caller) => {
                    let timeout = request.timeout_ms.map(u64::from);
                    match caller.call(&request.method, &request.params, timeout, None).await {
                        Some(frame) => Answer::Frame(frame),
                        None => Answer::Lost("the bridge is going down".to_owned()),
                    }
                }
            };
            mcp.calls.borrow_mut().remove(&key);
            let now = mcp.now();
            mcp.front.borrow_mut().handle_answer(key, answer, now);
            mcp.act();
        };
        (self.spawn)(Box::pin(async move {
            let _ = Abortable::new(work, registration).await;
        }));
    }

    /// Looks after what comes due; never ends.
    pub(crate) async fn run_timer(self: Rc<Self>) {
        let mut sleep = None;
        poll_fn(|cx| {
            for _ in 0..8 {
                let next = self.front.borrow().poll_timeout();
                if self.armed.replace(next) != next || sleep.is_none() {
                    sleep = next.map(|at| {
                        let at = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
                        Box::pin(self.clock.sleep_until(bridge_core::Instant::from_millis(at)))
                    });
                }
                match sleep.as_mut().map(|sleep| sleep.as_mut().poll(cx)) {
                    Some(Poll::Ready(())) => {
                        sleep = None;
                        self.armed.set(None);
                        let now = self.now();
                        self.front.borrow_mut().handle_timeout(now);
                        self.act();
                    }
                    _ => {
                        *self.timer.borrow_mut() = Some(cx.waker().clone());
                        return Poll::<()>::Pending;
                    }
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// A request whose client may go before its answer begins.
struct Gone<H: Host, C: Clock> {
    mcp: Rc<Mcp<H, C>>,
    exchange: Option<Exchange>,
}

impl<H: Host, C: Clock> Drop for Gone<H, C> {
    fn drop(&mut self) {
        if let Some(exchange) = self.exchange {
            self.mcp.gone(exchange);
        }
    }
}

fn whole(response: http::Response) -> Response {
    let http::Response { status, mut headers, body } = response;
    let json = headers.iter().any(|(name, value)| *name == "Content-Type" && value == "application/json");
    headers.retain(|(name, _)| *name != "Content-Type");
    let pieces = Pieces { lead: body, ..Pieces::default() };
    Response { headers, ..Response::new(status, if json { "application/json" } else { "" }, pieces) }
}
