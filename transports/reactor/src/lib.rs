//! Sockets and timers for a program that does all its work on one thread.
//!
//! A readiness loop that serves many threads has to re-arm every socket after every event and to look
//! after its own wake-up and timer descriptors: about ten system calls a message. One thread alone needs
//! three (wait, read, write), because a socket can stay registered, edge-triggered, for as long as it
//! lives. That is all this crate is: [`TcpStream`], [`UnixStream`] and their listeners as `futures-io`
//! types, [`Timer`], and [`block_on`].
//!
//! Tasks are somebody else's business. `block_on(executor.run(main_future))` with a `LocalExecutor` is the
//! usual shape; let the main future only wait, and spawn the accept loops, for the main future is polled
//! at every wake-up. Other reactors (`async-io` under `smol`'s timers, for example) go on working beside
//! this one on their own thread and wake this one through its waker.
//!
//! ```
//! use bridge_reactor::{TcpListener, TcpStream, block_on};
//! use futures::{AsyncReadExt, AsyncWriteExt};
//!
//! block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
//!     let mut near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
//!     let (mut far, _) = listener.accept().await.unwrap();
//!     far.set_nodelay(true).unwrap();
//!     far.write_all(b"hello").await.unwrap();
//!     let mut buf = [0; 5];
//!     near.read_exact(&mut buf).await.unwrap();
//!     assert_eq!(&buf, b"hello");
//! });
//! ```
//!
//! Everything is bound to the thread that made it (`!Send`). On systems other than Linux the same names
//! stand for `async-io` (the feature `portable` chooses that on Linux too, to test or compare).

mod clock;
pub use clock::Clock;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod epoll;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod net;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod timer;

#[cfg(all(target_os = "linux", not(feature = "portable")))]
pub use {
    epoll::block_on,
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    timer::Timer,
};

#[cfg(any(not(target_os = "linux"), feature = "portable"))]
mod portable;
#[cfg(any(not(target_os = "linux"), feature = "portable"))]
pub use portable::{TcpListener, TcpStream, Timer, UnixListener, UnixStream, block_on};
