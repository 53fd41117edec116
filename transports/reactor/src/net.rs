//! TCP and Unix sockets as `futures-io` types.

use crate::epoll::{Kind, Reactor, Source};
use futures_io::{AsyncRead, AsyncWrite};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::net::{SocketFlags, acceptfrom_with};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net as unix;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::{fmt, future, net};

/// A descriptor with its place in the loop; leaves the loop with the last clone.
struct Held<S> {
    socket: S,
    source: Rc<Source>,
    reactor: Rc<Reactor>,
}

impl<S: AsFd> Held<S> {
    fn new(socket: S, kind: Kind) -> io::Result<Self> {
        let reactor = Reactor::current();
        let source = reactor.add(&socket, kind)?;
        Ok(Self { socket, source, reactor })
    }
}

impl<S> Drop for Held<S> {
    fn drop(&mut self) {
        self.reactor.forget(&self.source);
    }
}

impl<S> Held<S>
where
    for<'a> &'a S: Read + Write,
{
    fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let outcome = self.source.read().attempt(cx, || (&self.socket).read(buf));
        match &outcome {
            Poll::Ready(Ok(0)) => {}
            Poll::Ready(Ok(read)) if *read < buf.len() => self.source.drained(),
            Poll::Ready(Ok(read)) => self.reactor.read_full(*read),
            _ => {}
        }
        outcome
    }

    fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        self.source.read().attempt(cx, || (&self.socket).read_vectored(bufs))
    }

    fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.source.write().attempt(cx, || (&self.socket).write(buf))
    }

    fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.source.write().attempt(cx, || (&self.socket).write_vectored(bufs))
    }
}

macro_rules! stream {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Rc<Held<$inner>>);

        impl $name {
            /// Takes a standard socket into this thread's loop and makes it non-blocking.
            pub fn from_std(socket: $inner) -> io::Result<Self> {
                socket.set_nonblocking(true)?;
                Self::adopt(socket)
            }

            fn adopt(socket: $inner) -> io::Result<Self> {
                Ok(Self(Rc::new(Held::new(socket, Kind::Stream)?)))
            }

            /// The standard socket underneath, for its options. Reading or writing through it is a mistake.
            pub fn get_ref(&self) -> &$inner {
                &self.0.socket
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.socket.as_fd()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.socket.fmt(f)
            }
        }

        impl AsyncRead for $name {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                self.0.poll_read(cx, buf)
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                self.0.poll_read_vectored(cx, bufs)
            }
        }

        impl AsyncWrite for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.0.poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.0.poll_write_vectored(cx, bufs)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.0.socket.shutdown(Shutdown::Write) {
                    Err(error) if error.kind() == io::ErrorKind::NotConnected => Poll::Ready(Ok(())),
                    outcome => Poll::Ready(outcome),
                }
            }
        }
    };
}

stream! {
    /// A TCP connection. Clones share one socket.
    TcpStream, net::TcpStream
}
stream! {
    /// A Unix stream connection. Clones share one socket.
    UnixStream, unix::UnixStream
}

impl TcpStream {
    /// Opens a connection.
    pub async fn connect(addr: SocketAddr) -> io::Result<Self> {
        use rustix::net::{AddressFamily, SocketType, connect, socket_with};
        let family = if addr.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        match connect(&socket, &addr) {
            Ok(()) | Err(rustix::io::Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        Self::adopt(socket.into())?.connected().await
    }

    /// Ready once a connect that was begun has ended, one way or the other.
    async fn connected(self) -> io::Result<Self> {
        future::poll_fn(|cx| {
            self.0.source.write().attempt(cx, || match self.0.socket.take_error()? {
                Some(error) => Err(error),
                None => match self.0.socket.peer_addr() {
                    Ok(_) => Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                        Err(io::ErrorKind::WouldBlock.into())
                    }
                    Err(error) => Err(error),
                },
            })
        })
        .await?;
        Ok(self)
    }

    /// Whether small writes go out at once (`TCP_NODELAY`).
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        self.0.socket.set_nodelay(on)
    }
}

impl UnixStream {
    /// Opens a connection. A full backlog is an error (`WouldBlock`), not a wait.
    pub async fn connect(path: impl AsRef<std::path::Path>) -> io::Result<Self> {
        // Connecting a Unix socket never waits for the peer, only for room in its backlog; asking for that
        // without blocking needs the socket to exist first, which std cannot do.
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket_with};
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(path.as_ref())?)?;
        Self::adopt(socket.into())
    }
}

macro_rules! listener {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Rc<Held<$inner>>);

        impl $name {
            /// Takes a standard listener into this thread's loop and makes it non-blocking.
            pub fn from_std(socket: $inner) -> io::Result<Self> {
                socket.set_nonblocking(true)?;
                Ok(Self(Rc::new(Held::new(socket, Kind::Listener)?)))
            }

            /// The standard listener underneath.
            pub fn get_ref(&self) -> &$inner {
                &self.0.socket
            }

            fn poll_accept<T>(
                &self,
                cx: &mut Context<'_>,
                accept: impl FnMut() -> io::Result<T>,
            ) -> Poll<io::Result<T>> {
                let held = &self.0;
                let outcome = held.source.read().attempt(cx, accept);
                match &outcome {
                    // Level-triggered: whoever else waits is announced again by the next turn.
                    Poll::Ready(Ok(_)) => held.source.spent(),
                    // Out of descriptors, say: silent until asked again, or the loop would spin.
                    Poll::Ready(Err(_)) => held.reactor.arm(&held.socket, &held.source, false)?,
                    Poll::Pending => held.reactor.arm(&held.socket, &held.source, true)?,
                }
                outcome
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.socket.as_fd()
            }
        }
    };
}

listener! {
    /// A listening TCP socket.
    TcpListener, net::TcpListener
}
listener! {
    /// A listening Unix socket.
    UnixListener, unix::UnixListener
}

const ACCEPTED: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

impl TcpListener {
    /// Listens at an address.
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        Self::from_std(net::TcpListener::bind(addr)?)
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.socket.local_addr()
    }

    /// The next connection and where it comes from. After an error, wait a moment before asking again.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (fd, peer) =
            future::poll_fn(|cx| self.poll_accept(cx, || Ok(acceptfrom_with(&self.0.socket, ACCEPTED)?)))
                .await?;
        let peer = peer.ok_or(io::ErrorKind::NotConnected)?;
        Ok((TcpStream::adopt(fd.into())?, SocketAddr::try_from(peer)?))
    }
}

impl UnixListener {
    /// The next connection. After an error, wait a moment before asking again.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        let (fd, _) =
            future::poll_fn(|cx| self.poll_accept(cx, || Ok(acceptfrom_with(&self.0.socket, ACCEPTED)?)))
                .await?;
        UnixStream::adopt(fd.into())
    }
}
