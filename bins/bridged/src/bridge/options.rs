//! What belongs to the program rather than to the method: `--tab`, `--json` and their like.

use std::path::PathBuf;

use bridge_catalogue::Method;
use serde_json::{Map, Value, json};

use crate::trouble::{Outcome, Trouble};

/// What belongs to the program rather than to the method.
#[derive(Debug, Default, Clone)]
pub(super) struct Options {
    /// The tab.
    pub tab: Option<i64>,
    /// The browser's id.
    pub browser: Option<String>,
    /// How long a call may take, in milliseconds; 0 is for methods that have a time of their own, which then look once.
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
                let within = u64::try_from(ms).ok().filter(|ms| *ms <= 600_000);
                options.timeout = Some(within.ok_or_else(wrong_time)?);
            }
            "--json" => options.json = true,
            // `-` is where it goes without the flag.
            "-o" | "--output" => {
                options.output = Some(value("a file's name")?).filter(|name| name != "-").map(Into::into);
            }
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

fn wrong_time() -> Trouble {
    Trouble::usage("--timeout: expected 1 to 600000 ms")
}

impl Options {
    /// Puts these where the method takes them. What it does not take is refused, and so is what is there already: a tab that is
    /// passed over would be another one than was meant.
    pub(super) fn put(&self, method: Option<&Method>, params: &mut Map<String, Value>) -> Outcome<()> {
        let given = [
            ("--tab", "tab_id", self.tab.map(Value::from)),
            ("--browser", "browser_id", self.browser.clone().map(Value::from)),
        ];
        for (flag, name, value) in given {
            let Some(value) = value else { continue };
            if let Some(method) = method.filter(|method| method.parameter(name).is_none()) {
                return Err(Trouble::usage(format!("{} takes no {flag}", method.command())));
            }
            if params.get(name).is_some_and(|there| *there != value) {
                return Err(Trouble::usage(format!("{name} was given twice")));
            }
            params.insert(name.to_owned(), value);
        }
        let has_time = method.is_some_and(|method| method.parameter("timeout").is_some());
        match self.timeout {
            Some(0) if !has_time => return Err(wrong_time()),
            Some(ms) if has_time => {
                params.insert("timeout".to_owned(), json!(ms));
            }
            _ => {}
        }
        Ok(())
    }

    /// With what holds for every line of a repl, where these and the line's arguments say nothing else.
    pub(super) fn over(
        self,
        always: &Options,
        method: Option<&Method>,
        params: &mut Map<String, Value>,
    ) -> Options {
        let takes = |name| method.is_none_or(|method| method.parameter(name).is_some());
        if let Some(tab) = always.tab.filter(|_| takes("tab_id")) {
            params.entry("tab_id").or_insert(json!(tab));
        }
        if let Some(browser) = always.browser.as_deref().filter(|_| takes("browser_id")) {
            params.entry("browser_id").or_insert(json!(browser));
        }
        if let Some(ms) = always.timeout.filter(|_| takes("timeout") && method.is_some()) {
            params.entry("timeout").or_insert(json!(ms));
        }
        Options {
            timeout: self.timeout.or(always.timeout),
            json: self.json || always.json,
            output: self.output.or_else(|| always.output.clone()),
            socket: self.socket.or_else(|| always.socket.clone()),
            ..self
        }
    }
}
