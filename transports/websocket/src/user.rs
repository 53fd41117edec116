//! Which user is at the other end of a loopback TCP connection.
//!
//! Linux tells: `sock_diag` answers for one exact connection, `/proc/net/tcp` lists all of them. Only a row in
//! state ESTABLISHED counts, because a socket whose owner is gone is listed under user 0.

use std::net::SocketAddr;

/// Who opened a connection to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// This process's own (effective) user.
    Same,
    /// Another user.
    Other(u32),
    /// The system does not say (any more).
    Unknown,
}

/// Asks the system who opened the connection that came from `peer` to `local`.
#[must_use]
pub fn lookup(peer: SocketAddr, local: SocketAddr) -> User {
    #[cfg(target_os = "linux")]
    {
        linux::lookup(peer, local)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (peer, local);
        User::Unknown
    }
}

#[cfg(target_os = "linux")]
pub use linux::{in_table, uid_by_diag, uid_by_table};

#[cfg(target_os = "linux")]
mod linux {
    use super::User;
    use rustix::fd::OwnedFd;
    use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
    use std::cell::RefCell;
    use std::net::{IpAddr, SocketAddr};

    const ESTABLISHED: u8 = 1;

    thread_local! {
        /// Asking takes two system calls instead of four while this stays open.
        static DIAG: RefCell<Option<OwnedFd>> = const { RefCell::new(None) };
    }

    pub(super) fn lookup(peer: SocketAddr, local: SocketAddr) -> User {
        let uid = match uid_by_diag(peer, local) {
            Ok(uid) => uid,
            // No netlink in this sandbox.
            Err(_) => uid_by_table(peer, local),
        };
        match uid {
            Some(uid) if uid == rustix::process::geteuid().as_raw() => User::Same,
            Some(uid) => User::Other(uid),
            None => User::Unknown,
        }
    }

    /// Asks `sock_diag` for the one connection; `None` if it is not (or no longer) established.
    pub fn uid_by_diag(peer: SocketAddr, local: SocketAddr) -> std::io::Result<Option<u32>> {
        DIAG.with(|diag| {
            let mut diag = diag.borrow_mut();
            let socket = match diag.take() {
                Some(socket) => socket,
                None => net::socket_with(
                    AddressFamily::NETLINK,
                    SocketType::DGRAM,
                    SocketFlags::CLOEXEC,
                    Some(netlink::SOCK_DIAG),
                )?,
            };
            net::send(&socket, &question(peer, local), SendFlags::empty())?;
            let mut answer = [0; 512];
            let (count, _) = net::recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
            let uid = uid_of(&answer[..count], peer, local);
            // Only a socket with nothing left in it is used again.
            *diag = Some(socket);
            Ok(uid)
        })
    }

    /// `struct nlmsghdr` and `struct inet_diag_req_v2`, from the peer's side.
    fn question(peer: SocketAddr, local: SocketAddr) -> [u8; 72] {
        const SOCK_DIAG_BY_FAMILY: u16 = 20;
        const REQUEST: u16 = 1;
        const TCP: u8 = 6;
        let mut ask = [0; 72];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            ask[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&72u32.to_ne_bytes());
        put(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        put(&REQUEST.to_ne_bytes());
        put(&[0; 8]);
        let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        put(&[family.as_raw() as u8, TCP, 0, 0]);
        put(&u32::MAX.to_ne_bytes());
        put(&peer.port().to_be_bytes());
        put(&local.port().to_be_bytes());
        put(&address(peer.ip()));
        put(&address(local.ip()));
        put(&0u32.to_ne_bytes());
        put(&[0xff; 8]);
        ask
    }

    fn address(ip: IpAddr) -> [u8; 16] {
        match ip {
            IpAddr::V4(ip) => {
                let mut wide = [0; 16];
                wide[..4].copy_from_slice(&ip.octets());
                wide
            }
            IpAddr::V6(ip) => ip.octets(),
        }
    }

    /// The user in a `struct inet_diag_msg`, if it is about this connection and established.
    fn uid_of(answer: &[u8], peer: SocketAddr, local: SocketAddr) -> Option<u32> {
        const SOCK_DIAG_BY_FAMILY: u16 = 20;
        let kind = u16::from_ne_bytes(*answer.get(4..6)?.first_chunk()?);
        let state = *answer.get(17)?;
        let ports = answer.get(20..24)?;
        let asked = [peer.port().to_be_bytes(), local.port().to_be_bytes()].concat();
        if kind != SOCK_DIAG_BY_FAMILY || state != ESTABLISHED || ports != asked {
            return None;
        }
        Some(u32::from_ne_bytes(*answer.get(80..84)?.first_chunk()?))
    }

    /// Looks the connection up in `/proc/net/tcp` and `tcp6`.
    #[must_use]
    pub fn uid_by_table(peer: SocketAddr, local: SocketAddr) -> Option<u32> {
        ["/proc/net/tcp", "/proc/net/tcp6"]
            .iter()
            .filter_map(|table| std::fs::read_to_string(table).ok())
            .find_map(|table| in_table(&table, peer, local))
    }

    /// The user of an established connection in a table of that format.
    #[must_use]
    pub fn in_table(table: &str, peer: SocketAddr, local: SocketAddr) -> Option<u32> {
        table.lines().skip(1).find_map(|row| {
            let mut fields = row.split_ascii_whitespace().skip(1);
            let (near, far, state) = (fields.next()?, fields.next()?, fields.next()?);
            let same =
                names(near, peer) && names(far, local) && u8::from_str_radix(state, 16) == Ok(ESTABLISHED);
            if same { fields.nth(3)?.parse().ok() } else { None }
        })
    }

    /// Whether `0100007F:2411` (or its longer form) stands for this address.
    fn names(hex: &str, address: SocketAddr) -> bool {
        let Some((host, port)) = hex.split_once(':') else { return false };
        if u16::from_str_radix(port, 16) != Ok(address.port()) {
            return false;
        }
        let bytes = |ip: &[u8]| -> String {
            let (words, _) = ip.as_chunks::<4>();
            words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect()
        };
        match address.ip() {
            IpAddr::V4(ip) => {
                host.eq_ignore_ascii_case(&bytes(&ip.octets()))
                    || host.eq_ignore_ascii_case(&bytes(&ip.to_ipv6_mapped().octets()))
            }
            IpAddr::V6(ip) => host.eq_ignore_ascii_case(&bytes(&ip.octets())),
        }
    }
}
