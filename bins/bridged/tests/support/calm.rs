//! What must hold after every test: an honest client is served at once on every door, and nothing stays behind. [`Daemon`] asks
//! for it itself when a test is done with it, against what it was at its start; [`Calm`] is for a test that looks at it on the
//! way.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::time::{Duration, Instant};

use serde_json::json;

use super::http::Web;
use super::{Daemon, Peer, within};

/// What may stay behind of memory, in KiB: the allocator's own affair.
const SLACK: u64 = 5 << 10;

/// Descriptors opened at the first need and kept: the one that asks the kernel who a peer is, and the audit's file.
const LASTING: usize = 2;

/// An honest client's ping takes 50 ms at most; ten times that is what a test on a busy machine may ask for.
const SOON: Duration = Duration::from_millis(500);

/// A daemon that has just started.
pub struct Start {
    descriptors: usize,
    memory: u64,
}

impl Start {
    pub fn of(pid: u32) -> Start {
        Start { descriptors: descriptors(pid), memory: own_memory(pid) }
    }
}

impl Daemon {
    /// Whatever the test did to it: its peers are gone without a trace, and whoever comes now is served.
    #[track_caller]
    pub(super) fn is_calm(&self) {
        self.hang_up();
        let most = self.start.descriptors + LASTING;
        within("the descriptors are what they were at the start", || self.descriptors() <= most);
        within("an honest client is served at once", || {
            let began = Instant::now();
            self.serves_the_honest() && began.elapsed() < SOON
        });
        let most = self.start.memory + SLACK + (self.kept.get() << 10);
        let mut now = 0;
        within(&format!("the memory is what it was at the start, {most} KiB at most"), || {
            now = self.memory();
            now <= most
        });
    }

    /// At each of its doors, with the token that whoever may read this account's files has; `false` if it was let in nowhere yet.
    #[track_caller]
    fn serves_the_honest(&self) -> bool {
        let record = self.record();
        let token = std::fs::read_to_string(self.state.join("client.token")).unwrap();
        let token = token.trim();
        let hello =
            json!({"type": "hello", "role": "client", "protocol": 2, "name": "honest", "token": token});
        let Ok(mut peer) = Peer::open(self.port, None, &hello) else { return false };
        assert_eq!(peer.next().unwrap()["type"], "hello_ack");
        assert_eq!(peer.call("ping", json!({}))["result"]["pong"], true);
        let ping = json!({"id": "1", "method": "ping"});
        assert_eq!(self.lines().ask(&ping)["result"]["pong"], true);
        if let Some(address) = record["http"].as_str() {
            let web = Web { port: address.rsplit_once(':').unwrap().1.parse().unwrap() };
            let bearer = format!("Authorization: Bearer {token}");
            assert_eq!(web.post("/command", &[&bearer], &json!({"toolName": "ping"})).data()["pong"], true);
        }
        true
    }

    /// For a test of messages of many MiB: the allocator keeps blocks of sizes that it has seen come and go, so this many MiB
    /// may stay. That they do not grow is for [`Calm`] to show, where the same is done over and over.
    pub fn keeps(&self, mib: u64) {
        self.kept.set(mib);
    }
}

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
        descriptors(self.child.id())
    }

    /// The memory of its own that it holds, in KiB.
    pub fn memory(&self) -> u64 {
        own_memory(self.child.id())
    }

    /// The most memory it has held since [`Daemon::forget_peak`], in KiB; with what is mapped of the program's file, so it is
    /// compared with itself alone.
    pub fn peak(&self) -> u64 {
        kilobytes(self.child.id(), "VmHWM:")
    }

    pub fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Without what is mapped of the program's file: its pages come as they are first needed, and are nothing that a peer left behind.
fn own_memory(pid: u32) -> u64 {
    kilobytes(pid, "RssAnon:")
}

fn kilobytes(pid: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}
