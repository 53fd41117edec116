//! The seven promises of the design, each as one test. (The reference model checks them over random histories.)

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use bridge_core::*;
use common::*;
use serde_json::{Value, json};

/// 1. Every accepted request gets exactly one answer, or its client is gone. Nobody else gets it.
#[test]
fn every_request_gets_exactly_one_answer_and_nobody_else_gets_it() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let clients: Vec<_> = (0..4).map(|_| w.client()).collect();
    let mut wires = Vec::new();
    for round in 0..8 {
        for client in &clients {
            let id = format!("r{round}");
            wires.push((*client, id.clone(), w.ask(*client, &id, browser)));
        }
    }
    // Every fourth is answered, every fourth refused by the page, the rest runs into a loss of the browser.
    for (n, (client, id, wire)) in wires.iter().enumerate() {
        match n % 4 {
            0 => assert_eq!(w.answer(browser, wire, json!({"for":id})), Did::Forwarded(*client)),
            1 => {
                let no = json!({"id":wire,"success":false,"error":"no"});
                assert_eq!(w.send(browser, no), Did::Forwarded(*client));
            }
            _ => {}
        }
    }
    w.close(browser);
    for client in &clients {
        let mut ids: Vec<_> =
            w.take(*client).iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        assert_eq!(ids, (0..8).map(|n| format!("r{n}")).collect::<Vec<_>>());
    }
    w.advance(60_000);
    for client in clients {
        w.nothing(client);
    }
    assert_eq!(w.hub.in_flight(), 0);
}

/// 2. An answer counts only from the connection that was asked, for a live generation, once.
#[test]
fn an_answer_counts_only_from_the_browser_that_was_asked_and_only_once() {
    let mut w = World::new();
    let (asked, other) = (w.browser("b-1"), w.browser("b-2"));
    let client = w.client();
    let did = w.send(client, json!({"id":"1","method":"click","params":{"browser_id":"b-1"}}));
    assert_eq!(did, Did::Forwarded(asked));
    let wire = w.one(asked)["id"].as_str().unwrap().to_owned();

    assert_eq!(w.answer(other, &wire, json!("stolen")), Did::Refused(Fault::Stray));
    w.nothing(client);
    assert_eq!(w.answer(asked, &wire, json!("right")), Did::Forwarded(client));
    assert_eq!(w.one(client)["result"], "right");
    assert_eq!(w.answer(asked, &wire, json!("again")), Did::Refused(Fault::Stray));

    // The same slot, a later call: the old id means nothing.
    let next = w.send(client, json!({"id":"2","method":"click"}));
    assert_eq!(next, Did::Forwarded(asked));
    assert_eq!(w.answer(asked, &wire, json!("old")), Did::Refused(Fault::Stray));
    w.nothing(client);
    assert_eq!(w.hub.counters().stray, 3);
}

/// 3. A frame goes through as borrowed spans: every payload byte that comes out lies in the frame that came in.
#[test]
fn payloads_pass_through_as_spans_of_the_frame_itself() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let inside = |frame: &str, part: &[u8]| frame.as_bytes().as_ptr_range().contains(&part.as_ptr());

    let frame = json!({"id":"1","method":"navigate","params":{"url":"x".repeat(10_000)}}).to_string();
    let Inspected::Request(request) = w.hub.inspect(client, frame.as_bytes(), w.at()) else { panic!() };
    let forward = w.hub.forward(request, w.at()).unwrap();
    let big = forward.parts().into_iter().find(|part| part.len() > 5_000).unwrap();
    assert!(inside(&frame, big));
    assert!(forward.parts().iter().filter(|part| !inside(&frame, part)).all(|part| part.len() < 400));
    w.write(&forward);

    let wire = w.one(browser)["id"].as_str().unwrap().to_owned();
    let answer = json!({"id":wire,"success":true,"result":"y".repeat(10_000)}).to_string();
    let Inspected::Forward(forward) = w.hub.inspect(browser, answer.as_bytes(), w.at()) else { panic!() };
    let borrowed: usize =
        forward.parts().iter().filter(|part| inside(&answer, part)).map(|part| part.len()).sum();
    assert_eq!(borrowed, answer.len() - wire.len());
}

/// 4. No output overflows: however many answers are due at once, each comes out when drained.
#[test]
fn eight_thousand_answers_due_at_once_all_come_out() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let clients: Vec<_> = (0..8).map(|_| w.client()).collect();
    for client in &clients {
        for n in 0..1024 {
            w.ask(*client, &n.to_string(), browser);
        }
    }
    assert_eq!(w.hub.in_flight(), 8192);
    w.close(browser);
    for client in &clients {
        assert_eq!(w.take(*client).len(), 1024);
    }
    assert_eq!(w.hub.in_flight(), 0);
}

