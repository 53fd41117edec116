//! The browser bridge's daemon and its command line: one program behind two names, `bridged` and `bridge`.
//!
//! Everything that is protocol lives in the crates this one puts together: the hub in `bridge-core`, its connections in
//! `bridge-driver`, the doors in `bridge-websocket` and `bridge-unix`. Here are the process, its files and its people.

#[macro_use]
mod out;

mod address;
mod audit;
mod background;
mod bridge;
mod captures;
mod cli;
mod client;
mod commands;
mod config;
mod control;
mod daemon;
mod demo;
mod doctor;
mod door;
mod extension;
mod files;
#[doc(hidden)]
pub mod fuzz;
mod harmless;
mod install;
mod keys;
mod knocks;
mod limits;
mod log_file;
mod logging;
mod mcp;
mod own_address;
mod pairing;
mod panics;
mod permit;
mod places;
mod policy;
mod record;
mod saving;
mod serve;
mod show;
mod skill;
mod squatter;
mod trouble;
mod uploads;
mod web;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use cli::Parsed;
use commands::{Bridged, Command, ExtensionCommand, PolicyCommand};
use config::{Given, Settings, Text};
use places::Places;
use trouble::{Outcome, Trouble};

/// Runs the program under the name it was called by; `otherwise` counts if that name is neither of the two.
pub fn main(otherwise: &str) -> ExitCode {
    panics::keep_quiet();
    let args: Vec<OsString> = std::env::args_os().collect();
    let called =
        args.first().and_then(|a| Path::new(a).file_stem()).and_then(|n| n.to_str()).unwrap_or_default();
    let name = if matches!(called, "bridge" | "bridged") { called } else { otherwise };
    let done = cli::arguments(args.iter().cloned()).and_then(|args| match name {
        "bridge" => bridge::run(&args),
        _ => bridged(&args),
    });
    match done {
        Ok(()) => ExitCode::from(u8::from(out::failed())),
        Err(trouble) => {
            let text = trouble.to_string();
            if !text.is_empty() {
                // Where nobody reads any more, the exit code is all there is.
                let _ = writeln!(std::io::stderr().lock(), "{name}: {text}");
            }
            ExitCode::from(trouble.code())
        }
    }
}

fn bridged(args: &[String]) -> Outcome<()> {
    let parsed = match cli::parse::<Bridged>("bridged", args).map_err(|e| meant(args).unwrap_or(e))? {
        Parsed::Command(parsed) => parsed,
        Parsed::Print(text) => {
            println!("{}", text.trim_end());
            return Ok(());
        }
    };
    if parsed.version {
        println!("bridged {}", env!("CARGO_PKG_VERSION"));
        return Ok(());
    }
    let Some(command) = parsed.command else {
        return Err(Trouble::usage(
            "what to do? `bridged --help` lists the commands; `bridged start` starts the daemon",
        ));
    };
    if let Command::Completions(asked) = &command {
        print!("{}", bridge::completions("bridged", asked.shell.as_deref())?);
        return Ok(());
    }
    let places = Places::find()?;
    match command {
        Command::Start(flags) => background::start(&places, &flags),
        Command::Stop(_) => background::stop(&places),
        Command::Restart(_) => background::restart(&places),
        Command::Status(asked) => background::status(&places, asked.json),
        Command::Logs(asked) => log_file::print(&places, asked.follow),
        Command::Extension(asked) => match asked.command {
            ExtensionCommand::Install(asked) => unpack(&places, asked.dir, asked.port),
            ExtensionCommand::Upgrade(_) => upgrade(&places),
            ExtensionCommand::Path(_) => extension::path(&places).map(|path| println!("{}", path.display())),
        },
        Command::Pair(_) => pairing::pair(&places),
        Command::Pairings(asked) => pairing::pairings(&places, asked.json),
        Command::Approve(asked) => pairing::approve(&places, &asked.id),
        Command::Revoke(asked) => pairing::revoke(&places, &asked.name),
        Command::ResetPairing(_) => pairing::reset(&places),
        Command::Token(asked) => pairing::token(&places, asked.action.as_deref()),
        Command::Policy(asked) => match asked.command {
            PolicyCommand::Show(asked) => policy::show(&places, asked.json),
            PolicyCommand::Set(asked) => {
                let values: Vec<String> = std::iter::once(asked.value).chain(asked.more).collect();
                policy::set(&places, &asked.key, &values, asked.length.as_deref())
            }
        },
        Command::Install(asked) => install::run(
            &places,
            &install::Wish { dry_run: asked.dry_run, uninstall: asked.uninstall, parts: asked.parts },
        ),
        Command::Skill(_) => {
            let settings = Settings::settle(Given::default(), &places, false)?;
            print!("{}", skill::text(&settings));
            Ok(())
        }
        Command::Doctor(asked) => doctor::run(&places, asked.json, asked.fix, asked.security),
        Command::Audit(asked) => audit::print(&places, asked.follow),
        Command::Mcp(asked) => mcp::run(&places, asked.tools.as_deref()),
        Command::Serve(flags) => serve::run(&flags, &places),
        Command::Demo(asked) => demo::run(&asked),
        // Answered above: it needs no folders.
        Command::Completions(_) => Ok(()),
    }
}

