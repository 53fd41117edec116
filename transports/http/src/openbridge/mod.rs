//! OpenBridge's tools on top of our methods: its names, its camelCase parameters, its results.
//!
//! Everything particular stands in [`table`]; here is what reads it. A tool works as soon as the catalogue has its method.

mod table;

use bridge_catalogue::{Method, Scope, catalogue};
use serde_json::{Map, Value};
use table::{Add, RULES, Rule, TOOLS, VERBATIM};

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

    /// Our parameters for its arguments, or what is wrong with them. `tab` is the tab to work on if they name none.
    pub(crate) fn translate(
        &self,
        args: &Map<String, Value>,
        tab: Option<i64>,
    ) -> Result<Translated, String> {
        let mut params = Map::new();
        let mut timeout_ms = None;
        for (name, value) in args {
            match RULES.iter().find(|(known, _)| known == name) {
                Some((_, Rule::Ref)) => {
                    if !args.contains_key("selector") {
                        params.insert("target".to_owned(), target(value));
                    }
                }
                Some((_, Rule::Words)) => {
                    let words = value.as_str().map_or_else(|| value.clone(), |text| snake(text).into());
                    params.insert(snake(name), words);
                }
                Some((_, Rule::Deadline)) => {
                    let ms = value.as_u64().filter(|ms| *ms > 0);
                    timeout_ms = Some(ms.ok_or_else(|| format!("{name}: expected milliseconds"))?);
                }
                None => drop(params.insert(snake(name), value.clone())),
            }
        }
        if let Some(method) = self.in_catalogue() {
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
                    let given = names.iter().find_map(|name| args.get(*name)).cloned();
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
