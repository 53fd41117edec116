//! Bounds and times of the driver's own. What the hub bounds stands in its `Config`.

/// Sizes in bytes, times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What may wait for a client behind the message being written; beyond it is cut off with 4008.
    pub client_queue: usize,
    /// The same for an extension.
    pub extension_queue: usize,
    /// What may wait in all queues together; beyond it the longest queue is cut off.
    pub all_queues: usize,
    /// What clients' messages may hold together that are not complete, or wait for their turn at a browser. Beyond it the largest
    /// unfinished one is cut off with 1009, and beyond half of it a request that would have to wait is answered `OVERLOADED`.
    pub all_incoming: usize,
    /// From here on a queue counts as slow: an extension's clients, or a client itself, are not read.
    pub slow_mark: usize,
    /// Below this it counts as fast again.
    pub fast_mark: usize,
    /// A write that makes no progress for so long ends the connection.
    pub stall_ms: u64,
    /// A message that is not complete after so long ends the connection.
    pub fragment_ms: u64,
    /// Time between two pings.
    pub ping_ms: u64,
    /// Unanswered pings that end the connection.
    pub pings_missed: u8,
    /// How long a closed connection may take to let go.
    pub linger_ms: u64,
    /// Connections whose head is still being read; the oldest goes when another one comes.
    pub heads: usize,
    /// How long a head may take.
    pub head_ms: u64,
    /// Bytes of answers that one client may have under way at the browsers, as far as they can be foreseen, and that those share
    /// who have more waiting. What an answer weighs is taken to be an eighth of it before the first has come, and never less
    /// than a 64th.
    pub under_way: usize,
    /// Bytes read at once. One buffer for all connections.
    pub read_bytes: usize,
}

impl Options {
    /// The same, with marks that lie below the queues that they speak of.
    pub(crate) fn consistent(self) -> Self {
        let shortest = self.client_queue.min(self.extension_queue);
        let slow_mark = self.slow_mark.min(shortest / 2);
        Self { slow_mark, fast_mark: self.fast_mark.min(slow_mark / 4), ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client_queue: 16 << 20,
            extension_queue: 64 << 20,
            all_queues: 256 << 20,
            all_incoming: 128 << 20,
            slow_mark: 1 << 20,
            fast_mark: 256 << 10,
            stall_ms: 10_000,
            fragment_ms: 30_000,
            ping_ms: 15_000,
            pings_missed: 2,
            linger_ms: 1_000,
            heads: 32,
            head_ms: 5_000,
            under_way: 8 << 20,
            read_bytes: 128 << 10,
        }
    }
}
