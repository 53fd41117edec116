//! The loop itself: sockets, timers, wake-ups from other threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![cfg(target_os = "linux")]

use bridge_reactor::{TcpListener, TcpStream, Timer, UnixListener, UnixStream, block_on};
use futures::{AsyncReadExt, AsyncWriteExt, FutureExt, future};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (far, peer) = listener.accept().await.unwrap();
    assert_eq!(near.get_ref().local_addr().unwrap(), peer);
    (near, far)
}

#[test]
fn bytes_arrive_in_any_amount_and_the_end_is_seen() {
    block_on(async {
        let (mut near, mut far) = pair().await;
        let sent: Vec<u8> = (0..3_000_000u32).map(|n| (n * 7) as u8).collect();
        let expected = sent.clone();
        let write = async {
            near.write_all(&sent).await.unwrap();
            near.close().await.unwrap();
        };
        let mut received = Vec::new();
        future::join(write, far.read_to_end(&mut received)).await.1.unwrap();
        assert!(received == expected);
    });
}

#[test]
fn an_end_right_behind_a_short_read_is_not_missed() {
    block_on(async {
        for _ in 0..200 {
            let (mut near, mut far) = pair().await;
            near.write_all(b"last words").await.unwrap();
            drop(near);
            let mut received = Vec::new();
            far.read_to_end(&mut received).await.unwrap();
            assert_eq!(received, b"last words");
        }
    });
}

#[test]
fn a_listener_gives_out_everyone_who_waits() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = listener.local_addr().unwrap();
        let waiting: Vec<_> = (0..20).map(|_| std::net::TcpStream::connect(addr).unwrap()).collect();
        for _ in &waiting {
            listener.accept().await.unwrap();
        }
        assert!(listener.accept().now_or_never().is_none());
        let late = std::thread::spawn(move || std::net::TcpStream::connect(addr).unwrap());
        listener.accept().await.unwrap();
        late.join().unwrap();
    });
}

#[test]
fn connecting_to_nobody_is_an_error() {
    block_on(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        drop(listener);
        assert_eq!(TcpStream::connect(addr).await.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn unix_sockets_work_the_same_way() {
    let folder = std::env::temp_dir().join(format!("bridge-reactor-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("s");
    block_on(async {
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let listener = UnixListener::from_std(listener).unwrap();
        let mut near = UnixStream::connect(&path).await.unwrap();
        let mut far = listener.accept().await.unwrap();
        let mut buf = [0; 4];
        near.write_all(b"ping").await.unwrap();
        far.read_exact(&mut buf).await.unwrap();
        far.write_all(&buf).await.unwrap();
        near.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"ping");
    });
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn timers_fire_in_order_and_never_early() {
    let order = Rc::new(RefCell::new(Vec::new()));
    // Far enough away that even a busy machine has asked for all of them before the first is due.
    let start = Instant::now() + Duration::from_millis(500);
    let executor = smol::LocalExecutor::new();
    // Each is a task of its own: several that are due by the time the loop looks still wake in their order.
    let timers = [30, 10, 20].map(|ms| {
        let order = order.clone();
        executor.spawn(async move {
            let at = start + Duration::from_millis(ms);
            Timer::at(at).await;
            assert!(Instant::now() >= at);
            order.borrow_mut().push(ms);
        })
    });
    block_on(executor.run(future::join_all(timers)));
    assert_eq!(*order.borrow(), [10, 20, 30]);
}

#[test]
fn a_dropped_timer_wakes_nobody() {
    block_on(async {
        let mut timer = Timer::at(Instant::now() + Duration::from_secs(3600));
        assert!((&mut timer).now_or_never().is_none());
        drop(timer);
        Timer::at(Instant::now() + Duration::from_millis(1)).await;
    });
}

#[test]
fn another_thread_wakes_the_loop() {
    for _ in 0..100 {
        let (sender, receiver) = futures::channel::oneshot::channel();
        let thread = std::thread::spawn(move || sender.send(7).unwrap());
        assert_eq!(block_on(receiver), Ok(7));
        thread.join().unwrap();
    }
}

#[test]
fn smol_tasks_and_timers_run_beside_it() {
    let executor = smol::LocalExecutor::new();
    let (mut near, mut far) = block_on(pair());
    let echo = executor.spawn(async move {
        let mut buf = [0; 1];
        while far.read_exact(&mut buf).await.is_ok() {
            far.write_all(&buf).await.unwrap();
        }
    });
    block_on(executor.run(async {
        for n in 0..100u8 {
            near.write_all(&[n]).await.unwrap();
            let mut buf = [0; 1];
            near.read_exact(&mut buf).await.unwrap();
            assert_eq!(buf, [n]);
        }
        smol::Timer::after(Duration::from_millis(5)).await;
        drop(near);
        echo.await;
    }));
}

/// T56: found by flooding the daemon: an executor let one connection read its fill 200 times before anybody else was noticed.
#[test]
fn a_socket_that_always_has_more_does_not_keep_others_from_being_noticed() {
    const PIECE: usize = 4 << 10;
    let executor = smol::LocalExecutor::new();
    block_on(executor.run(async {
        let ((mut flood, mut greedy), (mut quiet, mut waiting)) = (pair().await, pair().await);
        let read = Rc::new(Cell::new(0));
        let noticed = executor.spawn({
            let read = read.clone();
            async move {
                waiting.read_exact(&mut [0]).await.unwrap();
                read.get()
            }
        });
        // It waits by now.
        smol::future::yield_now().await;
        let reading = executor.spawn(async move {
            let mut piece = [0; PIECE];
            loop {
                flood.write_all(&piece).await.unwrap();
                read.set(read.get() + greedy.read(&mut piece).await.unwrap());
                if read.get() == 16 * PIECE {
                    quiet.write_all(&[1]).await.unwrap();
                }
                smol::future::yield_now().await;
            }
        });
        let noticed = noticed.await;
        drop(reading);
        assert!((16 * PIECE..=16 * PIECE + (300 << 10)).contains(&noticed), "after {noticed} bytes");
    }));
}
