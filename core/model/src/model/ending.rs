//! How calls and connections end.

use bridge_core::{Code, Congestion, Violation};

use super::{Call, Model, Out, Said, Stage, State, Why};
use crate::ledger::Conn;

/// Deadlines are met in ticks of this many milliseconds, never early.
const TICK: u64 = 8;

impl Model {
    /// A call is over, by an answer of the hub's own.
    pub(super) fn over(&mut self, call: usize, code: Code, text: Option<&str>) {
        let Some(Call { asker, id, state, .. }) = self.calls.get(&call).cloned() else { return };
        let sent = matches!(state, State::Sent { .. });
        self.error(asker, &id, code, text, sent);
        // The browser may still be at work on it, unless this came from itself.
        if let (State::Sent { asked, wire }, true) = (state, code != Code::InvalidResponse) {
            self.cancel(asked, wire);
        }
        self.forget(call);
    }

    fn cancel(&mut self, asked: Conn, wire: String) {
        if let Some(Stage::Extension { protocol: 2, .. }) = self.conns.get(&asked).map(|it| &it.stage) {
            self.send(asked, Said::Cancel(wire));
        }
    }

    /// Takes a call out. A client that only waited for its last answer goes with it.
    pub(super) fn forget(&mut self, call: usize) {
        if let Some(Call { asker, .. }) = self.calls.remove(&call) {
            self.close_if_done(asker);
        }
    }

    fn close_if_done(&mut self, conn: Conn) {
        let waits = self.calls.values().any(|call| call.asker == conn);
        if !waits && self.conns.get(&conn).is_some_and(|it| it.half_closed) {
            self.end(conn, Some(1000), Why::Gone);
        }
    }

    /// The connection ends: its own calls are cancelled, those that it was asked are answered.
    pub(super) fn end(&mut self, conn: Conn, code: Option<u16>, why: Why) {
        let Some(connection) = self.conns.remove(&conn) else { return };
        self.out.extend(code.map(|code| Out::Close(conn, code)));
        match connection.stage {
            Stage::Extension { browser, .. } => {
                if let Some(browser) = self.browsers.get_mut(&browser)
                    && browser.here == Some(conn)
                {
                    browser.here = None;
                }
                let asked = |call: &Call| matches!(call.state, State::Sent { asked, .. } if asked == conn);
                let lost: Vec<usize> =
                    self.calls.iter().filter(|(_, call)| asked(call)).map(|(n, _)| *n).collect();
                for call in lost {
                    let (code, text) = match why {
                        Why::Gone => (Code::ExtensionDisconnected, "extension disconnected"),
                        Why::Replaced => (Code::ExtensionReplaced, "extension replaced by a new connection"),
                        Why::Shutdown => (Code::ShuttingDown, "shutting down"),
                    };
                    self.over(call, code, Some(text));
                }
            }
            Stage::Client { .. } => {
                let own: Vec<usize> =
                    self.calls.iter().filter(|(_, call)| call.asker == conn).map(|(n, _)| *n).collect();
                for call in own {
                    if let Some(Call { state: State::Sent { asked, wire }, .. }) = self.calls.remove(&call) {
                        self.cancel(asked, wire);
                    }
                }
            }
            Stage::Greeting { .. } | Stage::Proving { .. } => {}
        }
    }

    /// The peer is gone: it hears nothing more, not even what was on its way.
    pub fn close(&mut self, conn: Conn) {
        self.end(conn, None, Why::Gone);
        self.out.retain(|out| !matches!(out, Out::Send(to, _) | Out::Close(to, _) if *to == conn));
    }

    /// The peer sends nothing more.
    pub fn half_close(&mut self, conn: Conn) {
        if self.asks(conn) {
            self.conns.get_mut(&conn).unwrap().half_closed = true;
            self.close_if_done(conn);
        } else {
            self.end(conn, Some(1000), Why::Gone);
        }
    }

