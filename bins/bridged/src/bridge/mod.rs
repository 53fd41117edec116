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
use failing::{no_daemon, trouble, trouble_with};
use help::{find, method_help, of_own, overview};
use options::{Options, options};
use serde_json::{Map, Value, json};

use crate::background;
use crate::client::{Client, Failure, Role};
use crate::config::{Given, Settings};
use crate::places::Places;
use crate::trouble::{Doing, Outcome, Trouble};
use crate::{harmless, saving, show};

/// How long a browser gets to connect to a daemon that has only just started.
const BROWSER_WITHIN: Duration = Duration::from_secs(8);
/// What a method that waits by itself gets beyond that time to say what came of it; without, it would be taken off the time.
const TO_TELL: Duration = Duration::from_millis(500);
/// The longest that the daemon lets a call take.
const LONGEST: Duration = Duration::from_millis(600_000);
/// The most that is read from standard input: no daemon can be set to take more.
const MOST_INPUT: u64 = 256 << 20;
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs `bridge` with its arguments.
pub(crate) fn run(args: &[String]) -> Outcome<()> {
    run_with(args, &Options::default())
}

/// The same with options that hold where the arguments say nothing else.
fn run_with(args: &[String], always: &Options) -> Outcome<()> {
    let json = always.json || fault::wants_json(args);
    match attempt(args, always) {
        Err(trouble) if json && !trouble.to_string().is_empty() => fault::tell(trouble),
        done => done,
    }
}

fn attempt(args: &[String], always: &Options) -> Outcome<()> {
    let (options, rest) = options(args)?;
    let mut rest = rest.into_iter();
    let Some(command) = rest.next() else {
        if options.help {
            return print(&overview());
        }
        return Err(Trouble::usage("which method? `bridge help` lists them; for example `bridge list-tabs`"));
    };
    let rest: Vec<String> = rest.collect();
    if let Some(text) = of_own(&command).filter(|_| options.help) {
        return print(text);
    }
    match command.as_str() {
        "help" if rest.len() > 1 => {
            Err(Trouble::usage(format!("`bridge help` takes one method, not `{}` too", odd(&rest))))
        }
        "help" => match rest.first() {
            Some(name) => match of_own(name) {
                Some(text) => print(text),
                None => print(&method_help(find(name)?)),
            },
            None => print(&overview()),
        },
        "watch" | "completions" if rest.len() > usize::from(command == "completions") => Err(Trouble::usage(
            format!("unexpected argument `{}`; see `bridge {command} --help`", odd(&rest)),
        )),
        "--version" => print(&format!("bridge {VERSION}\n")),
        "watch" => watch::run(&options.over(always, None, &mut Map::new())),
        "repl" => match rest.first() {
            Some(odd) => Err(Trouble::usage(format!(
                "`bridge repl` takes flags alone, not `{}`; see `bridge repl --help`",
                odd.escape_debug()
            ))),
            None => repl::run(&options),
        },
        "completions" => print(&completions("bridge", rest.first().map(String::as_str))?),
        "call" => raw(options, always, &rest),
        _ => {
            let method = find(&command)?;
            if options.help {
                return print(&method_help(method));
            }
            let mut params =
                bridge_catalogue::arguments(method, &rest, &mut from_stdin).map_err(Trouble::usage)?;
            options.put(Some(method), &mut params)?;
            let options = options.over(always, Some(method), &mut params);
            method.check(&params).map_err(Trouble::usage)?;
            perform(&options, &method.name, Some(method), params)
        }
    }
}

/// What stands where nothing is expected any more.
fn odd(rest: &[String]) -> String {
    rest.last().map_or(String::new(), |word| word.escape_debug().to_string())
}

