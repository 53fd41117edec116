//! Deadlines: never early, hardly late, with the old text (T98, T102, T103, T119).

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

/// Advances in steps of one millisecond and says when the next answer for `client` came.
fn answered_at(w: &mut World, client: ConnId, until: u64) -> Option<u64> {
    while w.now < until {
        w.advance(1);
        if w.inbox.contains_key(&client) {
            return Some(w.now);
        }
    }
    None
}

#[test]
fn a_silent_browser_is_given_thirty_seconds() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.ask(client, "1", browser);
    let start = w.now;
    let at = answered_at(&mut w, client, start + 40_000).unwrap();
    assert!((30_000..=30_016).contains(&(at - start)), "{}", at - start);
    w.late_error(client, "1", "timeout: extension did not respond in 30s", "TIMEOUT");
    w.nothing(browser);
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn the_text_says_the_seconds_as_asked() {
    for (ms, seconds) in [
        (120_000, "120s"),
        (600_000, "600s"),
        (1_500, "1.5s"),
        (1_050, "1.05s"),
        (1_005, "1.005s"),
        (250, "0.25s"),
        (1, "0.001s"),
        (10, "0.01s"),
        (999, "0.999s"),
    ] {
        let mut w = World::new();
        let browser = w.extension();
        let client = w.client();
        w.send(client, json!({"id":"1","method":"click","timeout_ms":ms}));
        assert_eq!(w.one(browser)["timeout_ms"], ms);
        w.advance(ms + 16);
        w.late_error(client, "1", &format!("timeout: extension did not respond in {seconds}"), "TIMEOUT");
    }
}

#[test]
fn a_timeout_out_of_range_is_refused() {
    let mut w = World::new();
    w.extension();
    let client = w.client();
    for bad in ["0", "600001", "-1", "1.5", "1e3", "\"30\"", "18446744073709551616", "true"] {
        w.send_text(client, &format!(r#"{{"id":"1","method":"click","timeout_ms":{bad}}}"#));
        w.error(client, "1", "invalid timeout_ms: 1 to 600000", "INVALID_REQUEST");
    }
    assert!(w.is_open(client), "no protocol error");
}

#[test]
fn a_thousand_deadlines_of_thirty_seconds_all_come_in_time() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let start = w.now;
    for n in 0..1_000 {
        w.ask(client, &n.to_string(), browser);
    }
    w.advance(29_999);
    w.nothing(client);
    w.advance(start + 30_016 - w.now);
    assert_eq!(w.take(client).len(), 1_000);
    let cancels = w.take(browser);
    assert_eq!(cancels.len(), 1_000);
    assert!(cancels.iter().all(|it| it["type"] == "cancel"));
}

#[test]
fn no_deadline_is_early_nor_more_than_two_ticks_late() {
    // Deadlines of all sizes, set at odd moments, in one wheel.
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let mut random = 12_345u64;
    let mut due = Vec::new();
    for n in 0..600u64 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let ms = 1 + (random >> 33) % [20, 600, 5_000, 40_000, 600_000][(n % 5) as usize];
        due.push(w.now + ms);
        w.send(client, json!({"id":n.to_string(),"method":"click","timeout_ms":ms}));
        w.advance(random >> 60);
        check(&mut w, client, &due);
    }
    w.texts(browser);
    while w.hub.in_flight() > 0 {
        w.advance(1 + (w.now % 7));
        check(&mut w, client, &due);
    }

    fn check(w: &mut World, client: ConnId, due: &[u64]) {
        for answer in w.take(client) {
            let due = due[answer["id"].as_str().unwrap().parse::<usize>().unwrap()];
            assert!(w.now >= due, "early: {} before {due}", w.now);
            // 8 ms a tick, and the step of the test itself.
            assert!(w.now < due + 8 + 24, "late: {} after {due}", w.now);
        }
    }
}

#[test]
fn a_clock_that_jumps_answers_everything_and_stays_quick() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    w.ask(client, "1", browser);
    w.now += 365 * 86_400_000;
    w.hub.handle_timeout(w.at());
    w.drain();
    assert_eq!(w.one(client)["code"], "TIMEOUT");
    w.ask(client, "2", browser);
    let start = w.now;
    assert!(answered_at(&mut w, client, start + 31_000).unwrap() >= start + 30_000);
}

#[test]
fn an_answer_around_the_deadline_is_exactly_one() {
    for (n, early) in [0u64, 1, 2, 8, 9, 16].into_iter().cycle().take(1_000).enumerate() {
        let mut w = World::new();
        let browser = w.extension();
        let client = w.client();
        w.advance(n as u64 % 8);
        let wire = w.ask(client, "1", browser);
        w.advance(30_008 - early);
        w.answer(browser, &wire, json!(1));
        w.advance(100);
        assert_eq!(w.take(client).len(), 1);
        assert_eq!(w.hub.in_flight(), 0);
    }
}

#[test]
fn a_late_answer_is_dropped_and_counted() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    w.advance(30_016);
    w.take(client);
    assert_eq!(w.answer(browser, &wire, json!(1)), Did::Refused(Fault::Stray));
    w.nothing(client);
    w.nothing(browser);
    assert_eq!((w.hub.counters().stray, w.hub.counters().timeouts), (1, 1));
}

#[test]
fn a_hundred_stray_answers_a_minute_are_told_once() {
    let mut w = World::new();
    let browser = w.extension();
    let strays = |w: &mut World, count: usize, every: u64| {
        for _ in 0..count {
            w.answer(browser, "000000000000", json!(1));
            w.advance(every);
        }
        w.events.iter().filter(|it| matches!(it, Event::StrayAnswers { .. })).count()
    };
    // The hundredth within a minute, and no other of that minute.
    assert_eq!(strays(&mut w, 99, 0), 0);
    assert_eq!(strays(&mut w, 1, 0), 1);
    assert_eq!(strays(&mut w, 50, 0), 1);
    w.advance(60_001);
    // Fewer in a minute are nobody's business, however long it goes on.
    assert_eq!(strays(&mut w, 500, 1_000), 1);
    w.advance(60_001);
    assert_eq!(strays(&mut w, 150, 0), 2);
    assert_eq!(w.hub.counters().stray, 800);
    assert!(w.is_open(browser));
}

#[test]
fn an_idle_hub_wants_no_waking() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    assert_eq!(w.hub.poll_timeout(), None);
    let wire = w.ask(client, "1", browser);
    assert!(w.hub.poll_timeout().is_some());
    w.answer(browser, &wire, json!(1));
    assert_eq!(w.hub.poll_timeout(), None);
}
