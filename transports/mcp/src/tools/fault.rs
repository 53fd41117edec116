//! Failures as a model reads them: the code, what went wrong, whether to try again, and what to do next.

use super::text_members;
use crate::mark::clean;
use crate::provider::Body;

/// The most of an error's own text that is passed on: it may quote a page.
const MAX_TEXT: usize = 300;

/// Whether the same call can succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    /// As it is, after a moment.
    Later,
    /// Only once something else was done.
    After,
    /// Not as it is.
    No,
}

/// A failure that the bridge answered.
pub(super) fn fault(code: &str, text: &str, maybe_executed: bool) -> Body {
    let (retry, next) = advice(code);
    let text = clean(text, MAX_TEXT).replace(['\n', '\t'], " ");
    let retry = match (retry, maybe_executed) {
        (_, true) => "not yet: it may have taken effect, so look at the page first",
        (Retry::Later, false) => "yes, after a moment",
        (Retry::After, false) => "once that is done",
        (Retry::No, false) => "no",
    };
    Body::new(text_members(&format!("{code}: {text}\nNext: {next}\nRetry the same call: {retry}."), true))
}

/// A call that never came back from the bridge.
pub(super) fn lost(reason: &str) -> Body {
    let text = clean(reason, MAX_TEXT).replace(['\n', '\t'], " ");
    let next = "Next: see whether the daemon runs (bridged status).";
    let text = format!(
        "DISCONNECTED: the bridge did not answer: {text}\n{next}\nRetry the same call: not yet: it may have taken effect, so look at the page first."
    );
    Body::new(text_members(&text, true))
}

/// What to do about each code of the protocol.
fn advice(code: &str) -> (Retry, &'static str) {
    match code {
        "NO_EXTENSION" => (Retry::After, "ask the user to open the browser that has the extension."),
        "NO_SUCH_BROWSER" => (Retry::No, "take a browser_id from list_browsers, or leave it out."),
        "EXTENSION_DISCONNECTED" | "EXTENSION_REPLACED" => {
            (Retry::Later, "wait a few seconds: the extension reconnects.")
        }
        "TIMEOUT" => (Retry::After, "see what the page shows; give a larger timeout if it is only slow."),
        "CANCELLED" => (Retry::Later, "nothing: it was called off."),
        "OVERLOADED" => (Retry::Later, "wait for calls under way."),
        "TOO_LARGE" => (Retry::No, "ask for less: a selector, fewer nodes, a smaller picture."),
        "PAUSED" => {
            (Retry::After, "stop, and tell the user that they paused the bridge; only they can end that.")
        }
        "PERMISSION_DENIED" => (Retry::No, "do without it, or tell the user which permission is missing."),
        "DENIED_BY_USER" => (Retry::No, "the user said no: ask them how to go on."),
        "UNAUTHORIZED" | "AUTH_FAILED" | "NOT_PAIRED" | "INVALID_HELLO" => {
            (Retry::No, "ask the user to run: bridged doctor.")
        }
        "INVALID_REQUEST" | "INVALID_PARAMS" => (Retry::No, "correct the arguments."),
        "UNKNOWN_METHOD" => (Retry::No, "use another tool: the extension may be older than the bridge."),
        "PAGE_BLOCKED" => {
            (Retry::After, "a dialog or a busy script holds the tab: handle_dialog, or work in another tab.")
        }
        "DIALOG_OPEN" => (Retry::After, "answer the dialog with handle_dialog."),
        "TAB_NOT_FOUND" => (Retry::No, "take a tab_id from list_tabs, or open one with new_tab."),
        "ELEMENT_NOT_FOUND" => (Retry::No, "read the page again and take a target that it shows."),
        "ELEMENT_NOT_ACTIONABLE" => {
            (Retry::After, "look at what covers or disables it: scroll, close it, or wait_for.")
        }
        "STALE_REF" => (Retry::No, "read the page again: the element behind this ref is gone."),
        "NAVIGATION_FAILED" => (Retry::After, "check the address; the site may be down."),
        "RESTRICTED_PAGE" => (Retry::No, "browsers let no extension work on this page: navigate elsewhere."),
        "SCRIPT_ERROR" => (Retry::No, "correct the script."),
        "UNSUPPORTED" => (Retry::No, "do it another way."),
        "SHUTTING_DOWN" => (Retry::Later, "wait: the bridge is restarting."),
        _ => (Retry::No, "report it, and go on without this call."),
    }
}
