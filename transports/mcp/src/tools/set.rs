//! Which tools a model is shown: a small default set, everything, or chosen groups and methods.

use std::fmt;

/// The default set: what most tasks need, one way of doing each thing. Methods that a catalogue lacks are skipped.
pub(crate) const CORE: &[&str] = &[
    "list_tabs",
    "new_tab",
    "navigate",
    "go_back",
    "close_tab",
    "close_agent_window",
    "get_page_markdown",
    "snapshot",
    "get_a11y_tree",
    "scrape",
    "screenshot",
    "click",
    "set_value",
    "press_key",
    "select_option",
    "check",
    "scroll",
    "hover",
    "fill_form",
    "upload",
    "handle_dialog",
    "wait_for",
    "run_script",
    "batch",
];

/// Of these pairs a default set holds the first and leaves the second out.
pub(crate) const INSTEAD: &[(&str, &str)] = &[("snapshot", "get_a11y_tree")];

/// A choice of tools, as `core`, `all`, or names of groups and methods with commas between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSet {
    parts: Vec<String>,
}

impl ToolSet {
    /// Reads a choice. Whether its names exist is known once there is a catalogue ([`crate::tools::Tools::new`]).
    pub fn parse(text: &str) -> Self {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.map(|part| part.replace('-', "_")).collect();
        if parts.is_empty() { Self::default() } else { Self { parts } }
    }

    /// The choice as one text, the same for the same parts in any order.
    pub fn name(&self) -> String {
        let mut parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.join(",")
    }

    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }
}

impl Default for ToolSet {
    fn default() -> Self {
        Self { parts: vec!["core".to_owned()] }
    }
}

/// A name in a choice that is neither a set, a group nor a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSet {
    /// The name.
    pub name: String,
    /// The groups there are.
    pub groups: Vec<String>,
}

impl fmt::Display for UnknownSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no such set of tools: {} (core, all, a method, or a group: {})",
            self.name,
            self.groups.join(", ")
        )
    }
}

impl std::error::Error for UnknownSet {}
