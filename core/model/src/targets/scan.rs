//! The hub's scanner against serde_json: the same frames taken and refused, and every member seen in the same place.
//!
//! The scanner is reached as peers reach it: what a client says must be read as strict JSON, what a browser answers only
//! as far as it takes to find the id. In the input every `@` stands for the id of a live call, so that answers are found.

use bridge_core::{
    ConnId, Door, Fault, Forward, Hub, Inspected, Instant, Limits, Output, Peer, Secrets, Trust,
};

use crate::loose::Loose;
use crate::model::{Frame, KEYS, client_frame};
use crate::oracle::{Object, Unfit};
use crate::render::prefix_id;
use crate::stage::Keys;
use crate::world::{Growing, TestHub};

/// The input is a frame: both extensions answer with it, then the client says it.
pub fn scan(data: &[u8]) {
    let mut scene = Scene::new();
    scene.answered(data, scene.proven, "new");
    scene.answered(data, scene.legacy, "old");
    scene.said_by_the_client(data);
}

/// How deep frames may nest.
const DEPTH: usize = 128;
const NOW: Instant = Instant::from_millis(1_000);
/// From this size on a proven extension's answer is routed by its first bytes.
const PREFIX: usize = 48;

/// A hub with a client and two browsers: `new` is proven, `old` is not.
struct Scene {
    hub: TestHub,
    proven: ConnId,
    legacy: ConnId,
    client: ConnId,
}

