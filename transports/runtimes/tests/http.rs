//! The HTTP door by the clock, played through in no time: heads and bodies that do not come, connections that wait (T14, T26, T36).
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use bridge_driver::contract::{Pipe, StillClock, TestHost, World, config, pipe};
use bridge_driver::{Driver, Options};
use bridge_http::{Door, Parts, Porter, Refusal};
use bridge_mcp::Seed;
use bridge_mcp::provider::SaveFile;
use bridge_websocket::User;
use futures::executor::LocalPool;
use futures::future::LocalBoxFuture;
use futures::io::AsyncWrite;
use futures::task::LocalSpawnExt;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Lets everybody of the same account in.
struct Desk(Rc<RefCell<Vec<u16>>>);

impl Porter for Desk {
    fn user(&self, _: SocketAddr, _: SocketAddr) -> User {
        User::Same
    }

    fn same_user_enters(&self) -> bool {
        true
    }

    fn token_matches(&self, _: &str) -> bool {
        false
    }

    fn is_paused(&self) -> bool {
        false
    }

    fn pause(&self) -> Result<(), String> {
        Err("not here".to_owned())
    }

    fn refused(&self, refusal: &Refusal, _: Option<User>) {
        self.0.borrow_mut().push(refusal.status);
    }

    fn save(&self, _: SaveFile) -> LocalBoxFuture<'static, Result<String, String>> {
        Box::pin(async { Err("not here".to_owned()) })
    }
}

struct Still {
    pool: LocalPool,
    clock: StillClock,
    driver: Driver<TestHost, StillClock>,
    door: Door<TestHost, StillClock>,
    refused: Rc<RefCell<Vec<u16>>>,
}

impl Still {
    fn new() -> Self {
        let (pool, clock) = (LocalPool::new(), StillClock::new());
        let driver = World::driver(config(), Options::default(), clock.clone());
        pool.spawner().spawn_local(driver.run_timers()).unwrap();
        let (spawner, refused) = (pool.spawner(), Rc::<RefCell<Vec<u16>>>::default());
        let door = Door::new(Parts {
            driver: driver.clone(),
            clock: clock.clone(),
            porter: Rc::new(Desk(refused.clone())),
            spawn: Rc::new(move |task| spawner.spawn_local(task).unwrap()),
            seed: Seed::new([7; 32]),
            version: "0",
        });
        Self { pool, clock, driver, door, refused }
    }

    fn knock(&mut self) -> Pipe {
        self.knock_with(1 << 20)
    }

    fn knock_with(&mut self, room: usize) -> Pipe {
        let (near, far) = pipe(room);
        let local = SocketAddr::from(([127, 0, 0, 1], 10_088));
        let peer = SocketAddr::from(([127, 0, 0, 1], 40_000));
        self.pool.spawner().spawn_local(self.door.clone().serve(far, local, peer)).unwrap();
        self.pool.run_until_stalled();
        near
    }

    fn say(&mut self, peer: &Pipe, bytes: &str) {
        peer.put(bytes.as_bytes());
        self.pool.run_until_stalled();
    }

    fn pass(&mut self, ms: u64) {
        self.clock.advance(ms);
        self.pool.run_until_stalled();
    }

    /// Nothing was said so far.
    #[track_caller]
    fn waits(&self, peer: &Pipe) {
        assert_eq!(String::from_utf8(peer.take()).unwrap(), "");
        assert!(!peer.ended());
    }

    /// It was refused with this status, and is closed.
    #[track_caller]
    fn refuses(&mut self, peer: &Pipe, status: u16) {
        let answer = String::from_utf8(peer.take()).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.to_ascii_lowercase().contains("connection: close"), "{answer}");
        // What the peer may still be sending is read for a second, so that it gets to see the answer.
        self.pass(1_000);
        assert!(peer.ended());
        assert_eq!(self.refused.borrow_mut().pop(), Some(status));
        assert_eq!(
            self.driver.with_hub(|hub| hub.connections().count()),
            0,
            "and the hub has heard of nobody"
        );
    }
}

