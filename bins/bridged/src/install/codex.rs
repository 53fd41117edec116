//! The same for Codex's configuration, which is TOML: the table `[mcp_servers.NAME]` set or removed in the text.

use toml::{Table, Value};

/// What an entry runs: its command, if it says one, and its arguments.
type Runs = (Option<String>, Vec<String>);

/// The entry, if there is one.
pub(crate) fn get(text: &str, name: &str) -> Result<Option<Runs>, String> {
    let table = parse(text)?;
    let Some(entry) = table.get("mcp_servers").and_then(|servers| servers.get(name)) else { return Ok(None) };
    let args = entry.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten().filter_map(|a| a.as_str().map(str::to_owned)).collect();
    Ok(Some((entry.get("command").and_then(Value::as_str).map(str::to_owned), args)))
}

/// The text with an entry that runs `command` with `args`; what else the entry says stays.
pub(crate) fn set(text: &str, name: &str, command: &str, args: &[String]) -> Result<String, String> {
    let mut wanted = parse(text)?;
    let there = wanted.get("mcp_servers").is_some_and(|servers| servers.get(name).is_some());
    let command_line = format!("command = {}", quoted(command));
    let args_line = format!("args = [{}]", args.iter().map(|a| quoted(a)).collect::<Vec<_>>().join(", "));
    let changed = if there {
        let block = block(text, name).ok_or_else(dare_not)?;
        let mut lines: Vec<&str> = text[block.clone()].lines().collect();
        lines.retain(|line| !is_key(line, "command") && !is_key(line, "args"));
        lines.splice(1..1, [command_line.as_str(), args_line.as_str()]);
        format!("{}{}\n{}", &text[..block.start], lines.join("\n"), &text[block.end..])
    } else {
        let gap = if text.is_empty() {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        format!("{text}{gap}[mcp_servers.{name}]\n{command_line}\n{args_line}\n")
    };
    let servers = wanted.entry("mcp_servers").or_insert_with(|| Value::Table(Table::new()));
    let entry = servers
        .as_table_mut()
        .ok_or_else(dare_not)?
        .entry(name)
        .or_insert_with(|| Value::Table(Table::new()));
    let entry = entry.as_table_mut().ok_or_else(dare_not)?;
    entry.insert("command".to_owned(), command.into());
    entry.insert("args".to_owned(), args.to_vec().into());
    verified(changed, &wanted)
}

/// The text without the entry.
pub(crate) fn remove(text: &str, name: &str) -> Result<String, String> {
    let mut wanted = parse(text)?;
    let Some(servers) = wanted.get_mut("mcp_servers").and_then(Value::as_table_mut) else {
        return Ok(text.to_owned());
    };
    if servers.remove(name).is_none() {
        return Ok(text.to_owned());
    }
    if servers.is_empty() {
        wanted.remove("mcp_servers");
    }
    let mut changed = text.to_owned();
    while let Some(block) = block(&changed, name).or_else(|| block(&changed, &format!("{name}."))) {
        changed.replace_range(block, "");
    }
    // The empty line that set the entry apart goes with it.
    if changed.ends_with("\n\n") && !text.ends_with("\n\n") {
        changed.pop();
    }
    verified(changed, &wanted)
}

fn verified(changed: String, wanted: &Table) -> Result<String, String> {
    match parse(&changed) {
        Ok(found) if found == *wanted => Ok(changed),
        _ => Err(dare_not()),
    }
}

fn dare_not() -> String {
    "its form is one that this program does not dare to change".to_owned()
}

fn parse(text: &str) -> Result<Table, String> {
    text.parse::<Table>().map_err(|e| format!("it is not valid TOML: {}", e.message().replace('\n', " ")))
}

/// From the table's header to the next one. A `name` that ends with a dot stands for any table beneath it.
fn block(text: &str, name: &str) -> Option<std::ops::Range<usize>> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let head = line.trim();
        if head.starts_with('[') {
            if let Some(start) = start {
                return Some(start..at);
            }
            let path: String = head.chars().filter(|c| !matches!(c, ' ' | '\t' | '"' | '\'')).collect();
            let path = path.trim_start_matches('[').split([']', '#']).next().unwrap_or_default();
            let ours = path
                .strip_prefix("mcp_servers.")
                .is_some_and(|rest| if name.ends_with('.') { rest.starts_with(name) } else { rest == name });
            start = ours.then_some(at);
        }
        at += line.len();
    }
    start.map(|start| start..at)
}

fn is_key(line: &str, key: &str) -> bool {
    line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may stop at the first surprise

    use super::{get, remove, set};

    fn mcp() -> Vec<String> {
        vec!["mcp".to_owned()]
    }

    #[test]
    fn an_entry_is_added_at_the_end_and_removed_to_the_byte() {
        for text in ["", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = \"y\"\n"] {
            let added = set(text, "bridged", "/bin/bridged", &mcp()).unwrap();
            assert!(
                added.starts_with(text)
                    && added
                        .ends_with("[mcp_servers.bridged]\ncommand = \"/bin/bridged\"\nargs = [\"mcp\"]\n")
            );
            assert_eq!(get(&added, "bridged").unwrap(), Some((Some("/bin/bridged".to_owned()), mcp())));
            assert_eq!(remove(&added, "bridged").unwrap(), text);
        }
    }

    #[test]
    fn what_else_an_entry_says_stays() {
        let text = "[mcp_servers.bridged]\n# why\ncommand = \"old\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 20\n\n[mcp_servers.bridged.env]\nA = \"1\"\n\n[tail]\nx = 1\n";
        let changed = set(text, "bridged", "/bin/bridged", &mcp()).unwrap();
        assert!(
            changed.contains("# why")
                && changed.contains("startup_timeout_sec = 20")
                && changed.contains("A = \"1\"")
                && !changed.contains("old"),
            "{changed}"
        );
        assert_eq!(remove(&changed, "bridged").unwrap(), "[tail]\nx = 1\n");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in [
            "mcp_servers = { bridged = { command = \"x\" } }\n",
            "mcp_servers = { other = { command = \"x\" } }\n",
            "a = ",
            "mcp_servers = 1",
        ] {
            assert!(set(text, "bridged", "/bin/bridged", &mcp()).is_err(), "{text}");
        }
    }
}
