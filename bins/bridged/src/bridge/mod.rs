//! `bridge`: every method as a command, its arguments and help from the catalogue.

mod complete;
mod fault;
mod picture;
mod repl;
mod watch;

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bridge_catalogue::{Method, Scope, catalogue, nearest};
use serde_json::{Map, Value, json};

use crate::background;
use crate::client::{Client, Failure, Refusal, Role};
use crate::config::{Given, Settings};
use crate::places::Places;
use crate::trouble::{Doing, FAILED, NO_BROWSER, NO_DAEMON, Outcome, TIMED_OUT, Trouble};
use crate::{commands, saving, show};

/// How long a browser gets to connect to a daemon that has only just started.
const BROWSER_WITHIN: Duration = Duration::from_secs(8);
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What belongs to the program rather than to the method.
#[derive(Debug, Default)]
struct Options {
    tab: Option<i64>,
    browser: Option<String>,
    timeout: Option<u64>,
    json: bool,
    output: Option<PathBuf>,
    socket: Option<PathBuf>,
    help: bool,
}

pub(crate) use complete::script as completions;

/// Runs `bridge` with its arguments.
pub(crate) fn run(args: &[String]) -> Outcome<()> {
    match attempt(args) {
        Err(trouble) if fault::wants_json(args) && !trouble.to_string().is_empty() => fault::tell(trouble),
        done => done,
    }
}

fn attempt(args: &[String]) -> Outcome<()> {
    let (options, rest) = options(args)?;
    let mut rest = rest.into_iter();
    let Some(command) = rest.next() else {
        if options.help {
            return print(&overview());
        }
        return Err(Trouble::usage("which method? `bridge help` lists them; for example `bridge list-tabs`"));
    };
    let rest: Vec<String> = rest.collect();
    match command.as_str() {
        "help" => match rest.first() {
            Some(name) => print(&method_help(find(name)?)),
            None => print(&overview()),
        },
        "--version" => print(&format!("bridge {VERSION}\n")),
        "watch" if options.help => print(watch::HELP),
        "watch" => watch::run(&options),
        "repl" if options.help => print(repl::HELP),
        "repl" => {
            let mut always = args.to_vec();
            let at = always.iter().position(|arg| arg == "repl");
            at.map(|at| always.remove(at));
            repl::run(&always)
        }
        "completions" if options.help => print(
            "usage: bridge completions bash|zsh|fish\n\nPrints completions for a shell.\n\nExample: source <(bridge completions bash)\n",
        ),
        "completions" => print(&completions("bridge", rest.first().map(String::as_str))?),
        "call" if options.help => print(
            "usage: bridge call METHOD [JSON]\n\nCalls any method with its parameters as JSON; `-` reads them from standard input.\n\nExample: bridge call click '{\"target\":{\"by\":\"text\",\"value\":\"Sign in\"}}'\n",
        ),
        "call" => raw(&options, &rest),
        _ => {
            let method = find(&command)?;
            if options.help {
                return print(&method_help(method));
            }
            let mut params =
                bridge_catalogue::arguments(method, &rest, &mut from_stdin).map_err(Trouble::usage)?;
            common(&options, Some(method), &mut params);
            method.check(&params).map_err(Trouble::usage)?;
            perform(&options, &method.name, Some(method), params)
        }
    }
}

/// `bridge call METHOD JSON`: a method as it stands, also one that this program does not know.
fn raw(options: &Options, rest: &[String]) -> Outcome<()> {
    let (name, text) = match rest {
        [name] => (name, "{}".to_owned()),
        [name, text] if text == "-" => (name, from_stdin("params").map_err(Trouble::failed)?),
        [name, text] => (name, text.clone()),
        _ => return Err(Trouble::usage("usage: bridge call METHOD JSON, with `-` for standard input")),
    };
    let Ok(Value::Object(mut params)) = serde_json::from_str(&text) else {
        return Err(Trouble::usage(
            "the parameters must be a JSON object, as in '{\"url\":\"https://example.com\"}'",
        ));
    };
    let known = catalogue().method(name);
    common(options, known, &mut params);
    let name = known.map_or(name.as_str(), |m| m.name.as_str());
    perform(options, name, known, params)
}

