//! `tools/list` from the catalogue: each method's schema, resolved and stripped to what a model needs.

use std::collections::BTreeMap;

use super::set::{CORE, INSTEAD, ToolSet, UnknownSet};
use crate::json::{Json, quote};

/// Writes that add something but destroy nothing.
const ADDITIVE: &[&str] = &[
    "new_tab",
    "activate_tab",
    "navigate",
    "go_back",
    "go_forward",
    "scroll",
    "hover",
    "wait_for",
    "get_page_markdown",
    "screenshot",
];

/// Reads that do more than read when asked to (go to an address, raise a window), so they are not announced as reads.
const MORE_THAN_READS: &[&str] = &["get_page_markdown", "screenshot"];

/// Params that are no use to a model: whose things to close is always "mine" for an agent.
const LEFT_OUT: &[&str] = &[
    "owner",
    "group_title",
    "group_color",
    // Agents name files by their paths.
    "files",
    // Would take the screen from the person who sits there.
    "foreground",
    // Worth less than its place in every conversation.
    "include_hidden",
    "quality",
    "smooth",
];

/// Names a set of tabs. Each agent has a window of its own anyway, so it is shown only beside the tool that ends a session.
const SESSION: &str = "session_id";

/// How the catalogue begins the description of a param that only older clients use.
const OLDER: &str = "Older form";

/// A target as a model writes it: a string, in the command line's short form. The long form is taken as well.
const TARGET: &str = "CSS, or text=, label=, ref=, xpath=, role=button[Name]";

/// One method as a tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) json: String,
    pub(crate) kind: Kind,
    /// What to say when a result was cut.
    pub(crate) hint: String,
}

/// Where a method takes targets: models write them as strings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Params that are targets.
    pub(crate) own: Vec<String>,
    /// Lists of objects with such a member, by the list's name and the member's.
    pub(crate) listed: Vec<(String, String)>,
    /// A list of other methods' calls (`batch`).
    pub(crate) calls: Option<String>,
}

/// What kind of result a tool has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Page text; `main` is the member that holds most of it.
    Page { main: Option<String> },
    /// A picture or a document as a data URL.
    Picture,
    /// A few facts.
    Short,
}

/// All tools of a chosen set, ready to be listed and called. Made once, shared by all sessions.
#[derive(Debug)]
pub struct Tools {
    tools: Vec<Tool>,
    list: String,
    /// Of all methods, shown or not: a batch may call any of them.
    targets: BTreeMap<String, Targets>,
}

impl Tools {
    /// From a catalogue's text. A catalogue that is no JSON holds no tools.
    ///
    /// # Errors
    /// Where the set names something that is not there.
    pub fn new(catalogue: &str, set: &ToolSet) -> Result<Self, UnknownSet> {
        let catalogue = Json::read(catalogue).unwrap_or(Json::Null);
        let none = Json::Object(Vec::new());
        let defs = catalogue.get("defs").unwrap_or(&none);
        let methods = catalogue.get("methods").map(Json::elements).unwrap_or_default();
        let chosen = choose(methods, catalogue.get("groups").unwrap_or(&none), set)?;
        let mut list = String::from(r#""tools":["#);
        let mut tools: Vec<Tool> = Vec::with_capacity(chosen.len());
        let mut target = String::new();
        described("string", TARGET).write(&mut target);
        let mut explained = false;
        let sessions = chosen.iter().any(|method| member(method, "name") == "close_session");
        for method in chosen {
            let mut tool = tool(method, defs, sessions);
            // A model reads the whole list: what a target is stands in it once, with the first that takes one.
            if explained {
                tool.json = tool.json.replace(&target, r#"{"type":"string"}"#);
            } else {
                explained = tool.json.contains(&target);
            }
            if !tools.is_empty() {
                list.push(',');
            }
            list.push_str(&tool.json);
            tools.push(tool);
        }
        list.push(']');
        let targets = methods.iter().map(|method| (member(method, "name").to_owned(), targets(method)));
        Ok(Self { tools, list, targets: targets.collect() })
    }

    /// The members of the result of `tools/list`.
    pub(crate) fn list(&self) -> &str {
        &self.list
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The size of the array that `tools/list` answers, in bytes: what a model pays for.
    pub fn bytes(&self) -> usize {
        self.list.len().saturating_sub(r#""tools":"#.len())
    }

    /// The tools' names and the size of each, in the order of the list.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tools.iter().map(|tool| (tool.name.as_str(), tool.json.len()))
    }

    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Tool)> {
        self.tools.iter().enumerate().find(|(_, tool)| tool.name == name)
    }

    pub(crate) fn targets(&self, method: &str) -> Option<&Targets> {
        self.targets.get(method)
    }

    pub(crate) fn at(&self, index: usize) -> Option<&Tool> {
        self.tools.get(index)
    }
}

fn choose<'a>(methods: &'a [Json], groups: &Json, set: &ToolSet) -> Result<Vec<&'a Json>, UnknownSet> {
    let name = |method: &'a Json| member(method, "name");
    for part in set.parts() {
        let known = matches!(part.as_str(), "core" | "all")
            || groups.get(part).is_some()
            || methods.iter().any(|method| name(method) == part || member(method, "group") == part);
        if !known {
            let groups = groups.members().iter().map(|(name, _)| name.clone()).collect();
            return Err(UnknownSet { name: part.clone(), groups });
        }
    }
    let there = |wanted: &str| methods.iter().any(|method| name(method) == wanted);
    let is_core = |wanted: &str| {
        CORE.contains(&wanted) && !INSTEAD.iter().any(|(first, second)| *second == wanted && there(first))
    };
    let in_part = |part: &str, method: &'a Json| match part {
        "all" => true,
        "core" => is_core(name(method)),
        other => name(method) == other || member(method, "group") == other,
    };
    Ok(methods.iter().filter(|method| set.parts().iter().any(|part| in_part(part, method))).collect())
}

