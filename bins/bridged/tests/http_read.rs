//! `/read`: a page as text in one request, from a tab that is gone afterwards whatever happened.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use serde_json::{Value, json};
use support::extension::{Recorder, done, failed};
use support::{Home, within};

const PAGE: &str = "/read?url=https%3A%2F%2Fe.example%2Fa";

fn page(request: &Value) -> Option<Value> {
    match request["method"].as_str()? {
        "new_tab" => done(
            json!({"tab_id": 9, "url": "https://e.example/a", "title": "A", "active": true, "status": 404}),
        ),
        "get_page_markdown" => {
            done(json!({"tab_id": 9, "title": "A", "url": "https://e.example/b", "markdown": "# A\n\ntext"}))
        }
        "get_page_content" => done(json!({"title": "A", "url": "https://e.example/a", "text": "plain"})),
        "get_a11y_tree" => done(json!({"tab_id": 9, "title": "A", "url": "u", "count": 0, "nodes": []})),
        "run_script" => {
            done(json!({"tab_id": 9, "result": "<!DOCTYPE html>\n<html><script>1</script></html>"}))
        }
        "close_auto_tabs" => done(json!({"closed": [9]})),
        "close_agent_window" => done(json!({"closed": false, "window_id": null})),
        _ => None,
    }
}

#[test]
fn a_page_is_opened_read_and_closed() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, page);
    let answer = web.get(PAGE, &[]);
    assert_eq!((answer.status, answer.text().as_str()), (200, "# A\n\ntext"));
    assert_eq!(answer.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(answer.header("content-location"), Some("https://e.example/b"));
    assert_eq!(answer.header("bridged-page-status"), Some("404"));
    let opened = browser.only("new_tab");
    assert_eq!(opened["params"]["url"], "https://e.example/a");
    assert_eq!(
        (&browser.only("get_page_markdown")["params"]["tab_id"], &opened["class"]),
        (&json!(9), &json!("agent"))
    );
    let owner = opened["client_id"].as_str().unwrap();
    assert!(owner.starts_with("c-read-"));
    assert_eq!(browser.only("close_auto_tabs")["params"]["owner"], owner);
    assert_eq!(browser.only("close_auto_tabs")["client_id"], owner);
    web.get(PAGE, &[]);
    assert_ne!(browser.of_method("new_tab")[1]["client_id"], owner, "another page, another owner");
}

#[test]
fn each_form_has_its_type() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let _browser = Recorder::new(&daemon, page);
    for (format, kind, start) in [
        ("markdown", "text/markdown; charset=utf-8", "# A"),
        ("text", "text/plain; charset=utf-8", "plain"),
        ("html", "text/html; charset=utf-8", "<!DOCTYPE html>"),
        ("a11y", "application/json", "{"),
    ] {
        let answer = web.get(&format!("{PAGE}&format={format}"), &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)));
        assert!(answer.text().starts_with(start), "{}", answer.text());
        assert!(
            answer.header("content-security-policy").unwrap().contains("sandbox"),
            "a page's scripts must not run here"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn a_page_that_cannot_be_read_is_closed_too_and_the_status_says_why() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    assert_eq!(web.get(PAGE, &[]).status, 503, "no browser");
    let browser = Recorder::new(&daemon, |request| match request["method"].as_str()? {
        "new_tab" if request["params"]["url"] == "https://none.example/" => {
            failed("NAVIGATION_FAILED", "no such host")
        }
        "get_page_markdown" => failed("RESTRICTED_PAGE", "not here"),
        "get_page_content" => failed("TIMEOUT", "too slow"),
        _ => page(request),
    });
    let closed = || browser.of_method("close_auto_tabs").len();
    let answer = web.get(PAGE, &[]);
    assert_eq!((answer.status, answer.text().as_str(), closed()), (502, "RESTRICTED_PAGE: not here\n", 1));
    assert_eq!((web.get(&format!("{PAGE}&format=text"), &[]).status, closed()), (504, 2));
    assert_eq!((web.get("/read?url=https://none.example/", &[]).status, closed()), (502, 3));
    for query in [
        "",
        "?",
        "?url=",
        "?url=file:///etc/passwd",
        "?url=chrome://version",
        "?url=https://a&format=pdf",
        "?url=https://a&x=1",
    ] {
        let answer = web.get(&format!("/read{query}"), &[]);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (400, Some("text/plain; charset=utf-8")),
            "{query}"
        );
    }
    assert_eq!(closed(), 3);
}

#[test]
fn a_client_that_hangs_up_leaves_no_tab_behind() {
    let home = Home::new();
    let (daemon, web) = home.serve_web();
    let browser = Recorder::new(&daemon, |request| match request["method"].as_str()? {
        "get_page_markdown" => None,
        _ => page(request),
    });
    let mut talk = web.talk();
    talk.send(web.head(&format!("GET {PAGE}"), &[]));
    browser.only("get_page_markdown");
    drop(talk);
    within("the tab is closed", || !browser.of_method("close_auto_tabs").is_empty());
}