    /// The door wants it closed.
    pub fn reject(&mut self, conn: Conn, why: Violation) {
        if !self.is_open(conn) {
            return;
        }
        if why == Violation::Binary && !self.asks(conn) && !self.is_asked(conn) {
            self.send(conn, Said::Fatal(Code::InvalidHello, Some("expected hello message")));
        }
        let code = match why {
            Violation::Binary => 1003,
            Violation::NotUtf8 => 1007,
            Violation::TooBig => 1009,
            Violation::Protocol => 1002,
            Violation::Unfinished => 1008,
            Violation::Slow => 4008,
            Violation::Silent => 1001,
            Violation::Revoked => 4003,
        };
        self.end(conn, Some(code), Why::Gone);
    }

    /// The write queue's level.
    pub fn congested(&mut self, conn: Conn, how: Congestion) {
        if let Some(Stage::Extension { browser, .. }) = self.conns.get(&conn).map(|it| it.stage.clone()) {
            self.browsers.get_mut(&browser).unwrap().congestion = how;
        }
    }

    /// Whether to read from it.
    pub fn wants_read(&self, conn: Conn) -> bool {
        match self.conns.get(&conn).map(|it| &it.stage) {
            None => false,
            Some(Stage::Client { bound: Some(browser), .. }) => {
                let browser = &self.browsers[browser];
                browser.here.is_none() || browser.congestion == Congestion::Clear
            }
            Some(_) => true,
        }
    }

    /// Time has come this far.
    pub fn handle_timeout(&mut self, now: u64) {
        self.now = now;
        let due: Vec<usize> = self
            .calls
            .iter()
            .filter(|(_, call)| call.deadline.next_multiple_of(TICK) <= now)
            .map(|(n, _)| *n)
            .collect();
        for call in due {
            let ms = self.calls[&call].timeout_ms;
            let seconds = f64::from(ms) / 1000.0;
            self.over(
                call,
                Code::Timeout,
                Some(&format!("timeout: extension did not respond in {seconds}s")),
            );
        }
        let late = |stage: &Stage| matches!(stage, Stage::Greeting { due } | Stage::Proving { due, .. } if *due <= now);
        let late: Vec<Conn> =
            self.conns.iter().filter(|(_, it)| late(&it.stage)).map(|(conn, _)| *conn).collect();
        for conn in late {
            self.end(conn, Some(1008), Why::Gone);
        }
    }

    /// When the next thing is due.
    pub fn next_due(&self) -> Option<u64> {
        let calls = self.calls.values().map(|call| call.deadline.next_multiple_of(TICK));
        let hellos = self.conns.values().filter_map(|it| match it.stage {
            Stage::Greeting { due } | Stage::Proving { due, .. } => Some(due),
            _ => None,
        });
        calls.chain(hellos).min()
    }

    /// Protocol-2 extensions hear of the new policy.
    pub fn policy_changed(&mut self) {
        let hear: Vec<Conn> = self
            .conns
            .iter()
            .filter(|(_, it)| matches!(it.stage, Stage::Extension { protocol: 2, .. }))
            .map(|(conn, _)| *conn)
            .collect();
        hear.into_iter().for_each(|conn| self.send(conn, Said::Policy));
    }

    /// Nothing new is accepted.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// Everything is answered, then closed.
    pub fn shutdown(&mut self) {
        self.draining = true;
        let extensions: Vec<Conn> = self.conns.keys().copied().filter(|conn| self.is_asked(*conn)).collect();
        for conn in extensions {
            self.end(conn, Some(1001), Why::Shutdown);
        }
        let held: Vec<usize> = self.calls.keys().copied().collect();
        for call in held {
            self.over(call, Code::ShuttingDown, Some("shutting down"));
        }
        let rest: Vec<Conn> = self.conns.keys().copied().collect();
        for conn in rest {
            self.end(conn, Some(1001), Why::Shutdown);
        }
    }
}