/// Puts the program's own options where the method takes them.
fn common(options: &Options, method: Option<&Method>, params: &mut Map<String, Value>) {
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

fn perform(
    options: &Options,
    name: &str,
    method: Option<&Method>,
    mut params: Map<String, Value>,
) -> Outcome<()> {
    if name == "upload" {
        whole_paths(&mut params);
    }
    let places = Places::find()?;
    let given = Given { socket: options.socket.clone(), ..Given::default() };
    let settings = Settings::settle(given, &places, false)?;
    let (mut client, fresh) = connect(&places, &settings)?;
    if fresh && method.is_none_or(|m| m.scope != Scope::Hub) {
        wait_for_browser(&mut client)?;
    }
    let deadline = options.timeout.map(Duration::from_millis);
    let result = client.call(name, &Value::Object(params), deadline).map_err(trouble)?;
    if options.json && options.output.is_none() {
        return print(&format!("{}\n", result.get()));
    }
    let result: Value = serde_json::from_str(result.get()).doing("understand the answer")?;
    if let Some(data) = result["data"].as_str().filter(|d| d.starts_with("data:")) {
        return picture::deliver(&result, data, options.output.as_deref(), options.json);
    }
    let text = match options.json {
        true => result.to_string(),
        false => show::result(name, method.and_then(|m| m.cli.show.as_deref()), &result),
    };
    match &options.output {
        Some(path) => saving::save(path, (text + "\n").as_bytes()),
        None if std::io::stdout().is_terminal() => print(&(show::harmless(&text) + "\n")),
        None => print(&(text + "\n")),
    }
}

/// The daemon does not know where this program was called.
fn whole_paths(params: &mut Map<String, Value>) {
    for path in params.get_mut("paths").and_then(Value::as_array_mut).into_iter().flatten() {
        let whole =
            path.as_str().and_then(|p| std::fs::canonicalize(p).or_else(|_| std::path::absolute(p)).ok());
        if let Some(whole) = whole.as_deref().and_then(std::path::Path::to_str) {
            *path = json!(whole);
        }
    }
}

/// Connects to the daemon, starting one if none runs; says whether it was started for this.
fn connect(places: &Places, settings: &Settings) -> Outcome<(Client, bool)> {
    match Client::connect(&settings.socket, Role::Person) {
        Ok(client) => return Ok((client, false)),
        Err(Failure::NoDaemon(_)) => {}
        Err(other) => return Err(trouble(other)),
    }
    if settings.socket != places.socket {
        return Err(no_daemon(&format!("nobody answers at {}", settings.socket.display())));
    }
    let (record, fresh) = background::ensure(places, &[]).map_err(|e| no_daemon(&e.to_string()))?;
    let client = Client::connect(&record.socket, Role::Person).map_err(trouble)?;
    Ok((client, fresh))
}

/// A browser's extension notices a new daemon by itself, but not at once.
fn wait_for_browser(client: &mut Client) -> Outcome<()> {
    let until = Instant::now() + BROWSER_WITHIN;
    let mut said = false;
    loop {
        let answer = client.call("list_browsers", &json!({}), None).map_err(trouble)?;
        let known: Value = serde_json::from_str(answer.get()).doing("understand the daemon")?;
        if known["browsers"].as_array().is_some_and(|list| !list.is_empty()) || Instant::now() >= until {
            return Ok(());
        }
        if !said {
            eprintln!("bridge: started bridged; waiting for a browser to connect …");
            said = true;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A failed call as exit code and sentence, with what to do next.
fn trouble(failure: Failure) -> Trouble {
    match failure {
        Failure::NoDaemon(e) => no_daemon(&format!("nobody answers at the daemon's socket ({e})")),
        Failure::Broken(text) => Trouble::new(NO_DAEMON, format!("{text}; see `bridged logs`")),
        Failure::Refused(refusal) => refused(&refusal),
    }
}

fn no_daemon(text: &str) -> Trouble {
    Trouble::new(NO_DAEMON, format!("no daemon: {text}"))
}

fn refused(refusal: &Refusal) -> Trouble {
    let code = match refusal.code.as_str() {
        "NO_EXTENSION" | "NO_SUCH_BROWSER" => NO_BROWSER,
        "TIMEOUT" => TIMED_OUT,
        _ if refusal.error.starts_with("timeout:") => TIMED_OUT,
        _ => FAILED,
    };
    let mut text = show::harmless(&refusal.error);
    if !refusal.code.is_empty() {
        text.push_str(&format!(" [{}]", show::harmless(&refusal.code)));
    }
    if let Some(next) = next_step(&refusal.code) {
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
            "Open the browser that has the extension, or install it with `bridged extension install DIR`."
        }
        "NO_SUCH_BROWSER" => "`bridge list-browsers` shows which are connected.",
        "TAB_NOT_FOUND" => "`bridge list-tabs` shows which tabs there are.",
        "ELEMENT_NOT_FOUND" => "`bridge get-a11y-tree` shows what is on the page; --timeout MS waits longer.",
        "ELEMENT_NOT_ACTIONABLE" => {
            "`bridge screenshot` shows what is in the way; --timeout MS waits longer."
        }
        "TIMEOUT" => "--timeout MS allows more time.",
        "UNKNOWN_METHOD" => {
            "`bridge help` lists the methods; an old extension may need `bridged extension install` again."
        }
        "INVALID_PARAMS" => "`bridge help METHOD` shows its parameters.",
        "PAUSED" => "Resume it in the extension's popup.",
        "EXTENSION_DISCONNECTED" | "EXTENSION_REPLACED" => {
            "The browser's extension went away during the call."
        }
        "RESTRICTED_PAGE" => "Browsers let no extension into this kind of page.",
        "OVERLOADED" => "Wait for the calls in progress.",
        _ => return None,
    })
}

/// Takes the program's own options out of the arguments, wherever they stand before a lone `--`.
fn options(args: &[String]) -> Outcome<(Options, Vec<String>)> {
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

fn find(name: &str) -> Outcome<&'static Method> {
    catalogue().method(name).ok_or_else(|| {
        let commands: Vec<String> = catalogue().methods().iter().map(Method::command).collect();
        let own = ["help", "call", "watch", "repl", "completions"];
        let known = commands.iter().map(String::as_str).chain(own);
        let other = <commands::Command as argh::SubCommands>::COMMANDS.iter().find(|c| c.name == name);
        if let Some(other) = other {
            return Trouble::usage(format!(
                "`{0}` is a command of the other program: `bridged {0}`",
                other.name
            ));
        }
        Trouble::usage(match nearest(name, known) {
            Some(near) => format!("there is no method `{}`; did you mean `{near}`?", name.escape_debug()),
            None => format!("there is no method `{}`; `bridge help` lists them all", name.escape_debug()),
        })
    })
}

fn overview() -> String {
    format!(
        "bridge {VERSION}: drives the browser you are using, from the command line.\n\n\
         usage: bridge METHOD [ARGS] [--tab N] [--browser ID] [--timeout MS] [--json] [-o FILE]\n\n\
         {}\
         bridge help METHOD    what a method takes\n\
         bridge call METHOD JSON    any method with its parameters as JSON\n\
         bridge watch    calls as they pass, whoever makes them\n\
         bridge repl    one command a line\n\
         bridge completions bash|zsh|fish\n\n\
         A lone `-` in place of a value reads it from standard input; what follows `--` is never a flag.\n\
         Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no daemon, 4 no browser, 5 timed out.\n\
         Example: bridge new-tab https://example.com && bridge click 'text=Learn more'\n",
        catalogue().overview()
    )
}

fn method_help(method: &Method) -> String {
    let tab = if matches!(method.scope, Scope::Page | Scope::Tab) { "[--tab N] " } else { "" };
    let browser = if method.scope == Scope::Hub { "" } else { "[--browser ID] " };
    let timeout = if method.parameter("timeout").is_some() { "" } else { "[--timeout MS] " };
    let common = format!("Always: {tab}{browser}{timeout}[--json] [-o FILE]\n");
    let help = method.help();
    match help.rsplit_once("\nExample: ") {
        Some((above, example)) => format!("{above}{common}\nExample: {example}"),
        None => help + &common,
    }
}

fn from_stdin(_: &str) -> Result<String, String> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(8 << 20).read_to_string(&mut text);
    read.map(|_| text).map_err(|e| format!("cannot read standard input: {e}"))
}

/// Prints; a reader that went away (`| head`) is no failure.
fn print(text: &str) -> Outcome<()> {
    printed(text).map(drop)
}

/// Prints; false once nobody reads.
fn printed(text: &str) -> Outcome<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e).doing("write the result"),
        done => Ok(done.is_ok()),
    }
}
