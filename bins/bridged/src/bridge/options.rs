//! What belongs to the program rather than to the method: `--tab`, `--json` and their like.

use std::path::PathBuf;

use bridge_catalogue::Method;
use serde_json::{Map, Value, json};

use crate::trouble::{Outcome, Trouble};

/// What belongs to the program rather than to the method.
#[derive(Debug, Default)]
pub(super) struct Options {
    /// The tab.
    pub tab: Option<i64>,
    /// The browser's id.
    pub browser: Option<String>,
    /// How long a call may take, in milliseconds.
    pub timeout: Option<u64>,
    /// Whether the answer is shown as it came.
    pub json: bool,
    /// The file that the answer goes to.
    pub output: Option<PathBuf>,
    /// The daemon's socket.
    pub socket: Option<PathBuf>,
    /// Whether help is asked for.
    pub help: bool,
}

/// Takes the program's own options out of the arguments, wherever they stand before a lone `--`.
pub(super) fn options(args: &[String]) -> Outcome<(Options, Vec<String>)> {
    let mut options = Options::default();
    let mut kept = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (flag, attached) = match arg.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (arg.as_str(), None),
        };
        let mut value = |what: &str| {
            let given = attached.clone().or_else(|| rest.next().cloned());
            given.ok_or_else(|| Trouble::usage(format!("{flag} needs {what}")))
        };
        match flag {
            "--tab" => {
                options.tab = Some(whole(flag, &value("a tab's number; `bridge list-tabs` shows them")?)?)
            }
            "--browser" => {
                options.browser = Some(value("a browser's id; `bridge list-browsers` shows them")?)
            }
            "--timeout" => {
                let ms: i64 = whole(flag, &value("milliseconds")?)?;
                let within = u64::try_from(ms).ok().filter(|ms| (1..=600_000).contains(ms));
                options.timeout =
                    Some(within.ok_or_else(|| Trouble::usage("--timeout: expected 1 to 600000 ms"))?);
            }
            "--json" => options.json = true,
            "-o" | "--output" => options.output = Some(value("a file's name")?.into()),
            "--socket" => options.socket = Some(value("a path")?.into()),
            "-h" | "--help" => options.help = true,
            "--" => {
                kept.push(arg.clone());
                kept.extend(rest.by_ref().cloned());
            }
            _ => kept.push(arg.clone()),
        }
    }
    Ok((options, kept))
}

fn whole(flag: &str, text: &str) -> Outcome<i64> {
    text.parse().map_err(|_| {
        Trouble::usage(format!("{flag}: expected a whole number, got `{}`", text.escape_debug()))
    })
}

/// Puts the program's own options where the method takes them.
pub(super) fn common(options: &Options, method: Option<&Method>, params: &mut Map<String, Value>) {
    let takes = |name| method.is_none_or(|m| m.parameter(name).is_some());
    if let Some(tab) = options.tab.filter(|_| takes("tab_id")) {
        params.insert("tab_id".to_owned(), json!(tab));
    }
    if let Some(browser) = options.browser.as_deref().filter(|_| takes("browser_id")) {
        params.insert("browser_id".to_owned(), json!(browser));
    }
    if let Some(timeout) =
        options.timeout.filter(|_| method.is_some_and(|m| m.parameter("timeout").is_some()))
    {
        params.insert("timeout".to_owned(), json!(timeout));
    }
}
