//! One connection's slot: its stage, and what is known of it there.

use crate::browsers::BrowserRef;
use crate::code::CloseCode;
use crate::list::{Link, Linked, List, NONE};
use crate::peer::{Class, Door, Owner, Role, Trust};
use crate::proof::Challenge;
use crate::slots::Slot;
use crate::text::Name;
use crate::time::Instant;

/// Storage for one connection. Hosts make vacant ones; the rest is the hub's business.
#[derive(Debug)]
pub struct Connection {
    pub(crate) epoch: u32,
    pub(crate) next_free: u16,
    pub(crate) live: Link,
    pub(crate) stage_link: Link,
    pub(crate) door: Door,
    pub(crate) trust: Trust,
    /// Protocol errors so far.
    pub(crate) errors: u8,
    /// The peer sends nothing more; close once its calls are answered.
    pub(crate) half_closed: bool,
    /// Calls it asked (client, control) or was asked (extension).
    pub(crate) calls: List,
    pub(crate) in_flight: u16,
    /// Those among them that the host keeps back.
    pub(crate) held: u16,
    /// When the hello or the proof is due.
    pub(crate) due: Instant,
    pub(crate) stage: Stage,
}

/// How far a connection has come. See the crate's state diagram.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "slots are lent, never moved; a box would need a heap")]
pub(crate) enum Stage {
    Vacant,
    /// Its hello is due.
    Greeting(Greeting),
    /// It was challenged; its proof is due.
    Proving(Challenge),
    /// It asks.
    Client(Client),
    /// It is asked.
    Extension(BrowserRef),
    /// It is no longer there for anyone; its calls are being answered or cancelled.
    Closing(Ending),
}

/// What the door said, kept for the hello.
#[derive(Debug)]
pub(crate) struct Greeting {
    pub(crate) origin: Name<64>,
    pub(crate) approved: bool,
    pub(crate) address: Name<48>,
}

/// Who asks.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) owner: Owner,
    pub(crate) name: Name<64>,
    pub(crate) class: Class,
    pub(crate) control: bool,
    pub(crate) protocol: u8,
    /// The browser it was bound to by its first forwarded request.
    pub(crate) browser: Option<BrowserRef>,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    /// What it was.
    pub(crate) role: Option<Role>,
    /// What to tell the peer; `None` if the host knows already, or was told.
    pub(crate) close: Option<(CloseCode, &'static str)>,
    /// What those hear who asked this browser.
    pub(crate) lost: Lost,
}

/// How a browser was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Disconnected,
    Replaced,
    Shutdown,
}

impl Connection {
    /// An unused slot, for arrays: `[const { Connection::vacant() }; 64]`.
    #[must_use]
    pub const fn vacant() -> Self {
        Self {
            epoch: 0,
            next_free: NONE,
            live: Link::LOOSE,
            stage_link: Link::LOOSE,
            door: Door::Memory,
            trust: Trust::Unknown,
            errors: 0,
            half_closed: false,
            calls: List::EMPTY,
            in_flight: 0,
            held: 0,
            due: Instant::from_millis(0),
            stage: Stage::Vacant,
        }
    }

    pub(crate) const fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Vacant | Stage::Closing(_))
    }

    pub(crate) const fn role(&self) -> Option<Role> {
        match &self.stage {
            Stage::Client(Client { control: true, .. }) => Some(Role::Control),
            Stage::Client(_) => Some(Role::Client),
            Stage::Extension(_) => Some(Role::Extension),
            Stage::Closing(Ending { role, .. }) => *role,
            _ => None,
        }
    }

    /// The pool that a connection without a hello is counted in: strangers, same user, local.
    pub(crate) const fn pool(&self) -> usize {
        match (self.door, self.trust) {
            (Door::WebSocket, Trust::Unknown) => 0,
            (Door::WebSocket, _) => 1,
            _ => 2,
        }
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
    fn vacate(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.stage = Stage::Vacant;
    }
    fn occupied(&self) -> bool {
        !matches!(self.stage, Stage::Vacant)
    }
}

/// The lists a connection stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ConnList {
    /// All that are open.
    Live,
    /// Those of one stage: greeting, proving or closing.
    Stage,
}

impl Linked<ConnList> for Connection {
    fn link_mut(&mut self, chain: ConnList) -> &mut Link {
        match chain {
            ConnList::Live => &mut self.live,
            ConnList::Stage => &mut self.stage_link,
        }
    }
}
