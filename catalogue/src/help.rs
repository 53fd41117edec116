//! Help on a terminal: the list of methods, and one method on one screen.

use std::fmt::Write as _;

use crate::arguments::{is_list_of_texts, place_name};
use crate::{Catalogue, Kind, Method, Parameter};

const WIDTH: usize = 98;
/// How wide the names of parameters are beside what they are for.
const COLUMN: usize = 22;

impl Catalogue {
    /// All methods by group, a line each.
    pub fn overview(&self) -> String {
        let mut out = String::new();
        for (group, about) in self.groups() {
            let _ = writeln!(out, "{about}");
            for method in self.methods().iter().filter(|m| m.group == group) {
                wrapped(&mut out, &format!("  {:<20}", method.command()), &method.about);
            }
            out.push('\n');
        }
        out
    }
}

impl Method {
    /// The usage line: `usage: bridge click TARGET [--new-tab]`.
    pub fn usage(&self) -> String {
        let mut line = format!("usage: bridge {}", self.command());
        for parameter in self.cli.positional.iter().filter_map(|name| self.parameter(name)) {
            let more = if is_list_of_texts(parameter) { " …" } else { "" };
            let name = place_name(parameter.name) + more;
            let _ = if parameter.required { write!(line, " {name}") } else { write!(line, " [{name}]") };
        }
        for parameter in self.flags() {
            let _ = match parameter.required {
                true => write!(line, " {}", flag(parameter)),
                false => write!(line, " [{}]", flag(parameter)),
            };
        }
        line
    }

    /// Everything about it that fits on one screen.
    pub fn help(&self) -> String {
        let mut out = String::new();
        wrapped(&mut out, "", &self.about);
        if !self.details.is_empty() {
            wrapped(&mut out, "", &self.details);
        }
        let _ = writeln!(out, "\n{}", self.usage());
        let positional: Vec<_> = self.cli.positional.iter().filter_map(|name| self.parameter(name)).collect();
        if !positional.is_empty() {
            out.push('\n');
        }
        for parameter in positional {
            let text = &parameter.schema.description;
            describe(&mut out, &place_name(parameter.name), parameter, text, &parameter.schema.choices);
        }
        if self.flags().next().is_some() {
            out.push('\n');
        }
        for parameter in self.flags() {
            let off = self.cli.off.iter().find(|(name, _)| name == parameter.name).map(|(_, text)| text);
            let text = off.unwrap_or(&parameter.schema.description);
            // Those of the parameter itself stand in its name.
            let choices = parameter.schema.one_of.iter().flat_map(|schema| &schema.choices).cloned();
            describe(&mut out, &flag(parameter), parameter, text, &choices.collect::<Vec<_>>());
        }
        if self.parameter("target").is_some() {
            out.push('\n');
            wrapped(
                &mut out,
                "",
                "A TARGET is a CSS selector, or text=…, xpath=…, label=…, role=button[Save], or a snapshot's backend-12; --nth N takes the N-th match, from 0.",
            );
        }
        let _ = writeln!(out, "\nExample: {}", self.example.cli);
        out
    }

    /// Parameters of its own that need a flag.
    fn flags(&self) -> impl Iterator<Item = Parameter<'_>> {
        self.parameters().filter(|p| !p.common && !self.cli.positional.iter().any(|name| name == p.name))
    }
}

fn flag(parameter: Parameter<'_>) -> String {
    let name = parameter.name.replace('_', "-");
    match (parameter.schema.kind, parameter.schema.choices.as_slice()) {
        (Some(Kind::Boolean), _) if parameter.schema.default == Some(true.into()) => format!("--no-{name}"),
        (Some(Kind::Boolean), _) if parameter.required => format!("--{name}|--no-{name}"),
        (Some(Kind::Boolean), _) => format!("--{name}"),
        (_, [first, rest @ ..]) => {
            format!("--{name} {}", rest.iter().fold(first.clone(), |all, next| all + "|" + next))
        }
        (Some(Kind::Integer | Kind::Number), _) => format!("--{name} N"),
        (Some(Kind::Object), _) if parameter.name != "target" => format!("--{name} KEY=VALUE"),
        (Some(Kind::Array), _) => format!("--{name} A,B"),
        _ => format!("--{name} {}", place_name(parameter.name)),
    }
}

/// A parameter beside what it is for; beneath it where it is too long for that.
fn describe(out: &mut String, left: &str, parameter: Parameter<'_>, text: &str, choices: &[String]) {
    let mut text = text.to_owned();
    if !choices.is_empty() {
        let _ = write!(text, " ({})", choices.join(", "));
    }
    let said = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match &parameter.schema.default {
        Some(serde_json::Value::Bool(_)) | None => {}
        Some(serde_json::Value::Array(list)) if list.is_empty() => {}
        Some(value) => {
            let _ = write!(text, " (default {})", said(value));
        }
    }
    if let Some(items) = parameter.schema.items.as_ref().filter(|i| !i.choices.is_empty()) {
        let _ = write!(text, " ({})", items.choices.join(", "));
    }
    if left.chars().count() < COLUMN {
        return wrapped(out, &format!("  {left:<COLUMN$}"), &text);
    }
    let _ = writeln!(out, "  {left}");
    wrapped(out, &" ".repeat(COLUMN + 2), &text);
}

/// Writes `text` behind `lead`, broken at spaces, following lines indented as far as the lead.
fn wrapped(out: &mut String, lead: &str, text: &str) {
    let indent = lead.chars().count();
    let mut column = indent;
    out.push_str(lead);
    if !lead.is_empty() && !lead.ends_with(' ') {
        out.push(' ');
        column += 1;
    }
    for (i, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if i > 0 && column + 1 + length > WIDTH {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if i > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}
