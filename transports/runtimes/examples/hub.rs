//! A whole bridge in one file: both doors, one thread, no policy. Used for measuring, and to show how little
//! a host has to say.
//!
//!     cargo run --release -p bridge-runtimes --example hub -- PORT [FOLDER]

use bridge_core::{Compat, Config, Keyring, Limits, Role, Secrets};
use bridge_driver::{Driver, Host, Options};
use bridge_reactor::{Clock, TcpListener, Timer, UnixListener, block_on};
use bridge_unix::{Lines, SocketFile};
use bridge_websocket::{Doorkeeper, Origin};
use smol::LocalExecutor;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

struct NoKeys;

impl Keyring for NoKeys {
    fn key(&self, _: Role, _: &str) -> Option<[u8; 32]> {
        None
    }
    fn token_matches(&self, _: &str) -> bool {
        false
    }
}

struct Plain;

impl Host for Plain {
    type Keys = NoKeys;
}

impl Doorkeeper for Plain {
    fn origin(&self, _: &str) -> Origin {
        Origin::Unknown
    }
}

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let port: u16 = args.next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let folder = args.next();

    let limits = Limits { connections: 16_384, greeting_same_user: 1024, ..Limits::default() };
    let config = Config { compat: Compat::SameUser, limits, ..Config::default() };
    let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
    let driver = Driver::new(config, &secrets, NoKeys, Rc::new(Plain), Clock::new(), Options::default());

    let executor = Rc::new(LocalExecutor::new());
    let listener = TcpListener::bind(([127, 0, 0, 1], port).into())?;
    println!("{}", listener.local_addr()?.port());
    executor.spawn(driver.run_timers()).detach();
    executor.spawn(websockets(executor.clone(), driver.clone(), listener)).detach();
    let socket = folder.map(|folder| SocketFile::bind(&Path::new(&folder).join("bridged.sock")));
    if let Some(socket) = &socket {
        let socket = socket.as_ref().map_err(|error| std::io::Error::other(error.to_string()))?;
        let listener = UnixListener::from_std(socket.listener().try_clone()?)?;
        executor.spawn(lines(executor.clone(), driver, listener)).detach();
    }
    block_on(executor.run(std::future::pending()))
}

async fn websockets(
    executor: Rc<LocalExecutor<'static>>,
    driver: Driver<Plain, Clock>,
    listener: TcpListener,
) {
    let Ok(local) = listener.local_addr() else { return };
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let _ = stream.set_nodelay(true);
                let driver = driver.clone();
                let serve = async move {
                    bridge_websocket::accept(&driver, &Plain, stream, local, peer).await;
                };
                executor.spawn(serve).detach();
            }
            Err(_) => Timer::at(Instant::now() + Duration::from_millis(50)).await,
        }
    }
}

async fn lines(executor: Rc<LocalExecutor<'static>>, driver: Driver<Plain, Clock>, listener: UnixListener) {
    loop {
        match listener.accept().await {
            Ok(stream) if bridge_unix::same_user(&stream) => {
                let peer = stream.clone();
                let codec = Lines::new().with_hangup(move || bridge_unix::hung_up(&peer));
                executor.spawn(driver.serve(&bridge_unix::PEER, stream, codec)).detach();
            }
            Ok(_) => {}
            Err(_) => Timer::at(Instant::now() + Duration::from_millis(50)).await,
        }
    }
}
