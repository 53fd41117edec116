//! The table: each tool of OpenBridge, the method it stands for, and in what they differ beyond camelCase.

/// One tool.
pub(crate) struct Tool {
    /// As OpenBridge calls it.
    pub(crate) name: &'static str,
    /// The method that does it.
    pub(crate) method: &'static str,
    /// Parameters that the method takes and OpenBridge has no word for; left out where the method does not know them.
    pub(super) fixed: &'static [(&'static str, &'static str)],
    /// The parameter that is sent where none of these is given.
    pub(super) unless: Option<(&'static [&'static str], (&'static str, &'static str))>,
    /// The code and the words of a failure that OpenBridge answers as a success, and what it answers.
    pub(super) idle: Option<(&'static str, &'static str, &'static str)>,
    /// How its result differs.
    pub(crate) shape: Shape,
    /// What its result has that the method's has not, or has otherwise.
    pub(super) adds: &'static [(&'static str, Add)],
    /// Whether the tab in its result is the one that later calls work on.
    pub(crate) leads: bool,
}

/// How a result differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Its names are written in camelCase.
    Names,
    /// A data URL becomes `{base64, mimeType}`.
    Picture,
}

/// A field of a result.
pub(super) enum Add {
    /// It is always this.
    Always(&'static str),
    /// It is this if the method does not say otherwise.
    Default(&'static str),
    /// It repeats the first of these arguments that was given, else this.
    Arg(&'static [&'static str], Option<&'static str>),
    /// It is the length of that list.
    Count(&'static str),
    /// It is there, and true, where that field is false.
    IfNot(&'static str),
    /// It stands in place of that field if the argument has that value.
    Instead { of: &'static str, arg: &'static str, is: &'static str },
}

/// How an argument differs, where it is more than its name.
pub(super) enum Rule {
    /// A snapshot's ref: a target.
    Ref,
    /// A word in camelCase.
    Words,
    /// The call's deadline.
    Deadline,
    /// A colour; one that is unknown is passed over.
    Color,
}

/// Arguments that differ; the same for all tools.
pub(super) const RULES: &[(&str, Rule)] = &[
    ("ref", Rule::Ref),
    ("waitUntil", Rule::Words),
    ("timeoutMs", Rule::Deadline),
    ("groupColor", Rule::Color),
];

/// Texts that are written somewhere, so that an empty one means something.
pub(super) const WRITTEN: &[&str] = &["value", "text"];

/// Fields that hold a page's or a user's own data, whose names are not ours to change.
pub(super) const VERBATIM: &[&str] =
    &["result", "value", "headers", "request_headers", "response_headers", "post_data"];

/// A tool that differs by its names only.
const fn plain(name: &'static str, method: &'static str) -> Tool {
    Tool { name, method, fixed: &[], unless: None, idle: None, shape: Shape::Names, adds: &[], leads: false }
}

const SUCCESS: (&str, Add) = ("success", Add::Always("true"));
const SELECTOR: (&str, Add) = ("selector", Add::Arg(&["selector", "ref"], None));
const CLOSED: (&str, Add) = ("closedTabCount", Add::Count("closed"));

/// All of them.
pub(super) const TOOLS: &[Tool] = &[
    plain("browser_list_tabs", "list_tabs"),
    Tool { leads: true, ..plain("browser_new_tab", "new_tab") },
    Tool { leads: true, ..plain("browser_select_tab", "activate_tab") },
    Tool {
        leads: true,
        adds: &[("loaded", Add::Default("true")), ("timeout", Add::IfNot("loaded"))],
        ..plain("browser_navigate", "navigate")
    },
    Tool {
        adds: &[("snapshot", Add::Instead { of: "nodes", arg: "mode", is: "full" })],
        ..plain("browser_snapshot", "snapshot")
    },
    Tool { fixed: &[("trusted", "true")], adds: &[SUCCESS, SELECTOR], ..plain("browser_click", "click") },
    Tool { adds: &[SUCCESS, SELECTOR], ..plain("browser_fill", "set_value") },
    Tool { adds: &[SUCCESS], ..plain("browser_type", "type_text") },
    Tool { adds: &[SUCCESS], ..plain("browser_send_keys", "send_keys") },
    Tool { shape: Shape::Picture, ..plain("browser_screenshot", "screenshot") },
    plain("browser_evaluate", "evaluate"),
    plain("browser_close_tab", "close_tab"),
    Tool {
        adds: &[
            ("sessionId", Add::Arg(&["sessionId"], None)),
            CLOSED,
            ("closedTabs", Add::Arg(&["closeTabs"], Some("true"))),
        ],
        idle: Some(("INVALID_PARAMS", "there is no session", r#"{"closed":[]}"#)),
        ..plain("browser_close_session", "close_session")
    },
    Tool {
        // Each tab, then: there is no address without a colon.
        unless: Some((&["query", "url_contains", "title_contains", "session_id"], ("url_contains", "\":\""))),
        ..plain("browser_find_tab", "find_tab")
    },
    plain("browser_mouse_click", "mouse_click"),
    Tool { adds: &[("text", Add::Arg(&["text"], None))], ..plain("browser_key_type", "insert_text") },
    Tool { adds: &[SELECTOR, ("files", Add::Arg(&["paths"], None))], ..plain("browser_upload", "upload") },
    Tool { shape: Shape::Picture, ..plain("browser_save_as_pdf", "save_as_pdf") },
    Tool { unless: Some((&["action"], ("action", "\"get\""))), ..plain("browser_network", "network") },
    Tool { adds: &[CLOSED], ..plain("browser_close_all_managed_tabs", "close_auto_tabs") },
];
