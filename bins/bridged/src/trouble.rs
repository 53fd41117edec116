//! What went wrong, in one sentence that says what to do, with the exit code it leads to.

use std::fmt;

use crate::client::Refusal;

/// A failure that ends the program.
#[derive(Debug)]
pub(crate) struct Trouble {
    text: String,
    code: u8,
    refusal: Option<Box<Refusal>>,
}

/// A result whose failure ends the program.
pub(crate) type Outcome<T> = Result<T, Trouble>;

/// The command was right but failed.
pub(crate) const FAILED: u8 = 1;
/// The command, its configuration or its surroundings are wrong.
pub(crate) const USAGE: u8 = 2;
/// `bridge`: no daemon answers.
pub(crate) const NO_DAEMON: u8 = 3;
/// `bridge`: the daemon has no such browser.
pub(crate) const NO_BROWSER: u8 = 4;
/// `bridge`: the answer did not come in time.
pub(crate) const TIMED_OUT: u8 = 5;

impl Trouble {
    /// A failure with its exit code.
    pub(crate) fn new(code: u8, text: impl Into<String>) -> Trouble {
        Trouble { text: text.into(), code, refusal: None }
    }

    /// The command was right but failed.
    pub(crate) fn failed(text: impl Into<String>) -> Trouble {
        Trouble::new(FAILED, text)
    }

    /// The command, its configuration or its surroundings are wrong.
    pub(crate) fn usage(text: impl Into<String>) -> Trouble {
        Trouble::new(USAGE, text)
    }

    /// The same, with what the daemon answered.
    pub(crate) fn answered(mut self, refusal: &Refusal) -> Trouble {
        self.refusal = Some(Box::new(refusal.clone()));
        self
    }

    /// What the daemon answered, if that is what went wrong.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_deref()
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Adds what was being done to an error of the system.
pub(crate) trait Doing<T> {
    /// `doing` completes "cannot …".
    fn doing(self, doing: impl fmt::Display) -> Outcome<T>;
}

impl<T, E: fmt::Display> Doing<T> for Result<T, E> {
    fn doing(self, doing: impl fmt::Display) -> Outcome<T> {
        self.map_err(|e| Trouble::failed(format!("cannot {doing}: {e}")))
    }
}
