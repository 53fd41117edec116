//! How a test's hub is set up: small limits, so that a few steps reach them.

use arbitrary::{Arbitrary, Result, Unstructured};
use bridge_core::{Compat, Config, Limits};

/// Which of the ways of being set up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Setup {
    /// 0 same-user, 1 strict, 2 open.
    pub compat: u8,
    /// Very few slots, or enough.
    pub tight: bool,
    /// Whether the usual peers are there from the start.
    pub furnished: bool,
    /// 0 and 1 what frames and ids have room for by default, 2 deeper frames, 3 hardly any room.
    pub room: u8,
}

impl<'a> Arbitrary<'a> for Setup {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let n = u8::arbitrary(u)?;
        Ok(Self {
            compat: [0, 0, 1, 2][usize::from(n & 3)],
            tight: n & 4 != 0,
            furnished: n & 8 == 0,
            room: n >> 6,
        })
    }
}

impl Setup {
    /// What the hub is told.
    pub fn config(self) -> Config {
        let tight = self.tight;
        Config {
            limits: Limits {
                connections: if tight { 5 } else { 12 },
                greeting_strangers: if tight { 1 } else { 3 },
                greeting_same_user: 3,
                greeting_local: 2,
                in_flight_client: if tight { 2 } else { 5 },
                in_flight: if tight { 3 } else { 12 },
                client_bytes: 4_096,
                extension_bytes: 16_384,
                prefix_bytes: 512,
                depth: [128, 128, 300, 6][usize::from(self.room & 3)],
                id_bytes: if self.room & 3 == 3 { 16 } else { 256 },
                protocol_errors: 4,
                takeovers: if tight { 1 } else { 2 },
                ..Limits::default()
            },
            compat: [Compat::SameUser, Compat::Strict, Compat::Open][usize::from(self.compat % 3)],
            ..Config::default()
        }
    }

    /// Slots for connections.
    pub fn connections(self) -> usize {
        if self.tight { 7 } else { 20 }
    }

    /// Slots for calls.
    pub fn calls(self) -> usize {
        if self.tight { 4 } else { 16 }
    }
}