fn tool(method: &Json, defs: &Json, sessions: bool) -> Tool {
    let name = member(method, "name").to_owned();
    let scope = member(method, "scope");
    let none = Json::Object(Vec::new());
    let params = method.get("params").unwrap_or(&none);
    let properties = params.get("properties").unwrap_or(&none).members();

    let mut json = String::from(r#"{"name":"#);
    quote(&mut json, &name);
    json.push_str(r#","description":"#);
    quote(&mut json, plain(member(method, "about")));
    json.push_str(r#","inputSchema":{"type":"object""#);
    let shown = |(key, schema): &&(String, Json)| {
        let left_out = LEFT_OUT.contains(&key.as_str()) || (key == SESSION && !sessions);
        !left_out && !member(schema, "description").starts_with(OLDER)
    };
    let mut parts: Vec<(String, Json)> = properties
        .iter()
        .filter(shown)
        .map(|(key, schema)| (key.clone(), property(key, schema, defs, 0)))
        .collect();
    if matches!(scope, "page" | "tab") && !parts.iter().any(|(key, _)| key == "tab_id") {
        parts.push(("tab_id".to_owned(), typed("integer")));
    }
    if !parts.is_empty() {
        json.push_str(r#","properties":"#);
        Json::Object(parts).write(&mut json);
    }
    if let Some(required) = params.get("required").filter(|required| !required.elements().is_empty()) {
        json.push_str(r#","required":"#);
        required.write(&mut json);
    }
    json.push('}');
    annotations(&mut json, &name, member(method, "access"), scope);
    json.push('}');

    Tool { name, json, kind: kind(method), hint: hint(properties) }
}

/// Finds the places of targets among a method's params.
fn targets(method: &Json) -> Targets {
    let takes = |schema: &Json| {
        let is = |schema: &Json| schema.get("$ref").and_then(Json::text) == Some("#/defs/target");
        is(schema) || schema.get("oneOf").map(Json::elements).unwrap_or_default().iter().any(is)
    };
    let properties = |schema: &Json| schema.get("properties").map(Json::members).unwrap_or_default().to_vec();
    let mut found = Targets::default();
    for (name, schema) in method.get("params").map(properties).unwrap_or_default() {
        if takes(&schema) {
            found.own.push(name);
            continue;
        }
        let items = schema.get("items").map(properties).unwrap_or_default();
        if items.iter().any(|(key, _)| key == "method") && items.iter().any(|(key, _)| key == "params") {
            found.calls = Some(name);
            continue;
        }
        let members = items.into_iter().filter(|(_, schema)| takes(schema));
        found.listed.extend(members.map(|(member, _)| (name.clone(), member)));
    }
    found
}

/// One param: references resolved, defaults and bounds dropped (the bridge checks them), words kept at the top only.
fn property(name: &str, schema: &Json, defs: &Json, depth: usize) -> Json {
    // What it means is said once for all tools.
    if name == "timeout" {
        return typed("integer");
    }
    let reference =
        schema.get("$ref").and_then(Json::text).and_then(|reference| reference.strip_prefix("#/defs/"));
    if reference == Some("target") {
        return described("string", TARGET);
    }
    let resolved = reference.and_then(|name| defs.get(name));
    let schema = resolved.unwrap_or(schema);
    // A catalogue whose references turn in circles ends here.
    if depth > 8 {
        return typed("object");
    }
    let mut out = Vec::new();
    for (key, value) in schema.members() {
        let kept = match key.as_str() {
            "type" | "enum" | "required" => value.clone(),
            "description" if depth == 0 => {
                let words = value.text().unwrap_or_default();
                let words = words.split_once(';').map_or(words, |(first, _)| first);
                Json::String(plain(words.split_once(". ").map_or(words, |(first, _)| first)).to_owned())
            }
            "items" => property("", value, defs, depth + 1),
            "properties" => Json::Object(
                value
                    .members()
                    .iter()
                    .map(|(key, inner)| (key.clone(), property(key, inner, defs, depth + 1)))
                    .collect(),
            ),
            "oneOf" => Json::Array(
                value.elements().iter().map(|inner| property("", inner, defs, depth + 1)).collect(),
            ),
            "additionalProperties" if matches!(value, Json::Object(_)) => {
                property("", value, defs, depth + 1)
            }
            _ => continue,
        };
        if !matches!(&kept, Json::Array(elements) if elements.is_empty()) {
            out.push((key.clone(), kept));
        }
    }
    Json::Object(out)
}

/// Only what differs from MCP's defaults: a write that may destroy, in an open world.
fn annotations(json: &mut String, name: &str, access: &str, scope: &str) {
    let mut hints = Vec::new();
    if access == "read" && !MORE_THAN_READS.contains(&name) {
        hints.push(r#""readOnlyHint":true"#);
    } else if ADDITIVE.contains(&name) {
        hints.push(r#""destructiveHint":false"#);
    }
    if scope == "hub" {
        hints.push(r#""openWorldHint":false"#);
    }
    if !hints.is_empty() {
        json.push_str(r#","annotations":{"#);
        json.push_str(&hints.join(","));
        json.push('}');
    }
}

fn kind(method: &Json) -> Kind {
    let result = method.get("result").and_then(|result| result.get("properties"));
    let has = |name: &str| result.is_some_and(|result| result.get(name).is_some());
    if has("data") && has("mime") {
        return Kind::Picture;
    }
    let is_short = match member(method, "group") {
        "act" | "hub" => true,
        "tabs" => member(method, "access") == "write",
        // Whatever is new and unknown is taken for page text: too much marking harms nobody.
        _ => false,
    };
    if is_short {
        return Kind::Short;
    }
    let main = method.get("cli").and_then(|cli| cli.get("show")).and_then(Json::text);
    Kind::Page { main: main.map(str::to_owned) }
}

fn hint(properties: &[(String, Json)]) -> String {
    let ways = ["selector", "item", "max_nodes", "limit", "filter", "query"];
    let mine: Vec<&str> =
        ways.into_iter().filter(|way| properties.iter().any(|(name, _)| name == way)).collect();
    if mine.is_empty() { String::new() } else { format!("Narrow it down with {}.", mine.join(" or ")) }
}

fn member<'a>(json: &'a Json, name: &str) -> &'a str {
    json.get(name).and_then(Json::text).unwrap_or_default()
}

fn typed(name: &str) -> Json {
    Json::Object(vec![("type".to_owned(), Json::String(name.to_owned()))])
}

fn described(name: &str, words: &str) -> Json {
    let text = |text: &str| Json::String(text.to_owned());
    Json::Object(vec![("type".to_owned(), text(name)), ("description".to_owned(), text(words))])
}

fn plain(text: &str) -> &str {
    text.strip_suffix('.').unwrap_or(text)
}
