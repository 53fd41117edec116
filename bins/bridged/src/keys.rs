//! Who may connect: the root key, what derives from it, and the book of pairings.
//!
//! `root.key` holds 32 random bytes. An extension's key derives from it and the pairing's name, a client's from it and
//! the token's epoch, so one that leaks is no key to another and nothing but the root needs guarding. `pairings.json` says
//! which names count; it holds no secret. Whoever changes either holds the folder's lock; whoever reads sees a change
//! by another process at once, because the book is read again when its file is another.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::files::{FolderLock, Holds, json_object, random, read_private, write_private};
use crate::places::private_folder;
use crate::trouble::{Doing, Outcome, Trouble};

/// A key of 32 bytes that is wiped when dropped.
pub(crate) type Key = Zeroizing<[u8; 32]>;

/// How long a key that was printed for pasting may wait for its first use, in seconds.
pub(crate) const PASTE_WITHIN: u64 = 120;
/// How long the token before the last rotation still counts, in seconds.
const OLD_TOKEN_FOR: u64 = 60;

/// Which file something was read from: inode and time of change.
type Stamp = (u64, i64, i64);

/// The keys of one state folder.
pub(crate) struct Keys {
    folder: PathBuf,
    root: Key,
    book: Book,
    /// Which file the book was read from: another writer's rename changes it.
    stamp: Option<Stamp>,
}

/// `pairings.json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Book {
    /// How often the token was rotated.
    pub epoch: u64,
    /// When it was rotated last, in seconds since 1970.
    pub rotated: u64,
    /// Extensions that hold a key.
    pub extensions: Vec<Pairing>,
    /// Extension ids let in on the base protocol, without a key.
    pub approved: Vec<String>,
    /// Folders that the extension was installed to.
    pub folders: Vec<PathBuf>,
}

/// One extension that holds a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pairing {
    /// The name its key derives from.
    pub key_id: String,
    /// What the user sees.
    pub label: String,
    /// Its browser, once it has connected.
    #[serde(default)]
    pub browser_id: Option<String>,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// When it last connected.
    #[serde(default)]
    pub last_seen: Option<u64>,
    /// Until when it must have connected once; none if there is no hurry.
    #[serde(default)]
    pub expires: Option<u64>,
    /// Whether it is for the first browser that uses it alone: a key that was printed for pasting.
    #[serde(default)]
    pub once: bool,
}

impl Pairing {
    /// Whether its key still counts. A clock that went back ends the wait for a first use, rather than prolonging it.
    fn counts(&self, now: u64) -> bool {
        self.expires.is_none_or(|limit| (self.created..=limit).contains(&now))
    }
}

impl Keys {
    /// Opens the state folder, makes its root key at the first time, and sees to the token file.
    pub(crate) fn open(folder: &Path) -> Outcome<Keys> {
        private_folder(folder)?;
        let lock = FolderLock::take(folder)?;
        let root = match read_root(folder)? {
            Some(root) => root,
            None => make_root(folder)?,
        };
        let (book, stamp) = read_book(folder)?;
        let keys = Keys { folder: folder.to_owned(), root, book, stamp };
        keys.write_token(&lock)?;
        Ok(keys)
    }

    /// Makes a new root key and an empty book: what was let in before is a stranger now.
    ///
    /// It trusts nothing of what it replaces, so it also gets over files that [`Keys::open`] refuses; and each file
    /// is replaced in one step, so that a full disk leaves the old one.
    pub(crate) fn reset(folder: &Path) -> Outcome<Keys> {
        private_folder(folder)?;
        let lock = FolderLock::take(folder)?;
        let folders = read_book(folder).map(|(book, _)| book.folders).unwrap_or_default();
        let root = make_root(folder)?;
        let mut keys =
            Keys { folder: folder.to_owned(), root, book: Book { folders, ..Book::default() }, stamp: None };
        keys.save(&lock)?;
        write_private(&keys.token_file(), format!("{}\n", *keys.token_of(0)).as_bytes())?;
        Ok(keys)
    }

    /// The book as it is now on the disk.
    pub(crate) fn book(&mut self) -> &Book {
        if stamp_of(&self.folder) != self.stamp {
            match read_book(&self.folder) {
                Ok((book, stamp)) => (self.book, self.stamp) = (book, stamp),
                Err(e) => log::error!("{e}"),
            }
        }
        &self.book
    }

