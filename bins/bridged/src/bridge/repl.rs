//! `bridge repl`: one command a line, from a terminal or a pipe.

use std::io::{BufRead, IsTerminal, Read};

use super::Options;
use crate::trouble::{Doing, Outcome, Trouble};

pub(super) const HELP: &str = "usage: bridge repl [--tab N] [--browser ID] [--timeout MS] [--json]\n\n\
    Takes one command a line, as `bridge` takes it, until `exit` or the end of its input. Quotes hold words together; a line that\n\
    begins with # is passed over. The flags given here hold for every line that can take them and gives no other. From a pipe its exit code is that of the last command\n\
    that failed.\n\n\
    Example: printf 'new-tab https://example.com\\nget-page-content\\n' | bridge repl\n";

/// The longest line.
const LONGEST: u64 = 1 << 20;

/// Reads and runs lines; `always` are the flags that hold for each.
pub(super) fn run(always: &Options) -> Outcome<()> {
    let asks = std::io::stdin().is_terminal();
    let mut failed = 0;
    let mut line = String::new();
    loop {
        if asks {
            super::print("bridge> ")?;
        }
        line.clear();
        // Not held while a command runs: one that reads its input would wait for ever.
        let read = std::io::stdin().lock().take(LONGEST).read_line(&mut line).doing("read a line")?;
        if read == 0 {
            break;
        }
        if !line.ends_with('\n') && read as u64 >= LONGEST {
            return Err(Trouble::usage("a line is longer than 1 MiB"));
        }
        let words = match split(line.trim()) {
            Ok(words) => words,
            Err(why) => {
                eprintln!("bridge: {why}");
                failed = crate::trouble::USAGE;
                continue;
            }
        };
        match words.first().map(String::as_str) {
            None => continue,
            Some("exit" | "quit") => break,
            _ => {}
        }
        if let Err(trouble) = once(&words, always) {
            failed = trouble.code();
            let text = trouble.to_string();
            if !text.is_empty() {
                eprintln!("bridge: {text}");
            }
        }
    }
    match failed {
        code if code != 0 && !asks => Err(Trouble::new(code, "")),
        _ => Ok(()),
    }
}

fn once(words: &[String], always: &Options) -> Outcome<()> {
    if words.first().is_some_and(|word| word == "repl") {
        return Err(Trouble::usage("this is the repl already"));
    }
    if words.iter().any(|word| word == "-") {
        return Err(Trouble::usage("`-` reads standard input, which is where these lines come from"));
    }
    super::run_with(words, always)
}

/// Splits a line into words as a shell does, without its variables and patterns.
fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '#') if word.is_none() && words.is_empty() => return Ok(words),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                let next = chars.next().ok_or("the line ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(words("click 'text=Sign in' --json").as_deref(), Ok("click|text=Sign in|--json"));
        assert_eq!(words(r#"set-value #a "it's \"so\"""#).as_deref(), Ok(r##"set-value|#a|it's "so""##));
        assert_eq!(words(r"a\ b ''").as_deref(), Ok("a b|"));
        assert_eq!(words("# nothing").as_deref(), Ok(""));
        assert!(split("'open").is_err() && split("a\\").is_err());
    }
}
