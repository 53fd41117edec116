//! NDJSON framing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{CloseCode, Violation};
use bridge_driver::{Codec, Decoded, End};
use bridge_unix::Lines;

fn run(codec: &mut Lines, input: &[u8]) -> Vec<Result<String, Violation>> {
    let mut input = input.to_vec();
    let mut rest = &mut input[..];
    let mut out = Vec::new();
    loop {
        match codec.decode(&mut rest, &mut Vec::new()) {
            Decoded::More => return out,
            Decoded::Message(text) => out.push(Ok(String::from_utf8(text.to_vec()).unwrap())),
            Decoded::Assembled(text) => out.push(Ok(String::from_utf8(text).unwrap())),
            Decoded::Violation(why) => {
                out.push(Err(why));
                return out;
            }
            Decoded::Closed => unreachable!("lines have no goodbye"),
        }
    }
}

#[test]
fn lines_survive_any_cut_of_the_stream() {
    let input = "{\"a\":1}\n\r\n  \n{\"b\":\"é\"}\r\n{\"c\":3}\n".as_bytes();
    for step in 1..=input.len() {
        let mut codec = Lines::new();
        let out: Vec<_> = input.chunks(step).flat_map(|chunk| run(&mut codec, chunk)).collect();
        let expected = ["{\"a\":1}", "{\"b\":\"é\"}", "{\"c\":3}"].map(|line| Ok(line.to_owned()));
        assert_eq!(out, expected, "cut every {step} bytes");
        assert!(!codec.unfinished());
    }
}

#[test]
fn a_last_line_without_its_end_still_counts() {
    let mut codec = Lines::new();
    assert_eq!(run(&mut codec, b"{\"a\":1}"), []);
    assert!(codec.unfinished());
    match codec.end() {
        End::Half(Some(last)) => assert_eq!(last, b"{\"a\":1}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(Lines::new().end(), End::Half(None)));
}

#[test]
fn a_peer_that_is_gone_is_not_half_closed() {
    let mut codec = Lines::new().with_hangup(|| true);
    run(&mut codec, b"{\"a\":1}");
    assert!(matches!(codec.end(), End::Closed));
}

#[test]
fn a_line_over_the_limit_ends_it_before_its_end_came() {
    let mut codec = Lines::new();
    codec.limit(4);
    assert_eq!(run(&mut codec, b"1234\n12345\n"), [Ok("1234".to_owned()), Err(Violation::TooBig)]);
    let mut codec = Lines::new();
    codec.limit(4);
    assert_eq!(run(&mut codec, b"123"), []);
    assert_eq!(run(&mut codec, b"45"), [Err(Violation::TooBig)]);
}

#[test]
fn bad_utf8_is_noticed() {
    assert_eq!(run(&mut Lines::new(), b"\xff\n"), [Err(Violation::NotUtf8)]);
}

#[test]
fn what_broke_the_lines_is_said_in_a_last_one_and_nothing_else_twice() {
    let said = |codec: &mut Lines, code, reason| {
        let mut out = Vec::new();
        codec.close(code, reason, &mut out);
        String::from_utf8(out).unwrap()
    };
    let mut codec = Lines::new();
    codec.limit(4);
    run(&mut codec, b"12345");
    let line = said(&mut codec, CloseCode::TOO_BIG, "message too large");
    assert_eq!(line, "{\"type\":\"error\",\"error\":\"message too large\",\"code\":\"TOO_LARGE\"}\n");
    let mut codec = Lines::new();
    run(&mut codec, b"\xff\n");
    assert!(said(&mut codec, CloseCode::NOT_UTF8, "not UTF-8").contains("INVALID_REQUEST"));
    let many = said(&mut Lines::new(), CloseCode::TRY_LATER, "too many connections");
    assert!(many.contains("OVERLOADED"));
    // The hub has sent its own error before it closes for these.
    assert_eq!(said(&mut Lines::new(), CloseCode::TOO_BIG, "invalid hello: too large"), "");
    assert_eq!(said(&mut Lines::new(), CloseCode::NORMAL, ""), "");
}

#[test]
fn a_message_over_several_lines_goes_out_on_one() {
    let mut codec = Lines::new();
    let mut message = b"{\r\n  \"a\": \"x\\ny\"\n}".to_vec();
    codec.body(&mut message);
    codec.tail(&mut message);
    assert_eq!(message, b"{    \"a\": \"x\\ny\" }\n");
}
