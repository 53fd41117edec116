//! Settings: flag, then `BRIDGED_…` variable, then configuration file, then default.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::read_plain;
use crate::limits::{self, Limits};
use crate::places::{self, Places};
use crate::trouble::{Doing, Outcome, Trouble};

/// The port that extensions dial unless they are told another.
pub(crate) const DEFAULT_PORT: u16 = 9225;
/// The port that OpenBridge's callers know.
pub(crate) const DEFAULT_HTTP_PORT: u16 = 10088;

/// Everything that can be set, settled.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The WebSocket port on 127.0.0.1; 0 picks a free one.
    pub port: u16,
    /// The HTTP port, if there is to be one.
    pub http: Option<Http>,
    /// The Unix socket.
    pub socket: PathBuf,
    /// How many may be connected at once.
    pub max_connections: u16,
    /// The other limits that were set.
    pub limits: Limits,
    /// Extension ids that may connect besides our own.
    pub allow_extension: Vec<String>,
    /// Folders that `upload` may take files from, if they were set.
    pub upload_roots: Option<Vec<PathBuf>>,
    /// How much is logged.
    pub log: log::LevelFilter,
    /// How peers of the base protocol are met.
    pub compat: Compat,
    /// Whether nothing may be changed that cannot be written down in the audit.
    pub audit_required: bool,
}

/// The HTTP port on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Http {
    /// 0 picks a free one.
    pub port: u16,
    /// Whether somebody asked for this one: then it must be had.
    pub chosen: bool,
}

/// How peers of the base protocol (no proof) are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Compat {
    /// They need the token.
    Strict,
    /// The kernel says that they are ours, or they need the token.
    SameUser,
    /// Anyone (tests only).
    Open,
}

/// The same, as one source gave it: not at all, or as text yet to be judged.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Given {
    /// `port`.
    pub port: Option<Text>,
    /// `http_port`.
    pub http_port: Option<Text>,
    /// `socket`.
    pub socket: Option<PathBuf>,
    /// `max_connections`.
    pub max_connections: Option<Text>,
    /// `limit`.
    pub limit: Option<limits::Given>,
    /// `allow_extension`.
    pub allow_extension: Option<Vec<String>>,
    /// `upload_roots`.
    pub upload_roots: Option<Vec<PathBuf>>,
    /// `log`.
    pub log: Option<Text>,
    /// `compat`.
    pub compat: Option<Text>,
    /// `audit`.
    pub audit: Option<AuditGiven>,
}

/// The table `audit`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AuditGiven {
    /// `required`.
    pub required: Option<bool>,
}

/// A value and where it came from, so that a complaint can name it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Scalar")]
pub(crate) struct Text {
    value: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Number(i64),
    Word(String),
}

impl From<Scalar> for Text {
    fn from(scalar: Scalar) -> Text {
        let value = match scalar {
            Scalar::Number(number) => number.to_string(),
            Scalar::Word(word) => word,
        };
        Text { value, source: String::new() }
    }
}

impl Text {
    /// A value that came by `source`.
    pub(crate) fn new(value: impl Into<String>, source: impl Into<String>) -> Text {
        Text { value: value.into(), source: source.into() }
    }

    /// As a number between these two.
    pub(crate) fn number(&self, least: usize, most: usize) -> Option<usize> {
        let number = self.value.parse().ok().filter(|number| (least..=most).contains(number));
        number.filter(|_| self.value.bytes().all(|b| b.is_ascii_digit()))
    }

    /// The complaint that it should be something else.
    pub(crate) fn wrong(&self, expected: &str) -> Trouble {
        wrong(self, expected)
    }
}

impl Settings {
    /// Settles all of it. `insecure` is whether `--insecure-compat` was on the command line.
    pub(crate) fn settle(flags: Given, places: &Places, insecure: bool) -> Outcome<Settings> {
        Settings::judge(flags, from_environment()?, from_file(&places.config)?, places, insecure)
    }

    /// Judges what the three sources gave, the first of them first.
    fn judge(flags: Given, env: Given, file: Given, places: &Places, insecure: bool) -> Outcome<Settings> {
        let pick = |name: &'static str, flag: Option<Text>, var: Option<Text>, key: Option<Text>| {
            let key = key.map(|k| Text::new(k.value, format!("`{name}` in {}", places.config.display())));
            flag.or(var).or(key)
        };
        // A free port is for a run whose output somebody reads; set for good it would only make the daemon impossible to find.
        let least = u16::from(flags.port.is_none());
        let free = flags.port.as_ref().is_some_and(|port| port.value == "0");
        let http = pick("http_port", flags.http_port, env.http_port, file.http_port);
        let http = http_port(http.as_ref(), free)?;
        let port = pick("port", flags.port, env.port, file.port);
        let port = port.map_or(Ok(DEFAULT_PORT), |p| number(&p, least, 65535, "a port from 1 to 65535"))?;
        let most = pick("max_connections", flags.max_connections, env.max_connections, file.max_connections);
        let max_connections = most.map_or(Ok(2048), |n| number(&n, 1, 16384, "a number from 1 to 16384"))?;
        let mut keys = file.limit;
        for (name, key) in keys.iter_mut().flatten() {
            key.source = format!("`limit.{name}` in {}", places.config.display());
        }
        let limits = Limits::settle([flags.limit, env.limit, keys])?;
        let log =
            pick("log", flags.log, env.log, file.log).map_or(Ok(log::LevelFilter::Info), |l| level(&l))?;
        let compat = pick("compat", flags.compat, env.compat, file.compat);
        let compat = compat.map_or(Ok(Compat::SameUser), |c| compat_of(&c, insecure))?;
        let socket = flags.socket.or(env.socket).or(file.socket).unwrap_or_else(|| places.socket.clone());
        places::check_socket_path(&socket)?;
        let allow_extension =
            flags.allow_extension.or(env.allow_extension).or(file.allow_extension).unwrap_or_default();
        for id in &allow_extension {
            extension_id(id)?;
        }
        let upload_roots = flags.upload_roots.or(env.upload_roots).or(file.upload_roots);
        if let Some(root) = upload_roots.iter().flatten().find(|root| !root.is_absolute()) {
            return Err(Trouble::usage(format!(
                "`{}` in upload_roots is not an absolute path",
                root.display()
            )));
        }
        let required = |given: Option<AuditGiven>| given.and_then(|audit| audit.required);
        let audit_required =
            required(flags.audit).or(required(env.audit)).or(required(file.audit)).unwrap_or(false);
        Ok(Settings {
            port,
            http,
            socket,
            max_connections,
            limits,
            allow_extension,
            upload_roots,
            log,
            compat,
            audit_required,
        })
    }
}

