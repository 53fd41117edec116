//! What only the owner may ask for, over the Unix socket.

use std::collections::BTreeMap;

use bridge_core::{Code, ConnId, Request, Violation};
use bridge_driver::Judgement;
use serde_json::{Value, json};

use super::{Daemon, Wish};
use crate::config::Compat;
use crate::control::{self, Ends};
use crate::trouble::{Trouble, USAGE};

impl Daemon {
    /// What only this process knows: who was turned away and still would be, and what browsers said of their switches.
    fn findings(&self) -> Value {
        let refused = self.refused.borrow();
        let refused: Vec<&String> =
            refused.iter().filter(|id| !self.is_approved(id) && !self.is_pinned(id)).collect();
        let switches = self.switches.borrow();
        let scripts: BTreeMap<String, bool> = self.driver.get().map_or_else(BTreeMap::new, |driver| {
            driver.with_hub(|hub| {
                let said = |conn| switches.iter().find(|(of, _)| *of == conn).map(|(_, on)| *on);
                hub.browsers().filter_map(|b| Some((b.browser_id.to_owned(), said(b.conn)?))).collect()
            })
        });
        let pinned = self.pinned.borrow();
        let others: Vec<&String> = pinned.iter().filter(|id| *id != crate::extension::ID).collect();
        let compat = self.driver.get().map(|driver| match driver.with_hub(|hub| hub.config().compat) {
            bridge_core::Compat::Strict => Compat::Strict,
            bridge_core::Compat::SameUser => Compat::SameUser,
            bridge_core::Compat::Open => Compat::Open,
        });
        let required = self.audit.is_required();
        json!({"refused": refused, "user_scripts": scripts, "compat": compat, "pinned": others, "audit_required": required})
    }

    /// Carries out what only the owner may ask for.
    pub(super) fn control(&self, request: &Request<'_>) -> Judgement {
        if request.method() == "shutdown" {
            self.wish(Wish::Stop("asked to"));
            return Judgement::Answer(br#"{"stopping":true}"#.to_vec());
        }
        match request.method() {
            "doctor" => return Judgement::Answer(self.findings().to_string().into_bytes()),
            "audit" => {
                let state = json!({"degraded": self.audit.degraded(), "waits": self.audit.hurry()});
                return Judgement::Answer(state.to_string().into_bytes());
            }
            "watch" => {
                self.audit.watchers.add(request.conn());
                return Judgement::Answer(br#"{"watching":true}"#.to_vec());
            }
            _ => {}
        }
        let params = serde_json::from_slice(request.params()).unwrap_or(Value::Null);
        match self.policy_control(request.method(), &params) {
            Some(Ok(text)) => return Judgement::Answer(text.into_bytes()),
            Some(Err(trouble)) => return refused(&trouble),
            None => {}
        }
        let done = control::perform(&mut self.keys.borrow_mut(), request.method(), &params);
        match done {
            Some(Ok((result, ends))) => {
                log::info!("control: {}", request.method());
                if ends == Ends::Everybody {
                    self.forget_everybody();
                }
                self.end(&ends, request.conn());
                Judgement::Answer(result.to_string().into_bytes())
            }
            Some(Err(trouble)) => refused(&trouble),
            None => {
                Judgement::Refuse(Code::UnknownMethod, format!("unknown method: {}", request.method()), false)
            }
        }
    }

    /// The keys are new: nothing that was given out before leads back to what its holder was.
    fn forget_everybody(&self) {
        let resume = self.keys.borrow().resume_secret();
        if let Some(driver) = self.driver.get() {
            driver.with_hub(|hub| hub.renew_resume(resume));
        }
        if let Some(web) = self.web.get() {
            web.end_sessions();
        }
    }

    /// Ends sessions whose right to be here is gone, before it is said that they are.
    fn end(&self, ends: &Ends, asker: ConnId) {
        let Some(driver) = self.driver.get().filter(|_| *ends != Ends::Nobody) else { return };
        let leaving: Vec<ConnId> = driver.look(|hub| match ends {
            Ends::Key(key) => hub.browsers().filter(|b| b.key_id == key).map(|b| b.conn).collect(),
            // Whoever was let in by its id alone has proved nothing.
            Ends::Origin => hub.browsers().filter(|b| !b.proven).map(|b| b.conn).collect(),
            Ends::Everybody => hub.connections().map(|c| c.conn).filter(|c| *c != asker).collect(),
            Ends::Nobody => Vec::new(),
        });
        for conn in leaving {
            let now = driver.now();
            driver.with_hub(|hub| hub.reject(conn, Violation::Revoked, now));
        }
    }
}

fn refused(trouble: &Trouble) -> Judgement {
    let code = if trouble.code() == USAGE { Code::InvalidParams } else { Code::InvalidRequest };
    Judgement::Refuse(code, trouble.to_string(), false)
}
