//! Time, as the host's runtime tells it.

use bridge_core::Instant;
use std::future::Future;

/// A monotonic clock and a way to wait for it. Tests bring one that only moves when told to.
pub trait Clock: 'static {
    /// What [`Clock::sleep_until`] returns.
    type Sleep: Future<Output = ()>;

    /// The present moment. Never goes back.
    fn now(&self) -> Instant;

    /// Ready when `now()` has reached `at`, never before.
    fn sleep_until(&self, at: Instant) -> Self::Sleep;
}
