//! What must hold at every moment, in the calm, and at the end.

use crate::episode::Episode;
use crate::nature::Door;
use crate::peer::Peer;
use crate::time::LATE_MS;
use bridge_core::Event;
use bridge_model::replay::Input;
use std::collections::BTreeSet;

/// Steps in one moment that nothing honest needs.
const BUSY: u64 = 100_000;

impl Episode {
    /// Nobody keeps the others busy for ever.
    pub(crate) fn check_that_time_passes(&mut self) {
        let now = self.time.now();
        if self.moment.0 != now {
            self.moment = (now, self.steps);
        }
        assert!(self.steps - self.moment.1 < BUSY, "at {now}: always something to do, and no time passes");
    }

    /// When nobody has anything to do until time passes.
    pub(crate) fn check_a_moment(&self) {
        let now = self.time.now();
        let due = self.driver.look(|hub| hub.poll_timeout());
        if let Some((due, why)) = due {
            assert!(
                due.as_millis() + LATE_MS >= now,
                "at {now}: {why:?} was due at {due:?} and nobody looked"
            );
        }
        if !self.steps.is_multiple_of(8) {
            return;
        }
        let census = self.driver.census();
        let options = &self.options;
        assert_eq!(census.queued, census.waiting, "the sum of all queues: {census:?}");
        assert!(census.listed == 0 && !census.ready, "work is left lying: {census:?}");
        let why = census.congested + census.turns;
        assert!(census.paused == 0 || why > 0, "somebody is not read, and for no reason: {census:?}");
        assert_eq!(census.incoming, census.held, "the sum of what came in and went nowhere: {census:?}");
        assert!(census.incoming <= options.all_incoming, "too much came in and went nowhere: {census:?}");
        let longest = options.client_queue.max(options.extension_queue);
        assert!(census.longest_behind <= longest, "a queue is too long: {census:?}");
        // What is being written when a queue is cut off stays.
        let spare = census.links * self.config.limits.extension_bytes.max(64 << 10);
        assert!(census.waiting <= options.all_queues + spare, "all queues are too long: {census:?}");
        // Queues that are hardly begun are not looked at.
        let queues = self.driver.queues();
        let open: usize = queues.iter().map(|queue| queue.counted).sum();
        let begun = queues.len() * options.fast_mark;
        assert!(open <= options.all_queues + begun, "nobody was cut off for {open} bytes in all queues");
        assert!(census.calls <= self.config.limits.in_flight, "{census:?}");
    }

    /// All links are as good as they were made, nothing new was asked for a while, and time has passed: whoever did
    /// nothing wrong has everything.
    pub(crate) fn check_the_calm(&self) {
        let joined = self.joined();
        let fed = self.fed();
        // Where all queues together have little room, the one that has to go may be anybody's.
        let relieved: BTreeSet<usize> =
            self.host.watch.relieved.borrow().iter().filter_map(|conn| self.world.number(*conn)).collect();
        for peer in self.peers.iter().filter(|peer| peer.blameless) {
            let Some(conn) = peer.conn.filter(|conn| joined.contains(conn) && !relieved.contains(conn))
            else {
                continue;
            };
            let extension = peer.nature.is_extension();
            if matches!(peer.wire, crate::peer::Wire::Gone) {
                continue;
            }
            let number = peer.number;
            let last = peer.heard.last().map(|last| show(last));
            assert!(
                !peer.ended || extension,
                "{number} did nothing wrong and was closed: {}, {last:?}, {:?}",
                peer.why,
                peer.nature
            );
            if peer.ended {
                continue;
            }
            let census = self.driver.census();
            assert!(peer.pending.is_empty(), "{number} still waits for {:?}, {census:?}", peer.pending);
            assert_eq!(fed[conn], peer.said, "what {number} said and what the hub was given");
        }
        for peer in self.peers.iter().filter(|peer| peer.vanished) {
            let over = peer.task.is_none_or(|task| self.executor.is_over(task));
            assert!(over, "{} has vanished long ago and is still served", peer.number);
        }
        self.check_what_was_heard(true);
    }

    /// Everything that peers heard is what the model's hub sent them, in order and byte for byte.
    fn check_what_was_heard(&self, calm: bool) {
        let delivered = self.world.delivered();
        for peer in &self.peers {
            let Some(conn) = peer.conn else { continue };
            let lines = peer.nature.door == Door::Unix;
            let sent = &delivered[conn];
            let number = peer.number;
            let heard = match peer.heard.split_last() {
                // Why a line was not taken is the door's own last word.
                Some((last, before)) if before.len() == sent.len() && lines && is_doors_word(last) => {
                    assert!(!peer.blameless, "{number} was told {}", show(last));
                    before
                }
                _ => &peer.heard[..],
            };
            assert!(
                heard.len() <= sent.len(),
                "{number} heard more than was sent: {:?}",
                heard.last().map(|last| show(last))
            );
            for (heard, sent) in heard.iter().zip(sent) {
                assert!(same(heard, sent, lines), "{number} heard {} for {}", show(heard), show(sent));
            }
            if calm && peer.blameless && peer.is_here() {
                assert_eq!(heard.len(), sent.len(), "{number} has not heard everything");
            }
        }
    }

    /// Everybody has gone: nothing is left of them.
    pub(crate) fn check_the_end(&mut self) {
        let census = self.driver.census();
        assert_eq!(census, Default::default(), "something is left");
        let due = self.driver.look(|hub| hub.poll_timeout());
        assert_eq!(due, None, "the hub waits for something");
        for peer in &self.peers {
            assert!(
                peer.task.is_none_or(|task| self.executor.is_over(task)),
                "{} is still served",
                peer.number
            );
        }
        self.check_what_was_heard(false);
        self.world.finish();
        if let Err(why) = self.world.ledger.check_all() {
            panic!("{why}");
        }
    }

    /// Which connections the hub took in.
    fn joined(&self) -> BTreeSet<usize> {
        let events = self.host.events.borrow();
        let joined = events.iter().filter_map(|event| match event {
            Event::Joined { conn, .. } => self.world.number(*conn),
            _ => None,
        });
        joined.collect()
    }

    /// How many messages of each connection the hub was given.
    fn fed(&self) -> Vec<usize> {
        let mut fed =
            vec![0; self.peers.iter().filter_map(|peer: &Peer| peer.conn).max().map_or(0, |max| max + 1)];
        for (_, input) in self.host.inputs.borrow().iter() {
            if let Input::Frame(id, _) = input
                && let Some(conn) = self.world.number(*id)
            {
                fed[conn] += 1;
            }
        }
        fed
    }
}

/// Whether these are the same bytes; on lines, a line end inside a message is a space.
fn same(heard: &[u8], sent: &[u8], lines: bool) -> bool {
    heard == sent
        || lines
            && heard.len() == sent.len()
            && heard
                .iter()
                .zip(sent)
                .all(|(heard, sent)| heard == sent || *heard == b' ' && matches!(sent, b'\n' | b'\r'))
}

/// The last line of a door of lines to a peer whose own was none.
fn is_doors_word(heard: &[u8]) -> bool {
    [r#"{"type":"error","error":"message too large","#, r#"{"type":"error","error":"not UTF-8","#]
        .iter()
        .any(|word| heard.starts_with(word.as_bytes()))
}

fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(300).collect()
}
