//! Worlds for the contract suite: how each transport is connected to, given a stream.
#![allow(unreachable_pub, reason = "a module of tests")]
#![allow(dead_code, reason = "each test file uses what it needs")]

use bridge_core::{Door, Peer, Trust};
use bridge_driver::contract::{End, Ends, TestHost, World, config};
use bridge_driver::{Clock, Driver, Options};
use bridge_unix::Lines;
use bridge_websocket::client::{self, Client};
use bridge_websocket::{Doorkeeper, Origin};
use futures::future::LocalBoxFuture;
use futures::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use futures::{AsyncBufReadExt, FutureExt};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;

/// Runs a task of a world.
pub type Spawn = Rc<dyn Fn(LocalBoxFuture<'static, ()>)>;
/// Any runtime's stream.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + 'static {}
impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Stream for S {}
pub type AnyStream = Pin<Box<dyn Stream>>;
/// Opens a stream to ourselves: the near end, the far end, and the addresses of far and near.
pub type Dial = Rc<dyn Fn() -> LocalBoxFuture<'static, (AnyStream, AnyStream, SocketAddr, SocketAddr)>>;

pub const MEMORY: Peer<'static> =
    Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };

/// A world that speaks lines over any stream.
pub fn lines<C: Clock>(clock: C, spawn: Spawn, dial: Dial) -> World<C> {
    let driver = World::driver(config(), Options::default(), clock);
    spawn(driver.run_timers().boxed_local());
    let served = driver.clone();
    let connect = move || {
        let (driver, spawn, dial) = (served.clone(), spawn.clone(), dial.clone());
        async move {
            let (near, far, _, _) = dial().await;
            spawn(driver.serve(&MEMORY, far, Lines::new()).boxed_local());
            Box::new(LineEnd(BufReader::new(near))) as Box<dyn End>
        }
        .boxed_local()
    };
    let ends = Ends { implicit_hello: true, half_close: true, ..Ends::default() };
    World { driver, connect: Box::new(connect), ends }
}

/// A world that speaks WebSocket over any stream.
pub fn websocket<C: Clock>(clock: C, spawn: Spawn, dial: Dial) -> World<C> {
    let driver = World::driver(config(), Options::default(), clock);
    spawn(driver.run_timers().boxed_local());
    let served = driver.clone();
    let connect = move || {
        let (driver, spawn, dial) = (served.clone(), spawn.clone(), dial.clone());
        async move {
            let (near, far, local, peer) = dial().await;
            let serve = async move { bridge_websocket::accept(&driver, &Keeper, far, local, peer).await };
            spawn(serve.boxed_local());
            let client = client::connect(near, local, None).await.unwrap();
            Box::new(WebEnd(client)) as Box<dyn End>
        }
        .boxed_local()
    };
    World { driver, connect: Box::new(connect), ends: Ends { codes: true, ..Ends::default() } }
}

pub struct Keeper;

impl Doorkeeper for Keeper {
    fn origin(&self, origin: &str) -> Origin {
        match origin {
            "chrome-extension://pinned" => Origin::Pinned,
            _ => Origin::Unknown,
        }
    }
}

pub type TestDriver<C> = Driver<TestHost, C>;

/// The client's end of a connection by lines.
pub struct LineEnd<S>(pub BufReader<S>);

impl<S: Stream> End for LineEnd<S> {
    fn send<'a>(&'a mut self, text: &'a str) -> LocalBoxFuture<'a, ()> {
        async move {
            let line = format!("{text}\n");
            // The far end may be closing already; what it says is what counts.
            let _ = self.0.get_mut().write_all(line.as_bytes()).await;
        }
        .boxed_local()
    }

    fn send_in_pieces<'a>(&'a mut self, text: &'a str) -> LocalBoxFuture<'a, ()> {
        async move {
            for piece in text.as_bytes().chunks(7) {
                self.0.get_mut().write_all(piece).await.unwrap();
                yield_now().await;
            }
            self.0.get_mut().write_all(b"\n").await.unwrap();
        }
        .boxed_local()
    }

    fn recv(&mut self) -> LocalBoxFuture<'_, Option<String>> {
        async move {
            let mut line = String::new();
            match self.0.read_line(&mut line).await {
                Ok(count) if count > 0 => Some(line.trim_end_matches('\n').to_owned()),
                _ => None,
            }
        }
        .boxed_local()
    }

    fn half_close(&mut self) -> LocalBoxFuture<'_, ()> {
        async move { self.0.get_mut().close().await.unwrap() }.boxed_local()
    }

    fn code(&self) -> Option<u16> {
        None
    }
}

/// The client's end of a WebSocket: `async-tungstenite`.
pub struct WebEnd<S>(pub Client<S>);

impl<S: Stream> End for WebEnd<S> {
    fn send<'a>(&'a mut self, text: &'a str) -> LocalBoxFuture<'a, ()> {
        async move {
            let _ = self.0.send(text).await;
        }
        .boxed_local()
    }

    fn send_in_pieces<'a>(&'a mut self, text: &'a str) -> LocalBoxFuture<'a, ()> {
        async move { self.0.send_in_pieces(text, 7).await.unwrap() }.boxed_local()
    }

    fn recv(&mut self) -> LocalBoxFuture<'_, Option<String>> {
        async move { self.0.recv().await.ok().flatten().map(|text| text.as_str().to_owned()) }.boxed_local()
    }

    fn half_close(&mut self) -> LocalBoxFuture<'_, ()> {
        async {}.boxed_local()
    }

    fn code(&self) -> Option<u16> {
        self.0.closed().map(|(code, _)| code)
    }
}

/// Lets other tasks run.
pub async fn yield_now() {
    let mut yielded = false;
    futures::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
