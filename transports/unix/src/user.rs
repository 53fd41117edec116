//! What the kernel knows about the other end of a Unix socket.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::AsFd;

/// Whether the peer runs as this process's own user. `false` also when the kernel does not say.
#[must_use]
pub fn same_user(stream: impl AsFd) -> bool {
    peer_uid(stream) == Some(rustix::process::geteuid().as_raw())
}

/// The user at the other end, where the kernel says.
#[cfg(target_os = "linux")]
#[must_use]
pub fn peer_uid(stream: impl AsFd) -> Option<u32> {
    rustix::net::sockopt::socket_peercred(stream.as_fd()).ok().map(|peer| peer.uid.as_raw())
}

/// The user at the other end: our own. Elsewhere the folder's mode (0700) is what keeps others out; there is no safe call for more.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn peer_uid(_: impl AsFd) -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// The process at the other end, where the kernel says.
#[must_use]
pub fn peer_pid(stream: impl AsFd) -> Option<i32> {
    #[cfg(target_os = "linux")]
    return rustix::net::sockopt::socket_peercred(stream.as_fd())
        .ok()
        .map(|peer| peer.pid.as_raw_nonzero().get());
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stream;
        None
    }
}

/// Whether the peer has closed its end altogether, as opposed to only its sending side.
#[must_use]
pub fn hung_up(stream: impl AsFd) -> bool {
    let mut fds = [PollFd::new(&stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}
