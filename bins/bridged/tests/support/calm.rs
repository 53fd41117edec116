//! What must hold after every attack: an honest client is served at once on every door, and nothing stays behind.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use serde_json::json;

use super::http::Web;
use super::{Daemon, within};

/// What may stay behind of memory, in KiB: the allocator's own affair.
const SLACK: u64 = 5 << 10;

/// Descriptors opened at the first need and kept: the one that asks the kernel who a peer is, and the audit's file.
const LASTING: usize = 2;

/// A daemon as it was before the attack.
pub struct Calm {
    descriptors: usize,
    memory: u64,
}

impl Calm {
    /// Looks at a daemon that nobody is connected to, and that has served every door once.
    pub fn of(daemon: &Daemon, web: Option<&Web>) -> Calm {
        let descriptors = daemon.descriptors() + LASTING;
        honest(daemon, web);
        within("the first clients are gone", || daemon.descriptors() <= descriptors);
        Calm { descriptors, memory: daemon.memory() }
    }

    /// Everything is as it was before.
    #[track_caller]
    pub fn again(&self, daemon: &Daemon, web: Option<&Web>) {
        honest(daemon, web);
        within("the descriptors are back", || daemon.descriptors() <= self.descriptors);
        within("the memory is back", || daemon.memory() <= self.memory + SLACK);
    }
}

/// A fresh client at each door gets its answer.
#[track_caller]
pub fn honest(daemon: &Daemon, web: Option<&Web>) {
    assert_eq!(daemon.client().call("ping", json!({}))["result"]["pong"], true);
    let ping = json!({"id": "1", "method": "ping"});
    assert_eq!(daemon.lines().ask(&ping)["result"]["pong"], true);
    if let Some(web) = web {
        assert_eq!(web.command("ping", json!({})).data()["pong"], true);
    }
}

impl Daemon {
    /// How many descriptors it holds.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// The memory it holds, in KiB.
    pub fn memory(&self) -> u64 {
        self.kilobytes("VmRSS:")
    }

    /// The most memory it has held since [`Daemon::forget_peak`], in KiB.
    pub fn peak(&self) -> u64 {
        self.kilobytes("VmHWM:")
    }

    pub fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    fn kilobytes(&self, what: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }
}
