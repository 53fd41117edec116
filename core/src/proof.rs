//! The mutual proof of protocol 2: who holds the key, shown without sending it.
//!
//! Both sides compute HMAC-SHA256 over the same transcript. The letter in front keeps one side's proof from serving as
//! the other's, the two nonces keep an old one from serving again, and the server's address and the Origin keep a
//! proof from being passed on from another place.

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::hello::Hello;
use crate::peer::Role;
use crate::text::Name;

/// 32 bytes: a nonce, a key or a digest.
pub(crate) type Bytes32 = [u8; 32];

/// 32 bytes in base64url without padding.
pub(crate) const TEXT_LEN: usize = 43;

/// What a challenged connection must answer, and what it will be then.
#[derive(Debug)]
pub(crate) struct Challenge {
    pub(crate) nonce: Bytes32,
    expected: Bytes32,
    pub(crate) hello: Hello,
}

impl Drop for Challenge {
    fn drop(&mut self) {
        self.expected.zeroize();
    }
}

/// What both sides' proofs are made over, but for the direction.
pub(crate) struct Transcript<'a> {
    pub(crate) role: Role,
    pub(crate) key_id: &'a str,
    pub(crate) browser_id: &'a str,
    pub(crate) client_nonce: &'a Bytes32,
    pub(crate) server_nonce: &'a Bytes32,
    pub(crate) address: &'a str,
    pub(crate) origin: &'a str,
}

impl Transcript<'_> {
    fn digest(&self, key: &Bytes32, direction: u8) -> Bytes32 {
        let mut mac = keyed(key);
        mac.update(&[direction]);
        let fields: [&[u8]; 8] = [
            b"bridged-proof-v2",
            self.role.as_str().as_bytes(),
            self.key_id.as_bytes(),
            self.browser_id.as_bytes(),
            self.client_nonce,
            self.server_nonce,
            self.address.as_bytes(),
            self.origin.as_bytes(),
        ];
        for field in fields {
            mac.update(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
            mac.update(field);
        }
        mac.finalize().into_bytes().into()
    }

    /// The server's proof, and the challenge that waits for the client's.
    pub(crate) fn challenge(&self, key: &Bytes32, hello: Hello) -> (Bytes32, Challenge) {
        let expected = self.digest(key, b'C');
        (self.digest(key, b'S'), Challenge { nonce: *self.server_nonce, expected, hello })
    }
}

impl Challenge {
    /// Whether `signature` and the echoed `challenge` are right. The time it takes does not depend on where they differ.
    pub(crate) fn accepts(&self, challenge: &str, signature: &str) -> bool {
        let nonce = decode(challenge).unwrap_or_default();
        let signature = decode(signature).unwrap_or_default();
        (nonce.ct_eq(&self.nonce) & signature.ct_eq(&self.expected)).into()
    }
}

/// Numbers that nobody can guess, all from one seed: HMAC(seed, counter).
pub(crate) struct Random {
    seed: Zeroizing<Bytes32>,
    count: u64,
}

impl Random {
    pub(crate) fn new(seed: Bytes32) -> Self {
        Self { seed: Zeroizing::new(seed), count: 0 }
    }

    pub(crate) fn next(&mut self) -> Bytes32 {
        let mut mac = keyed(&self.seed);
        mac.update(&self.count.to_be_bytes());
        self.count = self.count.wrapping_add(1);
        mac.finalize().into_bytes().into()
    }
}

/// Signs owners, so that a client may come back as who it was.
pub(crate) struct Resume {
    key: Zeroizing<Bytes32>,
}

impl Resume {
    pub(crate) fn new(key: Bytes32) -> Self {
        Self { key: Zeroizing::new(key) }
    }

    fn sign(&self, owner: &str) -> Bytes32 {
        let mut mac = keyed(&self.key);
        mac.update(b"bridged-resume-v2");
        mac.update(owner.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// The signature that goes behind the owner and a dot.
    pub(crate) fn text(&self, owner: &str) -> Name<TEXT_LEN> {
        encode(&self.sign(owner))
    }

    /// The owner that `value` was given to.
    pub(crate) fn owner<'v>(&self, value: &'v str) -> Option<&'v str> {
        let (owner, signature) = value.rsplit_once('.')?;
        let right: bool = decode(signature)?.ct_eq(&self.sign(owner)).into();
        right.then_some(owner)
    }
}

pub(crate) fn encode(bytes: &Bytes32) -> Name<TEXT_LEN> {
    let mut text = [0; TEXT_LEN];
    let mut out = Name::new();
    if let Ok(text) = Base64UrlUnpadded::encode(bytes, &mut text) {
        // Always fits: 32 bytes are 43 characters.
        let _ = out.push_str(text);
    }
    out
}

pub(crate) fn decode(text: &str) -> Option<Bytes32> {
    let mut bytes = [0; 32];
    let len = Base64UrlUnpadded::decode(text, &mut bytes).ok()?.len();
    (len == bytes.len()).then_some(bytes)
}

fn keyed(key: &Bytes32) -> Hmac<Sha256> {
    // A key shorter than the block is padded with zeros: what HMAC does with any of our 32-byte keys.
    let mut block = Zeroizing::new([0u8; 64]);
    for (to, from) in block.iter_mut().zip(key) {
        *to = *from;
    }
    Hmac::new((&*block).into())
}
