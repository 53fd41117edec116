//! Who holds a port that we want: said by the kernel's table of sockets, where there is one.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::places::our_uid;

/// How long somebody on this machine may take to be there.
const PATIENCE: Duration = Duration::from_secs(1);

/// Who answers at a port of this machine, if anybody does.
pub(crate) fn of(port: u16) -> Option<String> {
    let there = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&there, PATIENCE).ok().map(|_| describe(port))
}

/// As a sentence goes on: "port 9225 is taken by …".
pub(crate) fn describe(port: u16) -> String {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let owner =
        tables.iter().filter_map(|t| std::fs::read_to_string(t).ok()).find_map(|text| listener(&text, port));
    match owner {
        Some(uid) if uid == our_uid() => "another program of yours".to_owned(),
        Some(uid) => format!("a program of user {uid}"),
        None => "another program".to_owned(),
    }
}

/// The user of the listening socket on `port` in a table of /proc/net.
fn listener(table: &str, port: u16) -> Option<u32> {
    const LISTEN: &str = "0A";
    let ending = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match (fields.get(1), fields.get(3), fields.get(7)) {
            (Some(local), Some(&LISTEN), Some(uid)) if local.ends_with(&ending) => uid.parse().ok(),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::listener;

    #[test]
    fn only_a_listening_socket_on_that_port_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                     0: 0100007F:2409 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 1 1\n\
                     1: 0100007F:2409 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1234        0 2 1\n";
        assert_eq!(listener(table, 9225), Some(1234));
        assert_eq!(listener(table, 9226), None);
    }
}
