//! What the driver does by the clock and by the byte, played through in no time: keepalive, stalls, unfinished
//! messages, slow readers, queues, heads, shutdown (T14, T30, T55, T108, T110, T111, T112, T113b, T115).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::{Door, Peer, Trust};
use bridge_driver::contract::{Pipe, StillClock, TestHost, World, config, pipe};
use bridge_driver::{Codec, Driver, Local, Options, Ousted};
use bridge_unix::Lines;
use bridge_websocket::Frames;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use futures::{AsyncWriteExt, FutureExt};
use std::time::Duration;

const TCP: Peer<'static> = Peer {
    door: Door::WebSocket,
    trust: Trust::SameUser,
    origin: None,
    approved: false,
    address: "127.0.0.1:9225",
};

/// A driver in a world that stands still.
struct Still {
    pool: LocalPool,
    clock: StillClock,
    driver: Driver<TestHost, StillClock>,
}

impl Still {
    fn new() -> Self {
        Self::with(Options::default())
    }

    fn with(options: Options) -> Self {
        let pool = LocalPool::new();
        let clock = StillClock::new();
        let driver = World::driver(config(), options, clock.clone());
        pool.spawner().spawn_local(driver.run_timers()).unwrap();
        Self { pool, clock, driver }
    }

    /// A served stream with `room` bytes of buffer; the outer end.
    fn open(&mut self, codec: impl Codec, room: usize) -> Pipe {
        let (near, far) = pipe(room);
        self.pool.spawner().spawn_local(self.driver.serve(&TCP, far, codec)).unwrap();
        self.run();
        near
    }

    fn local(&self, role: &str) -> Local<TestHost, StillClock> {
        let local = self.driver.local(&Peer::in_process(Door::Memory)).unwrap();
        local.send(hello(role).as_bytes());
        local
    }

    fn run(&mut self) {
        self.pool.run_until_stalled();
    }

    /// Lets time pass in small steps, as a real clock would.
    fn pass(&mut self, ms: u64) {
        for _ in 0..ms / 100 {
            self.clock.advance(100);
            self.run();
        }
        self.clock.advance(ms % 100);
        self.run();
    }

    fn connections(&self) -> usize {
        self.driver.with_hub(|hub| hub.connections().count())
    }

    fn in_flight(&self) -> usize {
        self.driver.with_hub(|hub| hub.in_flight())
    }
}

fn hello(role: &str) -> String {
    format!(r#"{{"type":"hello","role":"{role}","name":"t"}}"#)
}

/// One masked text frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first, 0x80 | payload.len() as u8, 1, 2, 3, 4];
    out.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ [1, 2, 3, 4][at & 3]));
    out
}

fn text(text: &str) -> Vec<u8> {
    frame(0x81, text.as_bytes())
}

/// The close code in what a WebSocket was sent last.
fn close_code(bytes: &[u8]) -> Option<u16> {
    let at = bytes.windows(2).rposition(|pair| pair[0] == 0x88 && usize::from(pair[1]) >= 2)?;
    Some(u16::from_be_bytes([*bytes.get(at + 2)?, *bytes.get(at + 3)?]))
}

fn joined(still: &mut Still, role: &str, room: usize) -> Pipe {
    let end = still.open(Frames::new(), room);
    end.put(&text(&hello(role)));
    still.run();
    end
}

