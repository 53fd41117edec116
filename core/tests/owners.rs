//! Whose request it is: the stamp that the hub puts on it (A10, T124b), class, and coming back as the same owner.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bridge_core::*;
use common::*;
use serde_json::json;

fn stamp(w: &mut World, client: ConnId, browser: ConnId) -> (String, String) {
    w.send(client, json!({"id":"s","method":"click"}));
    let envelope = w.one(browser);
    w.answer(browser, envelope["id"].as_str().unwrap(), json!(1));
    w.take(client);
    let text = |key: &str| envelope[key].as_str().unwrap().to_owned();
    (text("client_id"), text("class"))
}

fn legacy(w: &mut World, id: &str) -> ConnId {
    let conn = w.tcp();
    assert_eq!(w.send(conn, json!({"type":"hello","role":"client","client_id":id})), Did::Absorbed);
    conn
}

#[test]
fn a_legacy_id_is_stamped_as_the_hello_says() {
    let mut w = World::new();
    let browser = w.extension();
    for id in ["cli", "mcp-1234-abcd", "a\"quoted\\id", "é😀", "c", "cx-1", "1", &"x".repeat(64)] {
        let client = legacy(&mut w, id);
        assert_eq!(stamp(&mut w, client, browser), (id.to_owned(), "person".to_owned()));
    }
}

#[test]
fn an_id_that_could_be_ours_or_deceive_is_replaced() {
    let mut w = World::new();
    let browser = w.extension();
    let (_, ack) = w.agent();
    let live = ack["client_id"].as_str().unwrap();
    for id in [live, "c1-x", "c-http-1", "c99999999-", "a\nb", "\u{1b}[1m", "", &"x".repeat(65)] {
        let client = legacy(&mut w, id);
        let (stamped, _) = stamp(&mut w, client, browser);
        assert_ne!(stamped, id);
        assert!(stamped.starts_with('c') && stamped.len() > 10, "{stamped}");
    }
}

#[test]
fn a_protocol_2_client_gets_an_id_that_nobody_can_guess() {
    let mut w = World::new();
    let browser = w.extension();
    let conn = w.unix();
    w.send(conn, json!({"type":"hello","role":"client","name":"x","protocol":2,"client_id":"cli"}));
    let ack = w.one(conn);
    let id = ack["client_id"].as_str().unwrap();
    assert!(id.starts_with("c1-") && id.len() == 11, "{id}");
    assert_eq!(stamp(&mut w, conn, browser), (id.to_owned(), "agent".to_owned()));
    let (_, other) = w.agent();
    assert_ne!(other["client_id"], ack["client_id"]);
}

#[test]
fn a_client_comes_back_as_the_same_owner_even_to_another_hub() {
    let mut w = World::new();
    let (_, ack) = w.agent();
    let resume = ack["resume"].clone();
    // A restart: another seed, the same resume key.
    let secrets = Secrets { seed: [99; 32], resume: [2; 32] };
    let keys = Keys { keys: Default::default(), claimed: Default::default(), policy: "{}".to_owned() };
    w = World::new();
    w.hub = Hub::new(Config::default(), &secrets, keys, Growing::new(8), Growing::new(8));
    let conn = w.unix();
    w.send(conn, json!({"type":"hello","role":"client","protocol":2,"resume":resume}));
    let again = w.one(conn);
    assert_eq!((&again["client_id"], &again["resume"]), (&ack["client_id"], &resume));
}

/// T45: what was given out before the keys were made anew is worth nothing, and what is given out then is.
#[test]
fn a_resume_of_before_the_keys_were_made_anew_gets_a_fresh_owner() {
    let mut w = World::new();
    let (_, before) = w.agent();
    let back = |w: &mut World, resume: &serde_json::Value| {
        let conn = w.unix();
        w.send(conn, json!({"type":"hello","role":"client","protocol":2,"resume":resume}));
        w.one(conn)
    };
    w.hub.renew_resume([7; 32]);
    let stranger = back(&mut w, &before["resume"]);
    assert_ne!(stranger["client_id"], before["client_id"]);
    assert_eq!(back(&mut w, &stranger["resume"])["client_id"], stranger["client_id"]);
}

#[test]
fn a_forged_resume_gets_a_fresh_owner() {
    let mut w = World::new();
    let (_, ack) = w.agent();
    let owner = ack["client_id"].as_str().unwrap().to_owned();
    let real = ack["resume"].as_str().unwrap();
    let signature = real.rsplit_once('.').unwrap().1;
    let flipped = if signature.starts_with('A') { "E" } else { "A" };
    for resume in [
        owner.clone(),
        format!("{owner}."),
        format!("{owner}.{flipped}{}", &signature[1..]),
        format!("c9-other.{signature}"),
        ".".to_owned(),
        "x".repeat(500),
    ] {
        let conn = w.unix();
        w.send(conn, json!({"type":"hello","role":"client","protocol":2,"resume":resume}));
        let ack = w.one(conn);
        assert_ne!(ack["client_id"], owner.as_str());
        assert!(ack["client_id"].as_str().unwrap().starts_with('c'));
    }
}

#[test]
fn only_doors_of_the_user_alone_may_say_person() {
    let mut w = World::new();
    let browser = w.extension();
    let hello = json!({"type":"hello","role":"client","protocol":2,"class":"person","token":TOKEN});
    for (peer, class) in [
        (unix_peer(), "person"),
        (Peer::in_process(Door::Http), "person"),
        (Peer::in_process(Door::Memory), "person"),
        (Peer::in_process(Door::Mcp), "agent"),
        (tcp_peer(Trust::SameUser), "agent"),
        (tcp_peer(Trust::Unknown), "agent"),
    ] {
        let conn = w.open(peer);
        w.send(conn, hello.clone());
        w.take(conn);
        assert_eq!(stamp(&mut w, conn, browser).1, class, "{peer:?}");
    }
}

#[test]
fn a_caller_inside_the_process_names_its_owner_with_the_reserved_prefix() {
    let mut w = World::new();
    let browser = w.extension();
    let conn = w.open(Peer::in_process(Door::Http));
    w.send(conn, json!({"type":"hello","role":"client","protocol":2,"client_id":"c-http-12ab"}));
    assert_eq!(w.one(conn)["client_id"], "c-http-12ab");
    assert_eq!(stamp(&mut w, conn, browser).0, "c-http-12ab");
    let conn = w.open(Peer::in_process(Door::Http));
    w.send(conn, json!({"type":"hello","role":"client","protocol":2,"client_id":"http-12ab"}));
    let text = "invalid hello: client_id of a caller inside the process must begin with c-";
    w.denied(conn, text, "INVALID_HELLO", 1008);
    // Nobody outside can take such a name.
    let conn = w.unix();
    w.send(conn, json!({"type":"hello","role":"client","protocol":2,"client_id":"c-http-12ab"}));
    assert_ne!(w.one(conn)["client_id"], "c-http-12ab");
}
