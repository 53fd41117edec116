//! The peers' half of the mutual proof, written from the protocol's text alone.

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Everything both sides must agree on, byte for byte.
#[derive(Debug, Clone)]
pub struct Transcript<'a> {
    /// `extension` or `client`.
    pub role: &'a str,
    /// Names the key.
    pub key_id: &'a str,
    /// The browser's id, empty if it has none.
    pub browser_id: &'a str,
    /// The peer's nonce, as its 32 bytes.
    pub nonce_c: [u8; 32],
    /// The hub's nonce, as its 32 bytes.
    pub nonce_s: [u8; 32],
    /// The address the peer dialled.
    pub address: &'a str,
    /// The Origin header, empty if there was none.
    pub origin: &'a str,
}

impl Transcript<'_> {
    /// What the hub shows first.
    pub fn of_hub(&self, key: &[u8; 32]) -> String {
        self.mac(key, b'S')
    }

    /// What the peer answers.
    pub fn of_peer(&self, key: &[u8; 32]) -> String {
        self.mac(key, b'C')
    }

    fn mac(&self, key: &[u8; 32], side: u8) -> String {
        let mut text = vec![side];
        let fields: [&[u8]; 8] = [
            b"bridged-proof-v2",
            self.role.as_bytes(),
            self.key_id.as_bytes(),
            self.browser_id.as_bytes(),
            &self.nonce_c,
            &self.nonce_s,
            self.address.as_bytes(),
            self.origin.as_bytes(),
        ];
        for field in fields {
            text.extend((field.len() as u32).to_be_bytes());
            text.extend(field);
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(&text);
        encode(&mac.finalize().into_bytes())
    }
}

/// base64url without padding, as all nonces, proofs and keys are written.
pub fn encode(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// The 32 bytes that a base64url text stands for.
pub fn decode(text: &str) -> Option<[u8; 32]> {
    Base64UrlUnpadded::decode_vec(text).ok()?.try_into().ok()
}
