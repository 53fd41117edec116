//! Those who were turned away at a door, in the log: a line each, and of a flood a few lines and how many there were.

use std::cell::Cell;
use std::fmt::Debug;
use std::time::Instant;

/// Lines a second that a door may make of them.
const MOST: u64 = 16;

/// One door's.
pub(crate) struct Knocks {
    door: &'static str,
    began: Instant,
    count: Cell<Count>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    second: u64,
    told: u64,
    untold: u64,
}

impl Knocks {
    /// None yet.
    pub(crate) fn new(door: &'static str) -> Knocks {
        Knocks { door, began: Instant::now(), count: Cell::default() }
    }

    /// One more. What the peer said is written as Rust writes strings: nothing of it does anything to a terminal.
    pub(crate) fn tell(&self, why: &dyn Debug) {
        let (count, before) = self.count.get().more(self.began.elapsed().as_secs());
        self.count.set(count);
        match before {
            Some(0) => log::debug!("refused at the {} door: {why:?}", self.door),
            Some(more) => log::debug!("refused at the {} door: {why:?} ({more} more before it)", self.door),
            None => {}
        }
    }
}

impl Count {
    /// One more in this second: whether it is a line, and then how many before it were none.
    fn more(self, second: u64) -> (Count, Option<u64>) {
        let Count { told, untold, .. } = if self.second == second { self } else { Count { told: 0, ..self } };
        if told >= MOST {
            return (Count { second, told, untold: untold.saturating_add(1) }, None);
        }
        (Count { second, told: told + 1, untold: 0 }, Some(untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_a_few_lines_a_second_and_a_number() {
        let mut count = Count::default();
        let mut knock = |second| {
            let (next, told) = count.more(second);
            count = next;
            told
        };
        assert!((0..MOST).all(|_| knock(7) == Some(0)));
        assert!((0..1000).all(|_| knock(7).is_none()));
        assert_eq!((knock(8), knock(8), knock(9)), (Some(1000), Some(0), Some(0)));
    }
}
