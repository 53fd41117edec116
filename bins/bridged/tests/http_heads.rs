//! What a request's head must be: each way to say two things at once, or to come from a page, is turned away.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use support::Home;
use support::calm::Calm;
use support::extension::{Recorder, done};
use support::http::Web;

/// A request that would be carried out, so that whatever is refused is refused for the one thing that was changed.
fn good(web: &Web) -> String {
    web.post_bytes("/command", &[])(r#"{"toolName":"ping"}"#)
}

/// T6, T7, T8, T9, T10.
#[test]
fn the_host_is_one_of_three_names_with_our_port() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let with = |host: &str| web.raw(good(&web).replace(&web.host(), host)).status;
    let port = web.port;
    for name in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        assert_eq!(with(&format!("{name}:{port}")), 200, "{name}");
    }
    for name in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "localhost.",
        "user@127.0.0.1",
        "[::ffff:127.0.0.1]",
        "127.0.0.1:80@evil.example",
    ] {
        assert_eq!(with(&format!("{name}:{port}")), 403, "{name}");
    }
    for host in ["127.0.0.1", "127.0.0.1:1", "", "127.0.0.1:+1", &format!("127.0.0.1:0{port}")] {
        assert_eq!(with(host), 403, "{host}");
    }
    let line = format!("Host: {}\r\n", web.host());
    assert_eq!(web.raw(good(&web).replace(&line, "")).status, 400);
    assert_eq!(web.raw(good(&web).replace(&line, &line.repeat(2))).status, 400);
    // An authority in the target counts like a Host.
    for (target, status) in [
        (format!("http://evil.example:{port}/command"), 403),
        ("http://127.0.0.1/command".to_owned(), 403),
        ("evil.example:80".to_owned(), 400),
        ("*".to_owned(), 400),
        (format!("http://localhost:{port}/command"), 200),
    ] {
        assert_eq!(
            web.raw(good(&web).replace("POST /command", &format!("POST {target}"))).status,
            status,
            "{target}"
        );
    }
    calm.again(&daemon, Some(&web));
}

/// T1, T2, T3, T4, T21, T22.
#[test]
fn whatever_a_page_may_have_caused_is_refused() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let token = format!("Authorization: Bearer {}", home.token());
    let ours = format!("Origin: chrome-extension://{}", "fdembngelboffhfimppaoglbmaphnhfm");
    let lines = [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: ",
        ours.as_str(),
        "Origin: http://127.0.0.1",
        "Referer: https://evil.example/",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-origin",
        "Sec-Fetch-Site: same-site",
        "sec-fetch-site: ",
    ];
    for line in lines {
        for path in ["/command", "/config", "/mcp"] {
            let answer = web.post(path, &[line, &token], &json!({"toolName": "ping"}));
            assert_eq!((answer.status, answer.header("connection")), (403, Some("close")), "{line} {path}");
        }
        for path in ["/health", "/read?url=http://e.example/"] {
            assert_eq!(web.get(path, &[line, &token]).status, 403, "{line} {path}");
        }
    }
    let preflight = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type"];
    for path in ["/command", "/health", "/nothing"] {
        assert_eq!(web.raw(web.head(&format!("OPTIONS {path}"), &preflight)).status, 403);
    }
    calm.again(&daemon, Some(&web));
}

/// T22, T27. The request is one that a browser would be asked for, and none is.
#[test]
fn only_json_is_taken() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let browser = Recorder::new(&daemon, |_| done(json!({"tabs": []})));
    let good = |web: &Web| web.post_bytes("/command", &[])(r#"{"toolName":"list_tabs"}"#);
    let kind = "Content-Type: application/json\r\n";
    for other in [
        "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "",
        "Content-Type: multipart/form-data; boundary=x\r\n",
        "Content-Type: application/json-patch+json\r\n",
        "Content-Type: text/plain; application/json\r\n",
        &kind.repeat(2),
    ] {
        assert_eq!(web.raw(good(&web).replace(kind, other)).status, 415, "{other}");
    }
    for page in ["Origin: https://evil.example", "Origin: null", "Referer: https://evil.example/"] {
        assert_eq!(web.raw(good(&web).replace(kind, &format!("{kind}{page}\r\n"))).status, 403, "{page}");
    }
    assert!(browser.of_method("list_tabs").is_empty(), "nothing was forwarded");
    let charset = "Content-Type: Application/JSON; charset=utf-8\r\n";
    assert_eq!(web.raw(good(&web).replace(kind, charset)).status, 200);
    browser.only("list_tabs");
    for coding in ["gzip", "deflate, gzip", "br"] {
        assert_eq!(web.post("/command", &[&format!("Content-Encoding: {coding}")], &json!({})).status, 415);
    }
    for body in [
        "[]",
        "null",
        "1",
        "\"x\"",
        "",
        "{",
        "{}",
        r#"{"toolName":1}"#,
        r#"["ping"]"#,
        r#"{"toolName":"ping"}x"#,
    ] {
        let answer = web.raw(web.post_bytes("/command", &[])(body));
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{body}");
    }
    assert_eq!(browser.asked.lock().unwrap().len(), 1, "nothing more was forwarded");
    daemon.hang_up();
    calm.again(&daemon, Some(&web));
}

