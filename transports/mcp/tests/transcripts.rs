//! Whole conversations of each era, from files: `>` the client, `<` the server, `call` and `answer` the bridge.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::Rig;
use serde_json::Value;

/// Plays a transcript and compares every line, in order, as JSON.
fn play(transcript: &str) {
    let mut rig = Rig::new();
    for (number, line) in transcript.lines().enumerate() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let at = number + 1;
        match kind {
            ">" => rig.say(rest),
            "<" => {
                assert!(!rig.sent.is_empty(), "line {at}: nothing was sent, wanted {rest}");
                let wanted: Value = serde_json::from_str(&rest.replace("VERSION", env!("CARGO_PKG_VERSION")))
                    .unwrap_or_else(|error| panic!("line {at}: {error}"));
                let mut got: Value = serde_json::from_str(&rig.sent.remove(0)).unwrap();
                if let Some(words) = got.pointer_mut("/result/instructions") {
                    assert!(words.as_str().unwrap().len() < 700, "line {at}: instructions cost tokens");
                    *words = "INSTRUCTIONS".into();
                }
                assert_eq!(got, wanted, "line {at}");
            }
            "call" => {
                let (method, params) = rest.split_once(' ').unwrap();
                let (_, call) = rig.calls.first().unwrap_or_else(|| panic!("line {at}: no call"));
                assert_eq!((call.method.as_str(), call.params.as_str()), (method, params), "line {at}");
            }
            "answer" => rig.answer_text(rest),
            "wait" => rig.wait(rest.parse().unwrap()),
            "cancelled" => assert_eq!(rig.cancelled.len().to_string(), rest, "line {at}"),
            "" | "#" => {}
            other => panic!("line {at}: {other}?"),
        }
    }
    assert_eq!(rig.sent, Vec::<String>::new(), "more was sent than the transcript has");
}

#[test]
fn a_client_of_2024_11_05() {
    play(include_str!("transcripts/2024-11-05.txt"));
}

#[test]
fn a_client_of_2025_03_26_sends_batches() {
    play(include_str!("transcripts/2025-03-26.txt"));
}

#[test]
fn a_client_of_2025_06_18_gets_structured_content() {
    play(include_str!("transcripts/2025-06-18.txt"));
}

#[test]
fn a_client_of_2025_11_25_watches_and_cancels() {
    play(include_str!("transcripts/2025-11-25.txt"));
}

#[test]
fn a_client_of_2026_07_28_never_shakes_hands() {
    play(include_str!("transcripts/2026-07-28.txt"));
}
