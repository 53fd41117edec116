//! The head of a request: its grammar, where it wants to go, how its body is framed, and who says that they send it.
//!
//! Nothing is taken on trust that a proxy and a server could read in two ways: such a request is refused, and its
//! connection closed.

use crate::refusal::Refusal;
use bridge_websocket::request::{Fields, Lines, Request};

/// A place behind this door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// `GET /health`.
    Health,
    /// `POST /command`.
    Command,
    /// `POST /config`.
    Config,
    /// `POST /mcp`, and what else that protocol uses.
    Mcp,
    /// `GET /read`.
    Read,
}

impl Route {
    fn of(path: &str) -> Option<Self> {
        Some(match path {
            "/health" => Self::Health,
            "/command" => Self::Command,
            "/config" => Self::Config,
            "/mcp" => Self::Mcp,
            "/read" => Self::Read,
            _ => return None,
        })
    }

    /// The methods it answers.
    const fn allows(self) -> &'static str {
        match self {
            Self::Health => "GET, HEAD",
            Self::Command | Self::Config => "POST",
            Self::Mcp => "POST, DELETE",
            Self::Read => "GET",
        }
    }
}

/// How long the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many bytes.
    Known(usize),
    /// As its chunks say.
    Chunked,
}

/// What was given to prove a right to be here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing.
    Nothing,
    /// A token.
    Token(String),
    /// Something that is no single token.
    Malformed,
}

/// A head that may be acted on, once it is known who sent it.
#[derive(Debug)]
pub struct Head {
    /// The method, as written.
    pub method: String,
    /// Where to.
    pub route: Route,
    /// What stands behind the question mark.
    pub query: Option<String>,
    /// The body.
    pub length: Length,
    /// Whether the client waits for a `100 Continue` before it sends the body.
    pub expects: bool,
    /// Whether this is the connection's last request.
    pub close: bool,
    /// Its credential.
    pub offer: Offer,
    /// Whether a browser may be behind it: then being the same user is not enough.
    pub browser: bool,
    /// `Bridged-Session`.
    pub session: Option<String>,
    /// All headers, for the route that has rules of its own about them.
    pub headers: Vec<(String, String)>,
}

/// Judges a complete head that came in on `port`. `body` is the most a body may have.
pub fn judge(head: &[u8], port: u16, body: usize) -> Result<Head, Refusal> {
    let mut lines = Lines::default();
    let Request { method, path, fields } = Request::read(head, &mut lines, port, &["http://"])?;
    no_page(&fields)?;
    if method == "OPTIONS" {
        return Err(Refusal::forbidden("no page may ask here"));
    }
    let length = length(&fields)?;
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let route =
        Route::of(path).ok_or_else(|| Refusal::new(404, "INVALID_REQUEST", "there is nothing here"))?;
    if !route.allows().split(", ").any(|allowed| allowed == method) {
        let text = format!("{path} takes {} only", route.allows());
        return Err(Refusal::new(405, "INVALID_REQUEST", text).with("Allow", route.allows().to_owned()));
    }
    if query.is_some_and(holds_token) {
        return Err(Refusal::unauthorized("a token never belongs into a URL"));
    }
    check_body(&fields, method, length, body)?;
    Ok(Head {
        method: method.to_owned(),
        route,
        query: query.map(str::to_owned),
        length,
        expects: fields.text("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")),
        close: fields.has_token("connection", "close"),
        offer: offer(&fields, route),
        browser: fields.iter().any(|(name, _)| is_a_browsers(name)),
        session: fields.one("bridged-session")?.map(str::to_owned),
        headers: if route == Route::Mcp { owned(&fields) } else { Vec::new() },
    })
}

/// Browsers say where a request comes from; whatever comes from a page is refused.
fn no_page(fields: &Fields<'_, '_>) -> Result<(), Refusal> {
    let from_page = fields.count("origin") + fields.count("referer") > 0;
    let from_elsewhere = fields.all("sec-fetch-site").any(|value| value != b"none");
    if from_page || from_elsewhere { Err(Refusal::forbidden("no page may ask here")) } else { Ok(()) }
}