/// Asks for one answer after the other until `bytes` of them are on their way to the client.
fn answer(browser: &Local<TestHost, StillClock>, size: usize) {
    let asked = browser.try_recv().expect("a request");
    let asked = String::from_utf8(asked).unwrap();
    let id = asked.strip_prefix(r#"{"id":""#).unwrap().split('"').next().unwrap();
    let data = "x".repeat(size);
    browser.send(format!(r#"{{"id":"{id}","success":true,"result":"{data}"}}"#).as_bytes());
}

#[test]
fn a_silent_peer_is_pinged_twice_and_then_dropped() {
    let mut still = Still::new();
    let peer = joined(&mut still, "client", 1 << 20);
    for _ in 0..2 {
        still.pass(14_900);
        assert_eq!(peer.take(), b"");
        still.pass(100);
        assert_eq!(peer.take(), b"\x89\x00");
    }
    still.pass(14_900);
    assert_eq!(still.connections(), 1);
    still.pass(100);
    assert_eq!(still.connections(), 0);
    assert_eq!(close_code(&peer.take()), Some(1001));
    still.pass(2_000);
    assert!(peer.ended());
}

/// T108: the same of a browser, whose callers are told.
#[test]
fn a_browser_that_is_half_gone_is_dropped_and_its_callers_are_told() {
    let mut still = Still::new();
    let browser = joined(&mut still, "extension", 1 << 20);
    let client = still.local("client");
    client.send(br#"{"id":"1","method":"m","timeout_ms":600000}"#);
    still.run();
    assert!(!browser.take().is_empty(), "it was asked");
    still.pass(44_900);
    assert!(client.try_recv().is_none());
    assert_eq!(browser.take(), b"\x89\x00\x89\x00", "and pinged twice");
    still.pass(100);
    let told = String::from_utf8(client.try_recv().unwrap()).unwrap();
    assert!(told.contains("EXTENSION_DISCONNECTED") && told.contains(r#""maybe_executed":true"#), "{told}");
    assert_eq!((still.connections(), still.in_flight()), (1, 0));
    assert_eq!(close_code(&browser.take()), Some(1001));
}

/// T110: over the WebSocket an end without a close frame is the end of everything that was asked.
#[test]
fn a_websocket_that_ends_without_a_close_frame_is_gone_with_its_calls() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let mut client = joined(&mut still, "client", 1 << 20);
    client.put(&text(r#"{"id":"1","method":"m"}"#));
    still.run();
    assert_eq!((still.connections(), still.in_flight()), (2, 1));
    client.close().now_or_never().unwrap().unwrap();
    still.run();
    assert_eq!((still.connections(), still.in_flight()), (1, 0));
    answer(&browser, 10);
    still.run();
    assert_eq!(client.take(), b"", "the answer is nobody's");
}

#[test]
fn a_peer_that_answers_pings_stays_for_ever() {
    let mut still = Still::new();
    let peer = joined(&mut still, "client", 1 << 20);
    for _ in 0..100 {
        still.pass(15_000);
        assert_eq!(peer.take(), b"\x89\x00");
        peer.put(&frame(0x8a, b""));
        still.run();
    }
    assert_eq!(still.connections(), 1);
}

/// T30.
#[test]
fn no_hello_in_five_seconds_ends_it() {
    let mut still = Still::new();
    let peer = still.open(Frames::new(), 1 << 20);
    still.pass(4_900);
    assert_eq!(still.connections(), 1);
    still.pass(100);
    assert_eq!(close_code(&peer.take()), Some(1008));
    still.pass(1_000);
    assert!(peer.ended());
}

/// T55.
#[test]
fn a_message_that_is_never_finished_ends_it_after_thirty_seconds() {
    let mut still = Still::new();
    let peer = joined(&mut still, "client", 1 << 20);
    peer.put(&frame(0x01, b"{"));
    still.run();
    for _ in 0..2 {
        still.pass(14_900);
        // A piece more is no progress that counts.
        peer.put(&frame(0x00, b" "));
        still.run();
    }
    assert_eq!(still.connections(), 1);
    still.pass(200);
    assert_eq!(still.connections(), 0);
    assert_eq!(close_code(&peer.take()), Some(1008));
}

#[test]
fn whole_messages_in_between_keep_a_chatty_peer() {
    let mut still = Still::new();
    let peer = joined(&mut still, "client", 1 << 20);
    let ping = text(r#"{"id":"1","method":"ping"}"#);
    // Always in the middle of the next message when the last one is done.
    let (head, tail) = ping.split_at(5);
    peer.put(head);
    for _ in 0..50 {
        still.pass(1_000);
        peer.put(&[tail, head].concat());
        still.run();
        assert!(peer.take().len() > 20);
    }
    assert_eq!(still.connections(), 1);
}

#[test]
fn a_slow_reader_is_cut_off_and_nobody_else_notices() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let healthy = still.local("client");
    let slow = joined(&mut still, "client", 64 << 10);
    for n in 0..40 {
        slow.put(&text(&format!(r#"{{"id":"{n}","method":"m"}}"#)));
    }
    still.run();
    let mut most = 0;
    for n in 0..40 {
        answer(&browser, 1 << 20);
        still.run();
        most = most.max(still.driver.queued());
        healthy.send(br#"{"id":"1","method":"ping"}"#);
        assert!(healthy.try_recv().is_some_and(|pong| pong.ends_with(b"{\"pong\":true}}")));
        if still.connections() == 2 {
            assert!(n >= 16, "cut off after {n} MB");
            break;
        }
    }
    assert_eq!(still.connections(), 2, "it is gone");
    assert!(most <= 19 << 20, "{most} bytes were queued");
    assert_eq!(still.in_flight(), 0, "and so are its calls");
    // What was begun is finished, then comes the goodbye.
    let mut received = slow.take();
    for _ in 0..100 {
        still.run();
        received.extend(slow.take());
    }
    assert_eq!(close_code(&received[received.len() - 40..]), Some(4008));
    while browser.try_recv().is_some() {}
    assert_eq!(still.driver.queued(), 0);
}

#[test]
fn one_message_of_any_size_is_admitted_to_an_empty_queue() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let slow = joined(&mut still, "client", 64 << 10);
    slow.put(&text(r#"{"id":"1","method":"m"}"#));
    still.run();
    answer(&browser, 40 << 20);
    still.run();
    assert_eq!(still.connections(), 2);
    let mut received = 0;
    while received < 40 << 20 {
        let more = slow.take().len();
        assert!(more > 0);
        received += more;
        still.run();
    }
    assert_eq!(still.driver.queued(), 0);
}

#[test]
fn a_write_without_progress_for_ten_seconds_ends_it() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let slow = joined(&mut still, "client", 1 << 10);
    slow.put(&text(r#"{"id":"1","method":"m"}"#));
    still.run();
    answer(&browser, 100 << 10);
    still.run();
    // A little progress every nine seconds is enough.
    for _ in 0..5 {
        still.pass(9_000);
        assert!(!slow.take().is_empty());
        still.run();
        assert_eq!(still.connections(), 2);
    }
    still.pass(9_900);
    assert_eq!(still.connections(), 2);
    still.pass(200);
    assert_eq!(still.connections(), 1);
    still.pass(1_000);
    assert_eq!(still.driver.queued(), 0, "it is dropped, though it never took its goodbye");
}

#[test]
fn all_queues_together_are_bounded() {
    let options = Options { all_queues: 32 << 20, ..Options::default() };
    let mut still = Still::with(options);
    let browser = still.local("extension");
    let slow: Vec<_> = (0..8).map(|_| joined(&mut still, "client", 1 << 10)).collect();
    for (n, client) in slow.iter().enumerate() {
        for _ in 0..=n {
            let id = still.in_flight();
            client.put(&text(&format!(r#"{{"id":"{id}","method":"m"}}"#)));
            still.run();
        }
    }
    while still.in_flight() > 0 {
        answer(&browser, 1 << 20);
        still.run();
        assert!(still.driver.queued() <= 33 << 20);
    }
    // 36 MB were asked for; the one that asked for most had to go, and the others did not.
    assert_eq!(still.connections(), 8);
}

/// Nothing is gained at once by cutting off a client whose one answer is being written, and no other pays for that.
#[test]
fn no_more_are_cut_off_than_the_bound_asks_for() {
    let options = Options { all_queues: 8 << 20, ..Options::default() };
    let mut still = Still::with(options);
    let browser = still.local("extension");
    let slow: Vec<_> = (0..12).map(|_| joined(&mut still, "client", 1 << 10)).collect();
    for client in &slow {
        client.put(&text(r#"{"id":"1","method":"m"}"#));
        still.run();
        answer(&browser, 1 << 20);
        still.run();
    }
    // Eight fit, for each socket took a little; the browser is one more.
    assert_eq!(still.connections(), 9);
}

/// The beginning of a text message of 64 KB.
fn begun(bytes: usize) -> Vec<u8> {
    let mut out = vec![0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    out.resize(out.len() + bytes, b' ');
    out
}

/// T113a: each of them may be large, and all together may not.
#[test]
fn all_unfinished_messages_together_are_bounded() {
    let options = Options { all_incoming: 100_000, ..Options::default() };
    let mut still = Still::with(options);
    let browser = joined(&mut still, "extension", 1 << 20);
    browser.put(&begun(60_000));
    let clients: Vec<_> = (1..=9).map(|_| joined(&mut still, "client", 1 << 20)).collect();
    for (n, client) in clients.iter().enumerate() {
        client.put(&begun(10_000 + n));
        still.run();
    }
    assert_eq!(still.connections(), 10, "an answer that was asked for does not count");
    clients[3].put(&[b' '; 20_000]);
    still.run();
    assert_eq!(still.connections(), 9);
    assert_eq!(close_code(&clients[3].take()), Some(1009), "the largest had to go");
    // What is complete, or has gone, has made room.
    clients[4].put(&[b' '; 65_536 - 10_004]);
    still.run();
    drop(clients);
    still.pass(2_000);
    assert_eq!(still.connections(), 1);
    assert_eq!(still.driver.census().incoming, 0);
}

#[test]
fn a_client_is_not_read_while_its_browser_does_not_read() {
    let mut still = Still::new();
    let browser = joined(&mut still, "extension", 1 << 10);
    let client = joined(&mut still, "client", 64 << 20);
    let params = "x".repeat(60_000);
    let request = |n: usize| {
        let body = format!(r#"{{"id":"{n}","method":"m","params":{{"x":"{params}"}}}}"#);
        let mut out = vec![0x81, 0xfe];
        out.extend_from_slice(&(body.len() as u16).to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(body.as_bytes());
        out
    };
    for n in 0..200 {
        client.put(&request(n));
    }
    still.run();
    assert!(still.driver.queued() < 2 << 20, "{} bytes queued", still.driver.queued());
    assert!(still.in_flight() < 40);
    let mut received = 0;
    for _ in 0..30 {
        loop {
            let more = browser.take().len();
            if more == 0 {
                break;
            }
            received += more;
            still.run();
        }
        // Nothing is ever answered here, so its turns come by the clock.
        still.pass(100);
    }
    assert!(received > 200 * 60_000, "everything arrived in the end");
    assert_eq!(still.in_flight(), 200);
}

#[test]
fn a_client_is_not_read_while_it_does_not_read() {
    let mut still = Still::new();
    let client = joined(&mut still, "client", 1 << 10);
    for n in 0..100_000 {
        client.put(&text(&format!(r#"{{"id":"{n}","method":"ping"}}"#)));
    }
    still.run();
    assert!(still.driver.queued() < 2 << 20);
    let mut received = 0;
    loop {
        let more = client.take();
        if more.is_empty() {
            break;
        }
        received += more.windows(12).filter(|bytes| bytes == b"\"pong\":true}").count();
        still.run();
    }
    // Those cut in two by a look are not counted.
    assert!(received > 95_000, "{received}");
    assert_eq!(still.connections(), 1);
}

#[test]
fn heads_are_few_and_do_not_wait_long() {
    let mut still = Still::new();
    let mut heads: Vec<_> = (0..33).map(|_| still.driver.head()).collect();
    assert_eq!(heads[0].ousted(), Some(Ousted::Crowded));
    assert!(heads[1..].iter().all(|head| head.ousted().is_none()));
    // One that was left makes room without harm to another.
    drop(heads.remove(1));
    heads.push(still.driver.head());
    assert!(heads[1..].iter().all(|head| head.ousted().is_none()));
    still.run();
    still.pass(4_900);
    assert!(heads[1].ousted().is_none());
    still.pass(100);
    assert!(heads[1..].iter().all(|head| head.ousted() == Some(Ousted::Late)));
}

#[test]
fn shutting_down_waits_for_nobody_longer_than_the_grace() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let stuck = joined(&mut still, "client", 16);
    stuck.put(&text(r#"{"id":"1","method":"m"}"#));
    still.run();
    answer(&browser, 100_000);
    still.run();
    let mut shutdown = still.driver.shutdown(Duration::from_secs(2));
    still.run();
    assert!((&mut shutdown).now_or_never().is_none());
    still.pass(2_000);
    assert!((&mut shutdown).now_or_never().is_some());
    still.run();
    assert_eq!((still.connections(), still.driver.queued()), (0, 0));
    assert_eq!(browser.closed().map(|code| code.0), Some(1001));
    assert!(still.driver.local(&Peer::in_process(Door::Memory)).is_err());
}

#[test]
fn nothing_is_armed_while_there_is_nothing_to_wait_for() {
    let mut still = Still::new();
    still.run();
    assert_eq!(still.clock.armed(), 0);
    let browser = still.local("extension");
    let client = still.local("client");
    still.run();
    let idle = still.clock.armed();
    assert_eq!(idle, 0, "connections inside the process need no timer");
    for n in 0..1000 {
        client.send(format!(r#"{{"id":"{n}","method":"m"}}"#).as_bytes());
        answer(&browser, 10);
        still.run();
        assert!(client.try_recv().is_some());
    }
    assert!(still.clock.armed() <= 1);
    still.pass(31_000);
    assert_eq!(still.clock.armed(), 0);
    drop((browser, client));
    assert_eq!(still.connections(), 0);
}

#[test]
fn a_call_past_its_time_is_answered_at_its_time() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let client = still.local("client");
    client.send(br#"{"id":"1","method":"m"}"#);
    client.send(br#"{"id":"2","method":"m","timeout_ms":5000}"#);
    still.run();
    still.pass(4_900);
    assert!(client.try_recv().is_none());
    still.pass(200);
    let answer = String::from_utf8(client.try_recv().unwrap()).unwrap();
    assert!(answer.contains(r#""id":"2""#) && answer.contains("in 5s"), "{answer}");
    still.pass(24_800);
    assert!(client.try_recv().is_none());
    still.pass(200);
    let answer = String::from_utf8(client.try_recv().unwrap()).unwrap();
    assert!(answer.contains("timeout: extension did not respond in 30s"), "{answer}");
    drop(browser);
}

#[test]
fn a_half_closed_client_that_goes_is_noticed() {
    let gone = std::rc::Rc::new(std::cell::Cell::new(false));
    let mut still = Still::new();
    let _browser = still.local("extension");
    let seen = gone.clone();
    let mut client = still.open(Lines::new().with_hangup(move || seen.get()), 1 << 20);
    client.put(format!("{}\n{{\"id\":\"1\",\"method\":\"m\"}}", hello("client")).as_bytes());
    still.run();
    client.close().now_or_never().unwrap().unwrap();
    still.run();
    assert_eq!((still.connections(), still.in_flight()), (2, 1));
    gone.set(true);
    still.pass(1_000);
    assert_eq!((still.connections(), still.in_flight()), (1, 0));
}

#[test]
fn a_task_that_is_dropped_takes_its_connection_with_it() {
    let still = Still::new();
    let (_near, far) = pipe(100);
    let serving = still.driver.serve(&TCP, far, Frames::new());
    assert_eq!(still.connections(), 1);
    drop(serving);
    assert_eq!(still.connections(), 0);
}

#[test]
fn a_large_messages_memory_serves_the_next_one_and_then_goes() {
    let mut still = Still::new();
    let browser = still.open(Lines::new(), 1 << 20);
    browser.put(format!("{}\n", hello("extension")).as_bytes());
    let mut client = still.open(Lines::new(), 1 << 20);
    client.put(format!("{}\n", hello("client")).as_bytes());
    still.run();
    for size in [300_000, 2_000_000, 100_000, 1_000_000] {
        client.put(b"{\"id\":\"1\",\"method\":\"m\"}\n");
        still.run();
        let asked = String::from_utf8(browser.take()).unwrap();
        let id = asked.strip_prefix(r#"{"id":""#).unwrap().split('"').next().unwrap();
        let data: String = (0..size).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
        browser.put(format!("{{\"id\":\"{id}\",\"success\":true,\"result\":\"{data}\"}}\n").as_bytes());
        let mut received = Vec::new();
        while received.last() != Some(&b'\n') {
            still.run();
            let more = client.take();
            assert!(!more.is_empty());
            received.extend(more);
        }
        let expected = format!("{{\"id\":\"1\",\"success\":true,\"result\":\"{data}\"}}\n");
        assert!(received == expected.as_bytes(), "an answer of {size} bytes changed on its way");
    }
    client.close().now_or_never().unwrap().unwrap();
    drop((client, browser));
    still.run();
    assert_eq!(still.connections(), 0);
    // Two timers' worth of time: the calls' and the buffer's.
    still.pass(31_000);
    assert_eq!(still.clock.armed(), 0);
}
