//! The browsers that are or were connected: by their own ids, with who serves each now.
//!
//! The table is small and fixed. A browser that left keeps its place, so that its clients find it again when it is back;
//! when the table is full the one that left longest ago gives way.

use crate::output::Congestion;
use crate::slots::ConnId;
use crate::text::Name;
use crate::time::Instant;

/// The most browsers at one time.
pub(crate) const BROWSERS: usize = 16;

/// A place in the table, stale once another browser has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrowserRef {
    pub(crate) index: u8,
    generation: u32,
}

/// What an extension says of itself in its hello.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) name: Name<64>,
    pub(crate) key_id: Name<32>,
    pub(crate) version: Name<24>,
    pub(crate) build: Name<24>,
    pub(crate) methods: u16,
    pub(crate) fingerprint: u64,
}

/// One browser.
#[derive(Debug)]
pub(crate) struct Browser {
    generation: u32,
    pub(crate) id: Name<64>,
    /// Who serves it; `NOBODY` if it left.
    pub(crate) conn: ConnId,
    pub(crate) about: About,
    pub(crate) proven: bool,
    pub(crate) protocol: u8,
    pub(crate) since: Instant,
    pub(crate) congestion: Congestion,
    /// Place in the order of arrivals (if here) or departures (if not).
    order: u64,
    window: Instant,
    takeovers: u8,
    stray_window: Instant,
    strays: u8,
}

impl Browser {
    pub(crate) fn is_here(&self) -> bool {
        self.conn != ConnId::NOBODY
    }
}

/// The table.
#[derive(Debug)]
pub(crate) struct Browsers {
    table: [Option<Browser>; BROWSERS],
    order: u64,
    generation: u32,
}

/// Why a newcomer may not serve a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotNow {
    /// One that proved itself is here, and the newcomer did not.
    Unproven,
    /// Two of them throw each other out.
    FlipFlop,
    /// The table is full of browsers that are here.
    TooMany,
}

impl Browsers {
    pub(crate) const fn new() -> Self {
        Self { table: [const { None }; BROWSERS], order: 0, generation: 0 }
    }

    pub(crate) fn get(&self, at: BrowserRef) -> Option<&Browser> {
        self.table.get(usize::from(at.index))?.as_ref().filter(|it| it.generation == at.generation)
    }

    pub(crate) fn get_mut(&mut self, at: BrowserRef) -> Option<&mut Browser> {
        self.table.get_mut(usize::from(at.index))?.as_mut().filter(|it| it.generation == at.generation)
    }

    /// Those that are connected.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Browser> {
        self.table.iter().flatten().filter(|it| it.is_here())
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<BrowserRef> {
        self.refs().find(|(_, it)| it.id == id).map(|(at, _)| at)
    }

    /// The one that a client without a browser gets: the newest arrival, of those that proved themselves if any did.
    pub(crate) fn newest(&self) -> Option<BrowserRef> {
        self.refs()
            .filter(|(_, it)| it.is_here())
            .max_by_key(|(_, it)| (it.proven, it.order))
            .map(|(at, _)| at)
    }

    /// Whether a newcomer may serve the browser `id`. Says which place it will have and whom it replaces there.
    pub(crate) fn admit(
        &mut self,
        id: &str,
        proven: bool,
        now: Instant,
        (window_ms, most): (u64, u8),
    ) -> Result<Option<BrowserRef>, NotNow> {
        if !proven && self.here().any(|it| it.proven) {
            return Err(NotNow::Unproven);
        }
        let Some(at) = self.by_id(id) else {
            let free = self.table.iter().any(|it| it.as_ref().is_none_or(|it| !it.is_here()));
            return if free { Ok(None) } else { Err(NotNow::TooMany) };
        };
        if let Some(browser) = self.get_mut(at).filter(|it| it.is_here() && !it.id.is_empty()) {
            if now.saturating_since(browser.window) > window_ms || browser.takeovers == 0 {
                (browser.window, browser.takeovers) = (now, 0);
            }
            if browser.takeovers >= most {
                return Err(NotNow::FlipFlop);
            }
            browser.takeovers = browser.takeovers.saturating_add(1);
        }
        Ok(Some(at))
    }

    /// Seats an admitted newcomer. Returns its place and the connection that it replaced.
    pub(crate) fn seat(
        &mut self,
        at: Option<BrowserRef>,
        id: &Name<64>,
        conn: ConnId,
        about: About,
        (proven, protocol): (bool, u8),
        now: Instant,
    ) -> Option<(BrowserRef, Option<ConnId>)> {
        self.order = self.order.saturating_add(1);
        let order = self.order;
        let at = match at.filter(|at| self.get(*at).is_some()) {
            Some(at) => at,
            None => {
                // An unused place, else that of the browser that left longest ago.
                let (index, _) = self.table.iter().enumerate().min_by_key(|(_, it)| match it {
                    None => (0, 0),
                    Some(it) if it.is_here() => (2, it.order),
                    Some(it) => (1, it.order),
                })?;
                self.generation = self.generation.wrapping_add(1);
                let at = BrowserRef { index: u8::try_from(index).ok()?, generation: self.generation };
                *self.table.get_mut(index)? = Some(Browser {
                    generation: self.generation,
                    id: id.clone(),
                    conn: ConnId::NOBODY,
                    about: About::default(),
                    proven,
                    protocol,
                    since: now,
                    congestion: Congestion::Clear,
                    order,
                    window: now,
                    takeovers: 0,
                    stray_window: now,
                    strays: 0,
                });
                at
            }
        };
        let browser = self.get_mut(at)?;
        let old = core::mem::replace(&mut browser.conn, conn);
        (browser.about, browser.proven, browser.protocol) = (about, proven, protocol);
        (browser.since, browser.order, browser.congestion) = (now, order, Congestion::Clear);
        Some((at, (old != ConnId::NOBODY).then_some(old)))
    }

    /// `conn` serves its browser no more, unless another took over already.
    pub(crate) fn left(&mut self, at: BrowserRef, conn: ConnId) {
        self.order = self.order.saturating_add(1);
        let order = self.order;
        if let Some(browser) = self.get_mut(at).filter(|it| it.conn == conn) {
            browser.conn = ConnId::NOBODY;
            browser.order = order;
        }
    }

    pub(crate) fn at_index(&self, index: usize) -> Option<&Browser> {
        self.table.get(index)?.as_ref()
    }

    /// Counts an answer that nobody waits for; `true` at the hundredth within a minute.
    pub(crate) fn stray(&mut self, at: BrowserRef, now: Instant) -> bool {
        let Some(browser) = self.get_mut(at) else { return false };
        if now.saturating_since(browser.stray_window) > 60_000 {
            (browser.stray_window, browser.strays) = (now, 0);
        }
        browser.strays = browser.strays.saturating_add(1);
        browser.strays == 100
    }

    fn refs(&self) -> impl Iterator<Item = (BrowserRef, &Browser)> {
        (0u8..).zip(self.table.iter()).filter_map(|(index, it)| {
            let it = it.as_ref()?;
            Some((BrowserRef { index, generation: it.generation }, it))
        })
    }
}
