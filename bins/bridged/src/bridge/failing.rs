//! A failed call as exit code and sentence, with what to do next.

use crate::client::{Failure, Refusal};
use crate::show;
use crate::trouble::{FAILED, NO_BROWSER, NO_DAEMON, TIMED_OUT, Trouble};

/// A failed call as exit code and sentence, with what to do next.
pub(super) fn trouble(failure: Failure) -> Trouble {
    match failure {
        Failure::NoDaemon(e) => no_daemon(&format!("nobody answers at the daemon's socket ({e})")),
        Failure::Broken(text) => Trouble::new(NO_DAEMON, format!("{text}; see `bridged logs`")),
        Failure::Refused(refusal) => refused(&refusal, None),
    }
}

/// The same for a call of `method`: when the daemon goes away under it, it may have been carried out.
pub(super) fn trouble_with(method: &str, failure: Failure) -> Trouble {
    match failure {
        Failure::Broken(text) => refused(
            &Refusal {
                error: format!("{text}; see `bridged logs`"),
                code: "NO_DAEMON".to_owned(),
                maybe_executed: true,
            },
            Some(method),
        ),
        Failure::Refused(refusal) => refused(&refusal, Some(method)),
        other => trouble(other),
    }
}

/// No daemon answers.
pub(super) fn no_daemon(text: &str) -> Trouble {
    Trouble::new(NO_DAEMON, format!("no daemon: {text}"))
}

fn refused(refusal: &Refusal, method: Option<&str>) -> Trouble {
    let code = match refusal.code.as_str() {
        "NO_EXTENSION" | "NO_SUCH_BROWSER" => NO_BROWSER,
        "TIMEOUT" => TIMED_OUT,
        "NO_DAEMON" => NO_DAEMON,
        _ if refusal.error.starts_with("timeout:") => TIMED_OUT,
        _ => FAILED,
    };
    let mut text = show::harmless(&refusal.error);
    if !refusal.code.is_empty() {
        text.push_str(&format!(" [{}]", show::harmless(&refusal.code)));
    }
    if let Some(next) = next_step(&refusal.code) {
        let next = next.replace("METHOD", &method.map_or("METHOD".to_owned(), |name| name.replace('_', "-")));
        text.push_str(&format!("\n  {next}"));
    }
    if refusal.maybe_executed {
        text.push_str("\n  It may have happened all the same: look before you try again.");
    }
    Trouble::new(code, text).answered(refusal)
}

/// What to do about an error.
fn next_step(code: &str) -> Option<&'static str> {
    Some(match code {
        "NO_EXTENSION" => {
            "Open the browser that has the extension, or install it with `bridged extension install DIR`; where it is open, `bridged doctor` says what is amiss."
        }
        "NO_SUCH_BROWSER" => "`bridge list-browsers` shows which are connected.",
        "TAB_NOT_FOUND" => {
            "`bridge list-tabs` shows which tabs there are; of several browsers, --browser ID names the one that is meant."
        }
        "ELEMENT_NOT_FOUND" => "`bridge get-a11y-tree` shows what is on the page; --timeout MS waits longer.",
        "ELEMENT_NOT_ACTIONABLE" => "`bridge screenshot` shows the page as it is; --timeout MS waits longer.",
        "TIMEOUT" => "--timeout MS allows more time.",
        "UNKNOWN_METHOD" => {
            "`bridge help` lists the methods; an old extension may need `bridged extension install` again."
        }
        "INVALID_PARAMS" => "`bridge help METHOD` shows its parameters.",
        "PAUSED" => "`bridged policy set pause off` ends the pause, and so does the extension's popup.",
        "EXTENSION_DISCONNECTED" | "EXTENSION_REPLACED" => {
            "The browser's extension went away during the call."
        }
        "RESTRICTED_PAGE" => "Browsers let no extension into this kind of page.",
        "TOO_LARGE" => "Ask for less at once: one element, fewer nodes, a smaller picture.",
        "OVERLOADED" => "Wait for the calls in progress.",
        _ => return None,
    })
}
