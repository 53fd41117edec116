//! How much of everything a driver holds at a moment.

use crate::{Clock, Driver, Host};
use bridge_core::{Congestion, ConnId, Role};

/// Counts of a driver's belongings: bounded at any time, and all zero when the last connection has gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Connections that are not over.
    pub links: usize,
    /// Connections that the hub knows.
    pub known: usize,
    /// Calls in flight in the hub.
    pub calls: usize,
    /// Bytes in all queues, as the driver counts them along the way.
    pub queued: usize,
    /// The same, counted now.
    pub waiting: usize,
    /// The longest queue, without the message being written.
    pub longest_behind: usize,
    /// Bytes of clients' messages that are unfinished or wait for their turn, as the driver counts them along the way.
    pub incoming: usize,
    /// The same, counted now.
    pub held: usize,
    /// Requests whose turn has not come.
    pub turns: usize,
    /// Deadlines of the driver's own.
    pub dues: usize,
    /// Whether connections have been woken and not polled yet.
    pub ready: bool,
    /// Connections that stand in a list of work to do: to be written to, or whose turn has come.
    pub listed: usize,
    /// Connections whose queue counts as long.
    pub congested: usize,
    /// Connections that are not read until something else is done.
    pub paused: usize,
}

/// A connection's queue as the driver counted it last.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// Whose it is.
    pub conn: ConnId,
    /// Bytes.
    pub counted: usize,
    /// Bytes behind the message being written.
    pub behind: usize,
    /// What may wait there.
    pub limit: usize,
    /// Bytes of a message that it has begun and not finished.
    pub unfinished: usize,
    /// When the socket last took something, in milliseconds, if it takes no more.
    pub stalled_since: Option<u64>,
}

impl<H: Host, C: Clock> Driver<H, C> {
    /// The queues of all connections that the hub knows.
    #[must_use]
    pub fn queues(&self) -> Vec<Queue> {
        let options = &self.0.options;
        let queue = |link: &crate::link::AnyLink| {
            Some(Queue {
                conn: link.id.get()?,
                counted: link.counted.get(),
                behind: link.behind(),
                limit: match link.role.get() {
                    Some(Role::Extension) => options.extension_queue,
                    _ => options.client_queue,
                },
                unfinished: link.unfinished.get(),
                stalled_since: link.blocked.get().then(|| link.progress.get()),
            })
        };
        self.0.links.borrow().iter().flatten().filter_map(queue).collect()
    }

    /// What the client's next answer is taken to weigh, and how many bytes of answers it may have under way.
    #[must_use]
    pub fn turn(&self, conn: ConnId) -> Option<(usize, usize)> {
        let link = self.0.link(conn)?;
        Some((link.turns.weight(self.0.options.under_way), self.0.window(&link)))
    }

    /// Counts everything.
    #[must_use]
    pub fn census(&self) -> Census {
        let shared = &self.0;
        let all = shared.all.borrow();
        let mut census = Census {
            known: shared.links.borrow().iter().flatten().count(),
            calls: shared.hub.borrow().in_flight(),
            queued: shared.queued.get(),
            incoming: shared.incoming.get(),
            ready: !shared.ready.none(),
            dues: shared.dues.borrow().len(),
            listed: shared.touched.borrow().len() + shared.turns.borrow().len(),
            paused: shared.paused.borrow().len(),
            ..Census::default()
        };
        for link in all.links.iter().flatten() {
            census.links += 1;
            census.congested += usize::from(link.congestion.get() != Congestion::Clear);
            census.waiting += link.waiting();
            census.longest_behind = census.longest_behind.max(link.behind());
            census.held += link.turns.held();
            if link.role.get() != Some(Role::Extension) {
                census.held += link.wire.borrow_mut().codec().map_or(0, |codec| codec.held());
            }
            census.turns += link.turns.len();
        }
        census
    }
}