fn length(fields: &Fields<'_, '_>) -> Result<Length, Refusal> {
    let (lengths, codings) = (fields.count("content-length"), fields.count("transfer-encoding"));
    if lengths + codings > 1 {
        return Err(Refusal::malformed("the body's length is given in two ways"));
    }
    if codings == 1 {
        let coding = fields.text("transfer-encoding").unwrap_or("");
        if coding.eq_ignore_ascii_case("chunked") {
            return Ok(Length::Chunked);
        }
        return Err(Refusal::malformed("the Transfer-Encoding is not `chunked`"));
    }
    match fields.text("content-length") {
        None if lengths == 0 => Ok(Length::Known(0)),
        Some(digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            // More digits than fit are more bytes than anybody may send.
            Ok(Length::Known(digits.parse().unwrap_or(usize::MAX)))
        }
        _ => Err(Refusal::malformed("the Content-Length is no number")),
    }
}

fn check_body(fields: &Fields<'_, '_>, method: &str, length: Length, most: usize) -> Result<(), Refusal> {
    if fields.all("content-encoding").any(|value| !value.eq_ignore_ascii_case(b"identity")) {
        let text = "the body must not be compressed";
        return Err(Refusal::new(415, "INVALID_REQUEST", text).with("Accept-Encoding", "identity".to_owned()));
    }
    if method == "POST" {
        let kind = fields.one("content-type").ok().flatten().unwrap_or("");
        if !kind.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("application/json") {
            let text = "the Content-Type must be application/json";
            return Err(
                Refusal::new(415, "INVALID_REQUEST", text).with("Accept", "application/json".to_owned())
            );
        }
    } else if length != Length::Known(0) {
        return Err(Refusal::malformed(format!("a {method} has no body here")));
    }
    match length {
        Length::Known(bytes) if bytes > most => Err(Refusal::too_large(most)),
        _ => Ok(()),
    }
}

/// Where somebody has put a token that belongs into a header, saying so is better than letting them in without it.
fn holds_token(query: &str) -> bool {
    let names = ["token", "access_token", "api_key", "apikey", "key", "authorization", "auth"];
    query.split('&').any(|pair| {
        let name = pair.split('=').next().unwrap_or("");
        names.iter().any(|known| known.eq_ignore_ascii_case(name))
    })
}

/// Headers that browsers send and programs do not.
fn is_a_browsers(name: &str) -> bool {
    const SEC_FETCH: &str = "sec-fetch-";
    name.eq_ignore_ascii_case("cookie")
        || name.get(..SEC_FETCH.len()).is_some_and(|start| start.eq_ignore_ascii_case(SEC_FETCH))
}

fn offer(fields: &Fields<'_, '_>, route: Route) -> Offer {
    match fields.count("authorization") {
        0 => return Offer::Nothing,
        1 => {}
        _ => return Offer::Malformed,
    }
    let Some((scheme, value)) = fields.text("authorization").and_then(|value| value.split_once(' ')) else {
        return Offer::Malformed;
    };
    let value = value.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !value.is_empty() {
        return Offer::Token(value.to_owned());
    }
    // Tools that only fetch URLs can send a password, but no header of their own.
    if route == Route::Read && scheme.eq_ignore_ascii_case("basic") {
        use base64ct::{Base64, Encoding as _};
        let password = Base64::decode_vec(value).ok().and_then(|pair| String::from_utf8(pair).ok());
        if let Some((_, password)) = password.as_deref().and_then(|pair| pair.split_once(':')) {
            return Offer::Token(password.to_owned());
        }
    }
    Offer::Malformed
}

fn owned(fields: &Fields<'_, '_>) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    fields.iter().map(|(name, value)| (name.to_owned(), text(value))).collect()
}
