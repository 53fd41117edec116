//! The head of an HTTP request, as every TCP door reads it: its grammar, and that it was meant for us.
//!
//! Nothing is taken on trust that a proxy and a server could read in two ways. What a door does with a sound head is its own
//! business.

/// Bytes of a head that are read at most.
pub const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 100;

/// What is wrong with a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The HTTP status that says so.
    pub status: u16,
    /// The same for people: lower case, no full stop.
    pub because: String,
}

impl Wrong {
    fn malformed(because: impl Into<String>) -> Self {
        Self { status: 400, because: because.into() }
    }
}

/// Where a head ends in `bytes`, just behind its empty line.
#[must_use]
pub fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// Whether what has come so far can no longer become a request, `seen` bytes of which were asked about before. Rubbish should
/// not have to wait for a deadline.
#[must_use]
pub fn hopeless(bytes: &[u8], seen: usize) -> bool {
    let word = bytes.iter().take(16).position(|byte| *byte == b' ').unwrap_or(bytes.len().min(16));
    // What follows the last byte is still to come, and may mend it.
    let end = bytes.len().saturating_sub(1);
    word == 16
        || !bytes[..word].iter().all(u8::is_ascii_uppercase)
        || (seen.saturating_sub(1).min(end)..end).any(|at| is_stray(bytes, at))
}

/// Where a head's lines are kept while it is looked at.
#[derive(Debug)]
pub struct Lines<'b>([httparse::Header<'b>; MAX_HEADERS]);

impl Default for Lines<'_> {
    fn default() -> Self {
        Self([httparse::EMPTY_HEADER; MAX_HEADERS])
    }
}

/// A sound head whose Host, and authority where its target has one, are ours.
#[derive(Debug)]
pub struct Request<'a, 'b> {
    /// The method, as written.
    pub method: &'b str,
    /// The target without its authority.
    pub path: &'b str,
    /// The headers.
    pub fields: Fields<'a, 'b>,
}

impl<'a, 'b> Request<'a, 'b> {
    /// Reads a complete head that came in on `port`. A target with an authority begins with one of `schemes`.
    pub fn read(
        head: &'b [u8],
        lines: &'a mut Lines<'b>,
        port: u16,
        schemes: &[&str],
    ) -> Result<Self, Wrong> {
        if (0..head.len()).any(|at| is_stray(head, at)) {
            return Err(Wrong::malformed("the request has a line end or a byte where none belongs"));
        }
        // httparse passes over empty lines in front; a head that comes in pieces would have been given up at them.
        if hopeless(head, head.len()) {
            return Err(Wrong::malformed("this is not an HTTP/1.1 request"));
        }
        let mut request = httparse::Request::new(&mut lines.0);
        match request.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Wrong {
                    status: 431,
                    because: format!("there are more than {MAX_HEADERS} headers"),
                });
            }
            _ => return Err(Wrong::malformed("this is not an HTTP/1.1 request")),
        }
        if request.version != Some(1) {
            return Err(Wrong::malformed("only HTTP/1.1 is spoken here"));
        }
        let (method, target) = (request.method.unwrap_or(""), request.path.unwrap_or(""));
        let fields = Fields(request.headers);
        let host = fields.one("host")?.ok_or_else(|| Wrong::malformed("a Host header is missing"))?;
        check_host(host, port)?;
        Ok(Self { method, path: path(target, port, schemes)?, fields })
    }
}

/// httparse is lenient where requests can be smuggled; this is not: no lone CR or LF, no NUL, no folding.
fn is_stray(head: &[u8], at: usize) -> bool {
    let after = head.get(at + 1).copied();
    match head.get(at) {
        Some(0) => true,
        Some(b'\n') => at == 0 || head[at - 1] != b'\r' || matches!(after, Some(b' ' | b'\t')),
        Some(b'\r') => after != Some(b'\n'),
        _ => false,
    }
}

/// A rebound name must not get through: only the three literal names of this machine, with our port.
fn check_host(host: &str, port: u16) -> Result<(), Wrong> {
    let ours = host.rsplit_once(':').is_some_and(|(name, number)| {
        number.bytes().all(|digit| digit.is_ascii_digit())
            && !number.starts_with('0')
            && number.parse() == Ok(port)
            && ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| known.eq_ignore_ascii_case(name))
    });
    if ours {
        return Ok(());
    }
    let because = format!("the Host must be 127.0.0.1:{port}, localhost:{port} or [::1]:{port}");
    Err(Wrong { status: 403, because })
}

/// The path and query of a target, whose authority, if it has one, counts like a Host.
fn path<'b>(target: &'b str, port: u16, schemes: &[&str]) -> Result<&'b str, Wrong> {
    if target.starts_with('/') {
        return Ok(target);
    }
    let rest = schemes.iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let rest = rest.ok_or_else(|| Wrong::malformed("the target is neither a path nor an http URL"))?;
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    check_host(&rest[..at], port)?;
    Ok(&rest[at..])
}

/// The headers, by name.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a, 'b>(&'a [httparse::Header<'b>]);

impl<'a, 'b> Fields<'a, 'b> {
    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'b str, &'b [u8])> + use<'a, 'b> {
        self.0.iter().map(|field| (field.name, field.value))
    }

    /// Each value of a header.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &'b [u8]> {
        self.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// How often a header stands there.
    #[must_use]
    pub fn count(&self, name: &str) -> usize {
        self.all(name).count()
    }

    /// The first value of a header, if it is text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&'b str> {
        self.all(name).next().and_then(|value| std::str::from_utf8(value).ok()).map(trim)
    }

    /// The value of a header that must not come twice.
    pub fn one(&self, name: &str) -> Result<Option<&'b str>, Wrong> {
        match self.count(name) {
            0 => Ok(None),
            1 => Ok(Some(self.text(name).unwrap_or(""))),
            _ => Err(Wrong::malformed(format!("the header {name} comes twice"))),
        }
    }

    /// Whether a comma-separated header holds a word.
    #[must_use]
    pub fn has_token(&self, name: &str, word: &str) -> bool {
        self.all(name)
            .filter_map(|value| std::str::from_utf8(value).ok())
            .flat_map(|value| value.split(','))
            .any(|token| trim(token).eq_ignore_ascii_case(word))
    }
}

/// Without the white space that HTTP knows. Other scripts' spaces belong to a value: what must be exact must not be mended.
fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}
