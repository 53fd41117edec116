//! Who may come in, and how: the table of security.md section 3.5 and the rules of protocol 2.

use crate::code::{CloseCode, Code};
use crate::config::Compat;
use crate::hello::{Nonce, Said};
use crate::peer::{Door, Keyring, Role, Trust};
use crate::proof::Bytes32;

/// What the door said of the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vouched<'a> {
    pub(crate) door: Door,
    pub(crate) trust: Trust,
    pub(crate) origin: &'a str,
    pub(crate) approved: bool,
}

/// How a peer comes in.
pub(crate) enum Admission {
    /// At once; a protocol-2 peer gets its `hello_ack`. Whether it counts as proven.
    Welcome { proven: bool },
    /// After it proved that it holds this key.
    Prove { key: Bytes32, nonce: Bytes32 },
}

/// Why a peer does not come in: the error frame and the close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Denial {
    pub(crate) text: &'static str,
    pub(crate) code: Code,
    pub(crate) close: CloseCode,
}

impl Denial {
    pub(crate) const fn hello(text: &'static str) -> Self {
        Self { text, code: Code::InvalidHello, close: CloseCode::POLICY }
    }

    const fn no(text: &'static str, code: Code) -> Self {
        Self { text, code, close: CloseCode::NOT_ALLOWED }
    }

    pub(crate) const AUTH_FAILED: Self = Self::no("auth failed", Code::AuthFailed);
    pub(crate) const UNPROVEN: Self =
        Self::no("a paired extension is connected; this one is not paired", Code::PermissionDenied);
    pub(crate) const FLIP_FLOP: Self = Self::no(
        "too many takeovers of this browser_id: two browsers use it; retry in 10 s",
        Code::Overloaded,
    );
    pub(crate) const TOO_MANY: Self = Self::no("too many connections", Code::Overloaded);

    const NOT_PAIRED: Self = Self::no("pairing required: run 'bridged pair'", Code::NotPaired);
    const NOT_APPROVED: Self =
        Self::no("pairing required: run 'bridged approve' with this extension's id", Code::NotPaired);
    const NO_TOKEN: Self = Self::no(
        "auth required: use the Unix socket, or put the token of 'bridged token' into the hello",
        Code::Unauthorized,
    );
    const NOT_A_CLIENT: Self = Self::no("an extension is never a client", Code::PermissionDenied);
    const NO_CONTROL: Self = Self::no("role control needs the Unix socket", Code::PermissionDenied);
}

/// Decides on a hello.
pub(crate) fn admit(
    compat: Compat,
    peer: Vouched<'_>,
    said: &Said<'_>,
    keys: &impl Keyring,
) -> Result<Admission, Denial> {
    let owner = peer.trust == Trust::Owner;
    if said.role == Role::Control && !(owner && peer.door != Door::WebSocket) {
        return Err(Denial::NO_CONTROL);
    }
    if !peer.origin.is_empty() && said.role != Role::Extension {
        return Err(Denial::NOT_A_CLIENT);
    }
    // A token that is there must be right, whether it was needed or not.
    let token = match said.token {
        Some(token) if keys.token_matches(token) => true,
        Some(_) => return Err(Denial::AUTH_FAILED),
        None => false,
    };
    if owner && peer.origin.is_empty() {
        return Ok(Admission::Welcome { proven: said.protocol == 2 });
    }
    if said.protocol == 2 { protocol_2(said, token, keys) } else { legacy(compat, peer, said.role, token) }
}

fn protocol_2(said: &Said<'_>, token: bool, keys: &impl Keyring) -> Result<Admission, Denial> {
    if token && said.role == Role::Client {
        return Ok(Admission::Welcome { proven: true });
    }
    if said.about.key_id.is_empty() {
        return Err(if said.role == Role::Extension { Denial::NOT_PAIRED } else { Denial::NO_TOKEN });
    }
    let Nonce::Is(nonce) = said.nonce else {
        return Err(Denial::hello("invalid hello: nonce"));
    };
    let key = keys.key_of(said.role, &said.about.key_id, &said.browser_id).ok_or(Denial::NOT_PAIRED)?;
    Ok(Admission::Prove { key, nonce })
}

fn legacy(compat: Compat, peer: Vouched<'_>, role: Role, token: bool) -> Result<Admission, Denial> {
    let ours = peer.trust >= Trust::SameUser;
    let welcome = match (compat, peer.origin.is_empty()) {
        (Compat::Open, _) => true,
        // A browser's own extension, which the user approved.
        (Compat::SameUser, false) => (ours || token) && peer.approved,
        (Compat::Strict, false) => false,
        (Compat::SameUser, true) => ours || token,
        (Compat::Strict, true) => token,
    };
    match (welcome, role) {
        (true, _) => Ok(Admission::Welcome { proven: false }),
        (false, _) if peer.origin.is_empty() => Err(Denial::NO_TOKEN),
        (false, _) => Err(Denial::NOT_APPROVED),
    }
}
