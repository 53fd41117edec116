//! What the hub answers itself: ping, list_browsers, status.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

#[test]
fn ping_is_answered_for_either_role_without_a_browser() {
    let mut w = World::new();
    let client = w.client();
    assert!(w.pings(client));
    let browser = w.extension();
    w.send(browser, json!({"id":"p1","method":"ping","params":{}}));
    assert_eq!(w.one(browser), json!({"id":"p1","success":true,"result":{"pong":true}}));
    assert_eq!(w.hub.in_flight(), 0);
}

#[test]
fn list_browsers_lists_those_that_are_here() {
    let mut w = World::new();
    let client = w.client();
    w.send(client, json!({"id":"1","method":"list_browsers"}));
    assert_eq!(w.one(client), json!({"id":"1","success":true,"result":{"browsers":[]}}));
    let gone = w.browser("gone");
    w.extension();
    w.proven("b-1");
    w.close(gone);
    w.send(client, json!({"id":"2","method":"list_browsers"}));
    assert_eq!(
        w.one(client)["result"]["browsers"],
        json!([
            {"browser_id":null,"name":"chrome","version":"","build":"","protocol":1,"proven":false,"methods":0},
            {"browser_id":"b-1","name":"chrome","version":"1.0","build":"abc","protocol":2,"proven":true,"methods":2},
        ])
    );
}

#[test]
fn sixteen_browsers_with_the_longest_names_are_listed_whole() {
    let mut w = World::new();
    for n in 0..16 {
        let conn = w.tcp();
        let id = format!("{n:02}{}", "\"".repeat(62));
        let hello = json!({"type":"hello","role":"extension","browser_id":id,"name":"\\".repeat(64),
            "version":"\"".repeat(24),"build":"\"".repeat(24)});
        assert_eq!(w.send(conn, hello), Did::Absorbed);
    }
    let client = w.client();
    w.send(client, json!({"id":"i".repeat(256),"method":"list_browsers"}));
    let answer = w.one(client);
    let browsers = answer["result"]["browsers"].as_array().unwrap();
    assert_eq!(browsers.len(), 16);
    assert!(browsers.iter().all(|it| it["name"] == "\\".repeat(64)));
    // The same in an error, where the text has its bounds.
    w.send(client, json!({"id":"i".repeat(256),"method":"click","params":{"browser_id":"x"}}));
    assert_eq!(w.one(client)["code"], "NO_SUCH_BROWSER");
}

#[test]
fn status_counts() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    w.ask(client, "1", browser);
    w.advance(1_234);
    w.send(client, json!({"id":"s","method":"status"}));
    let answer = w.one(client);
    let status = &answer["result"];
    assert_eq!(status["server"]["name"], "bridged");
    assert_eq!((&status["connections"], &status["in_flight"]), (&json!(2), &json!(1)));
    assert_eq!(status["uptime_ms"], 1_234);
    assert_eq!(status["browsers"][0]["browser_id"], "b-1");
    assert_eq!((&status["counters"]["requests"], &status["counters"]["legacy"]), (&json!(1), &json!(1)));
}

#[test]
fn the_getters_see_what_is_there() {
    let mut w = World::new();
    let browser = w.proven("b-1");
    let client = w.client();
    let greeting = w.tcp();
    w.ask(client, "1", browser);
    let all: Vec<_> = w.hub.connections().map(|it| (it.conn, it.role, it.in_flight)).collect();
    assert_eq!(
        all,
        [(browser, Some(Role::Extension), 1), (client, Some(Role::Client), 1), (greeting, None, 0)]
    );
    let info = w.hub.browsers().next().unwrap();
    assert_eq!((info.conn, info.in_flight, info.since), (browser, 1, Instant::from_millis(1_000)));
    w.close(client);
    assert!(w.hub.connection(client).is_none());
    assert_eq!(w.hub.connections().count(), 2);
    assert_eq!(w.hub.counters().closed, 1);
}

#[test]
fn joining_and_leaving_are_told() {
    let mut w = World::new();
    let client = w.client();
    w.close(client);
    assert_eq!(
        w.events,
        [
            Event::Joined { conn: client, role: Role::Client, protocol: 1 },
            Event::Left { conn: client, role: Some(Role::Client) }
        ]
    );
}