/// T17, T18.
#[test]
fn a_length_that_can_be_read_in_two_ways_is_refused_and_nothing_behind_it_runs() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let second = good(&web);
    let body = r#"{"toolName":"ping"}"#;
    let length = format!("Content-Length: {}\r\n", body.len());
    for lines in [
        format!("{length}Transfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\n{length}"),
        length.repeat(2),
        format!("{length}Content-Length: 3\r\n"),
        format!("Content-Length: {}, {0}\r\n", body.len()),
        "Content-Length: +19\r\n".to_owned(),
        "Content-Length: 0x13\r\n".to_owned(),
        "Content-Length: -1\r\n".to_owned(),
        "Content-Length: \r\n".to_owned(),
        "Content-Length : 19\r\n".to_owned(),
        "Transfer-Encoding: gzip, chunked\r\n".to_owned(),
        "Transfer-Encoding: identity\r\n".to_owned(),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n".to_owned(),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
    ] {
        let mut talk = web.talk();
        talk.send(format!(
            "{}{body}{second}",
            good(&web).replace(&length, &lines).strip_suffix(body).unwrap()
        ));
        assert_eq!(talk.answer().status, 400, "{lines}");
        assert!(talk.is_closed(), "{lines}");
    }
    // A length that comes behind the chunks is no header of any request.
    let chunked = web.head(
        "POST /command",
        &["Content-Type: application/json", "Transfer-Encoding: chunked", "Trailer: Content-Length"],
    );
    let mut talk = web.talk();
    talk.send(format!("{chunked}{:x}\r\n{body}\r\n0\r\n{length}\r\n{second}", body.len()));
    assert_eq!(talk.answer().status, 400);
    assert!(talk.is_closed());
    let huge = "Content-Length: 99999999999999999999999999\r\n";
    assert_eq!(web.raw(good(&web).replace(&length, huge)).status, 413);
    calm.again(&daemon, Some(&web));
}

/// T19.
#[test]
fn lines_that_are_folded_or_broken_are_refused() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    {
        for line in [
            "X: a\r\n b",
            "X: a\r\n\tb",
            "X: a\nY: b",
            "X: a\rY: b",
            "X: a\0b",
            "X\0: a",
            "X y: z",
            ": v",
            "no colon",
        ] {
            let answer = web.raw(web.head("GET /health", &[line]));
            assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{line:?}");
        }
        // Not even the end of the head is one: that is known without waiting for more, which would be a 408.
        assert_eq!(web.raw(web.head("GET /health", &[]).replace("\r\n", "\n")).status, 400);
        for first in ["GET /health HTTP/1.0", "GET /health HTTP/2.0", "GET /health", "GET  /health HTTP/1.1"]
        {
            assert_eq!(web.raw(format!("{first}\r\nHost: {}\r\n\r\n", web.host())).status, 400, "{first}");
        }
    }
    calm.again(&daemon, Some(&web));
}

