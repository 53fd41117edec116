//! The hello: what a peer says it is, read and checked, not yet believed.

use crate::browsers::About;
use crate::code::Fault;
use crate::peer::{Class, Role};
use crate::proof::{Bytes32, decode};
use crate::scan::{Grammar, Strict, Token, unescape, whole};
use crate::text::{Name, exact, fnv, label};

/// What a connection will be once it is admitted.
#[derive(Clone, Debug)]
pub(crate) struct Hello {
    pub(crate) role: Role,
    pub(crate) protocol: u8,
    pub(crate) class: Class,
    /// An extension's browser id; a client's owner, empty if the hub is to make one.
    pub(crate) who: Name<64>,
    pub(crate) about: About,
}

/// A hello as the frame has it.
#[derive(Debug)]
pub(crate) struct Said<'f> {
    pub(crate) role: Role,
    pub(crate) protocol: u8,
    pub(crate) person: bool,
    pub(crate) browser_id: Name<64>,
    /// The legacy `client_id`: `None` if absent, `Some(None)` if it is none that can be stamped.
    pub(crate) client_id: Option<Option<Name<64>>>,
    pub(crate) token: Option<&'f str>,
    pub(crate) nonce: Nonce,
    pub(crate) resume: Option<&'f str>,
    pub(crate) about: About,
}

/// The client's nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nonce {
    Missing,
    Bad,
    Is(Bytes32),
}

/// Why a first frame is no hello: the error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoHello(pub(crate) &'static str);

/// The first frame of a connection.
#[allow(clippy::large_enum_variant, reason = "lives for one frame; a box would need a heap")]
pub(crate) enum First<'f> {
    Hello(Said<'f>),
    /// No hello, but a request: on the Unix socket that says enough.
    Request,
}

/// Reads the first frame.
pub(crate) fn first(frame: &str, depth: u16) -> Result<First<'_>, NoHello> {
    let fields = Fields::read(frame, depth).map_err(not_json)?;
    match fields.kind.map(Token::plain) {
        Some(Some("hello")) => fields.hello().map(First::Hello),
        None if fields.method.is_some() => Ok(First::Request),
        _ => Err(NoHello("expected hello message")),
    }
}

fn not_json(fault: Fault) -> NoHello {
    NoHello(match fault {
        Fault::TooDeep => "invalid hello: too deep",
        Fault::DuplicateKey => "invalid hello: duplicate field",
        Fault::EscapedKey => "invalid hello: escaped key",
        Fault::TooManyKeys => "invalid hello: too many fields",
        Fault::LoneSurrogate => "invalid hello: lone surrogate",
        _ => "invalid hello: not a JSON object",
    })
}

#[derive(Default)]
struct Fields<'f> {
    kind: Option<Token<'f>>,
    method: Option<Token<'f>>,
    role: Option<Token<'f>>,
    name: Option<Token<'f>>,
    protocol: Option<Token<'f>>,
    browser_id: Option<Token<'f>>,
    client_id: Option<Token<'f>>,
    token: Option<Token<'f>>,
    key_id: Option<Token<'f>>,
    nonce: Option<Token<'f>>,
    class: Option<Token<'f>>,
    resume: Option<Token<'f>>,
    version: Option<Token<'f>>,
    build: Option<Token<'f>>,
    methods: Option<Token<'f>>,
}

impl<'f> Fields<'f> {
    fn read(frame: &'f str, depth: u16) -> Result<Self, Fault> {
        let mut fields = Self::default();
        whole::<Strict>(frame.as_bytes(), depth, |key, cursor| {
            let token = Token::take(cursor, frame)?;
            let field = match key {
                b"type" => &mut fields.kind,
                b"method" => &mut fields.method,
                b"role" => &mut fields.role,
                b"name" => &mut fields.name,
                b"protocol" => &mut fields.protocol,
                b"browser_id" => &mut fields.browser_id,
                b"client_id" => &mut fields.client_id,
                b"token" => &mut fields.token,
                b"key_id" => &mut fields.key_id,
                b"nonce" => &mut fields.nonce,
                b"class" => &mut fields.class,
                b"resume" => &mut fields.resume,
                b"version" => &mut fields.version,
                b"build" => &mut fields.build,
                b"methods" => &mut fields.methods,
                _ => return Ok(()),
            };
            // Optional fields may be null: the old peers' libraries write them so.
            *field = Some(token).filter(|it| !it.is_null());
            Ok(())
        })?;
        Ok(fields)
    }

