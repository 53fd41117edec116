//! What the fuzz targets do with their input; the committed seeds go through the same functions as plain tests.

use arbitrary::{Arbitrary, Unstructured};

use crate::op::Op;
use crate::setup::Setup;
use crate::world::World;

/// Most steps of one run.
const STEPS: usize = 200;

/// The input is a setup and a list of operations: hub and model do them side by side.
pub fn hub_ops(data: &[u8]) {
    let mut u = Unstructured::new(data);
    let Ok(setup) = Setup::arbitrary(&mut u) else { return };
    let mut world = World::start(setup);
    for _ in 0..STEPS {
        if u.is_empty() {
            break;
        }
        let Ok(op) = Op::arbitrary(&mut u) else { break };
        world.step(&op);
    }
    world.finish();
    world.ledger.check_all().unwrap();
}
