//! No message costs an allocation, whatever its kind and size. (Invariants 3 and 7.)

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use allocation_counter::{AllocationInfo, measure};
use bridge_core::{ConnId, Door, Inspected, Peer, Trust};
use bridge_model::stage::{REQUEST, Stage, answer, drain, written};

/// Runs `work` a few times over, so that a first-time cost cannot hide, and says what all of it allocated.
fn allocations(mut work: impl FnMut()) -> u64 {
    let AllocationInfo { count_total, .. } = measure(|| (0..3).for_each(|_| work()));
    count_total
}

/// Gives `frame` to the hub and writes all that comes of it.
fn say(stage: &mut Stage, conn: ConnId, frame: &[u8]) -> Option<usize> {
    let passed = match stage.hub.receive(conn, frame, stage.now) {
        Inspected::Forward(forward) => Some(written(&forward)),
        _ => None,
    };
    drain(&mut stage.hub);
    passed
}

/// The usual request with another id, so that several can be in flight.
fn request(id: &str) -> Vec<u8> {
    String::from_utf8_lossy(REQUEST).replace("req-1", id).into_bytes()
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 3);
}

#[test]
fn a_request_allocates_nothing() {
    let mut stage = Stage::new();
    let frames = ["a", "b", "c"].map(request);
    let mut next = frames.iter();
    let client = stage.client;
    assert_eq!(allocations(|| assert!(say(&mut stage, client, next.next().unwrap()).is_some())), 0);
}

#[test]
fn an_answer_allocates_nothing_however_big() {
    for bytes in [60, 40_000, 5_000_000] {
        let mut stage = Stage::new();
        let answers = ["a", "b", "c"].map(|id| answer(&stage.call(&request(id)), bytes));
        let mut next = answers.iter();
        let extension = stage.extension;
        let count = allocations(|| assert!(say(&mut stage, extension, next.next().unwrap()).is_some()));
        assert_eq!(count, 0, "{bytes} bytes");
    }
}

#[test]
fn an_answer_that_must_be_scanned_allocates_nothing() {
    let mut stage = Stage::new();
    let answers = ["a", "b", "c"].map(|id| {
        let wire = stage.call(&request(id));
        format!(
            r#"{{"success":true,"result":{{"nodes":[{}1]}},"id":"{wire}"}}"#,
            r#"{"a":["\"",1]},"#.repeat(30_000)
        )
    });
    let mut next = answers.iter();
    let extension = stage.extension;
    assert_eq!(
        allocations(|| assert!(say(&mut stage, extension, next.next().unwrap().as_bytes()).is_some())),
        0
    );
}

#[test]
fn what_the_hub_answers_itself_allocates_nothing() {
    for frame in [
        r#"{"id":"p1","method":"ping","params":{}}"#,
        r#"{"id":"p1","method":"list_browsers"}"#,
        r#"{"id":"p1","method":"status"}"#,
    ] {
        let mut stage = Stage::new();
        let (client, extension) = (stage.client, stage.extension);
        assert_eq!(
            allocations(|| assert!(say(&mut stage, client, frame.as_bytes()).is_none())),
            0,
            "{frame}"
        );
        assert_eq!(
            allocations(|| assert!(say(&mut stage, extension, frame.as_bytes()).is_none())),
            0,
            "{frame}"
        );
    }
}

#[test]
fn refused_frames_allocate_nothing() {
    for n in 0..=u8::MAX {
        let frame = bridge_model::render::nasty(n, &bridge_core::Limits::default());
        let mut stage = Stage::new();
        let (client, extension) = (stage.client, stage.extension);
        let count = allocations(|| {
            let _ = say(&mut stage, client, &frame);
            let _ = say(&mut stage, extension, &frame);
        });
        assert_eq!(count, 0, "{}", String::from_utf8_lossy(&frame));
    }
}

#[test]
fn timeouts_and_cancels_allocate_nothing() {
    let mut stage = Stage::new();
    for n in 0..200 {
        stage.call(format!(r#"{{"id":"{n}","method":"click"}}"#).as_bytes());
    }
    let client = stage.client;
    let mut n = 0;
    let count = allocations(|| {
        let _ = say(
            &mut stage,
            client,
            [&br#"{"type":"cancel","id":"0"}"#[..], br#"{"type":"cancel","id":"1"}"#, b"{}"][n],
        );
        n += 1;
    });
    assert_eq!(count, 0, "cancel");
    let end = stage.now.saturating_add_ms(60_000);
    let count = allocations(|| {
        while let Some((at, _)) = stage.hub.poll_timeout().filter(|(at, _)| *at <= end) {
            stage.now = at;
            stage.hub.handle_timeout(at);
            drain(&mut stage.hub);
        }
    });
    assert_eq!(count, 0, "timeout");
    assert_eq!(stage.hub.in_flight(), 0);
}

#[test]
fn coming_and_going_allocates_nothing() {
    let mut stage = Stage::new();
    let peer = Peer {
        door: Door::WebSocket,
        trust: Trust::SameUser,
        origin: None,
        approved: false,
        address: "127.0.0.1:1",
    };
    let count = allocations(|| {
        let conn = stage.hub.open(&peer, stage.now).unwrap();
        let _ = say(&mut stage, conn, br#"{"type":"hello","role":"client","name":"test"}"#);
        assert!(say(&mut stage, conn, REQUEST).is_some());
        stage.hub.close(conn, stage.now);
        drain(&mut stage.hub);
    });
    assert_eq!(count, 0);
}

#[test]
fn a_takeover_with_every_slot_in_use_allocates_nothing() {
    let mut stage = Stage::new();
    for n in 0..256 {
        stage.call(format!(r#"{{"id":"{n}","method":"click"}}"#).as_bytes());
    }
    let peer = Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };
    let count = allocations(|| {
        let conn = stage.hub.open(&peer, stage.now).unwrap();
        let hello = br#"{"type":"hello","role":"extension","name":"chrome","protocol":2,"browser_id":"b-1"}"#;
        let _ = say(&mut stage, conn, hello);
    });
    assert_eq!(count, 0);
    assert_eq!(stage.hub.in_flight(), 0);
}