/// What is no command here may be one of `bridge`, or a mistyped one; the catalogue is not read before that is the question.
fn meant(args: &[String]) -> Option<Trouble> {
    let name = args.first().filter(|name| !name.starts_with('-'))?;
    if commands::list().any(|(known, _)| known == name) {
        let word = args.get(1)?;
        let near = bridge_catalogue::nearest(word, commands::beneath(name)).filter(|near| near != word)?;
        return Some(Trouble::usage(format!(
            "there is no `bridged {name} {}`; did you mean `{near}`?",
            word.escape_debug()
        )));
    }
    if let Some(method) = bridge_catalogue::catalogue().method(name) {
        let method = method.command();
        return Some(Trouble::usage(format!(
            "`{method}` is a command of the other program: `bridge {method}`"
        )));
    }
    let near = bridge_catalogue::nearest(name, commands::list().map(|(known, _)| known))?;
    Some(Trouble::usage(format!("there is no `bridged {}`; did you mean `{near}`?", name.escape_debug())))
}

fn unpack(places: &Places, dir: Option<String>, port: Option<String>) -> Outcome<()> {
    let named = port.is_some();
    let given = Given { port: port.map(|p| Text::new(p, "--port")), ..Given::default() };
    let settings = Settings::settle(given, places, false)?;
    let running = record::running(&places.state).flatten();
    let dialled = running.filter(|_| !named).and_then(|r| r.address.rsplit_once(':')?.1.parse().ok());
    let port = dialled.unwrap_or(settings.port);
    let folder = dir.map_or_else(|| places.extension.clone(), Into::into);
    let done = extension::install(places, &folder, port)?;
    let what = if done.again { "renewed the extension in" } else { "unpacked the extension to" };
    println!("{what} {} (key {}, dials ws://127.0.0.1:{port})", done.folder.display(), done.key_id);
    if done.again {
        println!(
            "A browser that has it loaded connects with the new key within half a minute; new files hold once its reload arrow in chrome://extensions was pressed."
        );
    } else {
        println!(
            "Load it once: chrome://extensions, switch on Developer mode, `Load unpacked`, choose that folder."
        );
        println!("For `run-script` also switch on `Allow User Scripts` in the extension's details there.");
    }
    Ok(())
}

fn upgrade(places: &Places) -> Outcome<()> {
    let done = extension::upgrade(places)?;
    for (folder, changed) in &done {
        println!("{} {}", if *changed { "renewed" } else { "is up to date:" }, folder.display());
    }
    if done.iter().any(|(_, changed)| *changed) {
        println!("Now press the extension's reload arrow in chrome://extensions.");
    }
    Ok(())
}
