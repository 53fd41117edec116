//! One entry of a list of sites: `[scheme://]host[:port]`, the host exact, `*.host` (itself and whatever is beneath it), or an IP address.

use std::net::Ipv6Addr;

use crate::address::{Host, Site};
use crate::show::harmless;
use crate::trouble::{Outcome, Trouble};

/// The longest pattern, in bytes.
const LONGEST: usize = 256;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// In its one form: lower case, no dot at the end.
    text: String,
    secure: Option<bool>,
    beneath: bool,
    /// None for a host in other letters, which only a browser can map.
    host: Option<Host>,
    port: Option<u16>,
}

impl Pattern {
    /// Reads what a person wrote.
    pub(crate) fn read(written: &str) -> Outcome<Pattern> {
        let shown: String = written.chars().take(100).collect();
        let wrong = |why: &str| Trouble::usage(format!("`{}` is no site: {why}", shown.escape_debug()));
        let text = written.trim().to_lowercase();
        if text.len() > LONGEST {
            return Err(wrong(&format!("it has more than {LONGEST} bytes")));
        }
        let (secure, rest) = match text.split_once("://") {
            None => (None, text.as_str()),
            Some(("http", rest)) => (Some(false), rest),
            Some(("https", rest)) => (Some(true), rest),
            Some(_) => return Err(wrong("a scheme can be http or https")),
        };
        if let Some((site, _)) = rest.split_once(['/', '\\', '?', '#']) {
            let scheme = &text[..text.len() - rest.len()];
            let then =
                if site.is_empty() { "example.com".to_owned() } else { harmless(&format!("{scheme}{site}")) };
            return Err(wrong(&format!("the lists are of whole sites, without a path: `{then}`")));
        }
        let (beneath, rest) = rest.strip_prefix("*.").map_or((false, rest), |rest| (true, rest));
        if rest.parse::<Ipv6Addr>().is_ok() {
            // Without them its end could be a port.
            return Err(wrong("an IPv6 address stands in brackets, as `[::1]`"));
        }
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                let number =
                    port.parse::<u16>().ok().filter(|n| *n > 0 && port.bytes().all(|b| b.is_ascii_digit()));
                (host, Some(number.ok_or_else(|| wrong("a port is a number from 1 to 65535"))?))
            }
            _ => (rest, None),
        };
        let (host, spelled) = read_host(host).map_err(wrong)?;
        if beneath && !matches!(host, None | Some(Host::Name(_))) {
            return Err(wrong("`*.` stands before names only"));
        }
        let scheme = secure.map_or("", |secure| if secure { "https://" } else { "http://" });
        let star = if beneath { "*." } else { "" };
        let at = port.map_or_else(String::new, |port| format!(":{port}"));
        Ok(Pattern { text: format!("{scheme}{star}{spelled}{at}"), secure, beneath, host, port })
    }

    /// As it is kept and told.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether only a browser can say which host this is.
    pub(crate) fn is_foreign(&self) -> bool {
        self.host.is_none()
    }

    /// Whether a site is meant by it.
    pub(crate) fn covers(&self, site: &Site) -> bool {
        let scheme = self.secure.zip(site.secure).is_none_or(|(wanted, is)| wanted == is);
        let port = self.port.is_none_or(|port| site.is_at(port));
        let host = self.host.as_ref().is_some_and(|host| match (host, &site.host) {
            (Host::Name(name), Host::Name(is)) if self.beneath => is
                .strip_suffix(name.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with('.')),
            (host, is) => host == is,
        });
        scheme && port && host
    }
}

