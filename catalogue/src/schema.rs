//! The part of JSON Schema that the table uses, typed; anything else in the file is refused.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// What a value may be.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Schema {
    /// `#/defs/NAME`, if this only points there.
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    /// The JSON type; none means any.
    #[serde(rename = "type")]
    pub kind: Option<Kind>,
    /// What it means.
    pub description: String,
    /// What holds if it is left out.
    pub default: Option<Value>,
    /// The values allowed, if they are few.
    #[serde(rename = "enum")]
    pub choices: Vec<String>,
    /// Least number.
    pub minimum: Option<f64>,
    /// Greatest number.
    pub maximum: Option<f64>,
    /// A number outside of these bounds counts as the nearest one that is inside.
    #[serde(rename = "x-clamp")]
    pub clamp: bool,
    /// Least number of characters.
    pub min_length: Option<usize>,
    /// Greatest number of characters.
    pub max_length: Option<usize>,
    /// What an array holds.
    pub items: Option<Box<Schema>>,
    /// An object's fields, in the file's order.
    #[serde(deserialize_with = "ordered")]
    pub properties: Vec<(String, Schema)>,
    /// Fields that must be there.
    pub required: Vec<String>,
    /// What other fields may hold.
    pub additional_properties: Option<Additional>,
    /// Alternatives.
    pub one_of: Vec<Schema>,
}

/// Whether an object may hold fields that are not listed.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Additional {
    /// Any, or none.
    Any(bool),
    /// Any that fit.
    Of(Box<Schema>),
}

/// A JSON type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// Named fields.
    Object,
    /// `null`.
    Null,
}

impl Kind {
    /// As a sentence says it: "expected …".
    pub fn expected(self) -> &'static str {
        match self {
            Kind::String => "text",
            Kind::Integer => "a whole number",
            Kind::Number => "a number",
            Kind::Boolean => "true or false",
            Kind::Array => "a list",
            Kind::Object => "an object",
            Kind::Null => "null",
        }
    }

    /// As JSON Schema writes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Array => "array",
            Kind::Object => "object",
            Kind::Null => "null",
        }
    }
}

impl Schema {
    pub(crate) fn plain(kind: Kind, about: &str) -> Schema {
        Schema { kind: Some(kind), description: about.to_owned(), ..Schema::default() }
    }

    /// The type in a word, for tables.
    pub fn type_name(&self) -> String {
        if let Some(name) = self.reference.as_deref().and_then(|r| r.strip_prefix("#/defs/")) {
            return name.to_owned();
        }
        if !self.one_of.is_empty() {
            return self.one_of.iter().map(Schema::type_name).collect::<Vec<_>>().join(" or ");
        }
        match (&self.kind, &self.items) {
            (Some(Kind::Array), Some(items)) => format!("array of {}", items.type_name()),
            (Some(kind), _) => kind.name().to_owned(),
            (None, _) => "any".to_owned(),
        }
    }
}

/// Reads a JSON object as a list that keeps the file's order.
pub(crate) fn ordered<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    d: D,
) -> Result<Vec<(String, T)>, D::Error> {
    struct InOrder<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
        type Value = Vec<(String, T)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut list = Vec::new();
            while let Some(entry) = map.next_entry()? {
                list.push(entry);
            }
            Ok(list)
        }
    }
    d.deserialize_map(InOrder(PhantomData))
}
