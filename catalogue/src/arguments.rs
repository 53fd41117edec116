//! The command line's arguments for a method, turned into its parameters by the table.

use serde_json::{Map, Value, json};

use crate::{Kind, Method, Parameter, Schema, nearest};

/// Reads the text that a lone `-` stands for; gets the parameter's name.
pub(crate) type Stdin<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Turns arguments into parameters: positional ones in the table's order, the others as `--kebab-case VALUE`.
///
/// A switch is `--name` or `--no-name`, a list may repeat its flag or use commas, or as the last of the positional ones takes
/// what is left, each argument as it stands; an object takes `--name key=value` or JSON, a target its short form (see [`parse_target`]) and `--nth N`. What fails is a usage error, said in one sentence.
pub fn arguments(method: &Method, args: &[String], stdin: Stdin<'_>) -> Result<Map<String, Value>, String> {
    let mut params = Map::new();
    let mut places = method.cli.positional.iter();
    let mut nth = None;
    let mut rest = args.iter();
    let mut only_positional = false;
    while let Some(arg) = rest.next() {
        if only_positional || !is_flag(arg) {
            let Some(name) = places.next().or_else(|| last_list(method)) else {
                return Err(format!("unexpected argument `{arg}`; {}", method.usage()));
            };
            let Some(parameter) = method.parameter(name) else { continue };
            let text = if arg == "-" && !only_positional { stdin(name)? } else { arg.clone() };
            let one_of_list = is_list_of_texts(parameter) && !text.trim_start().starts_with('[');
            let value = if one_of_list { json!([text]) } else { convert(parameter, name, &text)? };
            put(&mut params, parameter, value)?;
            continue;
        }
        if arg == "--" {
            only_positional = true;
            continue;
        }
        let (flag, mut value) = match arg.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let name = flag.trim_start_matches('-').replace('-', "_");
        if name == "nth" && method.parameter("target").is_some() {
            let given = value.or_else(|| rest.next().cloned());
            nth = Some(whole(flag, given.as_deref().unwrap_or(""))?);
            continue;
        }
        if let Some(parameter) = method.parameter(&name) {
            if parameter.schema.kind == Some(Kind::Boolean) && value.is_none() {
                value = Some("true".to_owned());
            }
            let Some(value) = value.or_else(|| rest.next().cloned()) else {
                return Err(format!("{flag} needs a value: {}", parameter.schema.description));
            };
            put(&mut params, parameter, convert(parameter, flag, &value)?)?;
        } else if let Some(off) = name.strip_prefix("no_").and_then(|n| method.parameter(n)) {
            put(&mut params, off, convert(off, flag, "false")?)?;
        } else {
            return Err(unknown_flag(method, flag));
        }
    }
    if let (Some(nth), Some(Value::Object(target))) = (nth, params.get_mut("target")) {
        target.insert("index".to_owned(), json!(nth));
    }
    if let Some(missing) = method.parameters().find(|p| p.required && !params.contains_key(p.name)) {
        return Err(format!("{} is missing; {}", place_name(missing.name), method.usage()));
    }
    method.check(&params)?;
    Ok(params)
}

/// A target in its short form: plain text is CSS, `text=…`, `xpath=…`, `label=…`, `ref=…`, `css=…` say otherwise,
/// `role=button[Save]` gives a role and an accessible name, and `{…}` is the target as JSON. A snapshot's `backend-12` is a ref as
/// it stands there.
pub fn parse_target(text: &str) -> Result<Value, String> {
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|e| format!("`{text}` is no JSON object: {e}"));
    }
    let (by, value) = match text.split_once('=') {
        Some((by @ ("css" | "text" | "xpath" | "label" | "role" | "ref"), value)) => (by, value),
        _ if is_ref(text) => ("ref", text),
        _ => ("css", text),
    };
    if by != "role" {
        return Ok(json!({ "by": by, "value": value }));
    }
    let Some((role, name)) = value.split_once('[') else { return Ok(json!({ "by": by, "value": value })) };
    let Some(name) = name.strip_suffix(']') else {
        return Err(format!("`{text}`: the name of a role target ends with `]`, as in role=button[Save]"));
    };
    let name = name.strip_prefix("name=").unwrap_or(name);
    let name = name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).unwrap_or(name);
    Ok(json!({ "by": by, "value": role, "name": name }))
}

