//! From an accepted stream to a served connection: read the head, judge it, answer, hand over.

use crate::frames::Frames;
use crate::head::{self, Refusal, Upgrade};
use crate::request::{self, MAX_HEAD};
use crate::user::{self, User};
use async_tungstenite::tungstenite::handshake::derive_accept_key;
use bridge_core::{Door, Peer, Trust};
use bridge_driver::{Clock, Driver, Head, Host, Ousted};
use futures::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;

/// What a host knows about those who knock.
pub trait Doorkeeper {
    /// What is known about an Origin. The comparison must be exact.
    fn origin(&self, origin: &str) -> Origin;

    /// Which user opened the connection from `peer` to `local`.
    fn user(&self, peer: SocketAddr, local: SocketAddr) -> User {
        user::lookup(peer, local)
    }

    /// A request that was turned away, for counters and `doctor`. `origin` is the peer's own text, `user` what the system
    /// said, if it was asked.
    fn refused(&self, refusal: &Refusal, origin: Option<&str>, user: Option<User>) {
        let _ = (refusal, origin, user);
    }
}

/// What is known about an Origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing good: refused.
    Unknown,
    /// An extension that may prove itself.
    Pinned,
    /// An extension that the user let in for the old handshake too (`bridged approve`).
    Approved,
}

/// Reads the upgrade request, answers it and, if it may pass, serves the connection until its end.
///
/// `local` and `peer` are the stream's addresses.
pub async fn accept<H, C, IO>(
    driver: &Driver<H, C>,
    keeper: &impl Doorkeeper,
    mut io: IO,
    local: SocketAddr,
    peer: SocketAddr,
) where
    H: Host,
    C: Clock,
    IO: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let mut place = driver.head();
    let mut bytes = Vec::new();
    let outcome = read(&mut io, &mut place, &mut bytes).await;
    let judged = match outcome {
        Ok(Ok(end)) => judge(keeper, &bytes[..end], local, peer).map(|passed| (passed, end)),
        Ok(Err(refusal)) => {
            keeper.refused(&refusal, None, None);
            Err(refusal)
        }
        // The peer left, or its place was needed.
        Err(_) => return,
    };
    let serving = match judged {
        Ok(((upgrade, trust, approved), end)) => {
            let answer = switch(&upgrade.key);
            if bounded(&mut place, io.write_all(answer.as_bytes())).await.is_err() {
                return;
            }
            let address = local.to_string();
            let origin = upgrade.origin.as_deref();
            let who = Peer { door: Door::WebSocket, trust, origin, approved, address: &address };
            driver.serve_after(&who, io, Frames::new(), &bytes[end..])
        }
        Err(refusal) => {
            turn_away(&mut io, &mut place, &refusal).await;
            return;
        }
    };
    drop(place);
    drop(bytes);
    serving.await;
}

/// Judges a head as a whole: its grammar, its Origin, and the user behind it.
fn judge(
    keeper: &impl Doorkeeper,
    head: &[u8],
    local: SocketAddr,
    peer: SocketAddr,
) -> Result<(Upgrade, Trust, bool), Refusal> {
    let refused = |refusal: Refusal, origin: Option<&str>, user| {
        keeper.refused(&refusal, origin, user);
        Err(refusal)
    };
    let upgrade = match head::judge(head, local.port()) {
        Ok(upgrade) => upgrade,
        Err(refusal) => return refused(refusal, None, None),
    };
    let origin = upgrade.origin.as_deref();
    let approved = match origin.map(|origin| keeper.origin(origin)) {
        None | Some(Origin::Pinned) => false,
        Some(Origin::Approved) => true,
        Some(Origin::Unknown) => {
            let refusal = Refusal::new(403, "Connections from this origin are not accepted.");
            return refused(refusal, origin, None);
        }
    };
    let trust = match keeper.user(peer, local) {
        User::Same => Trust::SameUser,
        User::Unknown => Trust::Unknown,
        other @ User::Other(_) => {
            let text =
                "This bridge belongs to another user; start your own, it listens on a Unix socket too.";
            return refused(Refusal::new(403, text), origin, Some(other));
        }
    };
    Ok((upgrade, trust, approved))
}

/// Reads until a head is complete; `Err` if the stream or its place is lost.
async fn read<IO>(io: &mut IO, place: &mut Head, bytes: &mut Vec<u8>) -> io::Result<Result<usize, Refusal>>
where
    IO: AsyncRead + Unpin,
{
    let mut have = 0;
    loop {
        if bytes.len() == have {
            bytes.resize((have * 2).clamp(1024, MAX_HEAD + 1), 0);
        }
        let count =
            match bounded(place, poll_fn(|cx| Pin::new(&mut *io).poll_read(cx, &mut bytes[have..]))).await {
                Err(Some(Ousted::Late)) => {
                    return Ok(Err(Refusal::new(408, "The request did not come within five seconds.")));
                }
                Err(_) | Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
            };
        let seen = have;
        have += count;
        let from = seen.saturating_sub(3);
        if let Some(end) = request::end(&bytes[from..have]) {
            bytes.truncate(have);
            return Ok(if from + end > MAX_HEAD { Err(too_long()) } else { Ok(from + end) });
        }
        if request::hopeless(&bytes[..have], seen) {
            return Ok(Err(Refusal::new(400, "This is not an HTTP/1.1 request.")));
        }
        if have > MAX_HEAD {
            return Ok(Err(too_long()));
        }
    }
}

fn too_long() -> Refusal {
    Refusal::new(431, "The request's head is longer than 16 KiB.")
}

/// Waits for I/O while the place lasts. `Err(Some)` if it was lost, `Err(None)` if the I/O failed.
async fn bounded<T>(
    place: &mut Head,
    operation: impl Future<Output = io::Result<T>>,
) -> Result<T, Option<Ousted>> {
    let mut operation = std::pin::pin!(operation);
    poll_fn(|cx| {
        if let Poll::Ready(outcome) = operation.as_mut().poll(cx) {
            return Poll::Ready(outcome.map_err(|_| None));
        }
        Pin::new(&mut *place).poll(cx).map(|why| Err(Some(why)))
    })
    .await
}

fn switch(key: &str) -> String {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        derive_accept_key(key.as_bytes())
    )
}

/// Says why, and lets the peer read it: closing with its bytes unread would take the answer back.
async fn turn_away<IO>(io: &mut IO, place: &mut Head, refusal: &Refusal)
where
    IO: AsyncRead + AsyncWrite + Unpin,
{
    let answer = refusal.response();
    // A place lost already (the peer was late) still gets one attempt.
    let told = poll_fn(|cx| Poll::Ready(Pin::new(&mut *io).poll_write(cx, &answer))).await;
    if !matches!(told, Poll::Ready(Ok(count)) if count == answer.len()) || io.close().await.is_err() {
        return;
    }
    // On the heap, or every served connection's future would be larger by it.
    let mut rest = vec![0; 512];
    for _ in 0..MAX_HEAD / rest.len() {
        match bounded(place, poll_fn(|cx| Pin::new(&mut *io).poll_read(cx, &mut rest))).await {
            Ok(count) if count > 0 => {}
            _ => return,
        }
    }
}
