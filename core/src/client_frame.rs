//! A client's frame, read and checked: a request, a cancel, or a fault.

use crate::code::Fault;
use crate::config::Limits;
use crate::scan::{Grammar, Strict, Token, object, whole};

/// The longest method name.
const METHOD_MAX: usize = 64;

/// What a frame of a client says.
#[derive(Debug)]
pub(crate) enum Said<'f> {
    Request(Asked<'f>),
    /// `{"type":"cancel","id":…}`, with the raw inside of the id.
    Cancel(&'f str),
}

/// A request's checked parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'f> {
    pub(crate) id: &'f str,
    pub(crate) method: &'f str,
    pub(crate) params: &'f str,
    pub(crate) browser: Option<&'f str>,
    pub(crate) once: Option<&'f str>,
    /// As asked, not yet measured against the limits.
    pub(crate) timeout_ms: Option<u64>,
}

/// A fault, its text, and the id to answer to where it could be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong<'f> {
    pub(crate) id: &'f str,
    pub(crate) fault: Fault,
    pub(crate) text: &'static str,
}

impl Wrong<'_> {
    /// A fault of the frame as a whole, with its standard text.
    pub(crate) const fn frame(fault: Fault) -> Self {
        let text = match fault {
            Fault::TooDeep => "invalid message: too deep",
            Fault::DuplicateKey => "invalid message: duplicate field",
            Fault::EscapedKey => "invalid message: escaped key",
            Fault::TooManyKeys => "invalid message: too many fields",
            Fault::LoneSurrogate => "invalid message: lone surrogate",
            Fault::TooLarge => "message too large",
            Fault::MissingId => "missing id",
            Fault::InvalidId => "invalid id",
            Fault::AlreadyRegistered => "protocol: already registered",
            _ => "invalid message",
        };
        Self { id: "", fault, text }
    }
}

#[derive(Default)]
struct Fields<'f> {
    kind: Option<Token<'f>>,
    id: Option<Token<'f>>,
    method: Option<Token<'f>>,
    params: Option<Params<'f>>,
    timeout_ms: Option<Token<'f>>,
    once: Option<Token<'f>>,
}

#[derive(Default)]
struct Params<'f> {
    /// `None` if it is no object.
    object: Option<&'f str>,
    null: bool,
    browser: Option<Token<'f>>,
}

/// Reads a client's frame.
pub(crate) fn read<'f>(frame: &'f [u8], limits: &Limits) -> Result<Said<'f>, Wrong<'f>> {
    let frame = core::str::from_utf8(frame).map_err(|_| Wrong::frame(Fault::NotJson))?;
    let fields = fields(frame, limits.depth).map_err(Wrong::frame)?;
    let kind = fields.kind.and_then(Token::plain);
    if kind == Some("hello") || (kind == Some("pair_confirm") && fields.method.is_none()) {
        return Err(Wrong::frame(Fault::AlreadyRegistered));
    }
    let id = match fields.id.filter(|it| !it.is_null()).map(Token::string) {
        None | Some(Some("")) => return Err(Wrong::frame(Fault::MissingId)),
        Some(Some(id)) if id.len() <= usize::from(limits.id_bytes) => id,
        Some(_) => return Err(Wrong::frame(Fault::InvalidId)),
    };
    if kind == Some("cancel") && fields.method.is_none() {
        return Ok(Said::Cancel(id));
    }
    let wrong = |fault, text| Wrong { id, fault, text };
    let Some(method) = fields.method.and_then(Token::string) else {
        return Err(wrong(Fault::MethodRequired, "invalid message: method required"));
    };
    // What the host judges must be what the extension runs, so a method is written in one way only.
    if method.is_empty()
        || method.len() > METHOD_MAX
        || !method.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
    {
        return Err(wrong(Fault::UnknownMethod, "unknown method"));
    }
    let (params, browser) = match fields.params {
        None | Some(Params { null: true, .. }) => ("{}", None),
        Some(Params { object: Some(params), browser, .. }) => (params, browser),
        Some(_) => return Err(wrong(Fault::InvalidParams, "invalid params: not an object")),
    };
    let browser = match browser.filter(|it| !it.is_null()).map(Token::plain) {
        None | Some(Some("")) => None,
        Some(Some(browser)) if browser.len() <= 64 => Some(browser),
        Some(_) => return Err(wrong(Fault::InvalidParams, "invalid params: browser_id")),
    };
    let once = match fields.once.filter(|it| !it.is_null()).map(Token::plain) {
        None => None,
        Some(Some(once)) if is_once(once) => Some(once),
        Some(_) => return Err(wrong(Fault::InvalidRequest, "invalid once: 1 to 64 of A-Z a-z 0-9 _ -")),
    };
    // 0 is out of range, as is what is no integer.
    let timeout_ms = fields.timeout_ms.filter(|it| !it.is_null()).map(|it| it.integer().unwrap_or(0));
    Ok(Said::Request(Asked { id, method, params, browser, once, timeout_ms }))
}

fn fields(frame: &str, depth: u16) -> Result<Fields<'_>, Fault> {
    let mut fields = Fields::default();
    whole::<Strict>(frame.as_bytes(), depth, |key, cursor| {
        let field = match key {
            b"params" => {
                let start = cursor.at();
                let mut params = Params::default();
                if cursor.peek() == Some(b'{') {
                    object::<Strict>(cursor, |key, cursor| {
                        if key != b"browser_id" {
                            return Strict::value(cursor, 2);
                        }
                        params.browser = Some(Token::take(cursor, frame)?);
                        Ok(())
                    })?;
                    params.object = frame.get(start..cursor.at());
                } else {
                    params.null = Token::take(cursor, frame)?.is_null();
                }
                fields.params = Some(params);
                return Ok(());
            }
            b"type" => &mut fields.kind,
            b"id" => &mut fields.id,
            b"method" => &mut fields.method,
            b"timeout_ms" => &mut fields.timeout_ms,
            b"once" => &mut fields.once,
            _ => return Strict::value(cursor, 1),
        };
        *field = Some(Token::take(cursor, frame)?);
        Ok(())
    })?;
    Ok(fields)
}

fn is_once(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
