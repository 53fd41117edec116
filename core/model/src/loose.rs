//! What the hub reads of a browser's answer: where its members stand, and no more of the grammar than that takes.
//!
//! Strings end, brackets match, nothing nests too deep; what stands between is the business of whoever asked.

use std::ops::Range;

use crate::model::KEYS;

/// The members of an object as far as it could be read: keys, and where the values stand.
#[derive(Debug, Default)]
pub struct Loose<'a> {
    frame: &'a [u8],
    members: Vec<(&'a [u8], Range<usize>)>,
    /// Whether all of it made sense.
    pub whole: bool,
}

impl<'a> Loose<'a> {
    /// Reads a frame that may nest this deep.
    pub fn read(frame: &'a [u8], depth: u16) -> Self {
        let mut reader = Reader { frame, at: 0, most: usize::from(depth) };
        let mut loose = Loose { frame, ..Loose::default() };
        loose.whole = loose.fill(&mut reader).is_some();
        loose
    }

    fn fill(&mut self, reader: &mut Reader<'a>) -> Option<()> {
        reader.expect(b'{')?;
        if reader.token() == Some(b'}') {
            return reader.end();
        }
        loop {
            reader.token();
            let key = reader.string()?;
            let known = self.members.iter().any(|(it, _)| *it == key);
            if known || key.contains(&b'\\') || self.members.len() == KEYS {
                return None;
            }
            reader.expect(b':')?;
            reader.token();
            let start = reader.at;
            // A key counts as met even if its value makes no sense; it only has no place.
            reader.value(1)?;
            self.members.push((key, start..reader.at));
            match reader.token()? {
                b',' => reader.at += 1,
                b'}' => return reader.end(),
                _ => return None,
            }
        }
    }

    /// Where a member's value stands.
    pub fn span(&self, key: &str) -> Option<Range<usize>> {
        self.members.iter().find(|(it, _)| *it == key.as_bytes()).map(|(_, span)| span.clone())
    }

    /// A member's raw value.
    pub fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.frame.get(self.span(key)?)
    }

    /// Where the inside of a member stands that is a string.
    pub fn inside(&self, key: &str) -> Option<Range<usize>> {
        let span = self.span(key).filter(|span| self.frame[span.start] == b'"')?;
        Some(span.start + 1..span.end - 1)
    }
}

struct Reader<'a> {
    frame: &'a [u8],
    at: usize,
    /// The deepest that containers may stand within each other.
    most: usize,
}

impl<'a> Reader<'a> {
    /// The next byte that is no white space.
    fn token(&mut self) -> Option<u8> {
        while matches!(self.frame.get(self.at)?, b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        Some(self.frame[self.at])
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.token()? == byte).then(|| self.at += 1)
    }

    /// The end of the object is the end of the frame.
    fn end(&mut self) -> Option<()> {
        self.at += 1;
        self.token().is_none().then_some(())
    }

    /// A string; its inside.
    fn string(&mut self) -> Option<&'a [u8]> {
        if *self.frame.get(self.at)? != b'"' {
            return None;
        }
        let start = self.at + 1;
        self.at = start;
        loop {
            match self.frame.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(&self.frame[start..self.at - 1])
    }

    /// A value inside of `depth` containers.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.frame.get(self.at)? {
            b'"' => self.string().map(drop),
            b'{' | b'[' => self.container(depth),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                while !matches!(self.frame.get(self.at)?, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') {
                    self.at += 1;
                }
                Some(())
            }
            _ => None,
        }
    }

    fn container(&mut self, depth: usize) -> Option<()> {
        let close = if self.frame[self.at] == b'{' { b'}' } else { b']' };
        if depth >= self.most {
            return None;
        }
        self.at += 1;
        loop {
            match self.frame.get(self.at)? {
                b'"' => drop(self.string()?),
                b'{' | b'[' => self.container(depth + 1)?,
                byte @ (b'}' | b']') => {
                    self.at += 1;
                    return (*byte == close).then_some(());
                }
                _ => self.at += 1,
            }
        }
    }
}
