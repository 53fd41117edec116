//! What a driver gives its hub, said to the host: with it a run can be written down and repeated.

use bridge_core::{CallId, Congestion, ConnId, Peer, Violation};

/// One input of the hub, told right before the hub gets it. A hub that is given the same secrets, times and inputs
/// does the same again, byte for byte.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are the hub's own; the fields are their arguments")]
pub enum Input<'a> {
    Open(&'a Peer<'a>),
    Frame(ConnId, &'a [u8]),
    /// What becomes of the request that the last frame turned out to be: forwarded, with other params if the host
    /// chose some.
    Forward(Option<&'a [u8]>),
    Refuse,
    /// Refused by the driver itself, for too much waits for its turn.
    Busy,
    Answer,
    Hold,
    Release {
        call: CallId,
        method: &'a str,
        params: &'a [u8],
        once: Option<&'a str>,
    },
    Complete(CallId),
    Fail(CallId),
    Close(ConnId),
    HalfClose(ConnId),
    Reject(ConnId, Violation),
    Congested(ConnId, Congestion),
    Timeout,
    Shutdown,
}
