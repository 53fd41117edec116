//! One call's slot: who asked, who was asked, until when, and the client's own id.

use crate::list::NONE;
use crate::slots::Slot;

/// Storage for one call in flight. Hosts make vacant ones; the rest is the hub's business.
#[derive(Debug)]
pub struct Pending {
    pub(crate) generation: u32,
    next_free: u16,
    occupied: bool,
}

impl Pending {
    /// An unused slot, for arrays: `[const { Pending::vacant() }; 256]`.
    #[must_use]
    pub const fn vacant() -> Self {
        Self { generation: 0, next_free: NONE, occupied: false }
    }
}

impl Default for Pending {
    fn default() -> Self {
        Self::vacant()
    }
}

impl Slot for Pending {
    fn next_free(&mut self) -> &mut u16 {
        &mut self.next_free
    }
    fn generation(&self) -> u32 {
        self.generation
    }
    fn vacate(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.occupied = false;
    }
    fn occupied(&self) -> bool {
        self.occupied
    }
}
