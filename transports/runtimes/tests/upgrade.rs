//! The WebSocket's front door as a whole: who gets a 101, who gets what instead, and how long anyone may take
//! (T1 to T20, T31, T32, T47 to T50, T54).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use bridge_driver::contract::{Pipe, StillClock, TestHost, World, config, pipe};
use bridge_driver::{Driver, Options};
use bridge_websocket::{Doorkeeper, Origin, Refusal, User, accept};
use futures::FutureExt;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

struct Door {
    user: User,
    refused: RefCell<Vec<(u16, Option<String>)>>,
}

impl Doorkeeper for Door {
    fn origin(&self, origin: &str) -> Origin {
        match origin {
            "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh" => Origin::Pinned,
            "chrome-extension://ppppooooppppooooppppooooppppoooo" => Origin::Approved,
            _ => Origin::Unknown,
        }
    }

    fn user(&self, _: SocketAddr, _: SocketAddr) -> User {
        self.user
    }

    fn refused(&self, refusal: &Refusal, origin: Option<&str>, _: Option<User>) {
        self.refused.borrow_mut().push((refusal.status, origin.map(str::to_owned)));
    }
}

struct Still {
    pool: LocalPool,
    clock: StillClock,
    driver: Driver<TestHost, StillClock>,
    door: Rc<Door>,
}

impl Still {
    fn new(user: User) -> Self {
        let pool = LocalPool::new();
        let clock = StillClock::new();
        let driver = World::driver(config(), Options::default(), clock.clone());
        pool.spawner().spawn_local(driver.run_timers()).unwrap();
        Self { pool, clock, driver, door: Rc::new(Door { user, refused: RefCell::default() }) }
    }

    fn knock(&mut self) -> Pipe {
        let (near, far) = pipe(1 << 20);
        let (driver, door) = (self.driver.clone(), self.door.clone());
        let local = SocketAddr::from(([127, 0, 0, 1], 9225));
        let peer = SocketAddr::from(([127, 0, 0, 1], 40_000));
        self.pool
            .spawner()
            .spawn_local(async move { accept(&driver, &*door, far, local, peer).await })
            .unwrap();
        self.pool.run_until_stalled();
        near
    }

    /// Sends a head and returns the status of the answer.
    fn status(&mut self, head: &str) -> u16 {
        let peer = self.knock();
        peer.put(head.as_bytes());
        self.pool.run_until_stalled();
        let answer = String::from_utf8(peer.take()).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        if status != 101 {
            assert!(peer.ended(), "closed after {answer}");
        }
        status
    }

    fn upgraded(&mut self, extra: &str) -> Pipe {
        let peer = self.knock();
        peer.put(head(extra).as_bytes());
        self.pool.run_until_stalled();
        assert!(peer.take().starts_with(b"HTTP/1.1 101 "));
        peer
    }

    fn say(&mut self, peer: &Pipe, text: &str) -> Vec<u8> {
        peer.put(&frame(0x81, text.as_bytes()));
        self.pool.run_until_stalled();
        peer.take()
    }

    fn connections(&self) -> usize {
        self.driver.with_hub(|hub| hub.connections().count())
    }
}

fn head(extra: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:9225\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{extra}\r\n"
    )
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first, 0x80 | payload.len() as u8, 0, 0, 0, 0];
    out.extend_from_slice(payload);
    out
}

