//! The client's half: a WebSocket to a bridge, over any `futures-io` stream.

use async_tungstenite::tungstenite::client::IntoClientRequest;
use async_tungstenite::tungstenite::http::HeaderValue;
use async_tungstenite::tungstenite::protocol::WebSocketConfig;
use async_tungstenite::tungstenite::protocol::frame::Frame;
use async_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use async_tungstenite::tungstenite::{self, Message, Utf8Bytes};
use async_tungstenite::{WebSocketStream, client_async_with_config};
use futures::StreamExt;
use futures::io::{AsyncRead, AsyncWrite};
use std::io;
use std::net::SocketAddr;

/// The largest answer accepted.
const LIMIT: usize = 64 << 20;

/// An open connection: text messages both ways.
#[derive(Debug)]
pub struct Client<S> {
    stream: WebSocketStream<S>,
    /// Why the bridge closed it, if it did.
    closed: Option<(u16, String)>,
}

/// Upgrades a stream that is connected to `server`. Whoever opened it sets `TCP_NODELAY`.
///
/// A refusal is an error of kind `PermissionDenied` (403) or `ConnectionRefused` with the bridge's sentence.
pub async fn connect<S>(stream: S, server: SocketAddr, origin: Option<&str>) -> io::Result<Client<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut request = format!("ws://{server}/").into_client_request().map_err(io::Error::other)?;
    if let Some(origin) = origin {
        let value = HeaderValue::from_str(origin).map_err(io::Error::other)?;
        request.headers_mut().insert("origin", value);
    }
    let config = WebSocketConfig::default()
        .read_buffer_size(8 << 10)
        .max_message_size(Some(LIMIT))
        .max_frame_size(Some(LIMIT));
    match client_async_with_config(request, stream, Some(config)).await {
        Ok((stream, _)) => Ok(Client { stream, closed: None }),
        Err(tungstenite::Error::Http(answer)) => {
            let kind = match answer.status().as_u16() {
                403 => io::ErrorKind::PermissionDenied,
                _ => io::ErrorKind::ConnectionRefused,
            };
            let body = answer.body().as_deref().unwrap_or_default();
            let text = String::from_utf8_lossy(body).trim().to_owned();
            Err(io::Error::new(kind, format!("{}: {text}", answer.status())))
        }
        Err(error) => Err(plain(error)),
    }
}

impl<S> Client<S>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    /// Sends one text message.
    pub async fn send(&mut self, text: impl Into<Utf8Bytes>) -> io::Result<()> {
        self.stream.send(Message::Text(text.into())).await.map_err(plain)
    }

    /// Sends one text message as fragments of at most `size` bytes, the way browsers send large ones.
    pub async fn send_in_pieces(&mut self, text: &str, size: usize) -> io::Result<()> {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(size.max(1)).collect();
        for (at, piece) in pieces.iter().enumerate() {
            let kind = if at == 0 { Data::Text } else { Data::Continue };
            let frame = Frame::message(piece.to_vec(), OpCode::Data(kind), at + 1 == pieces.len());
            self.stream.send(Message::Frame(frame)).await.map_err(plain)?;
        }
        Ok(())
    }

    /// The next text message; `None` when the connection is closed.
    pub async fn recv(&mut self) -> io::Result<Option<Utf8Bytes>> {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Text(text))) => return Ok(Some(text)),
                Some(Ok(Message::Close(frame))) => {
                    self.closed = frame.map(|frame| (frame.code.into(), frame.reason.to_string()));
                }
                Some(Ok(_)) => {}
                None | Some(Err(tungstenite::Error::ConnectionClosed)) => return Ok(None),
                Some(Err(error)) => return Err(plain(error)),
            }
        }
    }

    /// The close code and reason that the bridge gave.
    #[must_use]
    pub fn closed(&self) -> Option<(u16, &str)> {
        self.closed.as_ref().map(|(code, reason)| (*code, reason.as_str()))
    }

    /// Says goodbye.
    pub async fn close(&mut self) -> io::Result<()> {
        self.stream.close(None).await.map_err(plain)
    }

    /// The stream underneath.
    #[must_use]
    pub fn get_ref(&self) -> &S {
        self.stream.get_ref()
    }
}

fn plain(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::other(other),
    }
}
