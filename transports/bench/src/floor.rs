//! The floor: a relay on one thread that unmasks and frames as a WebSocket server must, and does nothing else. It reads no
//! JSON, keeps no table and has no deadlines; answers go back in the order in which the requests came. What one read brought
//! is written on at once, as the load tool's own floor does it: waiting for what others bring would be a policy.

use bridge_driver::{Codec, Decoded};
use bridge_websocket::Frames;
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

struct Peer {
    stream: TcpStream,
    codec: Frames,
    out: Vec<u8>,
    written: usize,
    greeted: bool,
    gone: bool,
}

/// Serves for ever.
pub(crate) fn serve(port: u16) -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let mut peers: Vec<Peer> = Vec::new();
    let mut extension = 0;
    let mut asked = VecDeque::new();
    let mut touched = Vec::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        let ready = wait(&listener, &peers)?;
        if ready[0] {
            peers.push(accept(&listener)?);
        }
        for (at, is_ready) in ready.iter().skip(1).enumerate() {
            if !is_ready {
                continue;
            }
            let count = match peers[at].stream.read(&mut buffer) {
                Ok(0) => {
                    peers[at].gone = true;
                    continue;
                }
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(_) => {
                    peers[at].gone = true;
                    continue;
                }
            };
            let mut input = &mut buffer[..count];
            let mut replies = Vec::new();
            // The codec is taken out so that another peer can be written to meanwhile.
            let mut codec = std::mem::take(&mut peers[at].codec);
            loop {
                let decoded = codec.decode(&mut input, &mut replies);
                let message: &[u8] = match &decoded {
                    Decoded::Message(message) => message,
                    Decoded::Assembled(message) => message,
                    Decoded::More => break,
                    Decoded::Violation(_) | Decoded::Closed => {
                        peers[at].gone = true;
                        break;
                    }
                };
                if !peers[at].greeted {
                    peers[at].greeted = true;
                    if message.windows(9).any(|part| part == b"extension") {
                        extension = at;
                    }
                    continue;
                }
                let to = if at == extension {
                    asked.pop_front().unwrap_or(at)
                } else {
                    asked.push_back(at);
                    extension
                };
                peers[to].send(message);
                if !touched.contains(&to) {
                    touched.push(to);
                }
            }
            peers[at].codec = codec;
            peers[at].out.extend_from_slice(&replies);
            peers[at].flush();
            touched.drain(..).for_each(|to| peers[to].flush());
        }
        // Those that took no more then, and do now.
        peers.iter_mut().filter(|peer| !peer.out.is_empty()).for_each(Peer::flush);
    }
}

/// Who can be read: first the listener.
fn wait(listener: &TcpListener, peers: &[Peer]) -> std::io::Result<Vec<bool>> {
    let mut fds = vec![PollFd::new(listener, PollFlags::IN)];
    for peer in peers {
        let wanted = match (peer.gone, peer.out.is_empty()) {
            (true, _) => PollFlags::empty(),
            (false, true) => PollFlags::IN,
            (false, false) => PollFlags::IN | PollFlags::OUT,
        };
        fds.push(PollFd::new(&peer.stream, wanted));
    }
    poll(&mut fds, None)?;
    Ok(fds.iter().map(|fd| fd.revents().intersects(PollFlags::IN)).collect())
}

/// Takes the upgrade for granted.
fn accept(listener: &TcpListener) -> std::io::Result<Peer> {
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && head.len() < 4096 && stream.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    stream.write_all(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    )?;
    stream.set_nonblocking(true)?;
    Ok(Peer { stream, codec: Frames::new(), out: Vec::new(), written: 0, greeted: false, gone: false })
}

impl Peer {
    fn send(&mut self, message: &[u8]) {
        self.codec.head(message.len(), &mut self.out);
        self.out.extend_from_slice(message);
    }

    fn flush(&mut self) {
        while !self.gone && self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.gone = true,
            }
        }
        self.out.clear();
        self.written = 0;
    }
}
