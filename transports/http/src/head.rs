//! The head of a request: its grammar, where it wants to go, how its body is framed, and who says that they send it.
//!
//! Nothing is taken on trust that a proxy and a server could read in two ways: such a request is refused, and its
//! connection closed.

use crate::refusal::Refusal;

/// Bytes of a head that are read at most.
pub(crate) const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 100;

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

/// Where a head ends in `bytes`, just behind its empty line.
pub(crate) fn end(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

/// Whether what has come so far can still become a request. Rubbish should not have to wait for a deadline.
pub(crate) fn hopeless(bytes: &[u8]) -> bool {
    let word = bytes.iter().take(16).position(|byte| *byte == b' ').unwrap_or(bytes.len().min(16));
    word == 16 || !bytes[..word].iter().all(u8::is_ascii_uppercase)
}

/// Judges a complete head that came in on `port`. `body` is the most a body may have.
pub fn judge(head: &[u8], port: u16, body: usize) -> Result<Head, Refusal> {
    check_bytes(head)?;
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::head_too_large("more than 100 headers")),
        _ => return Err(Refusal::malformed("this is not an HTTP/1.1 request")),
    }
    let (method, target) = (request.method.unwrap_or(""), request.path.unwrap_or(""));
    if request.version != Some(1) {
        return Err(Refusal::malformed("only HTTP/1.1 is spoken here"));
    }
    let fields = Fields(request.headers);
    let host = fields.one("host")?.ok_or_else(|| Refusal::malformed("a Host header is missing"))?;
    check_host(host, port)?;
    let path = path(target, port)?;
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
    let connection = fields.text("connection").unwrap_or("");
    Ok(Head {
        method: method.to_owned(),
        route,
        query: query.map(str::to_owned),
        length,
        expects: fields.text("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")),
        close: connection.split(',').any(|word| word.trim().eq_ignore_ascii_case("close")),
        offer: offer(&fields, route),
        browser: fields.0.iter().any(|field| is_a_browsers(field.name)),
        session: fields.one("bridged-session")?.map(str::to_owned),
        headers: if route == Route::Mcp { fields.owned() } else { Vec::new() },
    })
}

/// httparse is lenient where requests can be smuggled; this is not: no lone CR or LF, no NUL, no folding.
fn check_bytes(head: &[u8]) -> Result<(), Refusal> {
    let bad = |at: usize| match head[at] {
        0 => true,
        b'\n' => at == 0 || head[at - 1] != b'\r' || matches!(head.get(at + 1).copied(), Some(b' ' | b'\t')),
        b'\r' => head.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    if memchr::memchr3_iter(0, b'\n', b'\r', head).any(bad) {
        return Err(Refusal::malformed("a line end or a byte stands where none belongs"));
    }
    Ok(())
}

/// A rebound name must not get through: only the three literal names of this machine, with our port.
fn check_host(host: &str, port: u16) -> Result<(), Refusal> {
    let ours = host.rsplit_once(':').is_some_and(|(name, number)| {
        number.bytes().all(|digit| digit.is_ascii_digit())
            && !number.starts_with('0')
            && number.parse() == Ok(port)
            && ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| known.eq_ignore_ascii_case(name))
    });
    if ours {
        return Ok(());
    }
    let text = format!("the Host must be 127.0.0.1:{port}, localhost:{port} or [::1]:{port}");
    Err(Refusal::forbidden(text))
}

/// The path and query of a target, whose authority, if it has one, counts like a Host.
fn path(target: &str, port: u16) -> Result<&str, Refusal> {
    if target.starts_with('/') {
        return Ok(target);
    }
    let rest = target.split_at_checked(7).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("http://"));
    let Some((_, rest)) = rest else {
        return Err(Refusal::malformed("the target is neither a path nor an http URL"));
    };
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    check_host(&rest[..at], port)?;
    Ok(&rest[at..])
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

/// The headers, by name.
struct Fields<'a, 'b>(&'a [httparse::Header<'b>]);

impl<'a> Fields<'a, '_> {
    fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    }

    fn count(&self, name: &str) -> usize {
        self.all(name).count()
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.all(name).next().and_then(|value| std::str::from_utf8(value).ok()).map(str::trim)
    }

    /// The value of a header that must not come twice.
    fn one(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.count(name) {
            0 => Ok(None),
            1 => Ok(Some(self.text(name).unwrap_or(""))),
            _ => Err(Refusal::malformed(format!("the header {name} comes twice"))),
        }
    }

    fn owned(&self) -> Vec<(String, String)> {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        self.0.iter().map(|field| (field.name.to_owned(), text(field.value))).collect()
    }
}
