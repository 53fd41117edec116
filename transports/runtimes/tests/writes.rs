//! One wake-up, one write: what arrives in one read leaves in one write for each destination, not a system call a message.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{Door, Peer, Trust};
use bridge_driver::Options;
use bridge_driver::contract::{Pipe, StillClock, World, config, pipe};
use bridge_unix::Lines;
use futures::executor::LocalPool;
use futures::io::{AsyncRead, AsyncWrite};
use futures::task::LocalSpawnExt;
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

const PEER: Peer<'static> =
    Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };

/// How many messages come at once.
const MANY: usize = 8;

/// A stream that counts how often it is written to.
struct Counted(Pipe, Rc<Cell<usize>>);

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.1.set(self.1.get() + 1);
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    /// All slices at once, as a socket takes them.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write(cx, &bufs.iter().flat_map(|slice| slice.iter().copied()).collect::<Vec<u8>>())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}

#[test]
fn messages_that_arrive_in_one_read_leave_in_one_write() {
    let mut pool = LocalPool::new();
    let driver = World::driver(config(), Options::default(), StillClock::new());
    pool.spawner().spawn_local(driver.run_timers()).unwrap();
    let mut open = |role: &str| {
        let (near, far) = pipe(1 << 20);
        let writes = Rc::new(Cell::new(0));
        let served = driver.serve(&PEER, Counted(far, writes.clone()), Lines::new());
        pool.spawner().spawn_local(served).unwrap();
        near.put(format!("{{\"type\":\"hello\",\"role\":\"{role}\",\"name\":\"t\"}}\n").as_bytes());
        pool.run_until_stalled();
        near.take();
        writes.set(0);
        (near, writes)
    };
    let (browser, to_browser) = open("extension");
    let (client, to_client) = open("client");

    let requests: String = (0..MANY).map(|n| format!("{{\"id\":\"{n}\",\"method\":\"m\"}}\n")).collect();
    client.put(requests.as_bytes());
    pool.run_until_stalled();
    let asked = String::from_utf8(browser.take()).unwrap();
    assert_eq!((asked.lines().count(), to_browser.get()), (MANY, 1), "requests, and writes to the browser");

    let answers = asked.lines().map(|request| {
        let id = request.strip_prefix(r#"{"id":""#).unwrap().split('"').next().unwrap();
        format!("{{\"id\":\"{id}\",\"success\":true,\"result\":1}}\n")
    });
    browser.put(answers.collect::<String>().as_bytes());
    pool.run_until_stalled();
    let answered = String::from_utf8(client.take()).unwrap();
    assert_eq!((answered.lines().count(), to_client.get()), (MANY, 1), "answers, and writes to the client");
}