/// T15, T16: other protocols' first bytes, and noise. One line of the log each, in which nothing stands raw.
#[test]
fn other_protocols_and_noise_are_one_line_in_the_log() {
    let home = Home::new();
    let (daemon, web) = home.serve_web_with(&["--log", "debug"]);
    let calm = Calm::of(&daemon, Some(&web));
    for rubbish in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x1b[31m"[..],
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut talk = web.talk();
        talk.send(rubbish);
        assert_eq!(talk.answer().status, 400);
        assert!(talk.is_closed());
    }
    let noise: Vec<u8> = (0..1u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut talk = web.talk();
    talk.send(&noise);
    assert!(talk.maybe_answer().is_none_or(|answer| answer.status == 400));
    drop(talk);
    calm.again(&daemon, Some(&web));
    let log = daemon.log();
    assert_eq!(log.matches("refused at the HTTP door").count(), 4, "{log}");
    assert!(!log.contains("panicked"), "{log}");
    assert!(log.bytes().all(|byte| byte == b'\n' || byte >= b' '), "{log:?}");
}

/// T15: by the thousand they are a few lines a second and a number.
#[test]
fn a_flood_of_what_is_refused_is_no_flood_of_lines() {
    let home = Home::new();
    let (daemon, web) = home.serve_web_with(&["--log", "debug"]);
    let floods = [("HTTP", web.port), ("WebSocket", daemon.port)].map(|(door, port)| {
        let (web, began) = (Web { port }, Instant::now());
        (0..500).for_each(|_| assert_eq!(web.raw("SSH-2.0-OpenSSH_9.6\r\n").status, 400));
        (door, began.elapsed())
    });
    let log = daemon.log();
    for (door, lasted) in floods {
        let told = log.matches(&format!("refused at the {door} door")).count();
        // A flood of so many seconds begins in one more, and may end in another.
        let most = 16 * (lasted.as_secs() as usize + 2);
        assert!((16..=most).contains(&told), "{told} lines in {lasted:?}: {log}");
    }
}

/// T13, T14.
#[test]
fn a_head_has_a_size_and_a_time() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    {
        let many: Vec<String> = (0..100).map(|n| format!("X-{n}: a")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let long = format!("X: {}", "a".repeat(17 << 10));
        for lines in [&[long.as_str()][..], &many] {
            let mut talk = web.talk();
            talk.send(web.head("GET /health", lines));
            assert_eq!(talk.answer().status, 431);
            assert!(talk.is_closed());
        }
        assert_eq!(web.get("/health", &many[1..]).status, 200, "with Host that is 100");
        // One byte after the other, for as long as it lasts.
        let begun = Instant::now();
        let mut talk = web.talk();
        let mut sending = talk.stream.try_clone().unwrap();
        let head = web.head("GET /health", &[&format!("X: {}", "a".repeat(200))]);
        let dripping = std::thread::spawn(move || {
            for byte in head.bytes() {
                if sending.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(250));
            }
        });
        assert_eq!(talk.answer().status, 408);
        assert!(talk.is_closed());
        assert!(begun.elapsed() < Duration::from_secs(50));
        dripping.join().unwrap();
    }
    calm.again(&daemon, Some(&web));
}

/// T25, T26.
#[test]
fn a_body_has_a_size_and_must_not_stall() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let limit = 8 << 20;
    // Twice the largest body; below it is shown that no more stays.
    daemon.keeps(18);
    let chunked =
        web.head("POST /command", &["Content-Type: application/json", "Transfer-Encoding: chunked"]);
    let large = || {
        let most = format!(r#"{{"toolName":"ping","args":{{"x":"{}"}}}}"#, "a".repeat(limit - 40));
        assert_eq!(web.raw(web.post_bytes("/command", &[])(&most)).status, 400);
        let mut talk = web.talk();
        talk.send(&chunked);
        for _ in 0..9 {
            talk.send(format!("100000\r\n{}\r\n", "a".repeat(1 << 20)));
        }
        assert_eq!(talk.answer().status, 413);
    };
    // The allocator keeps twice the largest block it has seen come and go; once that is there, no more is kept.
    (0..3).for_each(|_| large());
    let calm = Calm::of(&daemon, Some(&web));
    {
        (0..3).for_each(|_| large());
        let head =
            web.post_bytes("/command", &[])("").replace("Length: 0", &format!("Length: {}", limit + 1));
        assert_eq!(web.raw(head).status, 413);
        // Chunks themselves are understood.
        let mut talk = web.talk();
        talk.send(format!("{chunked}5\r\n{{\"too\r\nE\r\nlName\":\"ping\"}}\r\n0\r\n\r\n"));
        assert_eq!(talk.answer().data()["pong"], true);
        talk.send(good(&web));
        assert_eq!(talk.answer().status, 200, "the next request is found");
        // Ten bytes, then nothing.
        let mut talk = web.talk();
        let request = good(&web);
        talk.send(&request[..request.len() - 10]);
        let answer = talk.answer();
        assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    }
    calm.again(&daemon, Some(&web));
}

