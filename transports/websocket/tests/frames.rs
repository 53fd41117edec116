//! Framing: what the server side takes, what it refuses, and what it writes (T52 to T56).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{CloseCode, Violation};
use bridge_driver::{Codec, Decoded};
use bridge_websocket::Frames;

const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// One masked frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    match payload.len() {
        n @ 0..=125 => out.push(0x80 | n as u8),
        n @ 126..=0xffff => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        n => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(n as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&MASK);
    out.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ MASK[at & 3]));
    out
}

/// What came out: messages as text, then how it ended.
#[derive(Debug, PartialEq)]
enum Out {
    Text(String),
    Violation(Violation),
    Closed,
}

fn run(codec: &mut Frames, input: &[u8], replies: &mut Vec<u8>) -> Vec<Out> {
    let mut input = input.to_vec();
    let mut rest = &mut input[..];
    let mut out = Vec::new();
    loop {
        match codec.decode(&mut rest, replies) {
            Decoded::More => break,
            Decoded::Message(text) => out.push(Out::Text(String::from_utf8(text.to_vec()).unwrap())),
            Decoded::Assembled(text) => out.push(Out::Text(String::from_utf8(text).unwrap())),
            Decoded::Violation(why) => {
                out.push(Out::Violation(why));
                break;
            }
            Decoded::Closed => {
                out.push(Out::Closed);
                break;
            }
        }
    }
    out
}

fn whole(input: &[u8]) -> Vec<Out> {
    run(&mut Frames::new(), input, &mut Vec::new())
}

fn text(text: &str) -> Out {
    Out::Text(text.into())
}

#[test]
fn several_messages_of_one_read_come_out_in_order() {
    let input = [frame(0x81, b"one"), frame(0x81, b""), frame(0x81, &[b'x'; 300])].concat();
    assert_eq!(whole(&input), [text("one"), text(""), text(&"x".repeat(300))]);
}

#[test]
fn a_message_survives_any_cut_of_the_stream() {
    let long = "longer than a short frame: ".repeat(40);
    let input = [
        frame(0x81, b"short"),
        frame(0x01, b"in "),
        frame(0x89, b"ping"),
        frame(0x00, "three piéces ".as_bytes()),
        frame(0x80, b"!"),
        frame(0x81, long.as_bytes()),
    ]
    .concat();
    let expected = [text("short"), text("in three piéces !"), text(&long)];
    for step in 1..input.len() {
        let mut codec = Frames::new();
        let mut replies = Vec::new();
        let mut out = Vec::new();
        for chunk in input.chunks(step) {
            out.extend(run(&mut codec, chunk, &mut replies));
        }
        assert_eq!(out, expected, "cut every {step} bytes");
        assert_eq!(replies, b"\x8a\x04ping", "cut every {step} bytes");
        assert!(!codec.unfinished());
    }
}

/// T52.
#[test]
fn what_breaks_the_protocol_is_refused() {
    let unmasked = b"\x81\x02hi".to_vec();
    let reserved = frame(0xc1, b"x");
    let unknown = frame(0x83, b"x");
    let unknown_control = frame(0x8b, b"x");
    let long_ping = frame(0x89, &[0; 126]);
    let cut_ping = frame(0x09, b"x");
    let stray_continuation = frame(0x80, b"x");
    let interleaved = [frame(0x01, b"a"), frame(0x81, b"b")].concat();
    let short_close = frame(0x88, b"x");
    let bad_close = frame(0x88, &1005u16.to_be_bytes());
    let long_length = b"\x81\xfe\x00\x7d".to_vec();
    let longer_length = b"\x81\xff\x00\x00\x00\x00\x00\x00\xff\xff".to_vec();
    for bad in [
        unmasked,
        reserved,
        unknown,
        unknown_control,
        long_ping,
        cut_ping,
        stray_continuation,
        interleaved,
        short_close,
        bad_close,
        long_length,
        longer_length,
    ] {
        assert_eq!(whole(&bad), [Out::Violation(Violation::Protocol)], "{bad:x?}");
    }
}

/// T53.
#[test]
fn binary_and_bad_utf8_are_told_apart() {
    assert_eq!(whole(&frame(0x82, b"x")), [Out::Violation(Violation::Binary)]);
    assert_eq!(whole(&frame(0x81, b"\xff")), [Out::Violation(Violation::NotUtf8)]);
    let halves = [frame(0x01, b"caf\xc3"), frame(0x80, b"\xa9")].concat();
    assert_eq!(whole(&halves), [text("café")]);
    let cut = [frame(0x01, b"caf"), frame(0x80, b"\xc3")].concat();
    assert_eq!(whole(&cut), [Out::Violation(Violation::NotUtf8)]);
}

/// T54.
#[test]
fn an_announced_length_over_the_limit_ends_it_before_a_byte_of_it_came() {
    let mut codec = Frames::new();
    codec.limit(100);
    let mut head = vec![0x81, 0xff];
    head.extend_from_slice(&(1u64 << 63).to_be_bytes());
    head.extend_from_slice(&MASK);
    assert_eq!(run(&mut codec, &head, &mut Vec::new()), [Out::Violation(Violation::TooBig)]);
}

/// T55.
#[test]
fn fragments_count_together_towards_the_limit() {
    let mut codec = Frames::new();
    codec.limit(10);
    let mut input = frame(0x01, b"1");
    for _ in 0..9 {
        input.extend(frame(0x00, b"1"));
    }
    assert_eq!(run(&mut codec, &input, &mut Vec::new()), []);
    assert!(codec.unfinished());
    let one_more = frame(0x00, b"1");
    assert_eq!(run(&mut codec, &one_more, &mut Vec::new()), [Out::Violation(Violation::TooBig)]);
}

/// T56.
#[test]
fn a_flood_of_pings_is_answered_once_a_read() {
    let mut replies = Vec::new();
    let mut input = Vec::new();
    for n in 0..1000 {
        input.extend(frame(0x89, format!("{n}").as_bytes()));
    }
    assert_eq!(run(&mut Frames::new(), &input, &mut replies), []);
    assert_eq!(replies, b"\x8a\x03999");
}

#[test]
fn a_close_is_echoed_and_ends_it() {
    let mut replies = Vec::new();
    let input = [frame(0x88, b"\x03\xe8bye"), frame(0x81, b"too late")].concat();
    assert_eq!(run(&mut Frames::new(), &input, &mut replies), [Out::Closed]);
    assert_eq!(replies, b"\x88\x02\x03\xe8");
}

#[test]
fn written_heads_use_the_shortest_length() {
    let mut codec = Frames::new();
    let mut head = |len| {
        let mut out = Vec::new();
        codec.head(len, &mut out);
        out
    };
    assert_eq!(head(0), b"\x81\x00");
    assert_eq!(head(125), b"\x81\x7d");
    assert_eq!(head(126), b"\x81\x7e\x00\x7e");
    assert_eq!(head(65535), b"\x81\x7e\xff\xff");
    assert_eq!(head(65536), b"\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00");
}

#[test]
fn a_long_reason_is_cut_between_characters() {
    let mut out = Vec::new();
    Frames::new().close(CloseCode(1008), &"é".repeat(100), &mut out);
    assert_eq!(out[..4], [0x88, 124, 0x03, 0xf0]);
    assert_eq!(std::str::from_utf8(&out[4..]).unwrap(), "é".repeat(61));
}
