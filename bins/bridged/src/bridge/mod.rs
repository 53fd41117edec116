//! `bridge`: every method as a command, its arguments and help from the catalogue.

mod complete;
mod failing;
mod fault;
mod help;
mod options;
mod picture;
mod repl;
mod watch;

use std::io::{IsTerminal, Read, Write};
use std::time::{Duration, Instant};

use bridge_catalogue::{Method, Scope, catalogue};
pub(crate) use complete::script as completions;
use failing::{no_daemon, trouble};
use help::{find, method_help, overview};
use options::{Options, common, options};
use serde_json::{Map, Value, json};

use crate::background;
use crate::client::{Client, Failure, Role};
use crate::config::{Given, Settings};
use crate::places::Places;
use crate::trouble::{Doing, Outcome, Trouble};
use crate::{harmless, saving, show};

/// How long a browser gets to connect to a daemon that has only just started.
const BROWSER_WITHIN: Duration = Duration::from_secs(8);
const VERSION: &str = env!("CARGO_PKG_VERSION");

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
        return print(&format!("{}\n", harmless::json(result.get())));
    }
    let result: Value = serde_json::from_str(result.get()).doing("understand the answer")?;
    if let Some(data) = result["data"].as_str().filter(|d| d.starts_with("data:")) {
        return picture::deliver(&result, data, options.output.as_deref(), options.json);
    }
    let text = match options.json {
        true => harmless::json(&result.to_string()).into_owned(),
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
