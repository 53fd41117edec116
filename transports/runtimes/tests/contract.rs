//! The contract suite on every transport and every runtime: memory, Unix sockets and WebSockets; this
//! workspace's reactor, smol, async-std and tokio.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![cfg(unix)]

mod common;

use bridge_driver::contract::{StillClock, suite};
use common::{AnyStream, Dial, Spawn, lines, websocket};
use futures::FutureExt;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A Unix socket pair, or a TCP pair, of the standard library.
fn unix_pair() -> (std::os::unix::net::UnixStream, std::os::unix::net::UnixStream) {
    let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
    for end in [&near, &far] {
        end.set_nonblocking(true).unwrap();
    }
    (near, far)
}

fn tcp_pair() -> (std::net::TcpStream, std::net::TcpStream, SocketAddr, SocketAddr) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let local = listener.local_addr().unwrap();
    let near = std::net::TcpStream::connect(local).unwrap();
    let (far, peer) = listener.accept().unwrap();
    for end in [&near, &far] {
        end.set_nonblocking(true).unwrap();
        end.set_nodelay(true).unwrap();
    }
    (near, far, local, peer)
}

/// Makes the two dialling functions of a runtime from its way to adopt a standard stream.
macro_rules! dials {
    ($unix:expr, $tcp:expr) => {{
        let unix: Dial = Rc::new(|| {
            let (near, far) = unix_pair();
            let (near, far): (AnyStream, AnyStream) = (Box::pin($unix(near)), Box::pin($unix(far)));
            async move { (near, far, NOWHERE, NOWHERE) }.boxed_local()
        });
        let tcp: Dial = Rc::new(|| {
            let (near, far, local, peer) = tcp_pair();
            let (near, far): (AnyStream, AnyStream) = (Box::pin($tcp(near)), Box::pin($tcp(far)));
            async move { (near, far, local, peer) }.boxed_local()
        });
        (unix, tcp)
    }};
}

#[test]
fn in_memory() {
    let mut pool = LocalPool::new();
    let clock = StillClock::new();
    let spawner = pool.spawner();
    let spawn: Spawn = Rc::new(move |task| spawner.spawn_local(task).unwrap());
    for room in [100, 4 << 10, 1 << 20] {
        let dial: Dial = Rc::new(move || {
            let (near, far) = bridge_driver::contract::pipe(room);
            let (near, far): (AnyStream, AnyStream) = (Box::pin(near), Box::pin(far));
            async move { (near, far, NOWHERE, NOWHERE) }.boxed_local()
        });
        let (clock, spawn) = (clock.clone(), spawn.clone());
        let task = spawn.clone();
        let still = clock.clone();
        let make = move || {
            let mut world = lines(clock.clone(), spawn.clone(), dial.clone());
            world.ends.in_memory = true;
            async move { world }
        };
        let done = Rc::new(Cell::new(false));
        let finished = done.clone();
        task(
            async move {
                suite::all(make).await;
                finished.set(true);
            }
            .boxed_local(),
        );
        // Whenever everything stands still, time passes.
        loop {
            pool.run_until_stalled();
            if done.get() {
                break;
            }
            still.advance(1);
        }
    }
}

#[test]
fn on_the_reactor() {
    use bridge_reactor::{Clock, TcpStream, UnixStream, block_on};
    let executor = Rc::new(smol::LocalExecutor::new());
    let spawn: Spawn = {
        let executor = executor.clone();
        Rc::new(move |task| executor.spawn(task).detach())
    };
    let (unix, tcp) = dials!(|s| UnixStream::from_std(s).unwrap(), |s| TcpStream::from_std(s).unwrap());
    block_on(executor.run(async {
        suite::all(|| async { lines(Clock::new(), spawn.clone(), unix.clone()) }).await;
        suite::all(|| async { websocket(Clock::new(), spawn.clone(), tcp.clone()) }).await;
    }));
}

#[test]
fn on_smol() {
    let executor = Rc::new(smol::LocalExecutor::new());
    let spawn: Spawn = {
        let executor = executor.clone();
        Rc::new(move |task| executor.spawn(task).detach())
    };
    let (unix, tcp) =
        dials!(|s| smol::net::unix::UnixStream::try_from(s).unwrap(), |s| smol::net::TcpStream::try_from(s)
            .unwrap());
    let clock = || Real::new(|at| smol::Timer::at(at).map(|_| ()).boxed_local());
    smol::block_on(executor.run(async {
        suite::all(|| async { lines(clock(), spawn.clone(), unix.clone()) }).await;
        suite::all(|| async { websocket(clock(), spawn.clone(), tcp.clone()) }).await;
    }));
}

#[test]
fn on_async_std() {
    let spawn: Spawn = Rc::new(|task| {
        async_std::task::spawn_local(task);
    });
    let (unix, tcp) = dials!(async_std::os::unix::net::UnixStream::from, async_std::net::TcpStream::from);
    let clock = || {
        Real::new(|at| {
            let wait = at.saturating_duration_since(std::time::Instant::now());
            async_std::task::sleep(wait).boxed_local()
        })
    };
    async_std::task::block_on(async {
        suite::all(|| async {
            let mut world = lines(clock(), spawn.clone(), unix.clone());
            // Its sockets have no way to end one side alone: `close` does nothing there.
            world.ends.half_close = false;
            world
        })
        .await;
        suite::all(|| async { websocket(clock(), spawn.clone(), tcp.clone()) }).await;
    });
}

#[test]
fn on_tokio() {
    use tokio_util::compat::TokioAsyncReadCompatExt;
    let spawn: Spawn = Rc::new(|task| {
        tokio::task::spawn_local(task);
    });
    let (unix, tcp) = dials!(|s| tokio::net::UnixStream::from_std(s).unwrap().compat(), |s| {
        tokio::net::TcpStream::from_std(s).unwrap().compat()
    });
    let clock = || Real::new(|at| tokio::time::sleep_until(at.into()).boxed_local());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tasks = tokio::task::LocalSet::new();
    tasks.block_on(&runtime, async {
        suite::all(|| async { lines(clock(), spawn.clone(), unix.clone()) }).await;
        suite::all(|| async { websocket(clock(), spawn.clone(), tcp.clone()) }).await;
    });
}

/// Real time, with a runtime's own way to wait for it.
struct Real {
    zero: std::time::Instant,
    sleep: fn(std::time::Instant) -> futures::future::LocalBoxFuture<'static, ()>,
}

impl Real {
    fn new(sleep: fn(std::time::Instant) -> futures::future::LocalBoxFuture<'static, ()>) -> Self {
        Self { zero: std::time::Instant::now(), sleep }
    }
}

impl bridge_driver::Clock for Real {
    type Sleep = futures::future::LocalBoxFuture<'static, ()>;

    fn now(&self) -> bridge_core::Instant {
        bridge_core::Instant::from_millis(self.zero.elapsed().as_millis() as u64)
    }

    fn sleep_until(&self, at: bridge_core::Instant) -> Self::Sleep {
        (self.sleep)(self.zero + std::time::Duration::from_millis(at.as_millis()))
    }
}
