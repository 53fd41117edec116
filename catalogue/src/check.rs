//! Checks a call's parameters against the table, with texts that say what is expected.

use serde_json::{Map, Value};

use crate::schema::Additional;
use crate::{Kind, Method, Schema, catalogue};

/// The largest whole number that JavaScript tells apart from its neighbours.
const LARGEST: f64 = 9_007_199_254_740_991.0;

impl Method {
    /// Whether these parameters will do; if not, what is wrong, for an `INVALID_PARAMS` answer.
    ///
    /// Parameters that the table does not know are let through: an older or newer peer may know them.
    pub fn check(&self, params: &Map<String, Value>) -> Result<(), String> {
        let by_selector = params.get("selector").is_some_and(Value::is_string);
        for parameter in self.parameters() {
            match params.get(parameter.name) {
                None | Some(Value::Null) if parameter.name == "target" && by_selector => {}
                None | Some(Value::Null) if parameter.required => {
                    return Err(format!("{} is missing: {}", parameter.name, parameter.schema.description));
                }
                None | Some(Value::Null) => {}
                Some(value) if !parameter.required && is_blank(value, parameter.schema) => {}
                Some(value) => fits(parameter.name, value, parameter.schema)?,
            }
        }
        Ok(())
    }
}

/// An empty text for something optional that cannot be empty reads as left out, as null does.
fn is_blank(value: &Value, schema: &Schema) -> bool {
    let schema = catalogue().resolve(schema);
    value.as_str() == Some("")
        && schema.kind == Some(Kind::String)
        && schema.min_length.is_some_and(|least| least > 0)
}

fn fits(at: &str, value: &Value, schema: &Schema) -> Result<(), String> {
    let schema = catalogue().resolve(schema);
    if !schema.one_of.is_empty() {
        return match schema.one_of.iter().any(|one| fits(at, value, one).is_ok()) {
            true => Ok(()),
            false => Err(format!("{at}: expected {}, got {}", schema.type_name(), shown(value))),
        };
    }
    let Some(kind) = schema.kind else { return Ok(()) };
    match (kind, value) {
        (Kind::String, Value::String(text)) => text_fits(at, text, schema),
        (Kind::Integer | Kind::Number, Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            // As the extension has it: beyond 2^53 a number is no longer the one that was written.
            let whole = number.fract() == 0.0 && number.abs() <= LARGEST;
            if kind == Kind::Number || whole {
                number_fits(at, number, value, schema)
            } else {
                Err(wrong_kind(at, kind, value))
            }
        }
        (Kind::Boolean, Value::Bool(_)) | (Kind::Null, Value::Null) => Ok(()),
        (Kind::Array, Value::Array(list)) => {
            let Some(items) = &schema.items else { return Ok(()) };
            list.iter().enumerate().try_for_each(|(i, item)| fits(&format!("{at}[{i}]"), item, items))
        }
        (Kind::Object, Value::Object(fields)) => fields_fit(at, fields, schema),
        _ => Err(wrong_kind(at, kind, value)),
    }
}

fn text_fits(at: &str, text: &str, schema: &Schema) -> Result<(), String> {
    if !schema.choices.is_empty() && !schema.choices.iter().any(|c| c == text) {
        let got = shown(&Value::String(text.to_owned()));
        return Err(format!("{at}: expected one of {}, got {got}", schema.choices.join(", ")));
    }
    let length = text.chars().count();
    match (schema.min_length, schema.max_length) {
        (Some(min), _) if length < min && min == 1 => Err(format!("{at}: must not be empty")),
        (Some(min), _) if length < min => {
            Err(format!("{at}: expected at least {min} characters, got {length}"))
        }
        (_, Some(max)) if length > max => {
            Err(format!("{at}: expected at most {max} characters, got {length}"))
        }
        _ => Ok(()),
    }
}

fn number_fits(at: &str, number: f64, value: &Value, schema: &Schema) -> Result<(), String> {
    let least = schema.minimum.unwrap_or(f64::NEG_INFINITY);
    let most = schema.maximum.unwrap_or(f64::INFINITY);
    if schema.clamp || (number >= least && number <= most) {
        return Ok(());
    }
    let expected = match (schema.minimum, schema.maximum) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("{max} or less"),
        (None, None) => "a finite number".to_owned(),
    };
    Err(format!("{at}: expected {expected}, got {}", shown(value)))
}

fn fields_fit(at: &str, fields: &Map<String, Value>, schema: &Schema) -> Result<(), String> {
    if let Some(missing) = schema.required.iter().find(|name| fields.get(*name).is_none_or(Value::is_null)) {
        return Err(format!("{at}: {missing} is missing"));
    }
    // A target has a value, or a ref alone: said here, as a schema of alternatives would cost every reader more.
    let knows = |name: &str| schema.properties.iter().any(|(known, _)| known == name);
    let given = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    if knows("ref") && knows("value") && !given("ref") && !given("value") {
        return Err(format!("{at}: value is missing"));
    }
    for (name, value) in fields {
        let at = format!("{at}.{name}");
        match (schema.properties.iter().find(|(known, _)| known == name), &schema.additional_properties) {
            (Some(_), _) if value.is_null() => {}
            (Some((_, known)), _) => fits(&at, value, known)?,
            (None, Some(Additional::Of(other))) => fits(&at, value, other)?,
            (None, Some(Additional::Any(false))) => {
                let known: Vec<_> = schema.properties.iter().map(|(name, _)| name.as_str()).collect();
                return Err(format!("{at}: no such field (there are {})", known.join(", ")));
            }
            (None, _) => {}
        }
    }
    Ok(())
}

fn wrong_kind(at: &str, kind: Kind, value: &Value) -> String {
    format!("{at}: expected {}, got {}", kind.expected(), shown(value))
}

/// A value as an error may show it: short, and never the whole of what was sent.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => {
            let text = other.to_string();
            match text.char_indices().nth(40) {
                Some((cut, _)) => format!("{}…", &text[..cut]),
                None => text,
            }
        }
    }
}
