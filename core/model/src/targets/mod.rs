//! What the fuzz targets do with their input; the committed seeds go through the same functions as plain tests.

mod scan;

pub use scan::scan;

use std::sync::OnceLock;

use arbitrary::{Arbitrary, Unstructured};

use crate::op::Op;
use crate::setup::Setup;
use crate::world::World;

/// Most steps of one run.
const STEPS: usize = 200;

/// The input is a setup and a list of operations: hub and model do them side by side. With `TRACE` set they are shown.
pub fn hub_ops(data: &[u8]) {
    static TRACE: OnceLock<bool> = OnceLock::new();
    let trace = *TRACE.get_or_init(|| std::env::var_os("TRACE").is_some());
    let mut u = Unstructured::new(data);
    let Ok(setup) = Setup::arbitrary(&mut u) else { return };
    let mut world = World::start(setup);
    for _ in 0..STEPS {
        if u.is_empty() {
            break;
        }
        let Ok(op) = Op::arbitrary(&mut u) else { break };
        if trace {
            eprintln!("{op:?}");
        }
        world.step(&op);
    }
    world.finish();
    world.ledger.check_all().unwrap();
}
