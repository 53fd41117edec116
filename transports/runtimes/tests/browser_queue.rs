//! A browser that does not read, at a queue that was set: new callers are told so, and what is far too much ends it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{Door, Peer, Trust};
use bridge_driver::contract::{Pipe, StillClock, TestHost, World, config, pipe};
use bridge_driver::{Driver, Options};
use bridge_unix::Lines;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;

const OWN: Peer<'static> =
    Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };

struct Still {
    pool: LocalPool,
    driver: Driver<TestHost, StillClock>,
}

impl Still {
    fn new() -> Self {
        let (pool, clock) = (LocalPool::new(), StillClock::new());
        let options = Options { extension_queue: 10_000, ..Options::default() };
        let driver = World::driver(config(), options, clock);
        pool.spawner().spawn_local(driver.run_timers()).unwrap();
        Self { pool, driver }
    }

    fn open(&mut self, role: &str) -> Pipe {
        let (near, far) = pipe(1_000);
        self.pool.spawner().spawn_local(self.driver.serve(&OWN, far, Lines::new())).unwrap();
        near.put(format!("{{\"type\":\"hello\",\"role\":\"{role}\",\"name\":\"t\"}}\n").as_bytes());
        self.pool.run_until_stalled();
        near
    }

    /// A call of about a thousand bytes.
    fn call(&mut self, client: &Pipe, id: usize) {
        client.put(line(id, 900).as_bytes());
        self.pool.run_until_stalled();
    }
}

fn line(id: usize, size: usize) -> String {
    format!("{{\"id\":\"{id}\",\"method\":\"m\",\"params\":{{\"x\":\"{}\"}}}}\n", "y".repeat(size))
}

#[test]
fn new_callers_hear_that_the_browser_does_not_keep_up() {
    let mut still = Still::new();
    let browser = still.open("extension");
    let mut callers = Vec::new();
    // Whoever asked it before is not read at first; that others come is no reason to take on more.
    let refused = loop {
        let client = still.open("client");
        still.call(&client, callers.len());
        let heard = client.take();
        if !heard.is_empty() {
            break String::from_utf8(heard).unwrap();
        }
        callers.push(client);
        assert!(still.driver.queued() < 11_500);
    };
    assert!((10..=12).contains(&callers.len()), "{} calls of a thousand bytes had room", callers.len());
    let id = callers.len();
    let expected = format!(
        r#"{{"id":"{id}","success":false,"error":"busy: the browser does not keep up","code":"OVERLOADED"}}"#
    );
    assert_eq!(refused.trim_end(), expected);
    // It reads again, and is asked again.
    while !browser.take().is_empty() {
        still.pool.run_until_stalled();
    }
    let client = still.open("client");
    still.call(&client, id);
    assert!(client.take().is_empty());
    assert!(!browser.take().is_empty());
}

/// Messages that run together count as one, up to 64 KiB of them.
#[test]
fn what_is_far_too_much_at_once_ends_it_and_its_callers_are_told() {
    let mut still = Still::new();
    let (_browser, client) = (still.open("extension"), still.open("client"));
    // In one piece, so that all of it is there before anything is written.
    client.put((0..8).map(|id| line(id, 16_000)).collect::<String>().as_bytes());
    let mut heard = Vec::new();
    loop {
        still.pool.run_until_stalled();
        let more = client.take();
        if more.is_empty() {
            break;
        }
        heard.extend(more);
    }
    let heard = String::from_utf8(heard).unwrap();
    assert_eq!(heard.lines().count(), 8, "{heard}");
    assert!(heard.lines().all(|answer| answer.contains("EXTENSION_DISCONNECTED")), "{heard}");
    assert_eq!(still.driver.look(|hub| hub.browsers().count()), 0);
}
