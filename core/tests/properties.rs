//! The seven invariants of the hub, each as a property of random runs.
//!
//! Every run also goes through the reference model, step by step: whatever the hub returns, sends, closes or shows must
//! be what the model says (`core/model`). The invariants here are asked of what crossed the hub's edges, and of nothing
//! else. `PROPTEST_CASES=20000` looks longer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use arbitrary::{Arbitrary, Unstructured};
use bridge_core::{Inspected, Output};
use bridge_model::op::{Op, Then};
use bridge_model::render;
use bridge_model::setup::Setup;
use bridge_model::stage::{Stage, join};
use bridge_model::world::World;
use proptest::prelude::*;

/// One operation, from as many bytes as it needs: shrinking takes out operations first, then makes them plain.
fn op() -> impl Strategy<Value = Op> {
    prop::collection::vec(any::<u8>(), 32)
        .prop_filter_map("too few bytes", |bytes| Op::arbitrary(&mut Unstructured::new(&bytes)).ok())
}

/// A run's start and its steps.
fn steps() -> impl Strategy<Value = (Setup, Vec<Op>)> {
    let setup = (0..3u8, any::<bool>(), prop::bool::weighted(0.8), 0..4u8);
    let setup = setup.prop_map(|(compat, tight, furnished, room)| Setup { compat, tight, furnished, room });
    (setup, prop::collection::vec(op(), 0..60))
}

/// The world after all steps and the end of everything.
fn run((setup, ops): &(Setup, Vec<Op>)) -> World {
    let mut world = World::start(*setup);
    ops.iter().for_each(|op| world.step(op));
    world.finish();
    world
}

/// `PROPTEST_CASES`, or few enough for every day.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(150);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn invariant_1_every_request_gets_exactly_one_answer_or_its_client_is_gone(steps in steps()) {
        prop_assert_eq!(run(&steps).ledger.each_request_has_one_answer(), Ok(0));
    }

    #[test]
    fn invariant_2_an_answer_counts_once_and_only_from_the_one_that_was_asked(steps in steps()) {
        prop_assert_eq!(run(&steps).ledger.answers_count_once_and_only_from_the_one_asked(), Ok(()));
    }

    #[test]
    fn invariant_3_payloads_are_lent_not_copied(steps in steps()) {
        prop_assert_eq!(run(&steps).ledger.payloads_are_lent_not_copied(), Ok(()));
    }

    #[test]
    fn invariant_4_no_output_overflows(calls in 1..=256usize, end in 0..5u8, one_by_one in any::<bool>()) {
        prop_assert_eq!(answers_to_all_at_once(calls, end, one_by_one), calls);
    }

    #[test]
    fn invariant_5_time_moves_on_and_nothing_is_sent_to_the_closed(steps in steps()) {
        let ledger = run(&steps).ledger;
        prop_assert_eq!(ledger.time_moves_on(), Ok(()));
        prop_assert_eq!(ledger.nothing_is_sent_to_the_closed(), Ok(()));
    }

    #[test]
    fn invariant_6_an_extension_gets_the_hubs_own_envelope(steps in steps()) {
        prop_assert_eq!(run(&steps).ledger.envelopes_are_the_hubs_own(), Ok(()));
    }

    #[test]
    fn invariant_7_no_bytes_make_it_panic(frames in prop::collection::vec((0..6u8, frame()), 1..40)) {
        let mut world = World::furnished(Setup::default());
        // The call whose id some of the frames name.
        world.say_and_settle(1, br#"{"id":"x","method":"click","params":{"browser_id":"b-1"}}"#, Then::Receive);
        for (conn, frame) in frames {
            world.step(&Op::Open(bridge_model::op::Opening::Unix));
            world.say_and_settle(usize::from(conn), &frame, Then::Receive);
        }
        world.finish();
    }
}

/// Frames that are nearly right: a good or a nasty one with a few bytes changed, cut out or put in.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let limits = Setup::default().config().limits;
    let good = prop::collection::vec(any::<u8>(), 32).prop_map(move |bytes| {
        let mut u = Unstructured::new(&bytes);
        let of = |u: &mut Unstructured<'_>| -> arbitrary::Result<Vec<u8>> {
            Ok(match u8::arbitrary(u)? % 3 {
                0 => render::ask(&u.arbitrary()?, &limits),
                1 => render::hello(&u.arbitrary()?, &[1; 32], None),
                _ => render::answer(u.arbitrary()?, "0000da50f427", &limits),
            })
        };
        of(&mut u).unwrap_or_default()
    });
    let start = prop_oneof![good, any::<u8>().prop_map(move |n| render::nasty(n, &limits))];
    let tokens = prop::sample::select(
        &[r#"""#, "{", "}", "[", "]", ",", ":", "\\", "\\ud800", "\u{e9}", "\0", "1e9", "null"][..],
    );
    let bytes =
        prop_oneof![tokens.prop_map(|it| it.as_bytes().to_vec()), prop::collection::vec(any::<u8>(), 0..3)];
    (start, prop::collection::vec((any::<prop::sample::Index>(), 0..3usize, bytes), 0..4)).prop_map(
        |(mut frame, changes)| {
            for (at, cut, put) in changes {
                let at = at.index(frame.len() + 1);
                frame.splice(at..frame.len().min(at + cut), put);
            }
            frame
        },
    )
}

/// How many of `calls` get an answer when all of them end by one event.
fn answers_to_all_at_once(calls: usize, end: u8, one_by_one: bool) -> usize {
    let mut stage = Stage::new();
    for n in 0..calls {
        stage.call(format!(r#"{{"id":"{n}","method":"click"}}"#).as_bytes());
    }
    let late = stage.now.saturating_add_ms(31_000);
    match end {
        0 => stage.hub.close(stage.extension, stage.now),
        1 => stage.hub.shutdown(stage.now),
        2 => stage.hub.handle_timeout(late),
        3 => {
            let hello =
                br#"{"type":"hello","role":"extension","name":"new","protocol":2,"browser_id":"b-1"}"#;
            return join(&mut stage.hub, hello, stage.now).1;
        }
        _ => stage.hub.half_close(stage.extension, stage.now),
    }
    let mut answers = 0;
    while let Some(output) = stage.hub.poll_output() {
        if let Output::Send { to, .. } = output {
            answers += usize::from(to == stage.client);
        }
        // Other work may go on between two outputs.
        if one_by_one {
            assert!(!matches!(stage.hub.inspect(stage.extension, b"{}", late), Inspected::Forward(_)));
        }
    }
    answers
}
