//! What happened last, told when a run fails.

const LENGTH: usize = 24;

/// The last things that happened.
#[derive(Default)]
pub(crate) struct Trail {
    last: [(u64, &'static str, usize); LENGTH],
    at: usize,
}

impl Trail {
    /// One more.
    pub(crate) fn note(&mut self, now: u64, what: &'static str, which: usize) {
        self.last[self.at % LENGTH] = (now, what, which);
        self.at += 1;
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("what happened last, the time in milliseconds:");
            for nth in 0..LENGTH {
                let (now, what, which) = self.last[(self.at + nth) % LENGTH];
                if which == usize::MAX {
                    eprintln!("    {now}: arrival at the driver");
                } else if !what.is_empty() {
                    eprintln!("    {now}: {what} {which}");
                }
            }
        }
    }
}