fn contains(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

#[test]
fn the_answer_to_the_key_is_right() {
    let mut still = Still::new(User::Same);
    let peer = still.knock();
    peer.put(head("").as_bytes());
    still.pool.run_until_stalled();
    // The example of RFC 6455.
    assert!(contains(&peer.take(), "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_eq!(still.connections(), 1);
}

/// T1, T2, T3, T4.
#[test]
fn no_page_and_no_unknown_extension_gets_a_101() {
    let mut still = Still::new(User::Same);
    let pinned = "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh";
    let bad = [
        "https://evil.example".to_owned(),
        "http://127.0.0.1:9225".to_owned(),
        "null".to_owned(),
        "file://".to_owned(),
        String::new(),
        pinned.to_uppercase(),
        format!("{pinned}/"),
        format!("{pinned}:1"),
        format!("x{pinned}"),
        format!("{pinned}x"),
        "chrome-extension://bbbbbbbbccccddddeeeeffffgggghhhh".to_owned(),
    ];
    for origin in &bad {
        assert_eq!(still.status(&head(&format!("Origin: {origin}\r\n"))), 403, "{origin}");
    }
    assert_eq!(still.door.refused.borrow().len(), bad.len());
    assert_eq!(still.door.refused.borrow()[0], (403, Some("https://evil.example".to_owned())));
    assert_eq!(still.connections(), 0);
    assert_eq!(still.status(&head(&format!("Origin: {pinned}\r\n"))), 101);
}

/// T48, T50.
#[test]
fn another_users_socket_gets_no_101() {
    for uid in [0, 1234] {
        let mut still = Still::new(User::Other(uid));
        assert_eq!(still.status(&head("")), 403);
        assert_eq!(still.connections(), 0);
    }
}

/// T49.
#[test]
fn a_peer_whose_user_is_not_known_must_prove_itself() {
    let mut still = Still::new(User::Unknown);
    let peer = still.upgraded("");
    let answer = still.say(&peer, r#"{"type":"hello","role":"client","name":"x"}"#);
    assert!(contains(&answer, "UNAUTHORIZED") && contains(&answer, "\u{f}\u{fffd}"), "{answer:?}");
}

#[test]
fn an_extension_of_the_old_protocol_needs_approval() {
    let mut still = Still::new(User::Same);
    let hello = r#"{"type":"hello","role":"extension","name":"x"}"#;
    let pinned = still.upgraded("Origin: chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh\r\n");
    assert!(contains(&still.say(&pinned, hello), r#""type":"error""#));
    let approved = still.upgraded("Origin: chrome-extension://ppppooooppppooooppppooooppppoooo\r\n");
    assert!(still.say(&approved, hello).is_empty());
    assert_eq!(still.driver.with_hub(|hub| hub.browsers().count()), 1);
    // An extension is never a client.
    let client = still.upgraded("Origin: chrome-extension://ppppooooppppooooppppooooppppoooo\r\n");
    let answer = still.say(&client, r#"{"type":"hello","role":"client","name":"x"}"#);
    assert!(contains(&answer, r#""type":"error""#));
}

/// T14.
#[test]
fn one_byte_a_second_is_too_slow() {
    let mut still = Still::new(User::Same);
    let peer = still.knock();
    for byte in head("").bytes().take(5) {
        peer.put(&[byte]);
        still.pool.run_until_stalled();
        assert!(peer.take().is_empty() && !peer.ended());
        still.clock.advance(1_000);
        still.pool.run_until_stalled();
    }
    assert!(contains(&peer.take(), "HTTP/1.1 408 ") && peer.ended());
}

#[test]
fn a_head_in_any_pieces_is_read_and_what_follows_it_is_kept() {
    let mut still = Still::new(User::Same);
    let mut all = head("").into_bytes();
    all.extend(frame(0x81, br#"{"type":"hello","role":"client","name":"x"}"#));
    all.extend(frame(0x81, br#"{"id":"1","method":"ping"}"#));
    for step in [1, 3, 50, all.len()] {
        let peer = still.knock();
        for piece in all.chunks(step) {
            peer.put(piece);
            still.pool.run_until_stalled();
        }
        assert!(contains(&peer.take(), r#""pong":true"#), "in pieces of {step}");
    }
}

/// T11, T15, T16.
#[test]
fn rubbish_ends_at_once() {
    let mut still = Still::new(User::Same);
    assert_eq!(still.status("\u{16}\u{3}\u{1}\u{2}\u{0}"), 400, "TLS");
    assert_eq!(still.status("SSH-2.0-OpenSSH_9.6\r\n"), 400);
    assert_eq!(still.status("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400);
    assert_eq!(still.status(&"GET ".repeat(5_000)), 431);
    assert_eq!(still.status(&head(&format!("X: {}\r\n", "y".repeat(17 << 10)))), 431);
    assert_eq!(still.status("GET / HTTP/1.1\r\nHost: 127.0.0.1:9225\r\n\r\n"), 426);
}

/// T20.
#[test]
fn nothing_behind_a_refusal_is_looked_at() {
    let mut still = Still::new(User::Same);
    let peer = still.knock();
    let bad = head("Origin: null\r\n");
    peer.put(format!("{bad}{}", head("")).as_bytes());
    still.pool.run_until_stalled();
    let answer = peer.take();
    assert!(contains(&answer, "HTTP/1.1 403 ") && !contains(&answer, "101"));
    assert!(peer.ended());
}

#[test]
fn the_oldest_of_too_many_who_say_nothing_goes() {
    let mut still = Still::new(User::Same);
    let peers: Vec<_> = (0..40).map(|_| still.knock()).collect();
    let gone = peers.iter().filter(|peer| peer.ended()).count();
    assert_eq!(gone, 8);
    assert!(peers[..8].iter().all(Pipe::ended));
    assert_eq!(still.status(&head("")), 101);
}

/// T31, T54.
#[test]
fn a_binary_or_oversized_first_message_ends_it() {
    let mut still = Still::new(User::Same);
    let peer = still.upgraded("");
    peer.put(&frame(0x82, b"x"));
    still.pool.run_until_stalled();
    let answer = peer.take();
    assert!(contains(&answer, "expected hello message"));
    assert_eq!(
        answer[answer.len() - 2 - usize::from(close(&answer).1)..].len(),
        usize::from(close(&answer).1) + 2
    );
    assert_eq!(close(&answer).0, 1003);
    let peer = still.upgraded("");
    peer.put(&[0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    still.pool.run_until_stalled();
    assert_eq!(close(&peer.take()).0, 1009);
    let peer = still.upgraded("");
    peer.put(&[0x81, 0xfe, 0x40, 0x01, 0, 0, 0, 0]);
    still.pool.run_until_stalled();
    assert_eq!(close(&peer.take()).0, 1009, "more than 16 KiB before the hello");
}

/// The code and the length of the close frame at the end.
fn close(answer: &[u8]) -> (u16, u8) {
    let at = answer.iter().rposition(|byte| *byte == 0x88).unwrap();
    (u16::from_be_bytes([answer[at + 2], answer[at + 3]]), answer[at + 1])
}

#[test]
fn a_shutdown_ends_those_who_have_not_shown_a_head() {
    let mut still = Still::new(User::Same);
    let peer = still.knock();
    let mut shutdown = still.driver.shutdown(std::time::Duration::from_secs(2));
    still.pool.run_until_stalled();
    assert!(peer.ended());
    assert!((&mut shutdown).now_or_never().is_some());
}
