//! Large answers of a proven extension are routed by their first bytes alone; all others are scanned whole.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

const BIG: usize = 256 << 10;

/// A frame of at least `BIG` bytes that is broken where only a whole scan would notice.
fn broken(wire: &str) -> String {
    format!(r#"{{"id":"{wire}","success":true,"result":{{"data":"{}" ] }}}}"#, "x".repeat(BIG))
}

#[test]
fn a_large_answer_of_a_proven_extension_is_not_read() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    let frame = broken(&wire);
    // It comes through because nobody looked: that is what proves that nobody looked.
    let Inspected::Forward(forward) = w.hub.inspect(browser, frame.as_bytes(), w.at()) else { panic!() };
    assert_eq!(forward.to(), client);
    assert_eq!(forward.parts().concat(), broken("1").into_bytes());
}

#[test]
fn a_large_answer_of_an_unproven_extension_is_read_whole() {
    let mut w = World::new();
    let browser = w.extension();
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    assert_eq!(w.send_text(browser, &broken(&wire)), Did::Refused(Fault::NotJson));
    w.late_error(client, "1", "invalid response from extension", "INVALID_RESPONSE");
    w.error(browser, "", "invalid message", "INVALID_REQUEST");
    let wire = w.ask(client, "2", browser);
    assert_eq!(w.answer(browser, &wire, json!("x".repeat(BIG))), Did::Forwarded(client));
}

#[test]
fn a_small_answer_is_always_read_whole() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    let frame = format!(r#"{{"id":"{wire}","success":true,"result":{{ ] }}}}"#);
    assert_eq!(w.send_text(browser, &frame), Did::Refused(Fault::NotJson));
}

#[test]
fn any_other_beginning_or_end_is_read_whole() {
    let data = "x".repeat(BIG);
    for frame in [
        format!(r#"{{ "id":"ID","success":true,"result":"{data}"}}"#),
        format!(r#"{{"success":true,"id":"ID","result":"{data}"}}"#),
        format!(r#"{{"id":"ID","success": true,"result":"{data}"}}"#),
        format!(r#"{{"id":"ID","result":"{data}","success":true}}"#),
        format!(r#"{{"id":"ID","success":true,"result":"{data}"}} "#),
    ] {
        let mut w = World::new();
        let browser = w.proven("b-1");
        let client = w.client();
        let wire = w.ask(client, "1", browser);
        assert_eq!(
            w.send_text(browser, &frame.replace("ID", &wire)),
            Did::Forwarded(client),
            "{}",
            &frame[..40]
        );
        // And the same, broken, is noticed.
        let wire = w.ask(client, "2", browser);
        let broken = frame.replace("ID", &wire).replace(&data, &format!("{data}\"]\""));
        assert_eq!(w.send_text(browser, &broken), Did::Refused(Fault::NotJson), "{}", &frame[..40]);
    }
}

#[test]
fn a_large_frame_with_both_result_and_error_is_noticed_where_it_does_not_begin_as_agreed() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let wire = w.ask(client, "1", browser);
    let frame = format!(r#"{{"id":"{wire}","error":"x","success":true,"result":"{}"}}"#, "x".repeat(BIG));
    assert_eq!(w.send_text(browser, &frame), Did::Refused(Fault::InvalidResponse));
}
