//! The sessions with a handshake, and which of them makes room for another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::output::FrontConfig;
use crate::provider::{Provider, RpcError};
use crate::session::Session;

/// A session with a handshake.
pub(super) struct Kept<P: Provider> {
    pub(super) session: Session<P>,
    pub(super) name: Arc<str>,
    pub(super) caller: Arc<str>,
    pub(super) seen: Duration,
    /// Whether a call was made in it: one without is begun anew at no loss.
    pub(super) called: bool,
}

impl<P: Provider> Kept<P> {
    pub(super) fn expires(&self, idle: Duration) -> Option<Duration> {
        self.is_idle().then(|| self.seen.saturating_add(idle))
    }

    fn is_idle(&self) -> bool {
        self.session.in_flight() == 0
    }

    /// Whether both are the same client's: who is calling, and what it calls itself.
    fn is_of_the_same(&self, other: &Kept<P>) -> bool {
        self.caller == other.caller && self.session.client() == other.session.client()
    }
}

/// Which session has to go before `new` may stay, if one has to.
///
/// Every client has its share at most, beyond which its own sessions make room. Where all places are taken, what goes first has
/// called nothing, then what belongs to the client that has most: one that begins a session a call, and ends none, costs the
/// others theirs no more than it keeps them out.
pub(super) fn makes_room<P: Provider>(
    sessions: &BTreeMap<u64, Kept<P>>,
    new: &Kept<P>,
    config: &FrontConfig,
) -> Result<Option<u64>, RpcError> {
    let busy = |whose: &str| RpcError::new(-32603, format!("OVERLOADED: {whose} sessions are busy")).at(503);
    let of = |one: &Kept<P>| sessions.values().filter(|other| other.is_of_the_same(one)).count();
    let idle = sessions.iter().filter(|(_, kept)| kept.is_idle());
    let (went, why) = if of(new) >= config.max_sessions_client {
        let own = idle.filter(|(_, kept)| kept.is_of_the_same(new));
        (own.min_by_key(|(_, kept)| (kept.called, kept.seen)), "all of this client's")
    } else if sessions.len() >= config.max_sessions {
        let heaviest = |kept: &Kept<P>| usize::MAX.saturating_sub(of(kept));
        (idle.min_by_key(|(_, kept)| (kept.called, heaviest(kept), kept.seen)), "too many")
    } else {
        return Ok(None);
    };
    went.map(|(number, _)| Some(*number)).ok_or_else(|| busy(why))
}
