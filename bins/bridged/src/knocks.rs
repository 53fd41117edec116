//! What anybody may bring about as often as they like, in the log: a line each, and of a flood a few lines and how many there were.

use std::cell::Cell;
use std::fmt::Debug;
use std::time::Instant;

/// Lines a second that may be made of one kind.
const MOST: u64 = 16;

/// One kind of thing.
pub(crate) struct Flood {
    began: Instant,
    count: Cell<Count>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    second: u64,
    told: u64,
    untold: u64,
}

impl Flood {
    /// None yet.
    pub(crate) fn new() -> Flood {
        Flood { began: Instant::now(), count: Cell::default() }
    }

    /// One more. If it is a line, what that says at its end of those before it that were none.
    pub(crate) fn more(&self) -> Option<String> {
        let (count, before) = self.count.get().more(self.began.elapsed().as_secs());
        self.count.set(count);
        before.map(|before| match before {
            0 => String::new(),
            more => format!(" ({more} more before it)"),
        })
    }
}

/// Those who were turned away at one door.
pub(crate) struct Knocks {
    door: &'static str,
    flood: Flood,
}

impl Knocks {
    /// None yet.
    pub(crate) fn new(door: &'static str) -> Knocks {
        Knocks { door, flood: Flood::new() }
    }

    /// One more. What the peer said is written as Rust writes strings: nothing of it does anything to a terminal.
    pub(crate) fn tell(&self, why: &dyn Debug) {
        if let Some(more) = self.flood.more() {
            log::debug!("refused at the {} door: {why:?}{more}", self.door);
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