/// 5. After `handle_timeout(t)`: `poll_timeout() > t` or output is queued. Nothing is sent to a closed connection.
#[test]
fn after_a_timeout_the_next_one_lies_ahead_or_output_is_queued() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    for (n, ms) in
        [1u64, 7, 8, 9, 511, 512, 513, 4_096, 32_767, 32_768, 32_769, 600_000].into_iter().enumerate()
    {
        let frame = json!({"id":n.to_string(),"method":"click","timeout_ms":ms});
        assert_eq!(w.send(client, frame), Did::Forwarded(browser));
    }
    let greeting = w.tcp();
    let mut steps = 0;
    while let Some((due, wake)) = w.hub.poll_timeout() {
        assert_ne!(wake, Wake::Output);
        w.now = due.as_millis();
        w.hub.handle_timeout(due);
        match w.hub.poll_timeout() {
            Some((_, Wake::Output)) | None => {}
            Some((next, _)) => assert!(next > due),
        }
        // World::drain asserts that nothing goes to a closed connection.
        w.drain();
        steps += 1;
    }
    assert!(steps < 60, "{steps} wake-ups for 13 deadlines");
    assert_eq!(w.take(client).len(), 12);
    w.closed_with(greeting, 1008);
}

/// 6. What reaches the extension is an envelope the hub built: one id, one client_id, the hub's own.
#[test]
fn what_reaches_the_extension_is_an_envelope_of_the_hub() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let frame = r#"{"client_id":"evil","id":"1","class":"agent","x":{"id":"2"},"method":"click","type":"y",
        "params":{"client_id":"inner","z":1},"owner":"me","success":true,"once":"o-1","browser":"b"}"#;
    assert_eq!(w.send_text(client, frame), Did::Forwarded(browser));
    let text = w.texts(browser).remove(0);
    let got: Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<_> = got.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["class", "client_id", "id", "method", "once", "params", "timeout_ms"]);
    assert_eq!(got["params"], json!({"client_id":"inner","z":1}));
    assert_ne!(got["client_id"], "evil");
    assert_ne!(got["id"], "1");
    assert_eq!(
        (&got["class"], &got["once"], &got["timeout_ms"]),
        (&json!("person"), &json!("o-1"), &json!(30_000))
    );
    // Once each on the first level, by bytes and not only by a parser that takes the last.
    let outer = text.replace(r#"{"client_id":"inner","z":1}"#, "{}");
    for key in keys {
        assert_eq!(outer.matches(&format!("\"{key}\":")).count(), 1, "{key}");
    }
}

/// 7. No operation's cost depends on the number of slots: the hub touches only those its answer needs.
#[test]
fn no_operation_touches_slots_that_it_has_no_business_with() {
    // The accesses do not depend on how many slots there are ...
    let few = touched(Slotted { conns: 8, calls: 100, others: 50 });
    let many = touched(Slotted { conns: 4_000, calls: 9_000, others: 50 });
    assert_eq!(few, many);
    // ... nor on how many other calls are in flight, but for a hash chain of four or so.
    let crowded = touched(Slotted { conns: 8, calls: 9_000, others: 4_000 });
    assert!(crowded < few + 40, "{few} accesses with 50 others, {crowded} with 4000");
    assert!(few < 80, "{few} accesses for one call");
}

struct Slotted {
    conns: usize,
    calls: usize,
    others: usize,
}

/// How often slots are accessed for one call and its answer, beside `others` in flight.
fn touched(size: Slotted) -> usize {
    let touches = Rc::new(Cell::new(0));
    let conns = Counted((0..size.conns).map(|_| Connection::vacant()).collect(), touches.clone());
    let calls = Counted((0..size.calls).map(|_| Pending::vacant()).collect(), touches.clone());
    let limits = Limits { in_flight_client: usize::MAX, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
    let keys = Keys { keys: HashMap::new(), claimed: HashMap::new(), policy: "{}".to_owned() };
    let mut hub = Hub::new(config, &secrets, keys, conns, calls);
    let now = Instant::from_millis(0);
    let mut join = |hello: &[u8]| {
        let conn = hub.open(&tcp_peer(Trust::SameUser), now).unwrap();
        assert!(matches!(hub.inspect(conn, hello, now), Inspected::Absorbed));
        while hub.poll_output().is_some() {}
        conn
    };
    let browser = join(br#"{"type":"hello","role":"extension"}"#);
    let client = join(br#"{"type":"hello","role":"client"}"#);
    for n in 0..size.others {
        let frame = format!(r#"{{"id":"o{n}","method":"click"}}"#);
        assert!(matches!(hub.receive(client, frame.as_bytes(), now), Inspected::Forward(_)));
    }
    touches.set(0);
    let now = Instant::from_millis(5);
    let Inspected::Forward(forward) = hub.receive(client, br#"{"id":"x","method":"click"}"#, now) else {
        panic!()
    };
    let sent: Value = serde_json::from_slice(&forward.parts().concat()).unwrap();
    let answer = json!({"id":sent["id"],"success":true,"result":1}).to_string();
    assert!(matches!(hub.receive(browser, answer.as_bytes(), now), Inspected::Forward(_)));
    assert!(hub.poll_output().is_none());
    hub.handle_timeout(now);
    let _ = hub.poll_timeout();
    touches.get()
}

/// Slots that count how often they are accessed.
struct Counted<T>(Vec<T>, Rc<Cell<usize>>);

impl<T> Slots<T> for Counted<T> {
    fn get(&self, index: usize) -> Option<&T> {
        self.1.set(self.1.get() + 1);
        self.0.get(index)
    }
    fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.1.set(self.1.get() + 1);
        self.0.get_mut(index)
    }
    fn len(&self) -> usize {
        self.0.len()
    }
}
