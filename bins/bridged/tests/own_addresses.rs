//! No client leads a tab to the bridge's own doors: refused before a browser hears of it, however the address is written.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::json;
use support::Home;
use support::extension::{Recorder, done};

/// T127: the bridge's own addresses.
#[test]
fn an_address_of_the_daemon_itself_is_forbidden_to_every_client() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = Recorder::new(&daemon, |_| done(json!({})));
    let port = daemon.port;
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("localhost:{port}"),
        format!("http://2130706433:{port}/health"),
        format!("http://allowed.example@127.1:{port}\\x"),
    ] {
        for method in ["navigate", "new_tab", "get_page_markdown"] {
            let step = json!({"method": method, "params": {"url": url}});
            for answer in [
                daemon.client().call(method, json!({"url": url})),
                daemon.client().call("batch", json!({"steps": [step]})),
            ] {
                assert_eq!(answer["code"], "PERMISSION_DENIED", "{method} {url}: {answer}");
                assert!(answer["error"].as_str().unwrap().starts_with("forbidden: url"), "{answer}");
            }
        }
    }
    assert_eq!(browser.of_method("navigate").len() + browser.of_method("batch").len(), 0);
    // This computer's other servers are free.
    assert_eq!(daemon.client().call("navigate", json!({"url": "http://127.0.0.1:1/"}))["success"], true);
}
