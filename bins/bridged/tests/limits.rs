//! Limits that were set hold on the wire, whichever way they were set, and each has its answer.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Home;

/// A connection to the Unix socket that says hello.
struct Wire(BufReader<UnixStream>);

impl Wire {
    fn open(home: &Home, hello: &Value) -> Wire {
        let stream = UnixStream::connect(home.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut wire = Wire(BufReader::new(stream));
        wire.say(hello);
        wire
    }

    fn client(home: &Home) -> Wire {
        Wire::open(home, &json!({"type": "hello", "role": "client", "name": "t"}))
    }

    fn browser(home: &Home) -> Wire {
        let wire = Wire::open(home, &json!({"type": "hello", "role": "extension", "name": "b"}));
        support::within("the browser is there", || {
            Wire::client(home).ask(&json!({"id": "1", "method": "list_browsers"}))["result"]["browsers"][0]
                .is_object()
        });
        wire
    }

    fn say(&mut self, message: &Value) {
        self.0.get_mut().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next message, or null at the end.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_default()
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.say(message);
        self.hear()
    }
}

#[test]
fn a_limit_may_be_set_by_flag_variable_and_key() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("config/bridged")).unwrap();
    std::fs::write(home.path("config/bridged/config.toml"), "[limit]\ncalls_of_client = 3\ncalls = 2\n")
        .unwrap();
    // The flag counts before the key.
    let daemon = home.serve_with(&["--port", "0", "--limit", "calls=100", "--limit", "client_bytes=4096"]);
    let mut browser = Wire::browser(&home);
    let mut client = Wire::client(&home);
    for n in 0..4 {
        client.say(&json!({"id": n.to_string(), "method": "m"}));
    }
    let refused = client.hear();
    assert_eq!((&refused["id"], &refused["code"]), (&json!("3"), &json!("OVERLOADED")));
    assert_eq!(browser.hear()["method"], "m");
    // One byte too many, and the connection is over, with the reason as its last line.
    client.say(&json!({"id": "big", "method": "m", "params": {"x": "y".repeat(4096)}}));
    assert_eq!(client.hear()["code"], "TOO_LARGE");
    assert_eq!(client.hear(), Value::Null);
    drop(daemon);

    let home = Home::new();
    let done = support::Done::of(
        home.program("bridged").args(["serve", "--port", "0"]).env("BRIDGED_LIMIT", "calls=0"),
    );
    assert_eq!(done.code, 2);
    assert!(done.err.contains("BRIDGED_LIMIT: expected a number from 1 to 32768"), "{}", done.err);
    let done = home.bridged(["serve", "--limit", "patience=1"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("there is no limit `patience`; there are hello_bytes, "), "{}", done.err);
}

/// T111, T113b: the longest queue goes when all together are too long, and the memory with it.
#[test]
fn all_queues_together_are_bounded() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--limit", "all_queues=4194304"]);
    let mut browser = Wire::browser(&home);
    // Twenty that ask and do not read, a megabyte each.
    let mut slow: Vec<Wire> = (0..20).map(|_| Wire::client(&home)).collect();
    let data = "x".repeat(1 << 20);
    for client in &mut slow {
        client.say(&json!({"id": "1", "method": "m"}));
        let wire = browser.hear()["id"].clone();
        browser.say(&json!({"id": wire, "success": true, "result": data}));
    }
    let mut honest = Wire::client(&home);
    assert_eq!(honest.ask(&json!({"id": "1", "method": "ping"}))["success"], true);
    let memory = rss(daemon.child.id());
    assert!(memory < 40 << 20, "{memory} bytes of memory");
    // The browser, the honest client and those that are left; what was under way to the others they may still read.
    let status = honest.ask(&json!({"id": "2", "method": "status"}));
    let cut = 22 - status["result"]["connections"].as_u64().unwrap();
    assert!((1..20).contains(&cut), "{cut} of 20 were cut off");
}