impl Scene {
    fn new() -> Self {
        let limits = Limits { prefix_bytes: PREFIX, ..Limits::default() };
        let config = bridge_core::Config { limits, ..bridge_core::Config::default() };
        let secrets = Secrets { seed: [5; 32], resume: [6; 32] };
        let mut hub = Hub::new(config, &secrets, Keys, Growing::new(3), Growing::new(3));
        let mut join = |hello: &[u8]| {
            let peer =
                Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };
            let conn = hub.open(&peer, NOW).unwrap();
            assert!(matches!(hub.inspect(conn, hello, NOW), Inspected::Absorbed));
            drain(&mut hub);
            conn
        };
        let legacy = join(br#"{"type":"hello","role":"extension","name":"x","browser_id":"old"}"#);
        let proven =
            join(br#"{"type":"hello","role":"extension","name":"x","browser_id":"new","protocol":2}"#);
        let client = join(br#"{"type":"hello","role":"client","name":"x"}"#);
        Scene { hub, proven, legacy, client }
    }
    fn said_by_the_client(&mut self, frame: &[u8]) {
        let Scene { hub, client, .. } = self;
        let client = *client;
        let expected = client_frame(frame, &hub.config().limits);
        match (hub.inspect(client, frame, NOW), &expected) {
            (Inspected::Request(request), Frame::Request { id, method, params, browser, once, .. }) => {
                let object = Object::read(frame, DEPTH).unwrap();
                let place = |part: &[u8]| part.as_ptr() as usize - frame.as_ptr() as usize;
                let stands = |name: &str| object.span(object.get(name).unwrap());
                assert_eq!((request.id(), request.method()), (id.as_str(), method.as_str()));
                assert_eq!(place(request.id().as_bytes()), stands("id").start + 1, "where the id stands");
                assert_eq!(
                    place(request.method().as_bytes()),
                    stands("method").start + 1,
                    "where the method stands"
                );
                match params {
                    Some(params) => {
                        assert_eq!(request.params(), params.as_bytes());
                        assert_eq!(place(request.params()), stands("params").start, "where the params stand");
                        for (key, raw) in Object::read(params.as_bytes(), usize::MAX).unwrap().members() {
                            let found = request.param(&key[1..key.len() - 1]).map(<[u8]>::to_vec);
                            assert_eq!(found.as_deref(), Some(raw.as_bytes()), "the parameter {key}");
                        }
                    }
                    None => assert_eq!(request.params(), b"{}"),
                }
                assert_eq!((request.browser_id(), request.once()), (browser.as_deref(), once.as_deref()));
                match hub.forward(request, NOW) {
                    Ok(forward) => {
                        let envelope = forward.parts().concat();
                        let members = Object::read(&envelope, DEPTH).map(|it| it.members().len());
                        assert_eq!(
                            members,
                            Ok(6 + usize::from(once.is_some())),
                            "the members of the envelope"
                        );
                    }
                    Err(fault) => assert!(fault == Fault::NoSuchBrowser && browser.is_some(), "{fault:?}"),
                }
            }
            // What the hub answers itself, or refuses for what it says and not for how it says it.
            (Inspected::Absorbed | Inspected::Refused(_), Frame::Request { .. }) => {
                assert_eq!(drain(hub).len(), 1, "one answer");
            }
            (Inspected::Absorbed, Frame::Cancel(_)) => assert!(drain(hub).is_empty()),
            (Inspected::Refused(fault), Frame::Wrong(_, faults, _)) => {
                assert!(faults.contains(&fault), "the hub says {fault:?}, expected {faults:?}");
                if let Some(problems) = problems(frame) {
                    assert!(
                        problems.is_empty() || problems.contains(&fault),
                        "the hub says {fault:?} of {problems:?}"
                    );
                }
                assert_eq!(drain(hub).len(), 1, "one answer");
            }
            (hub, _) => panic!("the hub says {hub:?}"),
        }
    }

    fn answered(&mut self, data: &[u8], extension: ConnId, browser: &str) {
        let proven = extension == self.proven;
        let Scene { hub, client, .. } = self;
        let client = *client;
        let call = format!(r#"{{"id":"theirs","method":"click","params":{{"browser_id":"{browser}"}}}}"#);
        let Inspected::Forward(call) = hub.receive(client, call.as_bytes(), NOW) else {
            panic!("the call was not passed on")
        };
        let wire = crate::ledger::wire_id(&call.parts().concat()).unwrap();
        let frame: Vec<u8> = data
            .iter()
            .flat_map(|b| if *b == b'@' { wire.as_bytes() } else { std::slice::from_ref(b) })
            .copied()
            .collect();
        let loose = Loose::read(&frame, hub.config().limits.depth);
        if let Some(object) = Object::read(&frame, DEPTH).ok().filter(is_clear) {
            // What is JSON is read as JSON.
            assert!(loose.whole, "strict JSON, and not read");
            for (key, raw) in object.members() {
                assert_eq!(loose.span(&key[1..key.len() - 1]), Some(object.span(raw)), "where {key} stands");
            }
        }
        let is_wire = |span: &std::ops::Range<usize>| frame[span.clone()] == *wire.as_bytes();
        let prefix = prefix_id(&frame).filter(|_| proven && frame.len() >= PREFIX);
        let by_prefix = prefix.is_some();
        let id = prefix.or_else(|| loose.inside("id")).filter(is_wire);
        let says = |name: &str| loose.get(name).is_some_and(|raw| raw != b"null");
        let valid = match loose.get("success") {
            Some(b"true") => !says("error"),
            Some(b"false") => !says("result"),
            _ => false,
        };
        let is_answer = loose.get("method").is_none()
            && (loose.inside("type").is_none() || loose.get("success").is_some());
        let counts = by_prefix || (loose.whole && is_answer && valid);
        match (hub.inspect(extension, &frame, NOW), id) {
            (Inspected::Forward(forward), Some(id)) if counts => {
                assert_eq!(forward.to(), client);
                let expected = [&frame[..id.start], b"theirs", &frame[id.end..]].concat();
                assert_eq!(forward.parts().concat(), expected, "the answer as passed on");
                assert_eq!(lent(&forward, &frame), frame.len() - wire.len(), "bytes lent");
                assert_eq!(hub.in_flight(), 0);
            }
            (Inspected::Forward(_), _) => panic!("passed on, and should not be"),
            (_, Some(_)) if counts => panic!("not passed on, and should be"),
            // Someone who shows which call he means, and says nothing valid, has answered it all the same.
            (_, Some(_)) if loose.get("method").is_none() && (is_answer || !loose.whole) => {
                let sent = drain(hub);
                let told = sent.iter().find(|(to, _)| *to == client).expect("the client is told");
                assert!(told.1.windows(16).any(|it| it == b"INVALID_RESPONSE"));
                assert_eq!(hub.in_flight(), 0);
            }
            _ => {
                assert!(drain(hub).iter().all(|(to, _)| *to == extension), "the client hears nothing");
                assert_eq!(hub.in_flight(), 1);
                let _ = hub.inspect(client, br#"{"type":"cancel","id":"theirs"}"#, NOW);
            }
        }
        drain(hub);
    }
}

fn drain(hub: &mut TestHub) -> Vec<(ConnId, Vec<u8>)> {
    let mut sent = Vec::new();
    while let Some(output) = hub.poll_output() {
        if let Output::Send { to, message } = output {
            let mut bytes = Vec::new();
            message.each(|piece| bytes.extend_from_slice(piece));
            sent.push((to, bytes));
        }
    }
    sent
}

/// All that is wrong with a text that is JSON; nothing if it is not even that, where the first fault met counts.
fn problems(frame: &[u8]) -> Option<Vec<Fault>> {
    let object = match Object::read(frame, usize::MAX) {
        Ok(object) => object,
        Err(Unfit::LoneSurrogate) => return None,
        Err(_) => return None,
    };
    let mut problems = Vec::new();
    if Object::read(frame, DEPTH).is_err() {
        problems.push(Fault::TooDeep);
    }
    let params = object.get("params").and_then(|raw| Object::read(raw.as_bytes(), usize::MAX).ok());
    for level in [Some(&object), params.as_ref()].into_iter().flatten() {
        let keys: std::collections::BTreeSet<&str> = level.members().iter().map(|(key, _)| *key).collect();
        problems.extend((keys.len() < level.members().len()).then_some(Fault::DuplicateKey));
        problems.extend((keys.len() > KEYS).then_some(Fault::TooManyKeys));
        problems.extend(level.has_escaped_key().then_some(Fault::EscapedKey));
    }
    Some(problems)
}

fn is_clear(object: &Object<'_>) -> bool {
    let keys: std::collections::BTreeSet<&str> = object.members().iter().map(|(key, _)| *key).collect();
    !object.has_escaped_key() && keys.len() == object.members().len() && keys.len() <= KEYS
}

/// How many bytes of the message are the frame's own.
fn lent(forward: &Forward<'_>, frame: &[u8]) -> usize {
    let range = frame.as_ptr_range();
    forward.parts().iter().filter(|part| range.contains(&part.as_ptr())).map(|part| part.len()).sum()
}
