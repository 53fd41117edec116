//! The same names over `async-io`, for systems without epoll.

use async_io::Async;
use futures_io::{AsyncRead, AsyncWrite};
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::{self, SocketAddr};
use std::os::unix::net as unix;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

pub use async_io::block_on;

macro_rules! stream {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name(Rc<Async<$inner>>);

        impl $name {
            /// Takes a standard socket and makes it non-blocking.
            pub fn from_std(socket: $inner) -> io::Result<Self> {
                Ok(Self(Rc::new(Async::new(socket)?)))
            }

            /// The standard socket underneath, for its options.
            pub fn get_ref(&self) -> &$inner {
                (*self.0).get_ref()
            }
        }

        #[cfg(unix)]
        impl std::os::fd::AsFd for $name {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                self.get_ref().as_fd()
            }
        }

        impl AsyncRead for $name {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.0).poll_read(cx, buf)
            }
        }

        impl AsyncWrite for $name {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.0).poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut &*self.0).poll_write_vectored(cx, bufs)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                match self.get_ref().shutdown(net::Shutdown::Write) {
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
        Ok(Self(Rc::new(Async::<net::TcpStream>::connect(addr).await?)))
    }

    /// Whether small writes go out at once (`TCP_NODELAY`).
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        self.get_ref().set_nodelay(on)
    }
}

impl UnixStream {
    /// Opens a connection.
    pub async fn connect(path: impl AsRef<std::path::Path>) -> io::Result<Self> {
        Ok(Self(Rc::new(Async::<unix::UnixStream>::connect(path).await?)))
    }
}

/// A listening TCP socket.
#[derive(Clone, Debug)]
pub struct TcpListener(Rc<Async<net::TcpListener>>);

impl TcpListener {
    /// Listens at an address.
    pub fn bind(addr: SocketAddr) -> io::Result<Self> {
        Self::from_std(net::TcpListener::bind(addr)?)
    }

    /// Takes a standard listener and makes it non-blocking.
    pub fn from_std(socket: net::TcpListener) -> io::Result<Self> {
        Ok(Self(Rc::new(Async::new(socket)?)))
    }

    /// The standard listener underneath.
    pub fn get_ref(&self) -> &net::TcpListener {
        (*self.0).get_ref()
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.get_ref().local_addr()
    }

    /// The next connection and where it comes from. After an error, wait a moment before asking again.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((TcpStream(Rc::new(stream)), peer))
    }
}

/// A listening Unix socket.
#[derive(Clone, Debug)]
pub struct UnixListener(Rc<Async<unix::UnixListener>>);

impl UnixListener {
    /// Takes a standard listener and makes it non-blocking.
    pub fn from_std(socket: unix::UnixListener) -> io::Result<Self> {
        Ok(Self(Rc::new(Async::new(socket)?)))
    }

    /// The standard listener underneath.
    pub fn get_ref(&self) -> &unix::UnixListener {
        (*self.0).get_ref()
    }

    /// The next connection. After an error, wait a moment before asking again.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        Ok(UnixStream(Rc::new(self.0.accept().await?.0)))
    }
}

/// A future that is ready at its time.
#[derive(Debug)]
pub struct Timer(async_io::Timer);

impl Timer {
    /// Ready at `at`, or at once if that has passed.
    #[must_use]
    pub fn at(at: Instant) -> Self {
        Self(async_io::Timer::at(at))
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}
