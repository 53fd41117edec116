//! What argh leaves out: `--flag=value`, `-h`, `--version`, exit code 2 for usage.

use std::ffi::OsString;

use argh::{EarlyExit, TopLevelCommand};

use crate::trouble::{Outcome, Trouble};

/// Arguments without the program's name, as text.
pub(crate) fn arguments(args: impl IntoIterator<Item = OsString>) -> Outcome<Vec<String>> {
    args.into_iter()
        .skip(1)
        .map(|arg| {
            arg.into_string()
                .map_err(|bad| Trouble::usage(format!("the argument {bad:?} is not valid UTF-8")))
        })
        .collect()
}

/// What parsing came to.
pub(crate) enum Parsed<T> {
    /// Go on with this.
    Command(T),
    /// Print this and be done: help was asked for.
    Print(String),
}

/// Parses `args` for the program `name`.
pub(crate) fn parse<T: TopLevelCommand>(name: &str, args: &[String]) -> Outcome<Parsed<T>> {
    let plain = normalised(args);
    let words: Vec<&str> = plain.iter().map(String::as_str).collect();
    match T::from_args(&[name], &words) {
        Ok(command) => Ok(Parsed::Command(command)),
        Err(EarlyExit { output, status: Ok(()) }) => Ok(Parsed::Print(output)),
        Err(EarlyExit { output, status: Err(()) }) => {
            let said = one_sentence(&output);
            // The help of the command that was meant, if one was.
            let command =
                words.first().filter(|word| !word.starts_with('-') && !said.ends_with(&format!(": {word}")));
            let of = command.map_or(String::new(), |command| format!(" {command}"));
            Err(Trouble::usage(format!("{said}; see `{name}{of} --help`")))
        }
    }
}

/// Splits `--flag=value` and makes `-h` `--help`, up to a lone `--`.
fn normalised(args: &[String]) -> Vec<String> {
    let mut plain = Vec::with_capacity(args.len());
    let mut rest = args.iter();
    for arg in rest.by_ref() {
        match arg.split_once('=') {
            _ if arg == "--" => {
                plain.push(arg.clone());
                break;
            }
            Some((flag, value)) if flag.starts_with("--") => {
                plain.extend([flag.to_owned(), value.to_owned()])
            }
            _ if arg == "-h" => plain.push("--help".to_owned()),
            // A site to be taken off a list; no flag is one dash before a longer word.
            _ if plain.starts_with(&["policy".to_owned(), "set".to_owned()]) && is_word_after_dash(arg) => {
                plain.extend(["--".to_owned(), arg.clone()]);
                break;
            }
            _ => plain.push(arg.clone()),
        }
    }
    plain.extend(rest.cloned());
    plain
}

fn is_word_after_dash(arg: &str) -> bool {
    arg.strip_prefix('-').is_some_and(|word| word.len() > 1 && !word.starts_with('-'))
}

/// argh's complaint without its line breaks and its own pointer to the help.
fn one_sentence(output: &str) -> String {
    let said: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let kept = said.iter().take_while(|line| !line.starts_with("Run ")).copied();
    kept.collect::<Vec<_>>().join(" ").trim_end_matches(['.', ';']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::normalised;

    #[test]
    fn flags_with_an_equals_sign_are_split_up_to_two_dashes() {
        let given = ["--port=9", "a=b", "-h", "--", "--x=y"].map(String::from);
        assert_eq!(normalised(&given), ["--port", "9", "a=b", "--help", "--", "--x=y"]);
        let given = ["policy", "set", "deny", "+a.example", "-b.example", "-c.example"].map(String::from);
        assert_eq!(normalised(&given)[4..], ["--", "-b.example", "-c.example"]);
    }
}
