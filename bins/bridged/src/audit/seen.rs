//! What was written already in this second, so that a flood is a line and a number.

/// How many kinds are told apart in one second; whatever comes beyond them is one more.
const KINDS: usize = 16;

/// The kinds of one connection.
#[derive(Default)]
pub(crate) struct Seen {
    kinds: Vec<Kind>,
    /// How many went unwritten of kinds that are not told apart, or not any more.
    rest: u64,
    /// The second in which one of these was written.
    rest_told: Option<u64>,
}

struct Kind {
    method: Box<str>,
    code: Box<str>,
    second: u64,
    more: u64,
    /// Whether it is reading whatever its params say.
    plain: bool,
}

impl Seen {
    /// Counts one more of what was written in this second, if it is reading whatever its params say.
    pub(crate) fn repeats(&mut self, method: &str, second: u64) -> bool {
        let known =
            self.kinds.iter_mut().find(|kind| kind.plain && &*kind.method == method && kind.code.is_empty());
        match known {
            Some(kind) if kind.second == second => {
                kind.more = kind.more.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    /// From here on [`Seen::repeats`] tells this method.
    pub(crate) fn is_plain(&mut self, method: &str) {
        self.kinds.iter_mut().filter(|kind| &*kind.method == method).for_each(|kind| kind.plain = true);
    }

    /// Whether this is the first of its kind in this second; then how many went unwritten before it. Of a kind that is new, those are
    /// others that are not told apart any more.
    pub(crate) fn again(&mut self, method: &str, code: &str, second: u64) -> Option<u64> {
        let known = self.kinds.iter_mut().find(|kind| &*kind.method == method && &*kind.code == code);
        let Some(kind) = known else {
            if self.kinds.len() >= KINDS {
                // One of this second that gave way would be written once more: names that are made up would end the collapsing.
                match self.kinds.iter().position(|kind| kind.second != second) {
                    Some(old) => self.rest = self.rest.saturating_add(self.kinds.remove(old).more),
                    None if self.rest_told == Some(second) => {
                        self.rest = self.rest.saturating_add(1);
                        return None;
                    }
                    None => {
                        self.rest_told = Some(second);
                        return Some(std::mem::take(&mut self.rest));
                    }
                }
            }
            self.kinds.push(Kind { method: method.into(), code: code.into(), second, more: 0, plain: false });
            return Some(std::mem::take(&mut self.rest));
        };
        if kind.second == second {
            kind.more = kind.more.saturating_add(1);
            return None;
        }
        kind.second = second;
        Some(std::mem::take(&mut kind.more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_one_line_a_second_and_the_next_says_how_many_there_were() {
        let mut seen = Seen::default();
        assert_eq!(seen.again("list_tabs", "", 1), Some(0));
        assert!((0..9).all(|_| seen.again("list_tabs", "", 1).is_none()));
        assert_eq!(seen.again("list_tabs", "PAUSED", 1), Some(0), "another kind");
        assert_eq!(seen.again("list_tabs", "", 2), Some(9));
        assert_eq!(seen.again("list_tabs", "", 4), Some(0));
    }

    #[test]
    fn what_may_be_more_than_reading_is_looked_at_each_time() {
        let mut seen = Seen::default();
        assert!(!seen.repeats("get_value", 1));
        assert_eq!(seen.again("get_value", "", 1), Some(0));
        assert!(!seen.repeats("get_value", 1), "nobody said that it is plain");
        seen.is_plain("get_value");
        assert!(
            seen.repeats("get_value", 1) && seen.repeats("get_value", 1) && !seen.repeats("get_value", 2)
        );
        assert_eq!(seen.again("get_value", "", 2), Some(2));
    }

    #[test]
    fn kinds_are_bounded_and_so_are_the_lines_of_many_and_none_is_lost() {
        let mut seen = Seen::default();
        let mut flood = |second, names: usize| {
            let told = (0..1000).filter_map(|n| seen.again(&format!("m{}", n % names), "", second));
            let (lines, before) = told.fold((0, 0), |(lines, before), more| (lines + 1, before + more));
            assert!(seen.kinds.len() <= KINDS);
            (lines, before)
        };
        let most = KINDS + 1;
        assert_eq!(flood(1, 1000), (most, 0));
        let untold = 1000 - most as u64;
        assert_eq!(flood(2, most), (most, untold), "the next second tells how many there were");
        assert_eq!(flood(3, most), (most, untold));
        // Others come, and those give way.
        assert_eq!((0..KINDS).filter_map(|n| seen.again(&format!("n{n}"), "", 4)).sum::<u64>(), untold);
        assert_eq!(seen.again("n0", "", 5), Some(0));
    }
}
