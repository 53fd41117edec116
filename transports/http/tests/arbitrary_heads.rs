//! Heads that nobody would write: whatever comes, it is judged, and what passes says each thing once.

use bridge_http::{Length, Offer, judge};
use proptest::prelude::*;

const PORT: u16 = 10088;
const BODY: usize = 1 << 20;

/// Lines that are good, bad, and nearly good.
fn line() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("Host"),
        Just("host"),
        Just("Origin"),
        Just("Content-Length"),
        Just("content-length"),
        Just("Transfer-Encoding"),
        Just("Content-Type"),
        Just("Authorization"),
        Just("Sec-Fetch-Site"),
        Just("Cookie"),
        Just("Expect"),
        Just("Connection"),
        Just("X-Anything"),
        Just("Content-Encoding"),
        Just("Bridged-Session"),
    ];
    let value = prop_oneof![
        Just("127.0.0.1:10088".to_owned()),
        Just("localhost:10088".to_owned()),
        Just("application/json".to_owned()),
        Just("chunked".to_owned()),
        Just("17".to_owned()),
        Just("none".to_owned()),
        Just("Bearer abc".to_owned()),
        "[ -~]{0,20}",
        "[\\x00-\\xff]{0,8}",
    ];
    let end = prop_oneof![12 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r\n "), 1 => Just("\r")];
    (name, prop_oneof![8 => Just(": "), 1 => Just(":"), 1 => Just(" : ")], value, end)
        .prop_map(|(name, colon, value, end)| format!("{name}{colon}{value}{end}"))
}

fn head() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        Just("POST /command HTTP/1.1\r\n"),
        Just("GET /health HTTP/1.1\r\n"),
        Just("POST /mcp HTTP/1.1\r\n"),
        Just("GET /read?url=http://a HTTP/1.1\r\n"),
        Just("DELETE /mcp HTTP/1.1\r\n"),
        Just("POST http://localhost:10088/command HTTP/1.1\r\n"),
    ];
    let host = prop_oneof![4 => Just("Host: 127.0.0.1:10088\r\n"), 1 => Just("")];
    (first, host, proptest::collection::vec(line(), 0..6))
        .prop_map(|(first, host, lines)| format!("{first}{host}{}\r\n", lines.concat()).into_bytes())
}

fn count(head: &[u8], name: &str) -> usize {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    text.split("\r\n").skip(1).filter(|line| line.starts_with(&format!("{name}:"))).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = judge(&bytes, PORT, BODY);
    }

    #[test]
    fn what_passes_says_each_thing_once(head in head()) {
        let Ok(judged) = judge(&head, PORT, BODY) else { return Ok(()) };
        prop_assert_eq!(count(&head, "host"), 1);
        prop_assert_eq!(count(&head, "origin"), 0);
        prop_assert!(count(&head, "content-length") + count(&head, "transfer-encoding") <= 1);
        prop_assert!(count(&head, "authorization") <= 1 || judged.offer == Offer::Malformed);
        prop_assert!(!head.windows(3).any(|three| three == b"\r\n " || three == b"\r\n\t"));
        prop_assert!(matches!(judged.length, Length::Chunked | Length::Known(0..=BODY)));
        if judged.method == "POST" {
            prop_assert_eq!(count(&head, "content-type"), 1);
        }
    }
}
