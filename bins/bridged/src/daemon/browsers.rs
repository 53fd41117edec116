//! Who has joined: what the log is told of it, and which browser a key belongs to from then on.

use bridge_core::{ConnId, Door, Role};

use super::Daemon;
use crate::keys::Keys;

impl Daemon {
    pub(super) fn joined(&self, conn: ConnId, role: Role, protocol: u8) {
        let Some(driver) = self.driver.get() else { return };
        let (browser, legacy) = driver.with_hub(|hub| {
            let browser = hub.browsers().find(|b| b.conn == conn).map(|b| Joined {
                browser_id: b.browser_id.to_owned(),
                key_id: b.key_id.to_owned(),
                name: b.name.to_owned(),
                version: b.version.to_owned(),
                stale: protocol >= 2 && b.methods > 0 && b.fingerprint != our_methods(),
            });
            if let Some(browser) = &browser {
                self.audit.browser_joined(conn, &browser.browser_id);
            }
            let info = hub.connection(conn);
            let legacy = info.is_some_and(|c| c.protocol < 2 && c.door == Door::WebSocket);
            (browser, legacy)
        });
        if legacy && !self.warned_of_legacy.replace(true) {
            log::warn!("a peer uses the base protocol, without a proof (`--compat strict` refuses those)");
        }
        match browser {
            Some(browser) => self.browser_joined(browser),
            None => log::debug!("{} joined (protocol {protocol})", role.as_str()),
        }
    }

    fn browser_joined(&self, browser: Joined) {
        log::info!("browser {} connected ({} {})", browser.browser_id, browser.name, browser.version);
        if browser.stale {
            log::warn!(
                "its extension knows other methods than this daemon: `bridged extension install` again, then reload it"
            );
        }
        if browser.key_id.is_empty() {
            return;
        }
        let folder = self.keys.borrow().folder().to_owned();
        let (key_id, browser_id) = (browser.key_id, browser.browser_id);
        if self.keys.borrow_mut().is_for_one(&key_id) {
            self.taken.borrow_mut().insert(key_id.clone(), browser_id.clone());
        }
        let (taken, key) = (self.taken.clone(), key_id.clone());
        // To the disk and back takes longer than a call may be held up.
        let noted =
            smol::unblock(move || Keys::open(&folder).and_then(|mut keys| keys.seen(&key_id, &browser_id)));
        let task = self.executor.spawn(async move {
            match noted.await {
                Ok(()) => drop(taken.borrow_mut().remove(&key)),
                Err(e) => log::error!("{e}"),
            }
        });
        task.detach();
    }
}

struct Joined {
    browser_id: String,
    key_id: String,
    name: String,
    version: String,
    stale: bool,
}

/// The fingerprint of the methods that an extension of this version has.
fn our_methods() -> u64 {
    let methods = bridge_catalogue::catalogue().methods().iter();
    let names = methods.filter(|m| m.scope != bridge_catalogue::Scope::Hub).map(|m| m.name.as_str());
    bridge_core::methods_fingerprint(names)
}
