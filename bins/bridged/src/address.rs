//! Where a text leads if it is taken as an address to go to: read as a browser reads it, as far as ASCII goes. What only a browser can
//! tell, such as a host in other letters, is said to be so. Rests on nothing but the text; the page that comes of it is the extension's to judge.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Where a text leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// To a site.
    Web(Site),
    /// To something with another scheme, such as `data:`.
    Other {
        /// As it is written, in lower case.
        scheme: String,
        /// The site that a forgiving reader may take it for, as in `user:word@host`.
        perhaps: Option<Site>,
    },
    /// Only a browser can tell, or it leads nowhere.
    Unclear,
}

/// A host with what stands around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// Whether the scheme is the secure one; none where no scheme is written.
    pub secure: Option<bool>,
    /// The host.
    pub host: Host,
    /// The port, where one is written.
    pub port: Option<u16>,
}

/// A host in the one form that a browser has for all its spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// In lower case, without the dot at the end.
    Name(String),
    /// Also one that is written as IPv6.
    V4(Ipv4Addr),
    /// Any other of IPv6.
    V6(Ipv6Addr),
}

impl Address {
    /// Reads a text.
    pub(crate) fn read(text: &str) -> Address {
        let text: String = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        let mut text = text.trim_matches(|c: char| c <= ' ');
        // What these show is the address within.
        while let Some(rest) = after_scheme(text, &["view-source", "blob", "filesystem"]) {
            text = rest;
        }
        let plain = after_scheme(text, &["http", "ws"]).map(|rest| (Some(false), rest));
        let secure = after_scheme(text, &["https", "wss"]).map(|rest| (Some(true), rest));
        let (secure, rest) = plain.or(secure).unwrap_or((None, text));
        let site = Site::read(secure, rest);
        match secure.map_or_else(|| other_scheme(text), |_| None) {
            Some(scheme) => Address::Other { scheme, perhaps: site },
            None => site.map_or(Address::Unclear, Address::Web),
        }
    }

    /// The site that it leads to, were it only for a forgiving reader.
    pub(crate) fn site(&self) -> Option<&Site> {
        match self {
            Address::Web(site) => Some(site),
            Address::Other { perhaps, .. } => perhaps.as_ref(),
            Address::Unclear => None,
        }
    }
}

impl Site {
    /// Reads what follows the scheme.
    fn read(secure: Option<bool>, rest: &str) -> Option<Site> {
        let rest = rest.trim_start_matches(['/', '\\']);
        let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        let host_port = authority.rsplit('@').next().unwrap_or_default();
        let (host, port) = match host_port.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (host_port, ""),
        };
        let digits = port.bytes().all(|b| b.is_ascii_digit());
        let port = match port {
            "" => None,
            _ => Some(port.parse().ok().filter(|_| digits)?),
        };
        Some(Site { secure, host: Host::read(host)?, port })
    }

    /// Whether it is at this port; where neither scheme nor port is written it may be at either scheme's own.
    pub(crate) fn is_at(&self, port: u16) -> bool {
        match (self.port, self.secure) {
            (Some(written), _) => written == port,
            (None, Some(secure)) => port == if secure { 443 } else { 80 },
            (None, None) => matches!(port, 80 | 443),
        }
    }
}

impl Host {
    /// Reads a host; none if only a browser can, or nobody.
    pub(crate) fn read(text: &str) -> Option<Host> {
        let host = decoded(text).to_ascii_lowercase();
        if let Some(v6) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            let v6 = v6.parse::<Ipv6Addr>().ok()?;
            // It is the same computer.
            return Some(v6.to_ipv4_mapped().map_or(Host::V6(v6), Host::V4));
        }
        let number = v4(host.strip_suffix('.').unwrap_or(&host));
        let host = host.trim_end_matches('.');
        let told = |b: u8| b.is_ascii_graphic() && !b"#/:<>?@[\\]^|%".contains(&b);
        if host.is_empty() || !host.bytes().all(told) {
            return None;
        }
        Some(number.map_or_else(|| Host::Name(host.to_owned()), Host::V4))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A name has no bound, and a sentence should.
            Host::Name(name) => write!(f, "{name:.100}"),
            Host::V4(v4) => write!(f, "{v4}"),
            Host::V6(v6) => write!(f, "[{v6}]"),
        }
    }
}

fn after_scheme<'t>(text: &'t str, schemes: &[&str]) -> Option<&'t str> {
    let (scheme, rest) = text.split_once(':')?;
    schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(rest)
}

/// A scheme that is no site's; `host:80` begins with none.
fn other_scheme(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    let first = scheme.bytes().next()?.is_ascii_alphabetic();
    let all = scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let beyond = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_port =
        beyond.len() < rest.len() && (beyond.is_empty() || beyond.starts_with(['/', '\\', '?', '#']));
    (first && all && !is_port).then(|| scheme.chars().take(32).collect::<String>().to_ascii_lowercase())
}