/// Whether this is how a snapshot names an element, as `backend-12` or `backend-3@f2`.
fn is_ref(text: &str) -> bool {
    let number =
        text.strip_prefix("backend-").map(|rest| rest.split_once("@f").map_or(rest, |(number, _)| number));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The name of a positional argument in a usage line.
pub(crate) fn place_name(name: &str) -> String {
    match name {
        "tab_id" => "TAB".to_owned(),
        other => other.to_uppercase(),
    }
}

/// `-` and negative numbers are values, not flags.
fn is_flag(arg: &str) -> bool {
    let mut letters = arg.chars();
    letters.next() == Some('-') && letters.next().is_some_and(|c| !c.is_ascii_digit() && c != '.')
}

/// The last positional parameter, if it is a list of texts: file names, in which commas are letters like others.
fn last_list(method: &Method) -> Option<&String> {
    let last = method.cli.positional.last()?;
    method.parameter(last).filter(|parameter| is_list_of_texts(*parameter)).map(|_| last)
}

pub(crate) fn is_list_of_texts(parameter: Parameter<'_>) -> bool {
    let items = parameter.schema.items.as_ref().and_then(|items| items.kind);
    parameter.schema.kind == Some(Kind::Array) && items == Some(Kind::String)
}

fn put(params: &mut Map<String, Value>, parameter: Parameter<'_>, value: Value) -> Result<(), String> {
    match (params.get_mut(parameter.name), value) {
        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
        (Some(Value::Object(fields)), Value::Object(more)) => fields.extend(more),
        (Some(_), _) => return Err(format!("{} was given twice", parameter.name)),
        (None, value) => {
            params.insert(parameter.name.to_owned(), value);
        }
    }
    Ok(())
}

fn convert(parameter: Parameter<'_>, at: &str, text: &str) -> Result<Value, String> {
    if parameter.name == "target" {
        return parse_target(text);
    }
    if parameter.schema.one_of.iter().any(is_target) {
        return point(text).map_or_else(|| parse_target(text), Ok);
    }
    match parameter.schema.kind {
        Some(Kind::String) => Ok(json!(text)),
        Some(Kind::Integer) => whole(at, text).map(|n| json!(n)),
        Some(Kind::Number) => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(tidy(number)),
            _ => Err(format!("{at}: expected a number, got `{text}`")),
        },
        Some(Kind::Boolean) => match text {
            "true" | "yes" | "on" | "1" => Ok(json!(true)),
            "false" | "no" | "off" | "0" => Ok(json!(false)),
            _ => Err(format!("{at}: expected true or false, got `{text}`")),
        },
        Some(Kind::Array) if text.trim_start().starts_with('[') => from_json(at, text),
        Some(Kind::Array) => list(parameter.schema, at, text),
        Some(Kind::Object) if text.trim_start().starts_with('{') => from_json(at, text),
        Some(Kind::Object) => match text.split_once('=') {
            Some((key, value)) => Ok(json!({ key: value })),
            None => Err(format!("{at}: expected key=value or a JSON object, got `{text}`")),
        },
        Some(Kind::Null) | None => Ok(serde_json::from_str(text).unwrap_or_else(|_| json!(text))),
    }
}

/// Whether a schema is that of a target: what is dragged may be one, or a point.
fn is_target(schema: &Schema) -> bool {
    schema.reference.as_deref() == Some("#/defs/target")
        || schema.properties.iter().any(|(name, _)| name == "by")
}

/// A point as `120,340`.
fn point(text: &str) -> Option<Value> {
    let (x, y) = text.split_once(',')?;
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|n| n.is_finite()).map(tidy);
    Some(json!({ "x": number(x)?, "y": number(y)? }))
}

fn list(schema: &Schema, at: &str, text: &str) -> Result<Value, String> {
    let kind = schema.items.as_ref().and_then(|i| i.kind);
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let items: Result<Vec<Value>, String> = match kind {
        Some(Kind::Integer) => parts.map(|part| whole(at, part).map(|n| json!(n))).collect(),
        Some(Kind::Object) => Err(format!("{at}: expected a JSON list, as in '[{{…}}]'")),
        _ => Ok(parts.map(|part| json!(part)).collect()),
    };
    items.map(Value::Array)
}

fn whole(at: &str, text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("{at}: expected a whole number, got `{text}`"))
}

/// `800` rather than `800.0`, so that the wire shows what was typed.
fn tidy(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
}

fn from_json(at: &str, text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|e| format!("{at}: not valid JSON: {e}"))
}

fn unknown_flag(method: &Method, flag: &str) -> String {
    if !flag.starts_with("--") {
        let command = method.command();
        return format!(
            "{command} has no {flag}; a value that begins with - goes behind --: `bridge {command} … -- {flag}`"
        );
    }
    let names: Vec<String> = method.parameters().map(|p| format!("--{}", p.name.replace('_', "-"))).collect();
    match nearest(flag, names.iter().map(String::as_str)) {
        Some(near) => format!("{} has no {flag}; did you mean {near}?", method.command()),
        None => format!("{} has no {flag}; see `bridge help {}`", method.command(), method.command()),
    }
}
