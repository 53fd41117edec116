//! The client's half of the mutual proof: to know the bridge before it is told anything, and to be known.
//!
//! Another program may have taken the port. So a client that holds a key sends no secret: it asks the bridge to
//! prove itself first, over everything that makes this connection this one, and only then answers.

use base64ct::{Base64UrlUnpadded, Encoding};
use bridge_core::Role;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::net::SocketAddr;
use subtle::ConstantTimeEq;

/// What a client proves with, for one connection.
#[derive(Clone)]
pub struct Prover {
    /// As what it joins.
    pub role: Role,
    /// Which key it holds.
    pub key_id: String,
    /// The key.
    pub key: [u8; 32],
    /// The browser it speaks for; empty for a client.
    pub browser_id: String,
    /// 32 fresh random bytes.
    pub nonce: [u8; 32],
    /// The literal address that was dialled.
    pub server: SocketAddr,
    /// The Origin header that was sent; empty if none.
    pub origin: String,
}

/// The bridge did not prove that it holds the key: it may be another program on the same port. Close with 4004.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unproven;

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another program answers there: it does not hold the key")
    }
}

impl std::error::Error for Unproven {}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover")
            .field("key_id", &self.key_id)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

impl Prover {
    /// The `nonce` of the hello.
    #[must_use]
    pub fn nonce(&self) -> String {
        Base64UrlUnpadded::encode_string(&self.nonce)
    }

    /// Checks `challenge` and `proof` of a `pair_challenge`, and returns the `signature` for `pair_confirm`.
    pub fn confirm(&self, challenge: &str, proof: &str) -> Result<String, Unproven> {
        let nonce = decode(challenge)?;
        let proven: bool = decode(proof)?.ct_eq(&self.digest(b'S', &nonce)).into();
        if proven { Ok(Base64UrlUnpadded::encode_string(&self.digest(b'C', &nonce))) } else { Err(Unproven) }
    }

    fn digest(&self, direction: u8, server_nonce: &[u8; 32]) -> [u8; 32] {
        // A key of 32 bytes is padded with zeros to HMAC's block of 64.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.key);
        let mut mac = Hmac::<Sha256>::new((&block).into());
        mac.update(&[direction]);
        let server = self.server.to_string();
        let fields: [&[u8]; 8] = [
            b"bridged-proof-v2",
            self.role.as_str().as_bytes(),
            self.key_id.as_bytes(),
            self.browser_id.as_bytes(),
            &self.nonce,
            server_nonce,
            server.as_bytes(),
            self.origin.as_bytes(),
        ];
        for field in fields {
            mac.update(&(field.len() as u32).to_be_bytes());
            mac.update(field);
        }
        mac.finalize().into_bytes().into()
    }
}

fn decode(text: &str) -> Result<[u8; 32], Unproven> {
    let mut bytes = [0; 32];
    match Base64UrlUnpadded::decode(text, &mut bytes) {
        Ok(decoded) if decoded.len() == 32 => Ok(bytes),
        _ => Err(Unproven),
    }
}
