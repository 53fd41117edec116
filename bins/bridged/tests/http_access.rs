//! Who may use the HTTP door: programs of the same user at once, everybody else with the token, in one place only.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use base64ct::{Base64, Encoding};
use serde_json::json;
use support::Home;
use support::calm::Calm;
use support::http::Web;

fn ping(web: &Web, lines: &[&str]) -> u16 {
    web.post("/command", lines, &json!({"toolName": "ping"})).status
}

#[test]
fn a_program_of_the_same_user_needs_no_token() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    assert_eq!(ping(&web, &[]), 200);
    assert_eq!(ping(&web, &["User-Agent: curl/8.0", "Accept: */*"]), 200);
    let health = web.get("/health", &[]).json();
    assert_eq!(
        (&health["ok"], &health["port"], &health["paused"]),
        (&json!(true), &json!(web.port), &json!(false))
    );
    assert_eq!(health["connectedSessions"], json!([]));
    assert!(health["enabledTools"].as_array().unwrap().contains(&json!("browser_list_tabs")));
    calm.again(&daemon, Some(&web));
}

/// T24, T29.
#[test]
fn what_a_browser_sends_along_makes_the_token_needed() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    let token = format!("Authorization: Bearer {}", home.token());
    for line in
        ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "sec-fetch-dest: document", "Cookie: a=b"]
    {
        assert_eq!(ping(&web, &[line]), 401, "{line}");
        assert_eq!(ping(&web, &[line, &token]), 200, "{line}");
        assert_eq!(web.get("/read?url=http://e.example", &[line]).status, 401, "{line}");
        let short = web.get("/health", &[line]);
        assert_eq!(
            short.json(),
            json!({"ok": true, "name": "bridged", "version": env!("CARGO_PKG_VERSION")})
        );
        assert_eq!(short.header("connection"), Some("close"), "a stranger's connection is not kept");
    }
    calm.again(&daemon, Some(&web));
}

/// T24.
#[test]
fn a_token_counts_in_its_header_whole_and_once() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web_with(&["--compat", "strict"]);
    let token = home.token();
    let good = format!("Authorization: Bearer {token}");
    assert_eq!(ping(&web, &[&good]), 200);
    assert_eq!(ping(&web, &[&format!("authorization: bearer {token}")]), 200);
    let other = if token.starts_with('x') { 'y' } else { 'x' };
    let (first, last) = (format!("{other}{}", &token[1..]), format!("{}_", &token[..token.len() - 1]));
    for line in [
        "X: none".to_owned(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: {token}"),
        format!("Authorization: Basic {}", Base64::encode_string(format!("x:{token}").as_bytes())),
        format!("Authorization: Bearer {first}"),
        format!("Authorization: Bearer {last}"),
        format!("Authorization: Bearer {token}a"),
        format!("Authorization: Bearer {}", &token[..20]),
        format!("{good}\r\n{good}"),
        format!("Cookie: token={token}; Authorization=Bearer {token}"),
        format!("X-Api-Key: {token}"),
    ] {
        let answer = web.post("/command", &[&line], &json!({"toolName": "ping"}));
        assert_eq!((answer.status, answer.code().as_str()), (401, "UNAUTHORIZED"), "{line}");
        assert!(answer.header("www-authenticate").is_some_and(|way| way.starts_with("Bearer")), "{line}");
        assert!(!answer.text().contains(&token));
    }
    // Beside a good one too: whoever puts it into an address shall notice.
    for path in [format!("/command?token={token}"), format!("/command?access_token={token}")] {
        assert_eq!(web.post(&path, &[], &json!({"toolName": "ping"})).status, 401);
        assert_eq!(web.post(&path, &[&good], &json!({"toolName": "ping"})).status, 401);
    }
    assert_eq!(web.get("/health", &[]).json().as_object().unwrap().len(), 3);
    assert_eq!(web.get("/health", &["Authorization: Bearer wrong"]).status, 401);
    for path in ["/config", "/mcp"] {
        assert_eq!(web.post(path, &[], &json!({})).status, 401);
    }
}

#[test]
fn a_wrong_token_is_no_better_than_none_for_the_same_user() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let calm = Calm::of(&daemon, Some(&web));
    assert_eq!(ping(&web, &["Authorization: Bearer wrong"]), 401);
    assert_eq!(ping(&web, &[]), 200);
    calm.again(&daemon, Some(&web));
}

#[test]
fn the_token_is_a_password_where_only_an_address_can_be_given() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web_with(&["--compat", "strict"]);
    let basic = |pair: String| format!("Authorization: Basic {}", Base64::encode_string(pair.as_bytes()));
    let path = "/read?url=https://e.example/";
    let refused = web.get(path, &[]);
    assert_eq!(refused.status, 401);
    let ways: Vec<&str> =
        refused.headers.iter().filter(|(n, _)| n == "www-authenticate").map(|(_, v)| v.as_str()).collect();
    assert!(ways.iter().any(|way| way.starts_with("Basic")), "{ways:?}");
    // Let in, it finds that there is no browser.
    assert_eq!(web.get(path, &[&basic(format!("anybody:{}", home.token()))]).status, 503);
    assert_eq!(web.get(path, &[&basic(format!(":{}", home.token()))]).status, 503);
    assert_eq!(web.get(path, &[&basic(home.token())]).status, 401);
    assert_eq!(web.get(path, &[&basic("anybody:wrong".to_owned())]).status, 401);
    assert_eq!(web.get(path, &["Authorization: Basic !!!"]).status, 401);
}

#[test]
fn a_token_is_good_until_it_is_rotated_away() {
    let home = Home::new();
    let (_daemon, web) = home.serve_web_with(&["--compat", "strict"]);
    let old = format!("Authorization: Bearer {}", home.token());
    home.bridged(["token", "rotate"]).ok();
    let new = format!("Authorization: Bearer {}", home.token());
    assert_ne!(old, new);
    assert_eq!((ping(&web, &[&new]), ping(&web, &[&old])), (200, 200), "the old one for another minute");
    home.bridged(["reset-pairing"]).ok();
    assert_eq!((ping(&web, &[&new]), ping(&web, &[&old])), (401, 401));
    assert_eq!(ping(&web, &[&format!("Authorization: Bearer {}", home.token())]), 200);
}

#[test]
fn a_taken_port_is_no_reason_to_end_unless_it_was_chosen() {
    let home = Home::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    home.bridged(["serve", "--port", "0", "--http-port", &port]).fails(1, &["is taken by", "--http-port"]);
    home.bridged(["serve", "--http-port", "99999"]).fails(2, &["--http-port"]);
    home.bridged(["serve", "--http-port", "9;rm"]).fails(2, &["--http-port"]);
    let daemon = home.serve_with(&["--port", "0", "--http-port", "off"]);
    let status: serde_json::Value = serde_json::from_str(&home.bridged(["status", "--json"]).ok()).unwrap();
    assert_eq!(status["http"], json!(null));
    drop(daemon);
}

/// T48, T50.
#[test]
fn root_is_another_user_too_and_needs_the_token() {
    let home = Home::new();
    let Some((mut child, web)) = support::http::theirs(&home) else { return };
    assert_eq!(ping(&web, &[]), 401);
    assert_eq!(web.get("/health", &[]).json().as_object().unwrap().len(), 3);
    assert_eq!(ping(&web, &[&format!("Authorization: Bearer {}", home.token())]), 200);
    child.kill().unwrap();
    child.wait().unwrap();
}
