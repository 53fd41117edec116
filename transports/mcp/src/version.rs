//! The protocol revisions: their names, their order, and how a handshake chooses one.

/// A revision of MCP that this crate speaks. Later ones compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2024-11-05, the first.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches, tool annotations.
    V2025_03_26,
    /// 2025-06-18: structured results, no batches, the version header.
    V2025_06_18,
    /// 2025-11-25: the last with a handshake.
    V2025_11_25,
    /// 2026-07-28: stateless, every request says its version itself.
    V2026_07_28,
}

impl Version {
    /// Newest first: the order in which they are offered.
    pub const ALL: [Self; 5] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2025_03_26, Self::V2024_11_05];

    /// The newest revision that begins with `initialize`.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name, if it is one of ours.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Whether requests carry their own version, rather than a handshake.
    pub fn is_modern(self) -> bool {
        self >= Self::V2026_07_28
    }

    /// What `initialize` answers to a wish: the wish where it is ours, else the newest that has a handshake.
    pub fn negotiate(wish: &str) -> Self {
        Self::of(wish).filter(|version| !version.is_modern()).unwrap_or(Self::NEWEST_LEGACY)
    }

    /// JSON-RPC batches were described in one revision and usual in the one before it; later they are gone.
    pub fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    /// Results may carry `structuredContent`.
    pub fn has_structured_content(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// A progress notification may say in words what goes on.
    pub fn has_progress_message(self) -> bool {
        self >= Self::V2025_03_26
    }

    /// An error whose request could not be read leaves the id out, where earlier revisions say `null`.
    pub fn omits_unknown_id(self) -> bool {
        self >= Self::V2025_11_25
    }
}
