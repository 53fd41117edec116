//! This thread's monotonic time for the driver.

use crate::Timer;
use bridge_core::Instant;
use std::time::Duration;

/// A clock that starts when it is made. It stands still while the machine sleeps, where the system's does.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: std::time::Instant,
}

impl Clock {
    /// Zero is now.
    #[must_use]
    pub fn new() -> Self {
        Self { zero: std::time::Instant::now() }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl bridge_driver::Clock for Clock {
    type Sleep = Timer;

    fn now(&self) -> Instant {
        Instant::from_millis(u64::try_from(self.zero.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    fn sleep_until(&self, at: Instant) -> Timer {
        Timer::at(self.zero + Duration::from_millis(at.as_millis()))
    }
}