    /// The state folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The key of a paired extension; none if the pairing is not in the book, was not used in time, or was for the first
    /// browser that used it and this is another.
    pub(crate) fn extension_key(&mut self, key_id: &str, browser_id: &str) -> Option<[u8; 32]> {
        let now = unix_now();
        let paired = self.book().extensions.iter().find(|p| p.key_id == key_id)?;
        let taken = paired.once && paired.browser_id.as_deref().is_some_and(|by| by != browser_id);
        (paired.counts(now) && !taken).then(|| *derive(&self.root, &format!("ext|{key_id}")))
    }

    /// Whether a key is for one browser alone.
    pub(crate) fn is_for_one(&mut self, key_id: &str) -> bool {
        self.book().extensions.iter().any(|p| p.key_id == key_id && p.once)
    }

    /// The key of clients that prove themselves, by the epoch in its name (`client`, `client-1`, …).
    pub(crate) fn client_key(&mut self, key_id: &str) -> Option<[u8; 32]> {
        let epoch = match key_id.strip_prefix("client")? {
            "" => 0,
            number => number.strip_prefix('-')?.parse().ok()?,
        };
        self.epochs().into_iter().flatten().find(|e| *e == epoch).map(|e| *self.derive_client(e))
    }

    /// Whether a client's token is the present one, or the one before shortly after a rotation.
    pub(crate) fn token_matches(&mut self, given: &str) -> bool {
        let mut any = false;
        for epoch in self.epochs().into_iter().flatten() {
            any |= same(self.token_of(epoch).as_bytes(), given.as_bytes());
        }
        any
    }

    /// The present token.
    pub(crate) fn token(&mut self) -> Zeroizing<String> {
        let epoch = self.book().epoch;
        self.token_of(epoch)
    }

    /// Makes the next token; the one before counts a little longer.
    pub(crate) fn rotate(&mut self) -> Outcome<()> {
        self.change(|book| {
            book.epoch += 1;
            book.rotated = unix_now();
        })?;
        let lock = FolderLock::take(&self.folder)?;
        self.write_token(&lock)
    }

    /// Enters a new pairing and returns its name and key. `within`: how many seconds its first use may take.
    pub(crate) fn pair(&mut self, label: &str, within: Option<u64>) -> Outcome<(String, Key)> {
        let letters = Base64UrlUnpadded::encode_string(&random()?);
        let key_id = format!("k-{}", &letters[..8]);
        let now = unix_now();
        let pairing = Pairing {
            key_id: key_id.clone(),
            label: label.to_owned(),
            browser_id: None,
            created: now,
            last_seen: None,
            expires: within.map(|w| now + w),
            once: within.is_some(),
        };
        self.change(|book| {
            book.extensions.retain(|p| p.counts(now));
            book.extensions.push(pairing);
        })?;
        let key = derive(&self.root, &format!("ext|{key_id}"));
        Ok((key_id, key))
    }

    /// Notes that a paired extension connected: its key no longer expires.
    pub(crate) fn seen(&mut self, key_id: &str, browser_id: &str) -> Outcome<()> {
        self.change(|book| {
            if let Some(pairing) = book.extensions.iter_mut().find(|p| p.key_id == key_id) {
                pairing.last_seen = Some(unix_now());
                pairing.expires = None;
                pairing.browser_id = Some(browser_id.to_owned());
            }
        })
    }

    /// Changes the book on the disk, whoever else may be changing it.
    pub(crate) fn change<T>(&mut self, edit: impl FnOnce(&mut Book) -> T) -> Outcome<T> {
        let lock = FolderLock::take(&self.folder)?;
        self.book();
        let done = edit(&mut self.book);
        self.save(&lock)?;
        Ok(done)
    }

    /// A secret that outlives a restart, so that a client can show that an owner is its own.
    pub(crate) fn resume_secret(&self) -> [u8; 32] {
        *derive(&self.root, "resume")
    }

    fn epochs(&mut self) -> [Option<u64>; 2] {
        let book = self.book();
        // A clock that went back ends the old token at once, rather than prolonging it.
        let honoured = book.rotated..=book.rotated.saturating_add(OLD_TOKEN_FOR);
        let recent = book.epoch > 0 && honoured.contains(&unix_now());
        [Some(book.epoch), recent.then(|| book.epoch - 1)]
    }

