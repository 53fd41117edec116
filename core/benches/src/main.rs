//! What a message costs in the hub, in instructions: the same on every run and every machine of one kind.
//!
//! `bridge-benches SCENE` makes a scene ready and plays it once inside `measured`; `compare.sh` runs each under valgrind,
//! which counts what happens in there and nothing else. Without a scene all their names are printed.

use std::hint::black_box;

use bridge_core::{Inspected, Instant};
use bridge_model::stage::{REQUEST, Stage, answer, drain, written};

/// A hub, and a frame to give it.
type Scene = (Stage, Vec<u8>);

const SCENES: [(&str, fn()); 13] = [
    ("request.typical", || request(fresh(REQUEST))),
    ("answered.small", || answered(asked(60))),
    ("answered.of_40_kb", || answered(asked(40_000))),
    ("answered.of_5_mb_by_its_prefix", || answered(asked(5_000_000))),
    ("answered.of_5_mb_scanned", || answered(asked_and_scanned(5_000_000))),
    ("answered.tree_of_200_kb_scanned", || answered(asked_for_a_tree(200_000))),
    ("said_by_a_client.ping", || client_says(br#"{"id":"p1","method":"ping","params":{}}"#)),
    ("said_by_a_client.escaped_key", || {
        client_says(br#"{"\u0069d":"k","method":"click","params":{"tab_id":7}}"#);
    }),
    ("said_by_a_client.not_json", || client_says(br#"{"id":"k","method":"click","params":{"tab_id":7}"#)),
    ("said_by_a_client.answer_from_a_client", || {
        client_says(br#"{"id":"v","success":true,"result":"stolen"}"#)
    }),
    ("said_by_an_extension.stray_answer", || {
        extension_says(br#"{"id":"0000000000000000","success":true,"result":{}}"#);
    }),
    ("timeout.of_1", || timeout(waiting(1))),
    ("timeout.of_200", || timeout(waiting(200))),
];

fn main() {
    match std::env::args().nth(1) {
        None => SCENES.iter().for_each(|(name, _)| println!("{name}")),
        Some(wanted) => match SCENES.iter().find(|(name, _)| *name == wanted) {
            Some((_, play)) => play(),
            None => std::process::exit(2),
        },
    }
}

/// Where counting begins and ends.
#[inline(never)]
fn measured(scene: impl FnOnce()) {
    scene();
}

fn asked(bytes: usize) -> Scene {
    let mut stage = Stage::new();
    let wire = stage.call(REQUEST);
    (stage, answer(&wire, bytes))
}

/// An answer that the prefix does not route: `id` stands last, so the whole frame is scanned.
fn asked_and_scanned(bytes: usize) -> Scene {
    let mut stage = Stage::new();
    let wire = stage.call(REQUEST);
    let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(bytes / 24 + 1);
    (stage, format!(r#"{{"success":true,"result":{{"data":"{}"}},"id":"{wire}"}}"#, &data[..bytes]).into())
}

/// An accessibility tree: many small objects, where a scan has most to look at.
fn asked_for_a_tree(bytes: usize) -> Scene {
    let mut stage = Stage::new();
    let wire = stage.call(REQUEST);
    let node = r#"{"ref":"backend-17","role":"button","name":"Add to cart","bounds":{"x":12,"y":340,"width":96,"height":32}},"#;
    let nodes = node.repeat(bytes / node.len() + 1);
    (stage, format!(r#"{{"success":true,"result":{{"nodes":[{nodes}1]}},"id":"{wire}"}}"#).into())
}

fn fresh(frame: &[u8]) -> Scene {
    (Stage::new(), frame.to_vec())
}

/// A hub with this many calls in flight, all of which run out at once.
fn waiting(calls: usize) -> Stage {
    let mut stage = Stage::new();
    for n in 0..calls {
        stage.call(format!(r#"{{"id":"{n}","method":"click"}}"#).as_bytes());
    }
    stage
}

fn request((mut stage, frame): Scene) {
    measured(|| {
        match stage.hub.receive(stage.client, black_box(&frame), stage.now) {
            Inspected::Forward(forward) => black_box(written(&forward)),
            _ => panic!("not passed on"),
        };
        drain(&mut stage.hub);
    });
}

fn answered((mut stage, frame): Scene) {
    measured(|| {
        match stage.hub.inspect(stage.extension, black_box(&frame), stage.now) {
            Inspected::Forward(forward) => black_box(written(&forward)),
            _ => panic!("not passed on"),
        };
        drain(&mut stage.hub);
    });
}

fn client_says(frame: &[u8]) {
    let (mut stage, frame) = fresh(frame);
    measured(|| {
        let _ = black_box(stage.hub.inspect(stage.client, black_box(&frame), stage.now));
        drain(&mut stage.hub);
    });
}

fn extension_says(frame: &[u8]) {
    let (mut stage, frame) = fresh(frame);
    measured(|| {
        let _ = black_box(stage.hub.inspect(stage.extension, black_box(&frame), stage.now));
        drain(&mut stage.hub);
    });
}

fn timeout(mut stage: Stage) {
    measured(|| {
        let end = stage.now.saturating_add_ms(30_000);
        while let Some((at, _)) = stage.hub.poll_timeout().filter(|(at, _)| *at <= end) {
            stage.hub.handle_timeout(black_box(at.max(Instant::from_millis(1))));
            drain(&mut stage.hub);
        }
    });
}
