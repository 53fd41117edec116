//! OpenBridge's tools on top of our methods: its names, its camelCase parameters, its results.
//!
//! Everything particular stands in [`table`]; here is what reads it. A tool works as soon as the catalogue has its method.

mod table;

use bridge_catalogue::{Kind, Method, Parameter, Scope, catalogue};
use serde_json::{Map, Value};
use table::{Add, RULES, Rule, TOOLS, VERBATIM, WRITTEN};

pub(crate) use table::{Shape, Tool};

/// What a tool's call comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct Translated {
    pub(crate) params: Map<String, Value>,
    pub(crate) timeout_ms: Option<u64>,
}

/// A tool by its name.
pub(crate) fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools whose method there is.
pub(crate) fn available() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter(|tool| tool.in_catalogue().is_some()).map(|tool| tool.name)
}

impl Tool {
    /// Its method as the catalogue has it.
    pub(crate) fn in_catalogue(&self) -> Option<&'static Method> {
        catalogue().method(self.method)
    }

    /// Our parameters for its arguments, or what is wrong with them. `tab` is the tab to work on if they name none, `session`
    /// the one that a group belongs to if they name none.
    pub(crate) fn translate(
        &self,
        args: &Map<String, Value>,
        tab: Option<i64>,
        session: &str,
    ) -> Result<Translated, String> {
        let mut params = Map::new();
        let mut timeout_ms = None;
        // OpenBridge takes an empty text, as null, for something left out, but where it is what is to be written.
        let given = |name: &str| args.get(name).is_some_and(|value| !value.is_null() && value != "");
        for (name, value) in args {
            match RULES.iter().find(|(known, _)| known == name) {
                _ if !given(name) && !WRITTEN.contains(&name.as_str()) => {}
                Some((_, Rule::Ref)) => {
                    if !given("selector") {
                        params.insert("target".to_owned(), target(value));
                    }
                }
                Some((_, Rule::Color)) => {
                    if let Some(color) = color(value) {
                        params.insert(snake(name), color);
                    }
                }
                Some((_, Rule::Words)) => {
                    let words = value.as_str().map_or_else(|| value.clone(), |text| snake(text).into());
                    params.insert(snake(name), words);
                }
                Some((_, Rule::Deadline)) => {
                    let ms = value.as_f64().filter(|ms| *ms > 0.0);
                    // Longer than a call may take is as long as it may take.
                    timeout_ms =
                        Some(ms.ok_or_else(|| format!("{name}: expected milliseconds"))?.ceil() as u64);
                }
                None => drop(params.insert(snake(name), value.clone())),
            }
        }
        if let Some(method) = self.in_catalogue() {
            let grouped = params.contains_key("group_title") || params.contains_key("group_color");
            if grouped && !params.contains_key("session_id") && method.parameter("session_id").is_some() {
                params.insert("session_id".to_owned(), session.into());
            }
            // A number out of bounds counts as the nearest one within, but no tab stands for another.
            for parameter in method.parameters().filter(|parameter| parameter.name != "tab_id") {
                if let Some(value) = params.get_mut(parameter.name) {
                    within(value, &parameter);
                }
            }
            let named = |names: &[&str]| names.iter().any(|name| params.contains_key(*name));
            if let Some((names, (name, value))) = self.unless.filter(|(names, _)| !named(names)) {
                debug_assert!(names.iter().any(|name| method.parameter(name).is_some()), "{name}");
                params.insert(name.to_owned(), json(value));
            }
            for (name, value) in self.fixed {
                if method.parameter(name).is_some() && !params.contains_key(*name) {
                    params.insert((*name).to_owned(), json(value));
                }
            }
            let on_a_tab = matches!(method.scope, Scope::Page | Scope::Tab);
            let elsewhere = params.get("new_tab") == Some(&Value::Bool(true)) && self.leads;
            if let (Some(tab), true, false) = (tab, on_a_tab, elsewhere) {
                params.entry("tab_id").or_insert_with(|| tab.into());
            }
        }
        Ok(Translated { params, timeout_ms })
    }

    /// The result for a failure that OpenBridge does not call one: there was nothing to do.
    pub(crate) fn nothing_to_do(&self, code: &str, text: &str) -> Option<Value> {
        let (with, says, result) = self.idle?;
        (code == with && text.contains(says)).then(|| json(result))
    }

    /// Its result, from our method's.
    pub(crate) fn result(&self, args: &Map<String, Value>, result: Value) -> Value {
        let mut fields = match camel_case(result) {
            Value::Object(fields) => fields,
            other => return other,
        };
        for (name, add) in self.adds {
            let value = match add {
                Add::Always(value) => Some(json(value)),
                Add::Default(value) if !fields.contains_key(*name) => Some(json(value)),
                Add::Default(_) => None,
                Add::Arg(names, otherwise) => {
                    let given =
                        names.iter().find_map(|name| args.get(*name).filter(|arg| *arg != "")).cloned();
                    given.or_else(|| otherwise.map(json))
                }
                Add::Count(of) => fields.get(*of).and_then(Value::as_array).map(|list| list.len().into()),
                Add::IfNot(of) => (fields.get(*of) == Some(&Value::Bool(false))).then_some(Value::Bool(true)),
                Add::Instead { of, arg, is } => {
                    let wanted = args.get(*arg).and_then(Value::as_str) == Some(is);
                    if wanted { fields.remove(*of) } else { None }
                }
            };
            if let Some(value) = value {
                fields.insert((*name).to_owned(), value);
            }
        }
        Value::Object(fields)
    }
}

