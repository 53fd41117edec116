//! One connection's slot.

use crate::list::{Link, Linked, NONE};
use crate::slots::Slot;

/// Storage for one connection. Hosts make vacant ones; the rest is the hub's business.
#[derive(Debug)]
pub struct Connection {
    pub(crate) epoch: u32,
    pub(crate) links: [Link; 2],
    next_free: u16,
    occupied: bool,
}

impl Connection {
    /// An unused slot, for arrays: `[const { Connection::vacant() }; 64]`.
    #[must_use]
    pub const fn vacant() -> Self {
        Self { epoch: 0, links: [Link::LOOSE; 2], next_free: NONE, occupied: false }
    }
}

impl Default for Connection {
    fn default() -> Self {
        Self::vacant()
    }
}

impl Slot for Connection {
    fn next_free(&mut self) -> &mut u16 {
        &mut self.next_free
    }
    fn generation(&self) -> u32 {
        self.epoch
    }
    fn vacate(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.occupied = false;
    }
    fn occupied(&self) -> bool {
        self.occupied
    }
}

/// The lists a connection stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum InConnections {
    /// All that are open.
    Live = 0,
    /// Those of one stage: greeting, proving or closing.
    Stage = 1,
}

impl Linked<InConnections> for Connection {
    fn link(&self, chain: InConnections) -> Link {
        self.links.get(chain as usize).copied().unwrap_or(Link::LOOSE)
    }
    fn link_mut(&mut self, chain: InConnections) -> &mut Link {
        let [live, stage] = &mut self.links;
        match chain {
            InConnections::Live => live,
            InConnections::Stage => stage,
        }
    }
}
