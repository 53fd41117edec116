//! The audit: one line for each call that changes something or is refused, one a second for each kind of reading. Here is what the
//! hub's thread does for it, which must cost next to nothing; the file is another thread's business ([`book`]).

mod book;
mod calls;
mod entry;
mod peers;
mod pieces;
mod print;
mod refusals;
mod said;
mod seen;
mod watch;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::time::{Instant, SystemTime};

use bridge_core::{CallId, Code, ConnId, Fault};

pub(crate) use book::Gaps;
pub(crate) use entry::{Entry, Who};
pub(crate) use pieces::{NAME, pieces};
pub(crate) use print::run as print;
pub(crate) use watch::Watchers;

use book::Book;
use calls::Call;
use peers::Peer;
use seen::Seen;

/// Told by whoever changes the policy, whatever the way.
const TOLD_ELSEWHERE: &str = "policy_set";

/// What the hub's thread knows.
pub(crate) struct Audit {
    book: Book,
    /// Those who watch calls as they pass.
    pub watchers: Watchers,
    /// Whether nothing may be changed that cannot be written down.
    required: Cell<bool>,
    began: Instant,
    /// Those who asked for something, by the hub's slots.
    peers: RefCell<Vec<Option<Box<Peer>>>>,
    /// What is refused before it is anybody's.
    knocks: RefCell<Seen>,
    /// The request that was judged last, until it is known what becomes of it.
    judged: RefCell<Option<Call>>,
    calls: RefCell<HashMap<CallId, Call>>,
    browsers: RefCell<Vec<(ConnId, String)>>,
}

impl Audit {
    pub(crate) fn new(state: &Path, required: bool) -> Audit {
        Audit {
            book: Book::new(state),
            watchers: Watchers::default(),
            required: Cell::new(required),
            began: Instant::now(),
            peers: RefCell::default(),
            knocks: RefCell::default(),
            judged: RefCell::default(),
            calls: RefCell::default(),
            browsers: RefCell::default(),
        }
    }

    /// Says whether nothing may be changed that cannot be written down.
    pub(crate) fn require(&self, required: bool) {
        self.required.set(required);
    }

    /// Whether that is so.
    pub(crate) fn is_required(&self) -> bool {
        self.required.get()
    }

    /// Why lines are missing, if they are.
    pub(crate) fn degraded(&self) -> Option<String> {
        self.book.degraded()
    }

    /// The same for `status`.
    pub(crate) fn gaps(&self) -> Gaps {
        self.book.gaps()
    }

    /// For `bridged audit`: whether lines wait to be written, and are written soon.
    pub(crate) fn hurry(&self) -> bool {
        self.book.hurry()
    }

    /// Writes what is left.
    pub(crate) fn close(&self) {
        self.book.close();
    }

    /// An entry of this moment.
    fn now(&self) -> Entry {
        let mono_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Entry { at: Some(SystemTime::now()), mono_ms, ..Entry::default() }
    }
}

/// The second that one line stands for. The coarse clock: each call asks, and a tick more or less is no matter here.
fn this_second() -> u64 {
    rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse).tv_sec.cast_unsigned()
}

/// The code of the answer that a request gets that was not taken on.
const fn code_of(why: Fault) -> Code {
    match why {
        Fault::DuplicateId => Code::DuplicateId,
        Fault::NoExtension => Code::NoExtension,
        Fault::NoSuchBrowser => Code::NoSuchBrowser,
        Fault::Overloaded | Fault::Congested => Code::Overloaded,
        Fault::ShuttingDown => Code::ShuttingDown,
        Fault::UnknownMethod => Code::UnknownMethod,
        Fault::PermissionDenied => Code::PermissionDenied,
        Fault::InvalidParams => Code::InvalidParams,
        Fault::TooLarge => Code::TooLarge,
        _ => Code::InvalidRequest,
    }
}
