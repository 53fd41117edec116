//! The door: what it is made with, who is let in, and which answer belongs to which request.

use crate::callers::{Callers, Failure};
use crate::command::{self, Command};
use crate::connection::{self, Limits};
use crate::head::{Head, Offer, Route};
use crate::mcp::Spawn;
use crate::mcp_sets::Sets;
use crate::openbridge;
use crate::read::Reader;
use crate::refusal::Refusal;
use crate::response::Response;
use bridge_core::Door as By;
use bridge_driver::{Clock, Driver, Host};
use bridge_mcp::Seed;
use bridge_mcp::provider::SaveFile;
use bridge_websocket::{User, user};
use futures::future::LocalBoxFuture;
use futures::io::{AsyncRead, AsyncWrite};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// What a host knows about those who knock, and does for them.
pub trait Porter: 'static {
    /// Which user opened the connection from `peer` to `local`.
    fn user(&self, peer: SocketAddr, local: SocketAddr) -> User {
        user::lookup(peer, local)
    }

    /// Whether a program of the same user needs no token.
    fn same_user_enters(&self) -> bool;

    /// Whether this is the token. The comparison must take the same time whatever is given.
    fn token_matches(&self, token: &str) -> bool;

    /// Whether the user has paused the bridge.
    fn is_paused(&self) -> bool;

    /// Pauses the bridge; there is no way back through this door.
    fn pause(&self) -> Result<(), String>;

    /// Somebody was turned away; `user` as far as it was asked.
    fn refused(&self, refusal: &Refusal, user: Option<User>) {
        let _ = (refusal, user);
    }

    /// Writes a file that is too large to be sent, and says where it went.
    fn save(&self, file: SaveFile) -> LocalBoxFuture<'static, Result<String, String>>;
}

/// What a door is made with.
pub struct Parts<H: Host, C: Clock> {
    /// The way to the hub.
    pub driver: Driver<H, C>,
    /// The same clock as the driver's.
    pub clock: C,
    /// Who is let in.
    pub porter: Rc<dyn Porter>,
    /// Starts a task on the driver's thread.
    pub spawn: Rc<dyn Fn(LocalBoxFuture<'static, ()>)>,
    /// For the names of its sessions and the marks around page text.
    pub seed: Seed,
    /// The product's version.
    pub version: &'static str,
}

/// The HTTP door. Clones share everything.
pub struct Door<H: Host, C: Clock>(Rc<Inside<H, C>>);

impl<H: Host, C: Clock> Clone for Door<H, C> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

pub(crate) struct Inside<H: Host, C: Clock> {
    pub(crate) driver: Driver<H, C>,
    pub(crate) clock: Rc<C>,
    pub(crate) limits: Limits,
    /// One read buffer for all connections.
    pub(crate) scratch: RefCell<Vec<u8>>,
    /// Connections, and requests that are being answered.
    pub(crate) connections: Cell<usize>,
    /// Those that were turned away and may still be reading why.
    pub(crate) leaving: Cell<usize>,
    answering: Cell<usize>,
    answered: RefCell<Option<Waker>>,
    pub(crate) porter: Rc<dyn Porter>,
    callers: Rc<Callers<H, C>>,
    mcp: Sets<H, C>,
    reader: Reader<H, C>,
    version: &'static str,
}

/// Who sent a request, as far as it matters: the credential that owns what they make, or nobody in particular.
pub(crate) type Credential = Option<&'static str>;

impl<H: Host, C: Clock> Door<H, C> {
    /// A door over a hub.
    pub fn new(parts: Parts<H, C>) -> Self {
        let Parts { driver, clock, porter, spawn, seed, version } = parts;
        let clock = Rc::new(clock);
        let spawn: Spawn = spawn;
        let callers = Rc::new(Callers::new(driver.clone()));
        let mcp = Sets::new(callers.clone(), porter.clone(), clock.clone(), spawn.clone(), seed);
        Self(Rc::new(Inside {
            driver,
            clock,
            limits: Limits::default(),
            scratch: RefCell::default(),
            connections: Cell::new(0),
            leaving: Cell::new(0),
            answering: Cell::new(0),
            answered: RefCell::default(),
            porter,
            reader: Reader::new(callers.clone(), spawn),
            callers,
            mcp,
            version,
        }))
    }

    /// Serves a connection that was just accepted, to its end. `TCP_NODELAY` is the business of whoever accepted it.
    pub async fn serve<IO>(self, io: IO, local: SocketAddr, peer: SocketAddr)
    where
        IO: AsyncRead + AsyncWrite + Unpin,
    {
        connection::serve(&self.0, io, local, peer).await;
    }

    /// Ends every session of MCP, with its calls: whoever comes back to one is told to begin anew.
    pub fn end_sessions(&self) {
        self.0.mcp.end_sessions();
    }

    /// Ready when no request is being answered, or after `grace_ms`. Stop accepting and shut the driver down first.
    pub async fn finish(&self, grace_ms: u64) {
        let inside = &self.0;
        let mut grace = Box::pin(inside.clock.sleep_until(inside.clock.now().saturating_add_ms(grace_ms)));
        poll_fn(|cx| {
            if inside.answering.get() == 0 {
                return Poll::Ready(());
            }
            *inside.answered.borrow_mut() = Some(cx.waker().clone());
            grace.as_mut().poll(cx)
        })
        .await;
    }
}

impl<H: Host, C: Clock> Inside<H, C> {
    /// Who sent this, or why they may not. `user` is asked for once a connection.
    pub(crate) fn judge(&self, head: &Head, user: impl FnOnce() -> User) -> Result<Credential, Refusal> {
        let credential = match &head.offer {
            Offer::Token(token) if self.porter.token_matches(token) => Some("token"),
            Offer::Token(_) => return Err(unauthorized(head, "the token is not the right one")),
            Offer::Malformed => return Err(unauthorized(head, "the Authorization header is not one token")),
            Offer::Nothing if head.browser || !self.porter.same_user_enters() => None,
            Offer::Nothing => (user() == User::Same).then_some("user"),
        };
        match (credential, head.route) {
            (None, Route::Health) => Ok(None),
            (None, _) => {
                let text = "Authorization: Bearer and the token that `bridged token` prints are needed";
                Err(unauthorized(head, text))
            }
            (credential, _) => Ok(credential),
        }
    }

