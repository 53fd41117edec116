//! The upgrade request: its grammar, and what its Host and Origin say about who sent it.

use std::fmt;

/// Bytes of a head that are read at most.
pub(crate) const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 100;

/// A request that may be upgraded, once its Origin and user are found good.
#[derive(Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The client's `Sec-WebSocket-Key`.
    pub key: String,
    /// The one Origin header, if there is one.
    pub origin: Option<String>,
}

/// Why a request is not upgraded, as the HTTP answer says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// One sentence.
    pub because: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, because: impl Into<String>) -> Self {
        Self { status, because: because.into() }
    }

    /// The whole answer as it goes over the wire.
    #[must_use]
    pub fn response(&self) -> Vec<u8> {
        let phrase = match self.status {
            400 => "Bad Request",
            403 => "Forbidden",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            426 => "Upgrade Required",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let extra = match self.status {
            405 => "Allow: GET\r\n",
            426 => "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
            _ => "",
        };
        let Self { status, because } = self;
        let connection = if self.status == 426 { "Upgrade, close" } else { "close" };
        format!(
            "HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             {extra}Connection: {connection}\r\n\r\n{because}\n",
            because.len() + 1
        )
        .into_bytes()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status, self.because)
    }
}

/// Where a head ends in `bytes`, just behind its empty line.
pub(crate) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// Whether what has come so far can still become a request. Rubbish should not have to wait for a deadline.
pub(crate) fn hopeless(bytes: &[u8]) -> bool {
    const START: &[u8] = b"GET ";
    let known = bytes.len().min(START.len());
    // Other methods are answered once they are complete; bytes that no method has are not.
    !bytes[..known].iter().all(|byte| byte.is_ascii_uppercase() || *byte == b' ')
}

/// Judges a complete head that came in on `port`.
///
/// Origin and user are left to the caller: they need to know more than the head.
pub fn judge(head: &[u8], port: u16) -> Result<Upgrade, Refusal> {
    check_bytes(head)?;
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Refusal::new(431, "There are more than 100 headers."));
        }
        _ => return Err(Refusal::new(400, "This is not an HTTP/1.1 request.")),
    }
    let (method, target) = (request.method.unwrap_or(""), request.path.unwrap_or(""));
    if request.version != Some(1) {
        return Err(Refusal::new(400, "Only HTTP/1.1 is spoken here."));
    }
    let fields = Fields(request.headers);
    let host = fields.one("host")?.ok_or_else(|| Refusal::new(400, "A Host header is missing."))?;
    check_host(host, port)?;
    if let Some(authority) = authority(target)? {
        check_host(authority, port)?;
    }
    let origin = match fields.count("origin") {
        0 => None,
        1 => fields.text("origin").filter(|origin| !origin.is_empty()),
        _ => None,
    };
    if fields.count("origin") > 0 && origin.is_none() {
        return Err(Refusal::new(403, "The Origin header is empty or doubled."));
    }
    if method == "OPTIONS" {
        return Err(Refusal::new(403, "No page may ask here."));
    }
    if method != "GET" {
        return Err(Refusal::new(405, "Only GET with an upgrade to WebSocket is answered here."));
    }
    upgrade(&fields, origin)
}

/// The part of the request that concerns the WebSocket.
fn upgrade(fields: &Fields<'_, '_>, origin: Option<&str>) -> Result<Upgrade, Refusal> {
    if fields.count("content-length") + fields.count("transfer-encoding") > 0 {
        return Err(Refusal::new(400, "An upgrade request has no body."));
    }
    let wanted = fields.has_token("upgrade", "websocket") && fields.has_token("connection", "upgrade");
    if !wanted {
        return Err(Refusal::new(
            426,
            "This port speaks WebSocket; connect with ws://, or see `bridged help`.",
        ));
    }
    if fields.one("sec-websocket-version")? != Some("13") {
        return Err(Refusal::new(426, "The WebSocket version must be 13."));
    }
    let key = fields.one("sec-websocket-key")?.unwrap_or("");
    let sound = key.len() == 24
        && key.ends_with("==")
        && key[..22].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
    if !sound {
        return Err(Refusal::new(400, "The Sec-WebSocket-Key is missing or malformed."));
    }
    Ok(Upgrade { key: key.to_owned(), origin: origin.map(str::to_owned) })
}

/// httparse is lenient where requests can be smuggled; this is not: no lone CR or LF, no NUL, no folding.
fn check_bytes(head: &[u8]) -> Result<(), Refusal> {
    let mut before = 0;
    for (at, &byte) in head.iter().enumerate() {
        let after = head.get(at + 1).copied();
        let bad = match byte {
            0 => true,
            b'\n' => before != b'\r' || matches!(after, Some(b' ' | b'\t')),
            b'\r' => after != Some(b'\n'),
            _ => false,
        };
        if bad {
            return Err(Refusal::new(400, "The request has a line end or a byte where none belongs."));
        }
        before = byte;
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
        Ok(())
    } else {
        Err(Refusal::new(
            403,
            format!("The Host must be 127.0.0.1:{port}, localhost:{port} or [::1]:{port}."),
        ))
    }
}

/// The authority of an absolute-form target.
fn authority(target: &str) -> Result<Option<&str>, Refusal> {
    if target.starts_with('/') {
        return Ok(None);
    }
    let rest = ["http://", "ws://"].iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    match rest {
        Some(rest) => Ok(Some(rest.split(['/', '?', '#']).next().unwrap_or(""))),
        None => Err(Refusal::new(400, "The request target is neither a path nor an http URL.")),
    }
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
            _ => Err(Refusal::new(400, format!("The header {name} comes twice."))),
        }
    }

    /// Whether a comma-separated header holds a word.
    fn has_token(&self, name: &str, word: &str) -> bool {
        self.all(name)
            .filter_map(|value| std::str::from_utf8(value).ok())
            .flat_map(|value| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case(word))
    }
}