    fn hello(self) -> Result<Said<'f>, NoHello> {
        let role = match self.role.and_then(Token::plain) {
            Some("extension") => Role::Extension,
            Some("client") => Role::Client,
            Some("control") => Role::Control,
            _ => return Err(NoHello("hello must declare role")),
        };
        let protocol = match self.protocol.map(Token::integer) {
            None | Some(Some(1)) => 1,
            Some(Some(2)) => 2,
            _ => return Err(NoHello("invalid hello: protocol")),
        };
        let (methods, fingerprint) = match self.methods {
            None => (0, 0),
            Some(list) => list.names().ok_or(NoHello("invalid hello: methods"))?,
        };
        let about = About {
            name: cut(self.name, "invalid hello: name")?,
            key_id: whole_name(self.key_id, "invalid hello: key_id")?,
            version: cut(self.version, "invalid hello: version")?,
            build: cut(self.build, "invalid hello: build")?,
            methods,
            fingerprint,
        };
        let text = |token: Option<Token<'f>>, wrong| match token {
            None => Ok(None),
            Some(token) => token.string().map(Some).ok_or(NoHello(wrong)),
        };
        Ok(Said {
            role,
            protocol,
            person: match self.class.map(Token::plain) {
                None | Some(Some("agent")) => false,
                Some(Some("person")) => true,
                _ => return Err(NoHello("invalid hello: class")),
            },
            browser_id: whole_name(self.browser_id, "invalid hello: browser_id")?,
            client_id: text(self.client_id, "invalid hello: client_id")?.map(|it| exact(unescape::chars(it))),
            token: text(self.token, "invalid hello: token")?,
            nonce: match self.nonce {
                None => Nonce::Missing,
                Some(token) => token.plain().and_then(decode).map_or(Nonce::Bad, Nonce::Is),
            },
            resume: text(self.resume, "invalid hello: resume")?,
            about,
        })
    }
}

/// A label, cut to what fits.
fn cut<const N: usize>(token: Option<Token<'_>>, wrong: &'static str) -> Result<Name<N>, NoHello> {
    let Some(token) = token else { return Ok(Name::new()) };
    token.string().map(|it| label(unescape::chars(it))).ok_or(NoHello(wrong))
}

/// An id, whole or not at all.
fn whole_name<const N: usize>(token: Option<Token<'_>>, wrong: &'static str) -> Result<Name<N>, NoHello> {
    let Some(token) = token else { return Ok(Name::new()) };
    token.string().and_then(|it| exact(unescape::chars(it))).ok_or(NoHello(wrong))
}

impl Token<'_> {
    /// How many names an array of strings holds, and their fingerprint.
    fn names(self) -> Option<(u16, u64)> {
        let mut count: u16 = 0;
        let mut fingerprint = 0;
        let mut cursor = self.cursor();
        cursor.expect(b'[').ok()?;
        if cursor.peek_token() == Some(b']') {
            return Some((0, 0));
        }
        loop {
            if cursor.peek_token() != Some(b'"') {
                return None;
            }
            let name = Strict::string(&mut cursor).ok()?;
            count = count.saturating_add(1);
            fingerprint ^= fnv(name);
            match cursor.peek_token()? {
                b',' => cursor.skip(1),
                _ => return Some((count, fingerprint)),
            }
        }
    }
}

/// The proof that a challenged peer sends: `{"type":"pair_confirm","challenge":…,"signature":…}`.
pub(crate) fn confirm(frame: &str, depth: u16) -> Option<(&str, &str)> {
    let (mut kind, mut challenge, mut signature) = (None, None, None);
    whole::<Strict>(frame.as_bytes(), depth, |key, cursor| {
        let token = Token::take(cursor, frame)?.plain();
        match key {
            b"type" => kind = token,
            b"challenge" => challenge = token,
            b"signature" => signature = token,
            _ => {}
        }
        Ok(())
    })
    .ok()?;
    (kind == Some("pair_confirm")).then_some((challenge?, signature?))
}
