//! What the policy says of one call, by what the call itself says: its method and its parameters, no result and no page.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bridge_catalogue::{Access, catalogue};
use bridge_core::{Class, Code};
use serde::{Deserialize, Serialize};

use crate::own_address::is_own;
use crate::policy::{Rules, sites};
use crate::trouble::{Outcome, Trouble};

/// How long code may run in pages where nobody said for how long.
pub(crate) const USUAL: Duration = Duration::from_secs(3600);
/// What is on for longer than a day is forgotten.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// A clock that is put right goes back by less than this; one that goes back further must not prolong anything.
const SLACK_MS: u64 = 60_000;

/// From when until when `evaluate` is allowed, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Window {
    /// When it was turned on.
    pub since: u64,
    /// When it ends.
    pub until: u64,
}

impl Window {
    /// Open from now on.
    pub(crate) fn lasting(length: Duration) -> Outcome<Window> {
        if length.is_zero() || length > LONGEST {
            return Err(Trouble::usage("evaluate can be on for 1 s to 24 h"));
        }
        let since = now().ok_or_else(|| Trouble::failed("evaluate stays off: the clock is wrong"))?;
        Ok(Window { since, until: since.saturating_add(millis(length)) })
    }

    /// How long it is still open; none if it is not.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.left_at(now()?)
    }

    fn left_at(&self, now: u64) -> Option<Duration> {
        let begun = now.saturating_add(SLACK_MS) >= self.since;
        let left = self.until.checked_sub(now).filter(|left| *left > 0 && begun)?;
        Some(Duration::from_millis(left))
    }
}

fn now() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(millis)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Reads `90s`, `30m`, `1h`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    number.parse::<u64>().ok().filter(|_| digits)?.checked_mul(seconds).map(Duration::from_secs)
}

/// Why one call (of a client, or a step of its batch) may not be made, if it may not. `param` gives a parameter's raw JSON.
pub(crate) fn refusal<'p>(
    rules: &Rules,
    own_ports: &[u16],
    method: &str,
    class: Class,
    param: &dyn Fn(&str) -> Option<&'p [u8]>,
) -> Option<(Code, String)> {
    let denied = |text: String| Some((Code::PermissionDenied, text));
    let address = address(method, param);
    if let Some(url) = address.as_deref().filter(|url| is_own(url, own_ports)) {
        let shown: String = url.chars().filter(|c| !c.is_control()).take(100).collect();
        return denied(format!("forbidden: url: {shown} is the bridge's own address"));
    }
    if let Some(text) = address.as_deref().and_then(|url| sites::refusal(&rules.allow, &rules.deny, url)) {
        return denied(text);
    }
    if rules.read_only && changes(method, param) {
        return denied(format!(
            "forbidden: read-only is on, and {method} changes something as it is asked for"
        ));
    }
    if method == "evaluate" && rules.evaluate.and_then(|window| window.left()).is_none() {
        let text = "forbidden: evaluate is off; the user turns it on for a time with `bridged policy set evaluate on` or in the popup";
        return denied(text.to_owned());
    }
    if method == "upload" && class == Class::Agent && !rules.uploads {
        let text = "forbidden: agents may not upload files; `bridged policy set uploads on` lets them";
        return denied(text.to_owned());
    }
    None
}

/// The address that a call leads a tab to.
fn address<'p>(method: &str, param: &dyn Fn(&str) -> Option<&'p [u8]>) -> Option<String> {
    // Asked first: looking for a parameter reads all of them, and most calls lead nowhere.
    let leads = matches!(method, "navigate" | "new_tab" | "get_page_markdown");
    serde_json::from_slice(leads.then(|| param("url")).flatten()?).ok()
}

/// Whether a call changes anything. What the table does not know might.
pub(crate) fn changes<'p>(method: &str, param: &dyn Fn(&str) -> Option<&'p [u8]>) -> bool {
    // Anything but no counts: in a batch a value may still stand for another.
    let asked = |key: &str| param(key).is_some_and(|value| !matches!(value, b"null" | b"false"));
    match method {
        // Its steps are calls of their own.
        "batch" => false,
        "get_page_markdown" => asked("url"),
        "screenshot" => asked("foreground"),
        "find_tab" => asked("activate"),
        "wait_for" => asked("script"),
        _ => {
            catalogue().methods().iter().find(|m| m.name == method).is_none_or(|m| m.access == Access::Write)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;

    const WINDOW: Window = Window { since: 1_000_000, until: 4_600_000 };

    #[test]
    fn a_window_is_open_between_its_ends_only() {
        assert_eq!(WINDOW.left_at(1_000_000), Some(USUAL));
        assert_eq!(WINDOW.left_at(4_599_999), Some(Duration::from_millis(1)));
        assert_eq!(WINDOW.left_at(4_600_000), None);
        assert_eq!(WINDOW.left_at(u64::MAX), None);
    }

    #[test]
    fn a_clock_that_goes_back_prolongs_nothing() {
        assert!(WINDOW.left_at(950_000).is_some(), "a clock that is put right by seconds");
        assert_eq!(WINDOW.left_at(900_000), None);
        assert_eq!(WINDOW.left_at(0), None);
    }

    #[test]
    fn lengths_are_whole_numbers_with_a_unit_and_a_day_at_most() {
        assert_eq!(duration("90s"), Some(Duration::from_secs(90)));
        assert_eq!(duration("30m"), Some(Duration::from_secs(1800)));
        assert_eq!(duration("1h"), Some(USUAL));
        for wrong in ["", "h", "1", "1d", "-1h", "+1h", "1.5h", "1 h", "é", "99999999999999999999h"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
        assert!(Window::lasting(Duration::ZERO).is_err());
        assert!(Window::lasting(LONGEST + Duration::from_secs(1)).is_err());
        assert!(Window::lasting(LONGEST).unwrap().left().is_some());
    }

    #[test]
    fn no_parameter_is_looked_for_where_none_decides() {
        for method in ["click", "get_value", "list_tabs", "snapshot", "screenshot", "wait_for"] {
            let looked = std::cell::Cell::new(false);
            let param = |_: &str| -> Option<&'static [u8]> {
                looked.set(true);
                None
            };
            assert!(refusal(&Rules::default(), &[], method, Class::Agent, &param).is_none(), "{method}");
            assert!(!looked.get(), "{method}");
        }
    }

    #[test]
    fn read_only_lets_readers_pass_unless_they_are_asked_to_change_something() {
        let rules = Rules { read_only: true, ..Rules::default() };
        let refused = |method: &str, key: &str, value: &'static str| {
            refusal(&rules, &[], method, Class::Person, &|k| (k == key).then_some(value.as_bytes())).is_some()
        };
        for reader in
            ["list_tabs", "get_page_markdown", "screenshot", "wait_for", "find_tab", "snapshot", "batch"]
        {
            assert!(!refused(reader, "tab_id", "7"), "{reader}");
        }
        for writer in
            ["click", "activate_tab", "run_script", "evaluate", "navigate", "upload", "no_such_method"]
        {
            assert!(refused(writer, "tab_id", "7"), "{writer}");
        }
        assert!(refused("get_page_markdown", "url", "\"https://a.example\""));
        assert!(refused("screenshot", "foreground", "true"));
        assert!(refused("screenshot", "foreground", "\"$0.x\""));
        assert!(!refused("screenshot", "foreground", "false"));
        assert!(refused("wait_for", "script", "\"1\""));
        assert!(refused("find_tab", "activate", "true"));
    }
}
