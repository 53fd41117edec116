//! A connection that the driver itself does not read for a while, because what it would ask for has nowhere to go: its
//! silence is not held against it, and it is read again when there is room.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{Door, Peer, Trust};
use bridge_driver::contract::{Pipe, StillClock, TestHost, World, config, pipe};
use bridge_driver::{Codec, Driver, Options};
use bridge_unix::Lines;
use bridge_websocket::Frames;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;

const TCP: Peer<'static> = Peer {
    door: Door::WebSocket,
    trust: Trust::SameUser,
    origin: None,
    approved: false,
    address: "127.0.0.1:9225",
};

/// A driver whose queues count as long soon.
struct Still {
    pool: LocalPool,
    clock: StillClock,
    driver: Driver<TestHost, StillClock>,
}

impl Still {
    fn new() -> Self {
        let (pool, clock) = (LocalPool::new(), StillClock::new());
        let options = Options { slow_mark: 300, fast_mark: 30, ..Options::default() };
        let driver = World::driver(config(), options, clock.clone());
        pool.spawner().spawn_local(driver.run_timers()).unwrap();
        Self { pool, clock, driver }
    }

    fn open(&mut self, codec: impl Codec, room: usize) -> Pipe {
        let (near, far) = pipe(room);
        self.pool.spawner().spawn_local(self.driver.serve(&TCP, far, codec)).unwrap();
        self.pool.run_until_stalled();
        near
    }

    fn pass(&mut self, ms: u64) {
        self.pool.run_until_stalled();
        self.clock.advance(ms);
        self.pool.run_until_stalled();
    }
}

fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}

/// One masked text frame.
fn frame(text: &str) -> Vec<u8> {
    let mut out = vec![0x81, 0x80 | text.len() as u8, 1, 2, 3, 4];
    out.extend(text.bytes().enumerate().map(|(at, byte)| byte ^ [1, 2, 3, 4][at & 3]));
    out
}

/// A browser that takes a few bytes every five seconds, and a client that has asked for more than it takes; the last
/// message of the client's is there only in part.
fn congested(still: &mut Still) -> (Pipe, Pipe) {
    let browser = still.open(Lines::new(), 4);
    browser.put(&line(r#"{"type":"hello","role":"extension","name":"b"}"#));
    let client = still.open(Frames::new(), 1 << 20);
    client.put(&frame(r#"{"type":"hello","role":"client","name":"c"}"#));
    still.pool.run_until_stalled();
    for n in 0..40 {
        client.put(&frame(&format!(r#"{{"id":"{n}","method":"m","timeout_ms":600000}}"#)));
        still.pool.run_until_stalled();
    }
    let last = frame(r#"{"id":"last","method":"ping"}"#);
    client.put(&last[..9]);
    still.pool.run_until_stalled();
    (browser, client)
}

#[test]
fn it_is_neither_silent_nor_unfinished() {
    let mut still = Still::new();
    let (browser, client) = congested(&mut still);
    for _ in 0..40 {
        still.pass(5_000);
        browser.take();
    }
    assert!(client.arrived() > 0, "it is pinged");
    assert!(!client.ended(), "a client was dropped that nobody had read");
    // The browser reads on: so is the client.
    client.put(&frame(r#"{"id":"last","method":"ping"}"#)[9..]);
    client.take();
    for _ in 0..2_000 {
        browser.take();
        still.pool.run_until_stalled();
    }
    let heard = String::from_utf8_lossy(&client.take()).into_owned();
    assert!(heard.contains(r#""pong":true"#), "{heard}");
}

#[test]
fn a_message_that_stays_unfinished_ends_it_once_it_is_read_again() {
    let mut still = Still::new();
    let (browser, client) = congested(&mut still);
    for _ in 0..2_000 {
        browser.take();
        still.pool.run_until_stalled();
    }
    for _ in 0..4 {
        still.pass(14_000);
        // A pong: it lives, but does not get on with its message.
        client.take();
    }
    still.pass(10_000);
    assert!(client.ended());
}

#[test]
fn a_long_queue_that_goes_in_one_write_has_its_client_read_again() {
    let mut still = Still::new();
    let browser = still.open(Lines::new(), 1 << 20);
    browser.put(&line(r#"{"type":"hello","role":"extension","name":"b"}"#));
    let client = still.open(Lines::new(), 1 << 20);
    client.put(&line(r#"{"type":"hello","role":"client","name":"c"}"#));
    client.put(&line(r#"{"id":"1","method":"m"}"#));
    still.pool.run_until_stalled();
    let asked = String::from_utf8(browser.take()).unwrap();
    let id = asked.strip_prefix(r#"{"id":""#).unwrap().split('"').next().unwrap();
    // In one wake-up: the answer is queued, the client's turn to be read comes while its queue is long, and then all of
    // the queue is written at once.
    let data = "x".repeat(5_000);
    browser.put(&line(&format!(r#"{{"id":"{id}","success":true,"result":"{data}"}}"#)));
    client.put(&line(r#"{"id":"2","method":"ping"}"#));
    still.pool.run_until_stalled();
    let heard = String::from_utf8(client.take()).unwrap();
    assert!(heard.contains(&data));
    assert!(
        heard.ends_with("{\"id\":\"2\",\"success\":true,\"result\":{\"pong\":true}}\n"),
        "it is read no more"
    );
}

/// A client of which too much waits for its turn is not read. If nothing of that is passed on, but all of it ends, it is read again.
#[test]
fn who_has_too_much_waiting_is_read_again_once_that_has_ended() {
    let mut still = Still::new();
    let browser = still.open(Lines::new(), 1 << 20);
    browser.put(&line(r#"{"type":"hello","role":"extension","name":"b"}"#));
    let client = still.open(Lines::new(), 1 << 20);
    client.put(&line(r#"{"type":"hello","role":"client","name":"c"}"#));
    still.pool.run_until_stalled();
    // As many as are passed on at once; the browser answers none of them.
    for n in 0..8 {
        client.put(&line(&format!(r#"{{"id":"{n}","method":"m","timeout_ms":600000}}"#)));
    }
    let more = "x".repeat(500);
    for n in 8..12 {
        client
            .put(&line(&format!(r#"{{"id":"{n}","method":"m","params":{{"x":"{more}"}},"timeout_ms":40}}"#)));
    }
    still.pool.run_until_stalled();
    client.put(&line(r#"{"id":"last","method":"ping"}"#));
    still.pool.run_until_stalled();
    let heard = String::from_utf8(client.take()).unwrap();
    assert!(!heard.contains("pong"), "it is not read: {heard}");
    assert_eq!(still.driver.census().paused, 1);
    still.pass(60);
    still.pass(100);
    let heard = String::from_utf8(client.take()).unwrap();
    assert_eq!(heard.matches("TIMEOUT").count(), 4, "{heard}");
    assert!(heard.contains(r#""pong":true"#), "it is read no more: {heard}");
    assert_eq!((still.driver.census().paused, still.driver.census().calls), (0, 8));
}
