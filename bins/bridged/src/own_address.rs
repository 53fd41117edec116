//! Whether an address leads to the bridge's own doors: no page there may be driven, whoever asks. What only a browser can map to such an
//! address, the extension refuses.

use std::net::Ipv4Addr;

use crate::address::{Address, Host};

/// Whether the text, taken as an address to go to, names one of these ports of this computer.
pub(crate) fn is_own(text: &str, ports: &[u16]) -> bool {
    let address = Address::read(text);
    address.site().is_some_and(|site| is_here(&site.host) && ports.iter().any(|port| site.is_at(*port)))
}

fn is_here(host: &Host) -> bool {
    let own = |v4: &Ipv4Addr| v4.is_loopback() || v4.is_unspecified();
    match host {
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::V4(v4) => own(v4),
        Host::V6(v6) => v6.is_loopback() || v6.is_unspecified(),
    }
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