/// `%31` in a host is `1`.
fn decoded(host: &str) -> String {
    let mut out = Vec::with_capacity(host.len());
    let mut bytes = host.bytes();
    while let Some(byte) = bytes.next() {
        let pair = || {
            let mut ahead = bytes.clone();
            let digit = |b: Option<u8>| char::from(b?).to_digit(16);
            let value = digit(ahead.next())? * 16 + digit(ahead.next())?;
            Some((u8::try_from(value).ok()?, ahead))
        };
        match (byte == b'%').then(pair).flatten() {
            Some((value, ahead)) => {
                out.push(value);
                bytes = ahead;
            }
            None => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// All ways to write an IPv4 address that browsers take: `127.1`, `0x7f.0.0.1`, `2130706433`.
fn v4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = host.split('.').take(5).collect();
    let numbers: Vec<u64> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, first) = numbers.split_last()?;
    if first.len() > 3 || first.iter().any(|n| *n > 255) || *last >= 256_u64.pow(4 - first.len() as u32) {
        return None;
    }
    let high = first.iter().zip([24, 16, 8]).fold(0, |sum, (n, shift)| sum | (n << shift));
    u32::try_from(high | last).ok().map(Ipv4Addr::from)
}

fn number(part: &str) -> Option<u64> {
    let (digits, radix) = match part.strip_prefix("0x") {
        Some("") => return Some(0),
        Some(hex) => (hex, 16),
        None if part.len() > 1 && part.starts_with('0') => (&part[1..], 8),
        None => (part, 10),
    };
    if digits.is_empty() {
        return None;
    }
    // However many, they change nothing; and nothing but them is nought.
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    if digits.len() > 15 || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(text: &str) -> (Option<bool>, String, Option<u16>) {
        match Address::read(text) {
            Address::Web(site) => (site.secure, site.host.to_string(), site.port),
            other => (None, format!("{other:?}"), None),
        }
    }

    /// T126: the spellings of one host.
    #[test]
    fn a_host_is_read_as_a_browser_reads_it() {
        for text in [
            "https://evil.example",
            "HTTPS://EVIL.example.",
            "https://evil.example/path?x#y",
            "https:evil.example",
            "https:\\\\evil.example\\@good.example",
            "https:///evil.example/",
            "https://good.example@evil.example/",
            "https://a:b@c@evil.example",
            "https://%65vil.example/",
            "https://evil%2eexample/",
            " \thttps://ev\nil.exam\rple ",
            "view-source:https://evil.example/",
            "blob:https://evil.example/0b2a",
            "wss://evil.example",
        ] {
            assert_eq!(web(text), (Some(true), "evil.example".to_owned(), None), "{text}");
        }
        assert_eq!(web("http://evil.example:08080/x"), (Some(false), "evil.example".to_owned(), Some(8080)));
        assert_eq!(web("evil.example:8080/x"), (None, "evil.example".to_owned(), Some(8080)));
        assert_eq!(web("//evil.example"), (None, "evil.example".to_owned(), None));
        assert_eq!(web("http://[::FFFF:10.0.0.5]/"), (Some(false), "10.0.0.5".to_owned(), None));
        assert_eq!(web("http://0x0a.5./"), (Some(false), "10.0.0.5".to_owned(), None));
        for zeros in [
            "http://0000000000000000177.0.0.1:9225/",
            "http://0x00000000000000000007f.1:9225/",
            "http://0177.00000000000000000000.0000.0x0000000000000000000001:9225/",
            "http://000000000000000000017700000001:9225/",
        ] {
            assert_eq!(web(zeros), (Some(false), "127.0.0.1".to_owned(), Some(9225)), "{zeros}");
        }
        for name in ["08", "1..2", "127.0.0.000000000000000000008", "0x0g"] {
            assert_eq!(Host::read(name), Some(Host::Name(name.to_owned())), "no number");
        }
        assert_eq!(
            web("http://0x0a.5../"),
            (Some(false), "0x0a.5".to_owned(), None),
            "a name, if a strange one"
        );
        assert_eq!(web("http://[2001:DB8::1]:81/"), (Some(false), "[2001:db8::1]".to_owned(), Some(81)));
    }

    #[test]
    fn what_only_a_browser_can_tell_is_unclear() {
        for text in [
            "https://bücher.example",
            "https://ｅvil.example",
            "https://evil\u{ad}.example",
            "https://evil。example",
            "https://%C3%BC.example",
            "https://evil .example",
            "https://evil%00.example",
            "https://evil.example:99999/",
            "https://evil.example:+80/",
            "https://[::1",
            "https://.",
            "https:",
            "",
        ] {
            assert_eq!(Address::read(text), Address::Unclear, "{text}");
        }
    }

    #[test]
    fn another_scheme_leads_to_no_site_but_may_be_taken_for_one() {
        let read = |text: &str| match Address::read(text) {
            Address::Other { scheme, perhaps } => (scheme, perhaps.map(|site| site.host.to_string())),
            other => (format!("{other:?}"), None),
        };
        assert_eq!(read("about:blank"), ("about".to_owned(), None));
        assert_eq!(read("DATA:text/html,x"), ("data".to_owned(), None));
        assert_eq!(read("user:word@evil.example/x").1.as_deref(), Some("evil.example"));
        assert_eq!(read("javascript:alert(1)").0, "javascript");
        assert_eq!(read("file:///etc/passwd").0, "file");
    }

    #[test]
    fn a_port_that_is_not_written_is_the_schemes() {
        let at = |text: &str, port| Address::read(text).site().is_some_and(|site| site.is_at(port));
        assert!(at("https://a.example", 443) && !at("https://a.example", 80));
        assert!(at("http://a.example", 80) && !at("http://a.example", 443));
        assert!(at("a.example", 80) && at("a.example", 443) && !at("a.example", 8080));
        assert!(at("https://a.example:80", 80) && !at("https://a.example:80", 443));
    }
}
