//! One line of the audit: who asked for what, what was decided and what came of it. Never what was typed, read or run.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::harmless;

/// The longest label, in characters.
const LABEL: usize = 64;
/// How many steps of a batch are named.
const STEPS: usize = 64;

/// What will be a line. Whoever fills it in must not wait, so that the costly parts are done when it is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    /// When it was asked.
    pub at: Option<SystemTime>,
    /// The same by a clock that nobody sets, in milliseconds since the daemon's start.
    pub mono_ms: u64,
    /// The connection: its place and how often that was used before.
    pub conn: Option<(u16, u32)>,
    /// The owner that the hub stamps.
    pub client_id: String,
    /// What the client calls itself.
    pub label: String,
    /// Its user, process and program, where the kernel says.
    pub who: Who,
    /// The door.
    pub transport: &'static str,
    /// What let it in.
    pub auth: &'static str,
    /// The browser that was asked.
    pub browser_id: Option<String>,
    /// The method.
    pub method: String,
    /// The tab, as asked for or as answered.
    pub tab_id: Option<i64>,
    /// The page's origin, where the browser said it.
    pub origin: Option<String>,
    /// `allow` or `deny`.
    pub decision: &'static str,
    /// `ok`, `error`, `denied`, or `gone` where nobody waited for it any more.
    pub outcome: &'static str,
    /// The error's code.
    pub code: Option<String>,
    /// How long it took.
    pub ms: Option<u64>,
    /// How long the answer was.
    pub bytes: Option<u64>,
    /// How many like it went unwritten since the last one.
    pub collapsed: u64,
    /// The params' raw text, where something is to be made of it: a script's length and hash, a batch's steps.
    pub params: Option<Vec<u8>>,
}

/// Who is behind a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Who {
    /// The user.
    pub uid: Option<u32>,
    /// The process.
    pub pid: Option<i32>,
    /// Its program.
    pub exe: Option<String>,
}

impl Who {
    /// With the program, looked up the first time that it is to be told.
    pub(super) fn with_program(mut self) -> Who {
        if let (Some(pid), None) = (self.pid, &self.exe) {
            let exe = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
            self.exe = Some(exe.map_or_else(String::new, |path| path.to_string_lossy().into_owned()));
        }
        self
    }
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    ts: String,
    mono_ms: u64,
    conn: Option<String>,
    client_id: String,
    label: String,
    uid: Option<u32>,
    pid: Option<i32>,
    exe: Option<&'a str>,
    transport: &'a str,
    auth: &'a str,
    browser_id: Option<&'a str>,
    method: &'a str,
    tab_id: Option<i64>,
    origin: Option<&'a str>,
    decision: &'a str,
    outcome: &'a str,
    code: Option<&'a str>,
    ms: Option<u64>,
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "is_zero")]
    collapsed: u64,
    #[serde(flatten)]
    more: More,
}

#[derive(Default, Serialize)]
struct More {
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<Script>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Script {
    length: usize,
    sha256: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Entry {
    /// Roughly what it holds in memory.
    pub(crate) fn weight(&self) -> usize {
        512 + self.params.as_ref().map_or(0, Vec::len)
    }

    /// As one line of JSON, without its end. `seq` none: for those who watch.
    pub(crate) fn line(&self, seq: Option<u64>) -> String {
        let line = Line {
            seq,
            ts: moment(self.at.unwrap_or_else(SystemTime::now)),
            mono_ms: self.mono_ms,
            conn: self.conn.map(|(slot, epoch)| format!("{slot}.{epoch}")),
            client_id: cut(&self.client_id, LABEL),
            label: cut(&self.label, LABEL),
            uid: self.who.uid,
            pid: self.who.pid,
            exe: self.who.exe.as_deref(),
            transport: self.transport,
            auth: self.auth,
            browser_id: self.browser_id.as_deref(),
            method: &self.method,
            tab_id: self.tab_id,
            origin: self.origin.as_deref(),
            decision: self.decision,
            outcome: self.outcome,
            code: self.code.as_deref(),
            ms: self.ms,
            bytes: self.bytes,
            collapsed: self.collapsed,
            more: self.params.as_deref().map(more).unwrap_or_default(),
        };
        // It holds text, numbers and nothing else, which can always be written.
        harmless::json(&serde_json::to_string(&line).unwrap_or_default()).into_owned()
    }
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// What may be told of the params: never a script itself, only how long it is and a sign by which the same one is known again.
fn more(params: &[u8]) -> More {
    #[derive(Deserialize)]
    struct Params {
        #[serde(alias = "expression", alias = "script")]
        code: Option<String>,
        steps: Option<Vec<Step>>,
    }
    #[derive(Deserialize)]
    struct Step {
        #[serde(default)]
        method: String,
    }
    let Ok(params) = serde_json::from_slice::<Params>(params) else { return More::default() };
    let script = params.code.map(|code| {
        let hash = Sha256::digest(&code);
        let prefix = hash.iter().take(8).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Script { length: code.len(), sha256: prefix }
    });
    let steps =
        params.steps.map(|steps| steps.into_iter().take(STEPS).map(|step| cut(&step.method, 64)).collect());
    More { script, steps }
}

/// Only scheme, host and port of an address: no names and passwords, no path, no query.
pub(crate) fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once(':')?;
    if scheme.is_empty()
        || scheme.len() > 32
        || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    {
        return None;
    }
    let Some(rest) = rest.strip_prefix("//") else { return Some(format!("{scheme}:")) };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(cut(&format!("{scheme}://{host}"), 256))
}

fn moment(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = crate::logging::moment_of(since.as_secs());
    format!("{}.{:03}Z", text.trim_end_matches('Z'), since.subsec_millis())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_hostile_label_breaks_no_line() {
        let entry = Entry {
            label: format!("\"}},{{\"x\":\"\n\u{1b}[2J\u{9b}\u{202e}{}", "x".repeat(200)),
            client_id: "c\u{7}".to_owned(),
            ..Entry::default()
        };
        let line = entry.line(Some(7));
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{line}");
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["label"].as_str().unwrap().chars().count(), 64);
        assert_eq!((&read["seq"], &read["x"]), (&Value::from(7), &Value::Null));
    }

    #[test]
    fn a_script_is_known_by_its_hash_and_a_batch_by_its_methods() {
        let entry = Entry { params: Some(br#"{"code":"alert('secret')"}"#.to_vec()), ..Entry::default() };
        let line: Value = serde_json::from_str(&entry.line(None)).unwrap();
        assert_eq!(line["script"]["length"], 15);
        assert_eq!(line["script"]["sha256"].as_str().unwrap().len(), 16);
        assert!(!line.to_string().contains("secret"));
        let steps = br#"{"steps":[{"method":"click","params":{"secret":1}},{"method":"set_value"}]}"#;
        let line: Value =
            serde_json::from_str(&Entry { params: Some(steps.to_vec()), ..Entry::default() }.line(None))
                .unwrap();
        assert_eq!(line["steps"], serde_json::json!(["click", "set_value"]));
        assert!(!line.to_string().contains("secret"));
    }

    #[test]
    fn of_an_address_only_the_origin_is_kept() {
        for (url, kept) in [
            ("https://user:pass@shop.example:8443/a/b?token=x#y", Some("https://shop.example:8443")),
            ("http://h?x@y", Some("http://h")),
            ("https:\\\\h\\x", Some("https:")),
            ("data:text/plain,secret", Some("data:")),
            ("javascript:secret", Some("javascript:")),
            ("no address", None),
        ] {
            assert_eq!(origin(url).as_deref(), kept, "{url}");
        }
    }
}
