//! Calls: what was asked for, what was decided, and what came of it.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::time::Instant;

use bridge_catalogue::{Access, catalogue};
use bridge_core::{CallId, Code, ConnId, Fault, Request, Role};
use bridge_driver::Judgement;

use super::entry::Entry;
use super::said::Said;
use super::{Audit, TOLD_ELSEWHERE, code_of, this_second};
use crate::permit::changes;

/// An answer up to this size is looked into for what it says of tab and page.
const SMALL: usize = 64 << 10;
/// Methods whose params say more than may be kept.
const TOLD_OTHERWISE: &[&str] = &["run_script", "evaluate", "wait_for", "batch"];
/// Control methods that only look.
const LOOKING: &[&str] = &["policy_get", "pairings", "doctor", "audit", "watch"];

/// A call that will be a line, or is watched.
pub(super) struct Call {
    entry: Entry,
    conn: ConnId,
    since: Instant,
    /// Whether it is written, or only watched.
    kept: bool,
}

impl Audit {
    /// Why a request that changes something may not be carried out, if it may not.
    pub(crate) fn forbids(&self, request: &Request<'_>) -> Option<Judgement> {
        if !self.required.get() || !is_write(request) {
            return None;
        }
        let why = self.book.degraded()?;
        let text = format!("audit unavailable: nothing is changed that cannot be written down ({why})");
        Some(Judgement::Refuse(Code::InternalError, text, false))
    }

    /// A request was judged.
    pub(crate) fn judged(&self, request: &Request<'_>, judgement: &Judgement) {
        let method = request.method();
        let control = request.role() == Role::Control;
        let denied = match judgement {
            Judgement::Refuse(code, ..) => Some(*code),
            _ => None,
        };
        if control && (method == TOLD_ELSEWHERE && denied.is_none() || LOOKING.contains(&method)) {
            return;
        }
        let second = this_second();
        // By far the most calls: the same reading as a moment ago.
        if denied.is_none()
            && !control
            && self.watchers.none()
            && self.with_peer(request.conn(), |peer| peer.seen.repeats(method, second))
        {
            return;
        }
        let mut kept = true;
        let mut collapsed = 0;
        if denied.is_some() || !(control || is_write(request)) {
            let code = denied.map_or("", Code::as_str);
            let first = self.with_peer(request.conn(), |peer| {
                let first = peer.seen.again(method, code, second);
                // Asked with everything it takes, it would still change nothing.
                if first.is_some()
                    && denied.is_none()
                    && method != "batch"
                    && !changes(method, &|_| Some(b"true"))
                {
                    peer.seen.is_plain(method);
                }
                first
            });
            match first {
                Some(before) => collapsed = before,
                None => kept = false,
            }
        }
        if !kept && self.watchers.none() {
            return;
        }
        let mut entry = self.entry_of(request);
        entry.collapsed = collapsed;
        let call = Call { entry, conn: request.conn(), since: Instant::now(), kept };
        match judgement {
            Judgement::Refuse(code, ..) => self.refused(call, *code, control),
            Judgement::Answer(_) => self.over(call, "ok", None),
            Judgement::Pass | Judgement::Replace(_) | Judgement::Hold => {
                self.watchers.tell("asked", &call.entry);
                *self.judged.borrow_mut() = Some(call);
            }
        }
    }

    fn entry_of(&self, request: &Request<'_>) -> Entry {
        let method = request.method();
        let number = |raw: &[u8]| std::str::from_utf8(raw).ok()?.parse().ok();
        Entry {
            client_id: request.owner().to_owned(),
            browser_id: request.browser_id().map(str::to_owned).or_else(|| self.only_browser()),
            method: method.to_owned(),
            tab_id: request.param("tab_id").and_then(number),
            decision: "allow",
            params: TOLD_OTHERWISE.contains(&method).then(|| request.params().to_vec()),
            ..self.told_of(request.conn())
        }
    }

    /// The request that was judged last has become this call.
    pub(crate) fn accepted(&self, id: CallId, browser: Option<ConnId>) {
        let Some(mut call) = self.judged.borrow_mut().take() else { return };
        if let Some(asked) = browser {
            let browsers = self.browsers.borrow();
            call.entry.browser_id =
                browsers.iter().find(|(conn, _)| *conn == asked).map(|(_, id)| id.clone());
        }
        self.calls.borrow_mut().insert(id, call);
    }

    /// The request that was judged last was not taken on.
    pub(crate) fn declined(&self, why: Fault) {
        if let Some(call) = self.judged.borrow_mut().take() {
            self.over(call, "error", Some(code_of(why).as_str().to_owned()));
        }
    }

    /// A call was answered.
    pub(crate) fn answered(&self, id: CallId, answer: &[&[u8]]) {
        if self.calls.borrow().is_empty() {
            return;
        }
        let Some(mut call) = self.calls.borrow_mut().remove(&id) else { return };
        let bytes: usize = answer.iter().map(|part| part.len()).sum();
        call.entry.bytes = Some(bytes as u64);
        let (mut outcome, mut code) = ("ok", None);
        if bytes <= SMALL {
            let said = Said::read(&answer.concat());
            if !said.success {
                (outcome, code) = ("error", said.code.or_else(|| Some(String::new())));
            }
            call.entry.tab_id = call.entry.tab_id.or(said.tab_id);
            call.entry.origin = said.origin;
        }
        self.over(call, outcome, code);
    }

    fn refused(&self, mut call: Call, code: Code, control: bool) {
        // What its owner may do and did wrong is an error, not a refusal.
        call.entry.decision = if control { "allow" } else { "deny" };
        self.over(call, if control { "error" } else { "denied" }, Some(code.as_str().to_owned()));
    }

    fn over(&self, mut call: Call, outcome: &'static str, code: Option<String>) {
        call.entry.outcome = outcome;
        call.entry.code = code.filter(|code| !code.is_empty()).map(|code| code.chars().take(64).collect());
        self.finish(call);
    }

    fn finish(&self, mut call: Call) {
        call.entry.ms = Some(u64::try_from(call.since.elapsed().as_millis()).unwrap_or(u64::MAX));
        self.watchers.tell("answered", &call.entry);
        if call.kept {
            self.book.add(call.entry);
        }
    }

    /// Nobody waits any more for what this connection asked.
    pub(super) fn abandoned(&self, conn: ConnId) {
        let gone: Vec<CallId> = {
            let calls = self.calls.borrow();
            calls.iter().filter(|(_, call)| call.conn == conn).map(|(id, _)| *id).collect()
        };
        for id in gone {
            let call = self.calls.borrow_mut().remove(&id);
            if let Some(mut call) = call {
                call.entry.outcome = "gone";
                self.finish(call);
            }
        }
    }
}

/// Whether a call changes anything. A batch does whatever its steps do, so it is written down.
fn is_write(request: &Request<'_>) -> bool {
    static READS: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let reads = READS.get_or_init(|| {
        let methods = catalogue().methods().iter();
        methods.filter(|method| method.access == Access::Read).map(|method| method.name.as_str()).collect()
    });
    let method = request.method();
    // Some reads change something as they are asked for.
    method == "batch" || !reads.contains(method) || changes(method, &|key| request.param(key))
}
