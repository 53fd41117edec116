//! What the HTTP door asks of the daemon: who knocks, the token, pause, and where large files go.

use std::path::PathBuf;
use std::rc::Rc;

use bridge_http::{Porter, Refusal};
use bridge_mcp::provider::SaveFile;
use bridge_websocket::User;
use smol::future::FutureExt as _;

use crate::captures;
use crate::config::Compat;
use crate::daemon::Daemon;
use crate::door;
use crate::knocks::Knocks;
use crate::policy::Change;

/// The daemon as the door sees it.
pub(crate) struct Desk {
    /// The host of the hub.
    pub daemon: Rc<Daemon>,
    /// How peers without a proof are met.
    pub compat: Compat,
    /// The state folder.
    pub state: PathBuf,
    /// Those who were turned away.
    pub knocks: Knocks,
}

impl Porter for Desk {
    fn same_user_enters(&self) -> bool {
        // `open` is for tests of the base protocol; over HTTP a stranger needs the token all the same.
        self.compat != Compat::Strict
    }

    fn token_matches(&self, token: &str) -> bool {
        self.daemon.token_matches(token)
    }

    fn is_paused(&self) -> bool {
        self.daemon.is_paused()
    }

    fn pause(&self) -> Result<(), String> {
        let change = Change { paused: Some(true), ..Change::default() };
        self.daemon.change_policy(&change, "an HTTP client").map_err(|e| e.to_string())
    }

    fn refused(&self, refusal: &Refusal, user: Option<User>) {
        self.knocks.tell(refusal);
        // A request that makes no sense is nobody who was denied something.
        if matches!(refusal.status, 401 | 403) {
            self.daemon.audit.knocked("http", None, refusal.code, door::of_user(user));
        }
    }

    fn save(&self, file: SaveFile) -> futures::future::LocalBoxFuture<'static, Result<String, String>> {
        let state = self.state.clone();
        let saved = smol::unblock(move || match captures::save(&state, &file) {
            Ok(path) => Ok(path.display().to_string()),
            Err(e) => Err(e.to_string()),
        });
        saved.boxed_local()
    }
}