/// T20.
#[test]
fn what_stands_behind_a_refused_request_is_not_run() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    {
        let second = good(&web);
        let refused = [
            (web.head("GET /command", &[]), 405),
            (web.head("GET /nothing", &[]), 404),
            (web.post_bytes("/command", &["Origin: https://evil.example"])("{}"), 403),
            (web.post_bytes("/command", &["Authorization: Bearer wrong"])("{}"), 401),
            (web.head("POST /command", &[]), 415),
        ];
        for (first, status) in refused {
            let mut talk = web.talk();
            talk.send(format!("{first}{second}"));
            assert_eq!(talk.answer().status, status);
            assert!(talk.is_closed(), "{status}");
        }
        // Nor what was sent ahead of the answer to a call that failed, or to a body that cannot be read; whoever waits for the
        // answer goes on.
        for first in [r#"{"toolName":"list_tabs"}"#, "[]", r#"{"toolName":"ping","toolName":"ping"}"#] {
            let first = web.post_bytes("/command", &[])(first);
            let mut talk = web.talk();
            talk.send(format!("{first}{second}"));
            let answer = talk.answer();
            assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{first}");
            assert!(talk.is_closed(), "{first}");
            let mut talk = web.talk();
            talk.send(&first);
            assert_eq!(talk.answer().status, 400);
            talk.send(&second);
            assert_eq!(talk.answer().status, 200, "{first}");
        }
    }
    calm.again(&daemon, Some(&web));
}

/// T23, T28.
#[test]
fn there_are_five_places_and_each_has_its_methods() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    {
        for path in [
            "/",
            "//command",
            "/command/",
            "/Command",
            "/%63ommand",
            "/..%2fcommand",
            "/command%00",
            "/command/../health",
            "/./health",
            "/health;x",
            "/health#x",
            "/commandx",
            "/read/",
            "/mcp/x",
            "/favicon.ico",
        ] {
            let answer = web.raw(good(&web).replace("POST /command", &format!("POST {path}")));
            assert_eq!(answer.status, 404, "{path}");
        }
        for (path, allowed) in [
            ("/command", "POST"),
            ("/config", "POST"),
            ("/mcp", "POST, DELETE"),
            ("/read", "GET"),
            ("/health", "GET, HEAD"),
        ] {
            for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "POST", "TRACE", "CONNECT", "BREW"] {
                if allowed.split(", ").any(|known| known == method) {
                    continue;
                }
                let mut talk = web.talk();
                talk.send(web.head(&format!("{method} {path}"), &[]));
                let answer = if method == "HEAD" { talk.answer_head().unwrap() } else { talk.answer() };
                assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{method} {path}");
            }
        }
        let mut talk = web.talk();
        talk.send(web.head("HEAD /health", &[]));
        let head = talk.answer_head().unwrap();
        assert!(head.status == 200 && head.header("content-length").is_some_and(|length| length != "0"));
        talk.send(web.head("GET /health", &[]));
        assert_eq!(talk.answer().json()["ok"], true, "HEAD has no body");
    }
    calm.again(&daemon, Some(&web));
}

#[test]
fn an_upload_that_waits_to_be_asked_for_is_asked_for() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    {
        let request = web.post_bytes("/command", &["Expect: 100-continue"])(r#"{"toolName":"ping"}"#);
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut talk = web.talk();
        talk.send(format!("{head}\r\n\r\n"));
        assert_eq!(talk.answer_head().unwrap().status, 100);
        talk.send(body);
        assert_eq!(talk.answer().status, 200);
        // A body that would not be taken is not asked for.
        let mut talk = web.talk();
        talk.send(
            web.post_bytes("/command", &["Expect: 100-continue"])("")
                .replace("Length: 0", "Length: 99999999"),
        );
        assert_eq!(talk.answer_head().unwrap().status, 413);
    }
    calm.again(&daemon, Some(&web));
}
