//! The method reference as Markdown: an index, and a page a method.

use std::fmt::Write as _;

use crate::{Access, Catalogue, Method, Schema, Scope, catalogue};

/// Every file of `docs/methods`: its name, and what is in it.
pub fn reference() -> Vec<(String, String)> {
    let mut files = vec![("README.md".to_owned(), index(catalogue()))];
    files.extend(catalogue().methods().iter().map(|method| (format!("{}.md", method.name), page(method))));
    files
}

fn index(catalogue: &Catalogue) -> String {
    let mut out = String::from(
        "# Methods\n\n\
         Made from `catalogue/methods.json` by `make docs`; edit that file, not these.\n\n\
         Every method that works on a page or a tab also takes `tab_id` (the default tab if left out) and `browser_id`; one \
         that works on a browser takes `browser_id`. Where `target` is a parameter, `\"selector\": \"#x\"` alone stands for \
         `\"target\": {\"by\": \"css\", \"value\": \"#x\"}`. A parameter that is `null` counts as left out.\n\n\
         On the command line `_` is written `-` and a target may be short: `'#go'` is CSS, and there are `text=Send`, \
         `xpath=//a[1]`, `label=City`, `role=button[Save]`.\n",
    );
    for (group, about) in catalogue.groups() {
        let _ = writeln!(out, "\n## {group}\n\n{about}\n\n| method | | does |\n| --- | --- | --- |");
        for method in catalogue.methods().iter().filter(|m| m.group == group) {
            let access = if method.access == Access::Read { "reads" } else { "acts" };
            let _ = writeln!(out, "| [`{0}`]({0}.md) | {access} | {1} |", method.name, cell(&method.about));
        }
    }
    out.push_str("\n## Shapes\n");
    for (name, schema) in catalogue.defs().filter(|(_, s)| !s.properties.is_empty()) {
        let _ = writeln!(out, "\n### {name}\n");
        if !schema.description.is_empty() {
            let _ = writeln!(out, "{}\n", schema.description);
        }
        fields(&mut out, schema, "#");
    }
    out
}

fn page(method: &Method) -> String {
    let mut out = format!("# {}\n\n{}\n", method.name, method.about);
    if !method.details.is_empty() {
        let _ = writeln!(out, "\n{}", method.details);
    }
    let on = match method.scope {
        Scope::Page => "Works on a page: also takes `tab_id` and `browser_id`.",
        Scope::Tab => "Works on a tab: also takes `tab_id` and `browser_id`.",
        Scope::Browser => "Works on a browser: also takes `browser_id`.",
        Scope::Hub => "Answered by the daemon itself.",
    };
    let from = match method.seed {
        1 => " Part of Browser Bridge v1.",
        2 => " Taken over from OpenBridge.",
        _ => "",
    };
    let _ =
        writeln!(out, "\n{on}{from} [All methods](README.md)\n\n## Example\n\n    {}\n", method.example.cli);
    let _ = writeln!(
        out,
        "```json\n→ {{\"id\":\"1\",\"method\":\"{}\",\"params\":{}}}\n← {{\"id\":\"1\",\"success\":true,\"result\":{}}}\n```",
        method.name,
        one_line(method.example.params.get()),
        one_line(method.example.result.get())
    );
    parameters(&mut out, method);
    if !method.result.properties.is_empty() {
        out.push_str("\n## Result\n\n");
        fields(&mut out, &method.result, "README.md#");
    }
    out
}

fn parameters(out: &mut String, method: &Method) {
    let mut own = method.parameters().filter(|p| !p.common).peekable();
    if own.peek().is_none() {
        return;
    }
    out.push_str("\n## Parameters\n\n| parameter | type | |\n| --- | --- | --- |\n");
    for parameter in own {
        let kind = match parameter.name {
            "target" => "[target](README.md#target)".to_owned(),
            _ => parameter.schema.type_name(),
        };
        let must = if parameter.required { ", required" } else { "" };
        let _ = writeln!(out, "| `{}` | {kind}{must} | {} |", parameter.name, meaning(parameter.schema));
    }
}

/// The fields of an object; shapes are linked to at `anchor`.
fn fields(out: &mut String, schema: &Schema, anchor: &str) {
    out.push_str("| field | type | |\n| --- | --- | --- |\n");
    for (name, field) in &schema.properties {
        let maybe = if schema.required.contains(name) { "" } else { ", optional" };
        let kind = linked(field, anchor);
        let _ = writeln!(out, "| `{name}` | {kind}{maybe} | {} |", meaning(catalogue().resolve(field)));
    }
}

/// The type in a word, as a link where it is a shape.
fn linked(field: &Schema, anchor: &str) -> String {
    if let Some(items) = &field.items {
        return format!("array of {}", linked(items, anchor));
    }
    let resolved = catalogue().resolve(field);
    match resolved.properties.is_empty() || field.reference.is_none() {
        true => resolved.type_name(),
        false => format!("[{0}]({anchor}{0})", field.type_name()),
    }
}

/// The description with what else the schema says: default, choices, range.
fn meaning(schema: &Schema) -> String {
    let mut text = cell(&schema.description);
    if !schema.choices.is_empty() {
        let _ = write!(text, " One of `{}`.", schema.choices.join("`, `"));
    }
    match (schema.minimum, schema.maximum) {
        (Some(min), Some(max)) => {
            let beyond = if schema.clamp { "; beyond, the nearest of these counts" } else { "" };
            let _ = write!(text, " {min} to {max}{beyond}.");
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
