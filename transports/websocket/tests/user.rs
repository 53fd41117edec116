//! The user behind a loopback connection (T48 to T50).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![cfg(target_os = "linux")]

use bridge_websocket::User;
use bridge_websocket::user::{in_table, lookup, uid_by_diag, uid_by_table};
use std::net::{TcpListener, TcpStream};

#[test]
fn our_own_connection_is_ours_by_either_way() {
    for any in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(any) else { continue };
        let local = listener.local_addr().unwrap();
        let near = TcpStream::connect(local).unwrap();
        let (_far, peer) = listener.accept().unwrap();
        let ours = uid_by_table(peer, local);
        assert!(ours.is_some());
        if let Ok(uid) = uid_by_diag(peer, local) {
            assert_eq!(uid, ours);
        }
        assert_eq!(lookup(peer, local), User::Same);
        drop(near);
        // The row that is left belongs to user 0, whoever it was.
        assert_eq!(lookup(peer, local), User::Unknown);
    }
}

const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2409 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1
   1: 0100007F:C000 0100007F:2409 01 00000000:00000000 00:00000000 00000000  1234        0 2
   2: 0100007F:C001 0100007F:2409 06 00000000:00000000 03:00000000 00000000     0        0 0
   3: 0000000000000000FFFF00000100007F:C002 0000000000000000FFFF00000100007F:2409 01 0:0 00:0 0  1235  0 3
";

/// T49.
#[test]
fn only_an_established_row_of_exactly_this_connection_counts() {
    let uid = |port: u16| in_table(TABLE, ([127, 0, 0, 1], port).into(), ([127, 0, 0, 1], 0x2409).into());
    assert_eq!(uid(0xc000), Some(1234));
    assert_eq!(uid(0xc001), None, "a row whose socket is gone");
    assert_eq!(uid(0xc002), Some(1235), "a peer on a mapped IPv6 socket");
    assert_eq!(uid(0xc003), None);
    assert_eq!(uid(0x2409), None, "the listener's own row");
}
