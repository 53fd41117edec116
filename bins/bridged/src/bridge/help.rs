//! What there is to call, and what each method takes.

use bridge_catalogue::{Method, Scope, catalogue, nearest};

use super::{VERSION, repl, watch};
use crate::commands;
use crate::trouble::{Outcome, Trouble};

/// The method of this name, or of its command's.
pub(super) fn find(name: &str) -> Outcome<&'static Method> {
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

/// `bridge help`.
pub(super) fn overview() -> String {
    format!(
        "bridge {VERSION}: drives the browser you are using, from the command line.\n\n\
         usage: bridge METHOD [ARGS] [--tab N] [--browser ID] [--timeout MS] [--json] [-o FILE]\n\n\
         {}\
         bridge help METHOD    what a method takes\n\
         bridge call METHOD JSON    any method with its parameters as JSON\n\
         bridge watch    calls as they pass, whoever makes them\n\
         bridge repl    one command a line\n\
         bridge completions bash|zsh|fish\n\n\
         A lone `-` in place of a value reads it from standard input; what follows `--` is never a flag. --socket PATH names the\n\
         daemon's socket where it is not the usual one.\n\
         Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no daemon, 4 no browser, 5 timed out.\n\
         Example: bridge new-tab https://example.com && bridge click 'text=Learn more'\n",
        catalogue().overview()
    )
}

/// The help of the program's own commands.
pub(super) fn of_own(command: &str) -> Option<&'static str> {
    Some(match command {
        "watch" => watch::HELP,
        "repl" => repl::HELP,
        "call" => {
            "usage: bridge call METHOD [JSON]\n\n\
             Calls any method with its parameters as JSON; `-` reads them from standard input.\n\n\
             Example: bridge call click '{\"target\":{\"by\":\"text\",\"value\":\"Sign in\"}}'\n"
        }
        "completions" => {
            "usage: bridge completions bash|zsh|fish\n\nPrints completions for a shell.\n\n\
             Example: source <(bridge completions bash)\n"
        }
        "help" => {
            "usage: bridge help [METHOD]\n\n\
             Lists the methods, or says what one takes, as `bridge METHOD --help` does.\n\nExample: bridge help click\n"
        }
        _ => return None,
    })
}

/// `bridge help METHOD`.
pub(super) fn method_help(method: &Method) -> String {
    let tab = if matches!(method.scope, Scope::Page | Scope::Tab) { "[--tab N] " } else { "" };
    let browser = if method.scope == Scope::Hub { "" } else { "[--browser ID] " };
    let timeout = if method.parameter("timeout").is_some() { "" } else { "[--timeout MS] " };
    let common = format!("Always: {tab}{browser}{timeout}[--json] [-o FILE]\n");
    let help = method.help();
    match help.rsplit_once("\nExample: ") {
        Some((above, example)) => format!("{above}\n{common}\nExample: {example}"),
        None => help + &common,
    }
}