    fn derive_client(&self, epoch: u64) -> Key {
        match epoch {
            0 => derive(&self.root, "client"),
            _ => derive(&self.root, &format!("client|{epoch}")),
        }
    }

    fn token_of(&self, epoch: u64) -> Zeroizing<String> {
        Zeroizing::new(Base64UrlUnpadded::encode_string(&*self.derive_client(epoch)))
    }

    fn save(&mut self, _lock: &FolderLock) -> Outcome<()> {
        let mut text = serde_json::to_vec_pretty(&self.book).doing("write down the pairings")?;
        text.push(b'\n');
        write_private(&self.folder.join("pairings.json"), &text)?;
        self.stamp = stamp_of(&self.folder);
        Ok(())
    }

    fn token_file(&self) -> PathBuf {
        self.folder.join("client.token")
    }

    fn write_token(&self, _lock: &FolderLock) -> Outcome<()> {
        let path = self.token_file();
        let token = self.token_of(self.book.epoch);
        match read_private(&path, Holds::Keys)? {
            Some(there) if there.trim_ascii() == token.as_bytes() => Ok(()),
            _ => write_private(&path, format!("{}\n", *token).as_bytes()),
        }
    }
}

/// Seconds since 1970.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

fn read_root(folder: &Path) -> Outcome<Option<Key>> {
    let path = folder.join("root.key");
    let Some(content) = read_private(&path, Holds::Keys)? else { return Ok(None) };
    match root_in(&content) {
        Some(root) => Ok(Some(root)),
        None => Err(Trouble::usage(format!(
            "{} holds {} bytes instead of 32, so it is no key: start afresh with `bridged reset-pairing`",
            path.display(),
            content.len()
        ))),
    }
}

/// The root key in a file's content.
pub(crate) fn root_in(content: &[u8]) -> Option<Key> {
    <[u8; 32]>::try_from(content).ok().map(Zeroizing::new)
}

fn make_root(folder: &Path) -> Outcome<Key> {
    let root = Zeroizing::new(random()?);
    write_private(&folder.join("root.key"), &*root)?;
    Ok(root)
}

fn read_book(folder: &Path) -> Outcome<(Book, Option<Stamp>)> {
    let path = folder.join("pairings.json");
    let stamp = stamp_of(folder);
    let Some(content) = read_private(&path, Holds::Keys)? else { return Ok((Book::default(), None)) };
    let book = json_object(&content).map_err(|e| {
        Trouble::usage(format!(
            "{} is damaged ({e}): start afresh with `bridged reset-pairing`",
            path.display()
        ))
    })?;
    Ok((book, stamp))
}

fn stamp_of(folder: &Path) -> Option<Stamp> {
    let found = std::fs::symlink_metadata(folder.join("pairings.json")).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec()))
}

/// HKDF-SHA256 (RFC 5869) without salt, for one block.
fn derive(root: &Key, info: &str) -> Key {
    let pseudorandom = mac(&[0; 32], &[&**root]);
    Zeroizing::new(mac(&pseudorandom, &[info.as_bytes(), &[1]]))
}

fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// HMAC fills a short key up to its block with zeros, as this does.
fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(key);
    Hmac::new((&*block).into())
}

/// Compares in a time that does not depend on where two tokens differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let pad = [0; 32];
    // The MAC of each under the same key: the comparison sees nothing of the tokens themselves.
    a.len() == b.len() && keyed(&pad).chain_update(a).verify_slice(&mac(&pad, &[b])).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivation_is_hkdf_as_others_compute_it() {
        // RFC 5869 A.3 (no salt, no info), first block.
        let mut root = [0; 22];
        root.fill(0x0b);
        let pseudorandom = mac(&[0; 32], &[&root]);
        let first = mac(&pseudorandom, &[b"", &[1]]);
        assert_eq!(first[..8], [0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f]);
    }

    #[test]
    fn tokens_are_equal_only_when_every_byte_is() {
        assert!(same(b"abc", b"abc"));
        for other in [&b"abd"[..], b"bbc", b"ab", b"abcd", b""] {
            assert!(!same(b"abc", other));
        }
    }
}
