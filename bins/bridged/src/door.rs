//! Which browser extensions may knock at the WebSocket door.

use std::cell::RefCell;
use std::rc::Rc;

use bridge_websocket::{Doorkeeper, Origin, Refusal, User};

use crate::audit::Who;
use crate::daemon::Daemon;
use crate::knocks::Knocks;
use crate::places::our_uid;

/// How many refused origins are kept in mind, so that a flood of them is not a flood of lines.
const REMEMBERED: usize = 32;

/// Knows the extensions by their ids.
pub(crate) struct Keeper {
    daemon: Rc<Daemon>,
    refused: RefCell<Vec<String>>,
    knocks: Knocks,
}

impl Keeper {
    /// A keeper who asks the daemon.
    pub(crate) fn new(daemon: Rc<Daemon>) -> Keeper {
        Keeper { daemon, refused: RefCell::default(), knocks: Knocks::new("WebSocket") }
    }
}

impl Doorkeeper for Keeper {
    fn origin(&self, origin: &str) -> Origin {
        let Some(id) = origin.strip_prefix("chrome-extension://") else { return Origin::Unknown };
        if self.daemon.is_approved(id) {
            Origin::Approved
        } else if self.daemon.is_pinned(id) {
            Origin::Pinned
        } else {
            Origin::Unknown
        }
    }

    fn refused(&self, refusal: &Refusal, origin: Option<&str>, user: Option<User>) {
        // A head that makes no sense is nobody who was denied something.
        if refusal.status == 403 {
            self.daemon.audit.knocked("websocket", origin, "PERMISSION_DENIED", of_user(user));
        }
        let Some(origin) = origin else { return self.knocks.tell(refusal) };
        let mut known = self.refused.borrow_mut();
        // Counted apart: pages by the dozen must not keep an extension from being named.
        let browsers_own = |origin: &str| origin.starts_with("chrome-extension://");
        let alike = known.iter().filter(|o| browsers_own(o) == browsers_own(origin)).count();
        if alike >= REMEMBERED || known.iter().any(|o| o == origin) {
            return;
        }
        let shown: String = origin.chars().take(128).collect();
        match shown.strip_prefix("chrome-extension://") {
            Some(id) if crate::config::extension_id(id).is_ok() => {
                self.daemon.refused_extension(id);
                log::warn!("refused the extension {id}; `bridged approve {id}` would let it in");
            }
            _ => log::warn!("refused a page of {shown}"),
        }
        known.push(origin.to_owned());
    }
}

/// Whom the kernel named, for the audit.
pub(crate) fn of_user(user: Option<User>) -> Who {
    let uid = match user {
        Some(User::Same) => Some(our_uid()),
        Some(User::Other(uid)) => Some(uid),
        Some(User::Unknown) | None => None,
    };
    Who { uid, ..Who::default() }
}
