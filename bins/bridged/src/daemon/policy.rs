//! The policy: what the user allows, how it changes, and who is told.

use bridge_core::Role;
use serde_json::{Value, json};

use super::Daemon;
use crate::policy::{self, Change};
use crate::trouble::Outcome;

impl Daemon {
    /// Whether the user paused the bridge.
    pub(crate) fn is_paused(&self) -> bool {
        self.policy.borrow().rules().paused
    }

    /// Changes the policy and tells the browsers. It is on the disk before this returns: a pause must survive whatever
    /// comes next, and is rare enough to be waited for.
    pub(crate) fn change_policy(&self, change: &Change, who: &str) -> Outcome<()> {
        if self.policy.borrow_mut().change(change)? {
            self.tell_policy(who);
        }
        Ok(())
    }

    /// Takes the policy from the disk, where somebody wrote it, and tells the browsers.
    pub(crate) fn read_policy_again(&self) -> Outcome<()> {
        if self.policy.borrow_mut().read_again()? {
            self.tell_policy("policy.json");
        }
        Ok(())
    }

    fn tell_policy(&self, who: &str) {
        let (text, told) = (self.policy.borrow().text_for_clients(), self.policy.borrow().text());
        log::info!("policy by {who}: {text}");
        self.audit.policy_changed(who);
        if let Some(driver) = self.driver.get() {
            driver.with_hub(|hub| {
                hub.keyring_mut().policy = text;
                hub.keyring_mut().told = told;
                hub.policy_changed();
            });
        }
    }

    /// Tells the browsers what the clients of this owner call themselves: their person is shown an id otherwise. Goes with
    /// the policy, which is the one frame that a browser takes unasked, and not to clients, who are not told of each other.
    pub(super) fn introduce(&self, owner: &str) {
        let Some(driver) = self.driver.get() else { return };
        let mut policy = self.policy.borrow().whole();
        driver.with_hub(|hub| {
            let Some(client) = hub.connections().find(|c| c.role == Some(Role::Client) && c.owner == owner)
            else {
                return;
            };
            policy["clients"] = json!({owner: {"name": client.name}});
            hub.keyring_mut().told = policy.to_string();
            hub.policy_changed();
        });
    }

    /// What the owner asks about the policy; none if it is about something else.
    pub(super) fn policy_control(&self, method: &str, params: &Value) -> Option<Outcome<String>> {
        let text = || self.policy.borrow().text();
        Some(match method {
            "policy_get" => Ok(text()),
            "policy_set" => policy::change_in(params)
                .and_then(|change| self.change_policy(&change, "the command line"))
                .map(|()| text()),
            _ => return None,
        })
    }
}
