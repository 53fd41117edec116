//! The hub's own time: milliseconds on a clock the host chooses. Only differences matter.

/// A moment on the host's monotonic clock. The hub has no clock of its own; every input carries `now`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The moment `ms` milliseconds after the host's zero.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the host's zero.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This moment plus `ms`, stopping at the end of time instead of wrapping.
    #[must_use]
    pub const fn saturating_add_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this moment; 0 if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
