//! `--json` where a command fails: the failure as one JSON object on standard output, with the same exit code.

use serde_json::{Value, json};

use crate::harmless;
use crate::trouble::{NO_BROWSER, NO_DAEMON, Outcome, TIMED_OUT, Trouble, USAGE};

/// Whether the program's own flags ask for JSON.
pub(super) fn wants_json(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// Prints a failure for programs; for people it goes to standard error as ever.
pub(super) fn tell(trouble: Trouble) -> Outcome<()> {
    super::print(&format!("{}\n", harmless::json(&said(&trouble).to_string())))?;
    Err(trouble)
}

fn said(trouble: &Trouble) -> Value {
    if let Some(refusal) = trouble.refusal() {
        let mut said = json!({"success": false, "error": refusal.error, "code": refusal.code});
        if refusal.maybe_executed {
            said["maybe_executed"] = json!(true);
        }
        return said;
    }
    // No daemon said this, so the code is this program's own.
    let code = match trouble.code() {
        USAGE => "INVALID_PARAMS",
        NO_DAEMON => "NO_DAEMON",
        NO_BROWSER => "NO_EXTENSION",
        TIMED_OUT => "TIMEOUT",
        _ => "INTERNAL_ERROR",
    };
    json!({"success": false, "error": trouble.to_string(), "code": code})
}
