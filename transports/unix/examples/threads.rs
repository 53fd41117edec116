//! A bridge on plain threads: no async runtime, no driver, only the hub behind a mutex and the Unix door's lines.
//!
//!     cargo run -p bridge-unix --example threads -- /path/to/socket
//!
//! Each connection has a thread that reads and one that writes; one more looks after the hub's deadlines. That
//! is enough for a handful of clients, and shows what any other host has to do.

use bridge_core::{
    ConnId, Connection, Forward, Hub, Inspected, Instant, Keyring, Output, Pending, Role, Secrets,
};
use bridge_driver::{Codec, Decoded, End, Growing};
use bridge_unix::Lines;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant as Clock};

/// Messages that may wait for one connection; one that lets them pile up is closed.
const WAITING: usize = 256;

/// Serves every connection of the listener until accepting fails.
pub fn serve(listener: &UnixListener) {
    let bridge = Arc::new(Bridge::new());
    let timers = bridge.clone();
    thread::spawn(move || timers.run_timers());
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        if bridge_unix::same_user(&stream) {
            let bridge = bridge.clone();
            thread::spawn(move || bridge.read(&stream));
        }
    }
}

/// Nobody has to prove anything on a socket that only its owner can reach.
struct NoKeys;

impl Keyring for NoKeys {
    fn key(&self, _: Role, _: &str) -> Option<[u8; 32]> {
        None
    }
    fn token_matches(&self, _: &str) -> bool {
        false
    }
}

struct Bridge {
    inner: Mutex<Inner>,
    /// Rung when a deadline may have moved.
    sooner: Condvar,
    zero: Clock,
}

struct Inner {
    hub: Hub<Growing<Connection>, Growing<Pending>, NoKeys>,
    /// What goes to each connection's writing thread.
    writers: HashMap<ConnId, SyncSender<Vec<u8>>>,
}

impl Bridge {
    fn new() -> Self {
        // A real host takes both from the system's randomness.
        let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
        let config = bridge_core::Config::default();
        let hub = Hub::new(config, &secrets, NoKeys, Growing::new(1024), Growing::new(8192));
        let inner = Mutex::new(Inner { hub, writers: HashMap::new() });
        Self { inner, sooner: Condvar::new(), zero: Clock::now() }
    }

    fn now(&self) -> Instant {
        Instant::from_millis(self.zero.elapsed().as_millis() as u64)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One connection, from its first byte to its last.
    fn read(&self, stream: &UnixStream) {
        let (sender, receiver) = sync_channel(WAITING);
        let conn = {
            let mut inner = self.lock();
            let Ok(conn) = inner.hub.open(&bridge_unix::PEER, self.now()) else { return };
            inner.writers.insert(conn, sender);
            inner.drain();
            conn
        };
        self.sooner.notify_one();
        let Ok(out) = stream.try_clone() else { return };
        thread::spawn(move || write(&out, &receiver));

        let mut codec = Lines::new();
        codec.limit(8 << 20);
        let mut buffer = vec![0; 64 << 10];
        let mut input = stream;
        while let Ok(count) = input.read(&mut buffer) {
            if count == 0 {
                break;
            }
            let mut rest = &mut buffer[..count];
            loop {
                match codec.decode(&mut rest, &mut Vec::new()) {
                    Decoded::More => break,
                    Decoded::Message(message) => self.take(conn, message),
                    Decoded::Assembled(message) => self.take(conn, &message),
                    Decoded::Violation(why) => {
                        let mut inner = self.lock();
                        inner.hub.reject(conn, why, self.now());
                        inner.drain();
                        break;
                    }
                    Decoded::Closed => break,
                }
            }
        }
        let last = codec.end();
        if let End::Half(Some(message)) = &last {
            self.take(conn, message);
        }
        let mut inner = self.lock();
        if matches!(last, End::Half(_)) && !bridge_unix::hung_up(stream) {
            // It still reads: its answers go out, then the hub closes it.
            inner.hub.half_close(conn, self.now());
        } else {
            inner.hub.close(conn, self.now());
            inner.writers.remove(&conn);
        }
        inner.drain();
    }

    /// One message through the hub.
    fn take(&self, conn: ConnId, message: &[u8]) {
        let now = self.now();
        let mut inner = self.lock();
        // `receive` forwards without judging; a host with a policy uses `inspect` and looks first.
        if let Inspected::Forward(forward) = inner.hub.receive(conn, message, now) {
            inner.forward(&forward);
        }
        inner.drain();
        drop(inner);
        self.sooner.notify_one();
    }

    /// Deadlines: calls that take too long, hellos that never come.
    fn run_timers(&self) {
        let mut inner = self.lock();
        loop {
            let now = self.now();
            let patience = match inner.hub.poll_timeout() {
                Some((at, _)) if at <= now => {
                    inner.hub.handle_timeout(now);
                    inner.drain();
                    continue;
                }
                Some((at, _)) => Duration::from_millis(at.saturating_since(now)),
                None => Duration::from_secs(3600),
            };
            let woken = self.sooner.wait_timeout(inner, patience);
            inner = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Inner {
    fn forward(&mut self, forward: &Forward<'_>) {
        self.send(forward.to(), forward.parts().concat());
    }

    /// Carries out what the hub wants; called after every input.
    fn drain(&mut self) {
        let mut wanted = Vec::new();
        while let Some(output) = self.hub.poll_output() {
            match output {
                Output::Send { to, message } => {
                    let mut whole = Vec::new();
                    message.each(|piece| whole.extend_from_slice(piece));
                    wanted.push((to, Some(whole)));
                }
                Output::Close { conn, .. } => wanted.push((conn, None)),
                Output::Event(_) => {}
            }
        }
        for (conn, message) in wanted {
            match message {
                Some(message) => self.send(conn, message),
                // Its writer ends when it has written what was sent before.
                None => drop(self.writers.remove(&conn)),
            }
        }
    }

    fn send(&mut self, to: ConnId, mut message: Vec<u8>) {
        let mut codec = Lines::new();
        codec.body(&mut message);
        codec.tail(&mut message);
        let full = self.writers.get(&to).is_some_and(|writer| writer.try_send(message).is_err());
        if full {
            self.writers.remove(&to);
        }
    }
}

/// Writes until nobody sends any more, then ends the connection.
fn write(mut stream: &UnixStream, messages: &Receiver<Vec<u8>>) {
    while let Ok(message) = messages.recv() {
        if stream.write_all(&message).is_err() {
            break;
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

#[allow(dead_code, reason = "the test that includes this file calls `serve` itself")]
fn main() -> Result<(), bridge_unix::SocketError> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "bridge.sock".into());
    let socket = bridge_unix::SocketFile::bind(std::path::Path::new(&path))?;
    serve(socket.listener());
    Ok(())
}
