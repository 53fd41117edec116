//! What a message costs in the hub, in instructions: the same on every run and every machine of one kind.

use std::hint::black_box;

use bridge_core::{Inspected, Instant};
use bridge_model::stage::{REQUEST, Stage, answer, drain, written};
use gungraun::{library_benchmark, library_benchmark_group, main};

/// A hub, and a frame to give it.
type Scene = (Stage, Vec<u8>);

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
    (stage, format!(r#"{{"success":true,"result":{{"nodes":[{}1]}},"id":"{wire}"}}"#, nodes).into())
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

#[library_benchmark(setup = fresh)]
#[bench::typical(REQUEST)]
fn request((mut stage, frame): Scene) -> Scene {
    match stage.hub.receive(stage.client, black_box(&frame), stage.now) {
        Inspected::Forward(forward) => black_box(written(&forward)),
        _ => panic!("not passed on"),
    };
    drain(&mut stage.hub);
    (stage, frame)
}

#[library_benchmark]
#[bench::small(setup = asked, args = (60))]
#[bench::of_40_kb(setup = asked, args = (40_000))]
#[bench::of_5_mb_by_its_prefix(setup = asked, args = (5_000_000))]
#[bench::of_5_mb_scanned(setup = asked_and_scanned, args = (5_000_000))]
#[bench::tree_of_200_kb_scanned(setup = asked_for_a_tree, args = (200_000))]
fn answered((mut stage, frame): Scene) -> Scene {
    match stage.hub.inspect(stage.extension, black_box(&frame), stage.now) {
        Inspected::Forward(forward) => black_box(written(&forward)),
        _ => panic!("not passed on"),
    };
    drain(&mut stage.hub);
    (stage, frame)
}

#[library_benchmark(setup = fresh)]
#[bench::ping(br#"{"id":"p1","method":"ping","params":{}}"#)]
#[bench::escaped_key(br#"{"\u0069d":"k","method":"click","params":{"tab_id":7}}"#)]
#[bench::not_json(br#"{"id":"k","method":"click","params":{"tab_id":7}"#)]
#[bench::answer_from_a_client(br#"{"id":"v","success":true,"result":"stolen"}"#)]
fn said_by_a_client((mut stage, frame): Scene) -> Scene {
    let _ = black_box(stage.hub.inspect(stage.client, black_box(&frame), stage.now));
    drain(&mut stage.hub);
    (stage, frame)
}

#[library_benchmark(setup = fresh)]
#[bench::stray_answer(br#"{"id":"0000000000000000","success":true,"result":{}}"#)]
fn said_by_an_extension((mut stage, frame): Scene) -> Scene {
    let _ = black_box(stage.hub.inspect(stage.extension, black_box(&frame), stage.now));
    drain(&mut stage.hub);
    (stage, frame)
}

#[library_benchmark(setup = waiting)]
#[bench::of_1(1)]
#[bench::of_200(200)]
fn timeout(mut stage: Stage) -> Stage {
    let end = stage.now.saturating_add_ms(30_000);
    while let Some((at, _)) = stage.hub.poll_timeout().filter(|(at, _)| *at <= end) {
        stage.hub.handle_timeout(black_box(at.max(Instant::from_millis(1))));
        drain(&mut stage.hub);
    }
    stage
}

library_benchmark_group!(
    name = hub;
    benchmarks = request, answered, said_by_a_client, said_by_an_extension, timeout
);

main!(library_benchmark_groups = hub);