    pub(crate) fn user(&self, peer: SocketAddr, local: SocketAddr) -> User {
        self.porter.user(peer, local)
    }

    /// Answers a request. Dropped, whatever it began is given up.
    pub(crate) async fn answer(
        &self,
        head: &Head,
        body: &[u8],
        credential: Credential,
        port: u16,
    ) -> Response {
        let _counted = Counted::new(self);
        match (head.route, credential) {
            (Route::Health, credential) => self.health(credential, port),
            // Never: without a credential nothing but /health is admitted.
            (_, None) => Refusal::unauthorized("a token is needed").into(),
            (Route::Command, Some(credential)) => self.command(head, body, credential).await,
            (Route::Config, Some(_)) => self.config(body),
            (Route::Mcp, Some(credential)) => self.mcp.run(head, body, credential).await,
            (Route::Read, Some(_)) => self.reader.run(head.query.as_deref()).await,
        }
    }

    fn health(&self, credential: Credential, port: u16) -> Response {
        let body = if credential.is_none() {
            json!({"ok": true, "name": "bridged", "version": self.version})
        } else {
            let browsers: Vec<String> = self
                .driver
                .with_hub(|hub| hub.browsers().map(|browser| session_name(browser.browser_id)).collect());
            json!({
                "ok": true, "name": "bridged", "version": self.version, "port": port, "connectedSessions": browsers,
                "paused": self.porter.is_paused(), "enabledTools": openbridge::available().collect::<Vec<_>>(),
            })
        };
        Response::json(200, body.to_string())
    }

    async fn command(&self, head: &Head, body: &[u8], credential: &str) -> Response {
        let depth = self.driver.with_hub(|hub| usize::from(hub.config().limits.depth));
        let mut command = match Command::read(body, depth) {
            Ok(command) => command,
            Err(failure) => return Response::json(400, failure.body()),
        };
        // OpenBridge's callers may name one of `connectedSessions` here: that is a browser. Any other name is a session.
        let named = command.session_id.take();
        let is_browser = |name: &str| {
            self.driver.with_hub(|hub| hub.browsers().any(|browser| session_name(browser.browser_id) == name))
        };
        let (browser, session) = match named.as_deref() {
            Some(name) if is_browser(name) => (Some(name).filter(|name| *name != DEFAULT_SESSION), None),
            other => (None, other),
        };
        let session = head.session.as_deref().or(session).filter(|name| !name.is_empty());
        let Ok(caller) = self.callers.caller((By::Http, "http"), "http", credential, session) else {
            let failure = Failure::new("OVERLOADED", "too many callers at once");
            return Response::json(503, failure.body());
        };
        // A session belongs to whoever names it first, so that callers who name none must not meet in one.
        let home = session.unwrap_or(if credential == "user" { "default" } else { "default-token" });
        command::run(&caller, command, browser, home).await
    }

    fn config(&self, body: &[u8]) -> Response {
        #[derive(serde::Deserialize)]
        struct Config {
            paused: Option<bool>,
        }
        let config: Config = match serde_json::from_slice(body) {
            Ok(config) if body.trim_ascii_start().first() == Some(&b'{') => config,
            _ => {
                let failure = Failure::new("INVALID_REQUEST", r#"the body must be {"paused":true}"#);
                return Response::json(400, failure.body());
            }
        };
        match config.paused {
            Some(true) => match self.porter.pause() {
                Ok(()) => Response::json(200, json!({"ok": true, "paused": true}).to_string()),
                Err(text) => Response::json(500, Failure::new("INTERNAL_ERROR", text).body()),
            },
            Some(false) => {
                let text = "only the popup and `bridged policy set pause off` end a pause";
                Response::json(403, Failure::new("PERMISSION_DENIED", text).body())
            }
            None => {
                let paused = self.porter.is_paused();
                Response::json(200, json!({"ok": true, "paused": paused}).to_string())
            }
        }
    }
}

/// What `/health` calls a browser that has no id of its own.
const DEFAULT_SESSION: &str = "default";

fn session_name(browser_id: &str) -> String {
    if browser_id.is_empty() { DEFAULT_SESSION.to_owned() } else { browser_id.to_owned() }
}

/// A refusal that says how to do better.
fn unauthorized(head: &Head, text: &str) -> Refusal {
    let refusal = Refusal::unauthorized(text);
    match head.route {
        Route::Read => {
            refusal.with("WWW-Authenticate", r#"Basic realm="bridged", charset="UTF-8""#.to_owned())
        }
        _ => refusal,
    }
}

/// A request that is being answered.
struct Counted<'a, H: Host, C: Clock>(&'a Inside<H, C>);

impl<'a, H: Host, C: Clock> Counted<'a, H, C> {
    fn new(inside: &'a Inside<H, C>) -> Self {
        inside.answering.set(inside.answering.get() + 1);
        Self(inside)
    }
}

impl<H: Host, C: Clock> Drop for Counted<'_, H, C> {
    fn drop(&mut self) {
        let left = self.0.answering.get() - 1;
        self.0.answering.set(left);
        if left == 0
            && let Some(waker) = self.0.answered.borrow_mut().take()
        {
            waker.wake();
        }
    }
}
