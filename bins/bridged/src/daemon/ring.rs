//! The keys and the policy as the hub asks for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use bridge_core::{Keyring, Role};

use super::Daemon;
use crate::audit::Gaps;
use crate::keys::Keys;

/// The keys and the policy as the hub asks for them.
pub(crate) struct Ring {
    keys: Rc<RefCell<Keys>>,
    taken: Rc<RefCell<BTreeMap<String, String>>>,
    /// The policy for clients: without the user's lists of sites.
    pub(super) policy: String,
    /// The policy for browsers: all of it, with the names of clients that one of them asked for.
    pub(super) told: String,
    gaps: Gaps,
}

impl Keyring for Ring {
    fn key(&self, role: Role, key_id: &str) -> Option<[u8; 32]> {
        self.key_of(role, key_id, "")
    }

    fn key_of(&self, role: Role, key_id: &str, browser_id: &str) -> Option<[u8; 32]> {
        match role {
            Role::Extension if self.taken.borrow().get(key_id).is_some_and(|by| by != browser_id) => None,
            Role::Extension => self.keys.borrow_mut().extension_key(key_id, browser_id),
            Role::Client => self.keys.borrow_mut().client_key(key_id),
            Role::Control => None,
        }
    }

    fn token_matches(&self, token: &str) -> bool {
        self.keys.borrow_mut().token_matches(token)
    }

    fn policy(&self) -> &str {
        &self.policy
    }

    fn policy_for_browsers(&self) -> &str {
        &self.told
    }

    fn more_status(&self) -> &str {
        match self.gaps.there_are() {
            true => r#","audit_degraded":true"#,
            false => r#","audit_degraded":false"#,
        }
    }
}

impl Daemon {
    /// The keys for the hub.
    pub(crate) fn ring(&self) -> Ring {
        Ring {
            keys: self.keys.clone(),
            taken: self.taken.clone(),
            policy: self.policy.borrow().text_for_clients(),
            told: self.policy.borrow().text(),
            gaps: self.audit.gaps(),
        }
    }
}