/// A snapshot's ref as a target. OpenBridge takes a bare number for a node too.
fn target(reference: &Value) -> Value {
    let text = match reference {
        Value::Number(number) => format!("backend-{number}"),
        Value::String(text) if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) => {
            format!("backend-{text}")
        }
        other => return serde_json::json!({"by": "ref", "value": other}),
    };
    serde_json::json!({"by": "ref", "value": text})
}

/// A colour of a tab group; none if there is no such colour, which there is no reason to fail for.
fn color(value: &Value) -> Option<Value> {
    let asked = value.as_str()?.to_ascii_lowercase();
    let asked = if asked == "gray" { "grey" } else { &asked };
    let known = &catalogue().defs().find(|(name, _)| *name == "group_color")?.1.choices;
    known.iter().any(|color| color == asked).then(|| asked.into())
}

/// OpenBridge has no bounds: a number outside of ours counts as the nearest one inside, and a part of a whole as the whole.
fn within(value: &mut Value, parameter: &Parameter<'_>) {
    let whole = parameter.schema.kind == Some(Kind::Integer);
    let (Some(number), true) = (value.as_f64(), whole || parameter.schema.kind == Some(Kind::Number)) else {
        return;
    };
    let (least, most) = (parameter.schema.minimum, parameter.schema.maximum);
    let bounded = number.max(least.unwrap_or(f64::MIN)).min(most.unwrap_or(f64::MAX));
    let bounded = if whole { bounded.round() } else { bounded };
    if bounded != number {
        *value = if whole { (bounded as i64).into() } else { bounded.into() };
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// `tabId` as `tab_id`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            if !out.is_empty() {
                out.push('_');
            }
            out.push(char.to_ascii_lowercase());
        } else {
            out.push(char);
        }
    }
    out
}

/// `tab_id` as `tabId`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut raise = false;
    for char in name.chars() {
        match char {
            '_' if !out.is_empty() => raise = true,
            _ if std::mem::take(&mut raise) => out.push(char.to_ascii_uppercase()),
            _ => out.push(char),
        }
    }
    out
}

/// A result with its keys in camelCase, but for what is a page's own data.
fn camel_case(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(camel_case).collect(),
        Value::Object(fields) => {
            let renamed = fields.into_iter().map(|(name, value)| {
                let value = if VERBATIM.contains(&name.as_str()) { value } else { camel_case(value) };
                (camel(&name), value)
            });
            Value::Object(renamed.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod theirs;
