//! Proves at build time that `bridge-core` needs neither std nor a heap: with std anywhere below, this panic handler
//! would be the second (E0152); with alloc, a global allocator would be missing. No other target is needed for that.
#![no_std]

use bridge_core::{
    Config, Congestion, Connection, Door, Hub, Inspected, Instant, Keyring, Output, Peer, Pending, Role,
    Secrets, Trust,
};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

struct NoKeys;

impl Keyring for NoKeys {
    fn key(&self, _role: Role, _key_id: &str) -> Option<[u8; 32]> {
        None
    }
    fn token_matches(&self, _token: &str) -> bool {
        false
    }
}

/// A hub for a small machine, in arrays, through every input and output once.
/// Returns how many messages it sent, so that nothing of it can be left out of the build.
// Exported under its own name so that the linker keeps it; nothing calls it.
#[unsafe(no_mangle)]
pub extern "C" fn bridge_core_probe() -> usize {
    let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
    let conns = [const { Connection::vacant() }; 4];
    let calls = [const { Pending::vacant() }; 8];
    let mut hub = Hub::new(Config::default(), &secrets, NoKeys, conns, calls);
    let now = Instant::from_millis(0);
    let peer =
        Peer { door: Door::WebSocket, trust: Trust::SameUser, origin: None, approved: false, address: "" };
    let frames: [&[u8]; 3] = [
        br#"{"type":"hello","role":"client"}"#,
        br#"{"id":"1","method":"status"}"#,
        br#"{"id":"2","method":"click"}"#,
    ];
    let mut sent: usize = 0;
    if let Ok(conn) = hub.open(&peer, now) {
        for frame in frames {
            if let Inspected::Forward(forward) = hub.receive(conn, frame, now) {
                sent = sent.saturating_add(forward.len());
            }
            while let Some(output) = hub.poll_output() {
                if let Output::Send { message, .. } = output {
                    sent = sent.saturating_add(message.len());
                }
            }
        }
        hub.congested(conn, Congestion::Slow);
        hub.close(conn, now);
    }
    hub.handle_timeout(now);
    hub.shutdown(now);
    while hub.poll_output().is_some() {}
    sent
}
