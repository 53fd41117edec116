//! The method reference as Markdown.

use std::fmt::Write as _;

use crate::{Access, Catalogue, Method, Schema, Scope, catalogue};

/// The whole of `docs/methods.md`.
pub fn reference() -> String {
    let catalogue = catalogue();
    let mut out = String::from(
        "# Methods\n\n\
         Made from `catalogue/methods.json` by `cargo run -p bridge-catalogue --example docs`; edit that file, not this one.\n\n\
         Every method that works on a page or a tab also takes `tab_id` (the default tab if left out) and `browser_id`; one \
         that works on a browser takes `browser_id`. Where `target` is a parameter, `\"selector\": \"#x\"` alone stands for \
         `\"target\": {\"by\": \"css\", \"value\": \"#x\"}`. A parameter that is `null` counts as left out.\n\n",
    );
    contents(&mut out, catalogue);
    for (group, about) in catalogue.groups() {
        let _ = writeln!(out, "## {group}\n\n{about}\n");
        catalogue.methods().iter().filter(|m| m.group == group).for_each(|m| page(&mut out, m));
    }
    out.push_str("## Shapes\n\n");
    for (name, schema) in catalogue.defs().filter(|(_, s)| !s.properties.is_empty()) {
        let _ = writeln!(out, "### Shape `{name}`\n");
        if !schema.description.is_empty() {
            let _ = writeln!(out, "{}\n", schema.description);
        }
        fields(&mut out, schema);
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn contents(out: &mut String, catalogue: &Catalogue) {
    out.push_str("| method | | does |\n| --- | --- | --- |\n");
    for method in catalogue.methods() {
        let access = if method.access == Access::Read { "reads" } else { "acts" };
        let _ = writeln!(out, "| [`{0}`](#{0}) | {access} | {1} |", method.name, cell(&method.about));
    }
    out.push('\n');
}

fn page(out: &mut String, method: &Method) {
    let _ = writeln!(out, "### {}\n\n{}", method.name, method.about);
    if !method.details.is_empty() {
        let _ = writeln!(out, "{}", method.details);
    }
    let on = match method.scope {
        Scope::Page => "a page",
        Scope::Tab => "a tab",
        Scope::Browser => "a browser",
        Scope::Hub => "the daemon alone",
    };
    let _ = writeln!(out, "Works on {on}.\n\n    {}\n", method.example.cli);
    parameters(out, method);
    if !method.result.properties.is_empty() {
        out.push_str("Result:\n\n");
        fields(out, &method.result);
    }
    let _ = writeln!(
        out,
        "```json\n→ {{\"id\":\"1\",\"method\":\"{}\",\"params\":{}}}\n← {{\"id\":\"1\",\"success\":true,\"result\":{}}}\n```\n",
        method.name,
        one_line(method.example.params.get()),
        one_line(method.example.result.get())
    );
}

fn parameters(out: &mut String, method: &Method) {
    let mut own = method.parameters().filter(|p| !p.common).peekable();
    if own.peek().is_none() {
        return;
    }
    out.push_str("| parameter | type | |\n| --- | --- | --- |\n");
    for parameter in own {
        let kind =
            if parameter.name == "target" { "target".to_owned() } else { parameter.schema.type_name() };
        let must = if parameter.required { ", required" } else { "" };
        let _ = writeln!(out, "| `{}` | {kind}{must} | {} |", parameter.name, meaning(parameter.schema));
    }
    out.push('\n');
}

fn fields(out: &mut String, schema: &Schema) {
    out.push_str("| field | type | |\n| --- | --- | --- |\n");
    for (name, field) in &schema.properties {
        let resolved = catalogue().resolve(field);
        let kind = if resolved.properties.is_empty() { resolved.type_name() } else { field.type_name() };
        let maybe = if schema.required.contains(name) { "" } else { ", optional" };
        let _ = writeln!(out, "| `{name}` | {kind}{maybe} | {} |", meaning(resolved));
    }
    out.push('\n');
}

/// The description with what else the schema says: default, choices, range.
fn meaning(schema: &Schema) -> String {
    let mut text = cell(&schema.description);
    if !schema.choices.is_empty() {
        let _ = write!(text, " One of `{}`.", schema.choices.join("`, `"));
    }
    match (schema.minimum, schema.maximum) {
        (Some(min), Some(max)) => {
            let _ = write!(text, " {min} to {max}.");
        }
        (Some(min), None) => {
            let _ = write!(text, " {min} or more.");
        }
        _ => {}
    }
    if let Some(default) = &schema.default {
        let _ = write!(text, " Default `{default}`.");
    }
    text.trim_start().to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// JSON as the file has it, on one line.
fn one_line(json: &str) -> String {
    json.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