const HEAD: &str = "POST /command HTTP/1.1\r\nHost: 127.0.0.1:10088\r\nContent-Type: application/json\r\n";

/// T14: one byte a second; at five seconds it is over.
#[test]
fn a_head_has_five_seconds_however_it_comes() {
    let mut still = Still::new();
    let dripping = still.knock();
    for byte in ["G", "E", "T", " ", "/"] {
        still.say(&dripping, byte);
        still.waits(&dripping);
        still.pass(if byte == "/" { 999 } else { 1_000 });
    }
    still.waits(&dripping);
    still.pass(1);
    still.refuses(&dripping, 408);
    // Whoever says nothing at all is told the same, or nothing; after five seconds they are gone.
    let silent = still.knock();
    still.pass(4_999);
    assert!(!silent.ended());
    still.pass(1);
    still.pass(1_000);
    assert!(silent.ended());
}

/// T26: ten bytes of a body and no more; at ten seconds it is over, and each piece that comes gives it ten more.
#[test]
fn a_body_may_stall_for_ten_seconds() {
    let mut still = Still::new();
    let stalling = still.knock();
    still.say(&stalling, &format!("{HEAD}Content-Length: 19\r\n\r\n{{\"toolName"));
    still.pass(9_999);
    still.waits(&stalling);
    still.pass(1);
    still.refuses(&stalling, 408);

    let slow = still.knock();
    still.say(&slow, &format!("{HEAD}Content-Length: 19\r\n\r\n"));
    for byte in r#"{"toolName":"ping"}"#.split_inclusive(|_| true) {
        still.pass(9_000);
        still.waits(&slow);
        still.say(&slow, byte);
    }
    let answer = String::from_utf8(slow.take()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("pong"), "{answer}");
    // The connection is kept for a minute.
    still.pass(59_999);
    assert!(!slow.ended());
    still.pass(1);
    assert!(slow.ended());
}

/// T26: who asks whether to go on and does not listen to the answer is not waited for either.
#[test]
fn a_peer_that_takes_no_answer_is_closed_after_ten_seconds() {
    let mut still = Still::new();
    let deaf = still.knock_with(10);
    still.say(&deaf, &format!("{HEAD}Content-Length: 19\r\nExpect: 100-continue\r\n\r\n"));
    assert_eq!(deaf.arrived(), 10);
    still.pass(9_999);
    assert!(!deaf.ended());
    still.pass(1);
    assert!(deaf.ended());
}

/// T36: whoever is refused has a second to read why; a crowd of them has no more places than others who are strangers.
#[test]
fn of_those_that_are_turned_away_few_are_waited_for() {
    let mut still = Still::new();
    let mut gone = 0;
    let crowd: Vec<Pipe> = (0..100)
        .map(|_| {
            let mut peer = still.knock();
            still.say(&peer, "GET /x HTTP/1.1\r\nHost: evil\r\n\r\n");
            assert!(String::from_utf8(peer.take()).unwrap().starts_with("HTTP/1.1 403 "));
            gone += usize::from(is_gone(&mut peer));
            peer
        })
        .collect();
    assert_eq!(gone, 68);
    still.pass(1_000);
    assert_eq!(crowd.into_iter().filter_map(|mut peer| is_gone(&mut peer).then_some(())).count(), 100);
    // There is room again.
    let mut late = still.knock();
    still.say(&late, "GET /x HTTP/1.1\r\nHost: evil\r\n\r\n");
    assert!(!is_gone(&mut late));
}

/// Whether the other end is closed for both ways.
fn is_gone(peer: &mut Pipe) -> bool {
    let mut cx = Context::from_waker(futures::task::noop_waker_ref());
    matches!(Pin::new(peer).poll_write(&mut cx, b"x"), Poll::Ready(Err(_)))
}
