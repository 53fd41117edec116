//! Who comes: what a peer is, how it says hello, and how good it is.

use crate::chance::Chance;
use crate::host::Opening;
use arbitrary::{Arbitrary, Unstructured};
use bridge_model::op::{self, Hello, HelloRole, Shows};
use bridge_model::world::peer;

/// What carries a peer's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// A simulated link, WebSocket frames on it.
    WebSocket,
    /// A simulated link, lines on it.
    Unix,
    /// Calls inside the process.
    Local,
}

/// What it is and what may be expected of it.
#[derive(Clone, Debug)]
pub(crate) struct Nature {
    /// How it comes in.
    pub(crate) door: Door,
    /// What the hub is told of it.
    pub(crate) opening: Opening,
    /// What it says first; nothing if its first request is its hello.
    pub(crate) hello: Option<Hello>,
    /// Does as the protocol says, on a link that is never worse than slow.
    pub(crate) honest: bool,
    /// Asks for a great deal, in good order, and reads late.
    pub(crate) greedy: bool,
    /// Lives for so long, in milliseconds.
    pub(crate) life_ms: u64,
}

impl Nature {
    /// Somebody, by chance.
    pub(crate) fn of(chance: &Chance) -> Self {
        let life_ms = chance.pick(&[500, 5_000, 30_000, 90_000, u64::MAX, u64::MAX]);
        if chance.one_in(3) {
            return Self { life_ms, ..Self::dishonest(chance) };
        }
        let plain = Hello {
            role: HelloRole::Client,
            two: true,
            browser: 0,
            shows: Shows::Nothing,
            client: 0,
            class: chance.below(3) as u8,
            odd_name: false,
        };
        let named = Hello { client: chance.pick(&[0, 1, 2]), ..plain };
        let extension = Hello { role: HelloRole::Extension, browser: chance.pick(&[0, 1, 1, 2]), ..plain };
        let old = Hello { two: false, ..named };
        let (door, opening, hello) = match chance.below(16) {
            0 => (Door::WebSocket, op::Opening::SameUser, Some(old)),
            1 => (Door::WebSocket, op::Opening::Stranger, Some(Hello { shows: Shows::Token, ..old })),
            2 | 3 => (Door::WebSocket, op::Opening::SameUser, Some(Hello { shows: Shows::Key, ..named })),
            4 => (Door::WebSocket, op::Opening::Stranger, Some(Hello { shows: Shows::Key, ..named })),
            5 => (Door::WebSocket, op::Opening::SameUser, Some(Hello { shows: Shows::Token, ..named })),
            6 | 7 => (Door::Unix, op::Opening::Unix, Some(named)),
            8 => (Door::Unix, op::Opening::Unix, None),
            9 => (Door::Local, op::Opening::Http, Some(named)),
            10 => (Door::Local, op::Opening::Mcp, Some(named)),
            11 | 12 => {
                (Door::WebSocket, op::Opening::Browser, Some(Hello { shows: Shows::Key, ..extension }))
            }
            13 => (Door::WebSocket, op::Opening::ApprovedBrowser, Some(Hello { two: false, ..extension })),
            _ => (Door::Unix, op::Opening::Unix, Some(extension)),
        };
        Self { door, opening: peer(opening), hello, honest: true, greedy: false, life_ms }
    }

    fn dishonest(chance: &Chance) -> Self {
        let bytes = chance.bytes(64);
        let mut u = Unstructured::new(&bytes);
        let opening = op::Opening::arbitrary(&mut u).unwrap_or(op::Opening::Unix);
        let hello = Hello::arbitrary(&mut u).ok();
        let door = match opening {
            op::Opening::Unix => Door::Unix,
            op::Opening::Http | op::Opening::Mcp | op::Opening::Memory => Door::Local,
            _ => Door::WebSocket,
        };
        Self { door, opening: peer(opening), hello, honest: false, greedy: false, life_ms: 0 }
    }

    /// One of those that crowd a world.
    pub(crate) fn greedy(chance: &Chance) -> Self {
        let (door, opening) =
            chance.pick(&[(Door::WebSocket, op::Opening::SameUser), (Door::Unix, op::Opening::Unix)]);
        let hello = Hello {
            role: HelloRole::Client,
            two: false,
            browser: 0,
            shows: Shows::Nothing,
            client: 0,
            class: 0,
            odd_name: false,
        };
        let life_ms = chance.pick(&[30_000, 90_000]);
        Self { door, opening: peer(opening), hello: Some(hello), honest: false, greedy: true, life_ms }
    }

    /// Whether it wants to be asked.
    pub(crate) fn is_extension(&self) -> bool {
        self.hello.is_some_and(|hello| hello.role == HelloRole::Extension)
    }
}