/// `bridge call METHOD JSON`: a method as it stands, also one that this program does not know.
fn raw(options: Options, always: &Options, rest: &[String]) -> Outcome<()> {
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
    options.put(known, &mut params)?;
    let options = options.over(always, known, &mut params);
    let name = known.map_or(name.as_str(), |m| m.name.as_str());
    perform(&options, name, known, params)
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
    // What a file is called says what it should hold.
    if let Some(format) = options.output.as_deref().filter(|_| name == "screenshot").and_then(picture::format)
    {
        params.entry("format").or_insert(json!(format));
    }
    let places = Places::find()?;
    let given = Given { socket: options.socket.clone(), ..Given::default() };
    let settings = Settings::settle(given, &places, false)?;
    let (mut client, fresh) = connect(&places, &settings)?;
    if fresh && method.is_none_or(|m| m.scope != Scope::Hub) {
        wait_for_browser(&mut client)?;
    }
    let waits = method.is_some_and(|method| method.parameter("timeout").is_some());
    let after = if waits { TO_TELL } else { Duration::ZERO };
    let deadline =
        options.timeout.filter(|ms| *ms > 0).map(|ms| (Duration::from_millis(ms) + after).min(LONGEST));
    let answer =
        client.call(name, &Value::Object(params), deadline).map_err(|failure| trouble_with(name, failure))?;
    let as_it_came = options.json && options.output.is_none();
    if as_it_came {
        print(&format!("{}\n", harmless::json(answer.get())))?;
        if name != "batch" {
            return Ok(());
        }
    }
    let result: Value = serde_json::from_str(answer.get()).doing("understand the answer")?;
    if !as_it_came {
        show(options, name, method, &result)?;
    }
    outcome(name, &result)
}

/// Puts a result where it is wanted, as a person reads it if nobody asked for JSON.
fn show(options: &Options, name: &str, method: Option<&Method>, result: &Value) -> Outcome<()> {
    if result["truncated"] == true && !options.json {
        let more = method.is_some_and(|method| method.parameter("max_nodes").is_some());
        eprintln!("bridge: this is not all of it{}", if more { "; --max-nodes N shows more" } else { "" });
    }
    if let Some(data) = result["data"].as_str().filter(|d| d.starts_with("data:")) {
        return picture::deliver(result, data, options.output.as_deref(), options.json);
    }
    let text = match options.json {
        true => harmless::json(&result.to_string()).into_owned(),
        false => show::result(name, method.and_then(|m| m.cli.show.as_deref()), result),
    };
    match &options.output {
        Some(path) => saving::save(path, (text + "\n").as_bytes()),
        None if std::io::stdout().is_terminal() => print(&(show::harmless(&text) + "\n")),
        None => print(&(text + "\n")),
    }
}

/// A batch is answered whatever its steps came to, but a command whose steps failed is not done.
fn outcome(name: &str, result: &Value) -> Outcome<()> {
    let steps = result["results"].as_array().filter(|_| name == "batch");
    let failed = steps.into_iter().flatten().filter(|step| step["success"] != true).count();
    if failed == 0 {
        return Ok(());
    }
    eprintln!("bridge: of the batch's steps {} were done and {failed} failed", result["done"]);
    Err(Trouble::failed(""))
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
    let read = std::io::stdin().lock().take(MOST_INPUT + 1).read_to_string(&mut text);
    match read {
        Err(e) => Err(format!("cannot read standard input: {e}")),
        Ok(bytes) if bytes as u64 > MOST_INPUT => {
            Err("there is more than 256 MiB on standard input".to_owned())
        }
        Ok(_) => Ok(text),
    }
}

/// Prints; a reader that went away (`| head`) is no failure.
fn print(text: &str) -> Outcome<()> {
    printed(text).map(drop)
}

/// Prints; false once nobody reads.
fn printed(text: &str) -> Outcome<bool> {
    written(text.as_bytes())
}

/// The same for what is no text.
fn written(bytes: &[u8]) -> Outcome<bool> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e).doing("write the result"),
        done => Ok(done.is_ok()),
    }
}