/// T113a: the largest that is not complete goes when all together are too long; the others may go on.
#[test]
fn all_unfinished_messages_together_are_bounded() {
    let home = Home::new();
    let daemon = home.serve_with(&["--port", "0", "--limit", "all_incoming=4194304"]);
    let before = rss(daemon.child.id());
    let beginning = format!(r#"{{"id":"1","method":"ping","params":{{"x":"{}"#, "x".repeat(1 << 20));
    let mut slow: Vec<Wire> = (0..20).map(|_| Wire::client(&home)).collect();
    for client in &mut slow {
        // Whoever was cut off meanwhile takes no more.
        let _ = client.0.get_mut().write_all(beginning.as_bytes());
    }
    let mut finished = 0;
    for client in &mut slow {
        let _ = client.0.get_mut().write_all(b"\"}}\n");
        let mut line = String::new();
        let _ = client.0.read_line(&mut line);
        match serde_json::from_str(&line).unwrap_or_default() {
            Value::Null => {}
            Value::Object(answer) if answer["success"] == true => finished += 1,
            other => assert_eq!(other["code"], "TOO_LARGE", "{other}"),
        }
    }
    assert!((1..=4).contains(&finished), "{finished} of 20 were finished");
    let memory = rss(daemon.child.id()).saturating_sub(before);
    assert!(memory < 24 << 20, "{memory} bytes more");
}

/// One that asks for many large answers, one that never reads, and 128 that pipeline stand beside an honest client, which is
/// always answered; the daemon's memory stays bounded. What it waits is a row of the benchmark.
#[test]
fn hungry_deaf_and_busy_clients_stand_beside_an_honest_one() {
    let home = Home::new();
    let daemon = home.serve();
    // Of the 128 KiB answers by the hundred some blocks stay.
    daemon.keeps(16);
    let mut browser = Wire::browser(&home);
    let idle = rss(daemon.child.id());
    let data = "x".repeat(128 << 10);
    let hanging_up = browser.0.get_ref().try_clone().unwrap();
    let answering = std::thread::spawn(move || {
        loop {
            let asked = browser.hear();
            let (Some(id), Some(method)) = (asked["id"].as_str(), asked["method"].as_str()) else { return };
            let result = if method == "screenshot" { &data[..] } else { "ok" };
            let answer = format!("{{\"id\":\"{id}\",\"success\":true,\"result\":\"{result}\"}}\n");
            if browser.0.get_mut().write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    let ask_for = |client: &mut Wire, count: usize, method: &str| {
        for n in 0..count {
            client.say(&json!({"id": n.to_string(), "method": method}));
        }
    };
    // It reads, and throws away.
    let mut hungry = Wire::client(&home);
    ask_for(&mut hungry, 128, "screenshot");
    let eating = std::thread::spawn(move || {
        let mut line = Vec::new();
        let mut eaten = 0;
        while eaten < 128 && hungry.0.read_until(b'\n', &mut line).is_ok_and(|count| count > 128 << 10) {
            line.clear();
            eaten += 1;
        }
        eaten
    });
    let mut deaf = Wire::client(&home);
    ask_for(&mut deaf, 200, "screenshot");
    let mut crowd: Vec<Wire> = (0..128).map(|_| Wire::client(&home)).collect();
    let mut honest = Wire::client(&home);
    let (mut most, mut longest) = (0, Duration::ZERO);
    for round in 0..10 {
        for client in &mut crowd {
            ask_for(client, 4, "click");
        }
        let begin = Instant::now();
        let answer = honest.ask(&json!({"id": round.to_string(), "method": "click"}));
        assert_eq!((&answer["id"], &answer["result"]), (&json!(round.to_string()), &json!("ok")), "{answer}");
        longest = longest.max(begin.elapsed());
        for client in &mut crowd {
            (0..4).for_each(|_| assert_eq!(client.hear()["result"], "ok"));
        }
        most = most.max(rss(daemon.child.id()));
    }
    assert_eq!(eating.join().unwrap(), 128, "whoever reads gets all of it");
    // A debug build on a machine with other work to do.
    assert!(longest < Duration::from_secs(20), "{longest:?}");
    // The deaf one's 16 MiB, the buffers of what passes through, and what the allocator keeps.
    assert!(most - idle < 128 << 20, "{} MiB more than idle", (most - idle) >> 20);
    drop((deaf, crowd, honest));
    hanging_up.shutdown(std::net::Shutdown::Both).unwrap();
    answering.join().unwrap();
}

fn rss(pid: u32) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
