//! No client leads a tab to the bridge's own doors: refused before a browser hears of it, however the address is written.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::json;
use support::extension::{Recorder, done, install, prove};
use support::{Home, Peer};

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

/// T127: a browser judges addresses by the ports that it was told last, so that every frame names them.
#[test]
fn a_browser_that_asks_for_a_name_is_told_the_ports_again() {
    let home = Home::new();
    let daemon = home.serve();
    let (mut browser, ack) = prove(daemon.port, &install(&home, &daemon)).unwrap();
    let ports = ack["policy"]["own_ports"].clone();
    assert_eq!(ports, json!([daemon.port]));
    let hello = json!({"type": "hello", "role": "client", "name": "Scout", "client_id": "scout"});
    let mut scout = Peer::open(daemon.port, None, &hello).unwrap();
    assert_eq!(scout.call("ping", json!({}))["success"], true);
    browser.send(&json!({"type": "event", "event": "who", "owner": "scout"}));
    let told = browser.next().unwrap();
    assert_eq!(told["policy"]["clients"]["scout"]["name"], "Scout", "{told}");
    assert_eq!(told["policy"]["own_ports"], ports, "{told}");
}
