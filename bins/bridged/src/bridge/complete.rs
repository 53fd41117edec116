//! Completions for shells, from the catalogue.

use std::fmt::Write as _;

use bridge_catalogue::{Method, catalogue};

use crate::trouble::{Outcome, Trouble};

const COMMON: [&str; 6] = ["--tab", "--browser", "--timeout", "--json", "-o", "--help"];

/// The completion script of `program` for a shell.
pub(crate) fn script(program: &str, shell: Option<&str>) -> Outcome<String> {
    let words: Vec<(String, String, Vec<String>)> = match program {
        "bridge" => bridge_words(),
        _ => crate::commands::list()
            .map(|(name, about)| (name.to_owned(), about.to_owned(), words_after(name)))
            .collect(),
    };
    match shell {
        Some("bash") => Ok(bash(program, &words)),
        Some("zsh") => Ok(zsh(program, &words)),
        Some("fish") => Ok(fish(program, &words)),
        _ => Err(Trouble::usage(format!("for which shell? `{program} completions bash|zsh|fish`"))),
    }
}

/// What may follow a command of `bridged`.
fn words_after(command: &str) -> Vec<String> {
    let words = if command == "policy" { crate::policy::WORDS } else { "" };
    words.split_whitespace().map(str::to_owned).collect()
}

/// Each command with what it does and its flags.
fn bridge_words() -> Vec<(String, String, Vec<String>)> {
    let of = |method: &Method| {
        let own =
            method.parameters().filter(|p| !p.common).map(|p| format!("--{}", p.name.replace('_', "-")));
        (method.command(), method.about.clone(), own.chain(COMMON.map(str::to_owned)).collect())
    };
    let mut words: Vec<_> = catalogue().methods().iter().map(of).collect();
    for (name, about) in [
        ("help", "What a method takes."),
        ("call", "Any method with JSON."),
        ("watch", "Calls as they pass."),
        ("repl", "One command a line."),
        ("completions", "For a shell."),
    ] {
        words.push((name.to_owned(), about.to_owned(), Vec::new()));
    }
    words
}

fn bash(program: &str, words: &[(String, String, Vec<String>)]) -> String {
    let names: Vec<&str> = words.iter().map(|(name, _, _)| name.as_str()).collect();
    let mut out = format!(
        "# {program} completions for bash: source <({program} completions bash)\n\
         _{program}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}}\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    \
         COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return\n  fi\n  case \"${{COMP_WORDS[1]}}\" in\n",
        names.join(" ")
    );
    for (name, _, flags) in words.iter().filter(|(_, _, flags)| !flags.is_empty()) {
        let _ = writeln!(out, "    {name}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\"));;", flags.join(" "));
    }
    if program == "bridge" {
        let _ =
            writeln!(out, "    help|call) COMPREPLY=($(compgen -W \"{}\" -- \"$word\"));;", names.join(" "));
    }
    let _ = write!(out, "  esac\n}}\ncomplete -o default -F _{program} {program}\n");
    out
}

fn zsh(program: &str, words: &[(String, String, Vec<String>)]) -> String {
    let mut out = format!("#compdef {program}\n_{program}() {{\n  local -a commands=(\n");
    for (name, about, _) in words {
        let _ = writeln!(out, "    '{name}:{}'", about.replace('\'', "'\\''").replace(':', "\\:"));
    }
    out.push_str(
        "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  case $words[2] in\n",
    );
    for (name, _, flags) in words.iter().filter(|(_, _, flags)| !flags.is_empty()) {
        let _ = writeln!(out, "    {name}) compadd -- {}; _files;;", flags.join(" "));
    }
    let _ = write!(out, "    *) _files;;\n  esac\n}}\ncompdef _{program} {program}\n");
    out
}

fn fish(program: &str, words: &[(String, String, Vec<String>)]) -> String {
    let mut out = String::new();
    for (name, about, flags) in words {
        let about = about.replace('\\', "\\\\").replace('\'', "\\'");
        let _ = writeln!(out, "complete -c {program} -n __fish_use_subcommand -f -a {name} -d '{about}'");
        for flag in flags {
            let kind = match (flag.strip_prefix("--"), flag.strip_prefix('-')) {
                (Some(long), _) => format!("-l {long}"),
                (None, Some(short)) => format!("-s {short}"),
                (None, None) => format!("-f -a {flag}"),
            };
            let _ = writeln!(out, "complete -c {program} -n '__fish_seen_subcommand_from {name}' {kind}");
        }
    }
    out
}
