//! Every method of the bridge, with its parameters and results, as one table.
//!
//! The table is the file `methods.json`. The extension generates its types and checks from it, this crate everything the
//! Rust side needs: look-ups, the command line's argument parsing and help, checks of parameters, and the reference in
//! `docs/methods`. A method is one entry there and one handler in the extension, nothing else.
//!
//! Three rules hold for every method and are therefore not repeated in the entries: a method that works on a tab takes
//! `tab_id` and `browser_id` ([`Scope`]); wherever `target` is a parameter, `selector` alone stands for it as CSS; and a
//! parameter that is `null` counts as left out.
//!
//! ```
//! let catalogue = bridge_catalogue::catalogue();
//! let click = catalogue.method("click").ok_or("no such method")?;
//! let args = ["text=Sign in", "--new-tab"].map(String::from);
//! let params = bridge_catalogue::arguments(click, &args, &mut |_| Err(String::new()))?;
//! assert_eq!(serde_json::Value::Object(params).to_string(), r#"{"new_tab":true,"target":{"by":"text","value":"Sign in"}}"#);
//! # Ok::<(), String>(())
//! ```

mod arguments;
mod check;
mod docs;
mod help;
mod near;
mod schema;

pub use arguments::{arguments, parse_target};
pub use docs::reference;
pub use near::nearest;
pub use schema::{Kind, Schema};

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::value::RawValue;

use schema::ordered;

/// The whole table.
#[derive(Debug, Deserialize)]
pub struct Catalogue {
    #[serde(deserialize_with = "ordered")]
    groups: Vec<(String, String)>,
    #[serde(deserialize_with = "ordered")]
    defs: Vec<(String, Schema)>,
    methods: Vec<Method>,
}

/// One method.
#[derive(Debug, Deserialize)]
pub struct Method {
    /// Its name on the wire.
    pub name: String,
    /// The group it is listed under.
    pub group: String,
    /// Which of the two protocols it comes from; 0, or nothing, for neither.
    #[serde(default)]
    pub seed: u8,
    /// Whether it changes anything.
    pub access: Access,
    /// What it works on.
    pub scope: Scope,
    /// What it does, in one line.
    pub about: String,
    /// More, where a line is not enough.
    #[serde(default)]
    pub details: String,
    /// How the command line takes and shows it.
    #[serde(default)]
    pub cli: Cli,
    /// Its own parameters; [`Method::parameters`] adds the common ones.
    params: Schema,
    /// What it answers.
    pub result: Schema,
    /// One call of it.
    pub example: Example,
}

/// Whether a method changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It only looks.
    Read,
    /// It acts, so that doing it twice may matter.
    Write,
}

/// What a method works on, and so which common parameters it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// A page: `tab_id`, `browser_id`.
    Page,
    /// A tab: the same.
    Tab,
    /// A browser: `browser_id`.
    Browser,
    /// The daemon itself: neither.
    Hub,
}

/// How the command line takes and shows a method.
#[derive(Debug, Default, Deserialize)]
pub struct Cli {
    /// Parameters that need no flag, in order.
    #[serde(default)]
    pub positional: Vec<String>,
    /// The field of the result that is printed alone.
    #[serde(default)]
    pub show: Option<String>,
    /// What the flags do that switch off what is on without them, by parameter.
    #[serde(default, deserialize_with = "ordered")]
    pub off: Vec<(String, String)>,
}

/// One call of a method, for help and reference.
#[derive(Debug, Deserialize)]
pub struct Example {
    /// As typed.
    pub cli: String,
    /// Its parameters on the wire.
    pub params: Box<RawValue>,
    /// What came back.
    pub result: Box<RawValue>,
}

/// One parameter as a method takes it.
#[derive(Debug, Clone, Copy)]
pub struct Parameter<'a> {
    /// Its name on the wire.
    pub name: &'a str,
    /// What it may be, references resolved.
    pub schema: &'a Schema,
    /// Whether a call without it is refused.
    pub required: bool,
    /// Whether it comes with the method's scope rather than its entry.
    pub common: bool,
}

/// The table's text, for doors that build their own view of it.
pub const JSON: &str = include_str!("../methods.json");

/// The table, parsed at first use.
pub fn catalogue() -> &'static Catalogue {
    static PARSED: OnceLock<Catalogue> = OnceLock::new();
    PARSED.get_or_init(|| {
        #[expect(clippy::expect_used, reason = "the text is compiled in and every test parses it")]
        serde_json::from_str(JSON).expect("catalogue/methods.json")
    })
}

impl Catalogue {
    /// All methods, in the table's order.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// A method by its name, written `get_value` or `get-value`.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|m| m.name.len() == name.len() && m.name.bytes().zip(name.bytes()).all(same))
    }

    /// The groups in order, each with what its methods are for.
    pub fn groups(&self) -> impl Iterator<Item = (&str, &str)> {
        self.groups.iter().map(|(name, about)| (name.as_str(), about.as_str()))
    }

    /// A schema with its reference followed.
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> &'a Schema {
        let Some(name) = schema.reference.as_deref().and_then(|r| r.strip_prefix("#/defs/")) else {
            return schema;
        };
        self.defs.iter().find(|(n, _)| n == name).map_or(schema, |(_, s)| s)
    }

    /// The shared definitions, in order.
    pub fn defs(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.defs.iter().map(|(name, schema)| (name.as_str(), schema))
    }
}

fn same((ours, given): (u8, u8)) -> bool {
    ours == given || (ours == b'_' && given == b'-')
}

impl Method {
    /// Its parameters, its own first, then those of its scope.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> {
        let own = self.params.properties.iter().map(|(name, schema)| Parameter {
            name,
            schema: catalogue().resolve(schema),
            required: self.params.required.contains(name),
            common: false,
        });
        own.chain(self.common().iter().map(|(name, schema)| Parameter {
            name,
            schema,
            required: false,
            common: true,
        }))
    }

    /// One parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<Parameter<'_>> {
        self.parameters().find(|p| p.name == name)
    }

    /// Its name as the command line writes it.
    pub fn command(&self) -> String {
        self.name.replace('_', "-")
    }

    fn common(&self) -> &'static [(String, Schema)] {
        static COMMON: OnceLock<[(String, Schema); 2]> = OnceLock::new();
        let both = COMMON.get_or_init(|| {
            let tab = "The tab to work on; the default tab if left out.";
            let browser = "Which browser, where several are connected.";
            [
                // Chrome counts tabs from 1.
                ("tab_id".to_owned(), Schema { minimum: Some(1.0), ..Schema::plain(Kind::Integer, tab) }),
                ("browser_id".to_owned(), Schema::plain(Kind::String, browser)),
            ]
        });
        match self.scope {
            Scope::Page | Scope::Tab => both,
            Scope::Browser => &both[1..],
            Scope::Hub => &[],
        }
    }
}
