//! Whether an address leads to the bridge's own doors: no page there may be driven, whoever asks. Read as a browser reads it, as far
//! as ASCII goes; what only a browser can map to such an address, the extension refuses.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether the text, taken as an address to go to, names one of these ports of this computer.
pub(crate) fn is_own(text: &str, ports: &[u16]) -> bool {
    let text: String = text.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let mut text = text.trim_matches(|c: char| c <= ' ');
    while let Some(rest) = after_scheme(text, &["view-source"]) {
        text = rest;
    }
    let (rest, default) = match (after_scheme(text, &["http", "ws"]), after_scheme(text, &["https", "wss"])) {
        (Some(rest), _) => (rest, 80),
        (_, Some(rest)) => (rest, 443),
        // Without a scheme, as a person may write it.
        _ => (text, 80),
    };
    let rest = rest.trim_start_matches(['/', '\\']);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host_port = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = match host_port.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host_port, ""),
    };
    let port = if port.is_empty() { Some(default) } else { port.parse::<u16>().ok() };
    port.is_some_and(|port| ports.contains(&port)) && is_loopback(host)
}

fn after_scheme<'t>(text: &'t str, schemes: &[&str]) -> Option<&'t str> {
    let (scheme, rest) = text.split_once(':')?;
    schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)).then_some(rest)
}

fn is_loopback(host: &str) -> bool {
    let host = decoded(host).to_ascii_lowercase();
    if let Some(v6) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return v6.parse::<Ipv6Addr>().is_ok_and(|v6| {
            let v4 = v6.to_ipv4_mapped();
            v6.is_loopback() || v6.is_unspecified() || v4.is_some_and(is_here)
        });
    }
    let host = host.strip_suffix('.').unwrap_or(&host);
    host == "localhost" || host.ends_with(".localhost") || v4(host).is_some_and(is_here)
}

fn is_here(v4: Ipv4Addr) -> bool {
    v4.is_loopback() || v4.is_unspecified()
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
    if digits.len() > 15 || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T126, as far as addresses are judged here.
    #[test]
    fn every_way_to_write_one_of_our_addresses() {
        for own in [
            "http://127.0.0.1:9225/",
            "HTTP://127.0.0.1:9225",
            "127.0.0.1:9225",
            "localhost:9225/x",
            "http://localhost.:9225/",
            "http://a.localhost:9225/",
            "http://[::1]:9225/",
            "http://[::ffff:127.0.0.1]:9225/",
            "http://[::]:9225/",
            "http://0.0.0.0:9225/",
            "http://0:9225/",
            "http://127.1:9225/",
            "http://2130706433:9225/",
            "http://0x7f.0.0.1:9225/",
            "http://017700000001:9225/",
            "http://127.0.0.2:9225/",
            "http://user:pw@127.0.0.1:9225/",
            "http://allowed.example@127.0.0.1:9225/",
            "http:\\\\127.0.0.1:9225\\",
            "http:127.0.0.1:9225",
            " \thttp://127.0.0.1:92\n25/ ",
            "http://%31%32%37.0.0.1:9225/",
            "view-source:http://127.0.0.1:9225/",
            "ws://127.0.0.1:9225/",
            "http://127.0.0.1:10088/health#x",
            "http://127.0.0.1:09225/",
        ] {
            assert!(is_own(own, &[9225, 10088]), "{own}");
        }
    }

    #[test]
    fn other_ports_and_other_hosts_are_not() {
        for other in [
            "http://127.0.0.1:3000/",
            "http://127.0.0.1/",
            "localhost",
            "http://example.com:9225/",
            "http://127.0.0.1.example:9225/",
            "http://evil.example/?127.0.0.1:9225",
            "http://127.0.0.1:9225@example.com/",
            "http://[::2]:9225/",
            "http://1.127.0.0.1.1:9225/",
            "http://256.1:9225/",
            "http://127.0.0.1:99999/",
            "",
            "about:blank",
            "http://[::1",
            "%",
        ] {
            assert!(!is_own(other, &[9225, 10088]), "{other}");
        }
        assert!(
            is_own("http://localhost/", &[80])
                && is_own("https://localhost/", &[443])
                && !is_own("https://localhost/", &[80])
        );
    }
}