/// A pattern's host, and how it is spelled from now on.
fn read_host(text: &str) -> Result<(Option<Host>, String), &'static str> {
    const EXPECTED: &str = "expected a host as `example.com`, `*.example.com` or an IP address, with `https://` before and `:8080` after it at most";
    let text = text.strip_suffix('.').unwrap_or(text);
    if text.contains('*') {
        return Err(
            "`*.` may stand at the beginning, for everything beneath a host; `none` makes an empty list",
        );
    }
    if text.contains('@') {
        return Err("it names a user; a site is a host, with a port at most");
    }
    if !text.is_ascii() {
        // Which letters make a host only the browser knows.
        let plain = harmless(text) == text && !text.chars().any(|c| c.is_whitespace());
        let ascii = text.chars().filter(char::is_ascii).all(is_of_name);
        let labels = text.split('.').all(|label| !label.is_empty());
        return if plain && ascii && labels { Ok((None, text.to_owned())) } else { Err(EXPECTED) };
    }
    match Host::read(text).filter(|_| !text.contains('%')) {
        Some(Host::Name(name)) => {
            let labels = name.split('.').all(|label| !label.is_empty() && label.chars().all(is_of_name));
            // A browser takes what ends in a number for an IP address, and this is none.
            let number = name.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
            if labels && !number { Ok((Some(Host::Name(name.clone())), name)) } else { Err(EXPECTED) }
        }
        Some(address) => {
            // A browser keeps an IPv6 address as IPv6, whatever is mapped in it.
            let v6 = text.strip_prefix('[').and_then(|v6| v6.strip_suffix(']')?.parse::<Ipv6Addr>().ok());
            let spelled = v6.map_or_else(|| address.to_string(), |v6| format!("[{v6}]"));
            Ok((Some(address), spelled))
        }
        None => Err(EXPECTED),
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;
    use crate::address::Address;

    fn covers(pattern: &str, url: &str) -> bool {
        Address::read(url).site().is_some_and(|site| Pattern::read(pattern).unwrap().covers(site))
    }

    #[test]
    fn a_pattern_is_kept_in_one_form() {
        for (written, kept) in [
            (" Example.COM. ", "example.com"),
            ("*.Example.org", "*.example.org"),
            ("HTTPS://Example.com:8443", "https://example.com:8443"),
            ("http://*.example.com:80", "http://*.example.com:80"),
            ("127.1", "127.0.0.1"),
            ("0x7f.0.0.1:3000", "127.0.0.1:3000"),
            ("[2001:DB8:0:0::1]:81", "[2001:db8::1]:81"),
            ("[::FFFF:A00:5]", "[::ffff:10.0.0.5]"),
            ("localhost", "localhost"),
            ("XN--bcher-KVA.example", "xn--bcher-kva.example"),
            ("*.BÜCHER.example", "*.bücher.example"),
            ("a_b-c.example", "a_b-c.example"),
        ] {
            let pattern = Pattern::read(written).unwrap();
            assert_eq!(pattern.text(), kept);
            assert_eq!(Pattern::read(pattern.text()).unwrap(), pattern, "{kept} is read as what it is");
        }
    }

    #[test]
    fn what_is_no_site_is_refused_with_its_reason() {
        for (written, why) in [
            ("", "expected a host"),
            ("*", "`none` makes an empty list"),
            ("*.", "expected a host"),
            ("a.*.example", "at the beginning"),
            ("*evil.example", "at the beginning"),
            ("https://example.com/x", "without a path: `https://example.com`"),
            ("example.com/", "without a path: `example.com`"),
            ("example.com?x", "without a path"),
            ("ftp://example.com", "http or https"),
            ("file:///etc", "http or https"),
            ("user@example.com", "names a user"),
            ("example.com:", "a port is"),
            ("example.com:0", "a port is"),
            ("example.com:65536", "a port is"),
            ("example.com:+1", "a port is"),
            ("example.com:*", "a port is"),
            ("*.10.0.0.1", "names only"),
            ("*.[::1]", "names only"),
            ("[::1", "expected a host"),
            ("::1", "in brackets"),
            ("::1:8080", "in brackets"),
            ("1.2.3.4.5", "expected a host"),
            ("a..example", "expected a host"),
            ("exa mple.com", "expected a host"),
            ("exam%70le.com", "expected a host"),
            ("ex\u{202e}ample.com", "expected a host"),
            ("bü cher.example", "expected a host"),
            ("bü..example", "expected a host"),
        ] {
            let said = Pattern::read(written).unwrap_err().to_string();
            assert!(said.contains(why) && !said.contains('\n'), "{written}: {said}");
        }
        assert!(Pattern::read(&format!("{}.example", "a".repeat(250))).is_err());
    }

    /// T126: decided on the host, its port and its scheme as they were read.
    #[test]
    fn a_pattern_covers_a_site_in_each_spelling_and_no_other() {
        for url in [
            "HTTPS://EXAMPLE.com.",
            "http://example.com:8080/x",
            "https://good.example@example.com/",
            "example.com",
        ] {
            assert!(covers("example.com", url), "{url}");
        }
        for url in [
            "https://www.example.com",
            "https://example.com.evil.example",
            "https://example.com@evil.example",
            "https://evilexample.com",
        ] {
            assert!(!covers("example.com", url), "{url}");
        }
        for url in ["https://x.y", "https://a.x.y", "https://a.b.x.y/"] {
            assert!(covers("*.x.y", url), "{url}");
        }
        for url in ["https://evilx.y", "https://x.y.evil", "https://y"] {
            assert!(!covers("*.x.y", url), "{url}");
        }
        assert!(
            covers("example.com:443", "https://example.com/")
                && !covers("example.com:443", "http://example.com/")
        );
        assert!(
            covers("example.com:8080", "http://example.com:8080")
                && !covers("example.com:8080", "http://example.com")
        );
        assert!(
            covers("https://example.com", "https://example.com:8443")
                && !covers("https://example.com", "http://example.com")
        );
        assert!(
            covers("10.0.0.5", "http://[::ffff:10.0.0.5]/") && covers("[::ffff:a00:5]", "http://10.0.0.5")
        );
        assert!(covers("127.0.0.1", "http://2130706433/") && !covers("127.0.0.1", "http://127.0.0.2/"));
        assert!(covers("[::1]", "http://[0:0:0:0:0:0:0:1]:81/"));
        assert!(!covers("bücher.example", "https://xn--bcher-kva.example"), "that is for the browser to say");
    }
}