/// Checks that an extension id has an id's form: 32 letters from a to p.
pub(crate) fn extension_id(id: &str) -> Outcome<()> {
    if id.len() == 32 && id.bytes().all(|b| (b'a'..=b'p').contains(&b)) {
        return Ok(());
    }
    Err(Trouble::usage(format!(
        "`{}` is not an extension id: that is 32 letters from a to p, as chrome://extensions shows it",
        id.escape_debug()
    )))
}

fn from_file(path: &Path) -> Outcome<Given> {
    read_plain(path)?.map_or_else(|| Ok(Given::default()), |text| parse(&text, path))
}

fn parse(text: &str, path: &Path) -> Outcome<Given> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        Trouble::usage(format!("{} line {line}: {}", path.display(), e.message().replace('\n', " ")))
    })
}

/// What a configuration file of this content comes to; for the fuzz target.
pub(crate) fn settled_from(text: &str, places: &Places) -> Outcome<Settings> {
    Settings::judge(Given::default(), Given::default(), parse(text, &places.config)?, places, false)
}

fn from_environment() -> Outcome<Given> {
    let list = read("BRIDGED_ALLOW_EXTENSION")?.map(|ids| {
        ids.value.split([',', ' ']).filter(|id| !id.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    });
    Ok(Given {
        port: read("BRIDGED_PORT")?,
        http_port: read("BRIDGED_HTTP_PORT")?,
        socket: std::env::var_os("BRIDGED_SOCKET").filter(|v| !v.is_empty()).map(PathBuf::from),
        max_connections: read("BRIDGED_MAX_CONNECTIONS")?,
        limit: read("BRIDGED_LIMIT")?.map_or(Ok(None), |text| {
            limits::read(text.value.split(',').filter(|pair| !pair.trim().is_empty()), &text.source)
        })?,
        allow_extension: list,
        upload_roots: std::env::var_os("BRIDGED_UPLOAD_ROOTS")
            .filter(|v| !v.is_empty())
            .map(|v| std::env::split_paths(&v).collect()),
        log: read("BRIDGED_LOG")?,
        compat: read("BRIDGED_COMPAT")?,
        audit: Some(AuditGiven { required: switch("BRIDGED_AUDIT_REQUIRED")? }),
    })
}

fn switch(variable: &str) -> Outcome<Option<bool>> {
    let Some(given) = read(variable)? else { return Ok(None) };
    match given.value.as_str() {
        "true" | "on" | "1" => Ok(Some(true)),
        "false" | "off" | "0" => Ok(Some(false)),
        _ => Err(wrong(&given, "true or false")),
    }
}

fn read(variable: &str) -> Outcome<Option<Text>> {
    match std::env::var(variable) {
        Ok(value) if !value.is_empty() => Ok(Some(Text::new(value, variable))),
        Ok(_) | Err(std::env::VarError::NotPresent) => Ok(None),
        Err(e) => Err(e).doing(format_args!("read {variable}")),
    }
}

fn number(given: &Text, least: u16, most: u16, expected: &str) -> Outcome<u16> {
    match given.value.parse() {
        Ok(number) if (least..=most).contains(&number) && given.value.bytes().all(|b| b.is_ascii_digit()) => {
            Ok(number)
        }
        _ => Err(wrong(given, expected)),
    }
}

/// `free`: the other port is one that was free, so this run's are to be read from its output. Whoever needs this one finds
/// it in `bridged status`, so a free one may be asked for anywhere.
fn http_port(given: Option<&Text>, free: bool) -> Outcome<Option<Http>> {
    match given {
        None => Ok(Some(Http { port: if free { 0 } else { DEFAULT_HTTP_PORT }, chosen: false })),
        Some(text) if text.value == "off" => Ok(None),
        Some(text) => {
            let port = number(text, 0, 65535, "a port from 0 to 65535, or off")?;
            Ok(Some(Http { port, chosen: true }))
        }
    }
}

fn level(given: &Text) -> Outcome<log::LevelFilter> {
    given.value.parse().map_err(|_| wrong(given, "one of off, error, warn, info, debug, trace"))
}

fn compat_of(given: &Text, insecure: bool) -> Outcome<Compat> {
    match given.value.as_str() {
        "strict" => Ok(Compat::Strict),
        "same-user" => Ok(Compat::SameUser),
        "open" if insecure => Ok(Compat::Open),
        "open" => Err(Trouble::usage(format!(
            "{}: `open` lets any program in and is for tests; it needs --insecure-compat on the command line",
            given.source
        ))),
        _ => Err(wrong(given, "one of strict, same-user")),
    }
}

fn wrong(given: &Text, expected: &str) -> Trouble {
    Trouble::usage(format!("{}: expected {expected}, got `{}`", given.source, given.value.escape_debug()))
}
