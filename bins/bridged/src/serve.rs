//! `bridged serve`: the process. It puts hub, doors and files together, runs them on one thread, and ends in order.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bridge_core::{Config, Secrets};
use bridge_driver::{Driver, Options};
use bridge_mcp::Seed;
use bridge_reactor::{Clock, TcpListener, TcpStream, Timer, UnixListener, UnixStream};
use bridge_unix::{Lines, SocketError, SocketFile};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use smol::LocalExecutor;
use smol::channel::{Receiver, Sender, bounded};
use smol::io::AsyncReadExt;

use crate::audit::{Audit, Who};
use crate::config::{Compat, Http, Settings};
use crate::daemon::{Daemon, Hub, Web, Wish};
use crate::extension;
use crate::files::random;
use crate::keys::{Keys, unix_now};
use crate::knocks::{Flood, Knocks};
use crate::log_file::Own;
use crate::places::Places;
use crate::policy::Policy;
use crate::record::{Lock, Record};
use crate::trouble::{Doing, Outcome, Trouble};
use crate::uploads::Uploads;
use crate::web::Desk;
use crate::{commands, door, logging, squatter};

/// How long the peers get to let go at the end.
const GRACE: Duration = Duration::from_secs(2);
/// How long an accept loop rests when the process has no descriptors left.
const REST: Duration = Duration::from_millis(100);
/// How long all must have been well before that is told again.
const QUIET: Duration = Duration::from_secs(60);

/// Runs the daemon until it is told to end.
pub(crate) fn run(flags: &commands::Serve, places: &Places) -> Outcome<()> {
    let settings = Settings::settle(flags.given()?, places, flags.insecure_compat)?;
    if flags.background {
        // Its own session: a terminal that closes does not take it along.
        let _ = rustix::process::setsid();
    }
    logging::begin(settings.log);
    limits();
    let lock = Lock::take(&places.state)?;
    if flags.background {
        // Whoever finds that another daemon runs leaves its log alone.
        logging::keep(Own::of(places));
    }
    // As soon as that is ours: who connects from now on waits for the rest, where before it was refused.
    let tcp = listen(settings.port, "port")?;
    let keys = Keys::open(&places.state)?;
    let policy = Policy::open(&places.state)?;
    let socket = bind(&settings.socket)?;
    let local =
        socket.listener().try_clone().and_then(UnixListener::from_std).doing("listen on the Unix socket")?;
    let address = tcp.local_addr().doing("find the port")?;
    let web = settings.http.map(listen_http).transpose()?.flatten();
    let web_address = web.as_ref().map(TcpListener::local_addr).transpose().doing("find the port")?;
    let secrets = Secrets { seed: random()?, resume: keys.resume_secret() };

    let executor = Rc::new(LocalExecutor::new());
    let (wishes, wished) = bounded(4);
    let audit = Audit::new(&places.state, settings.audit_required);
    let own_ports = [Some(address), web_address].into_iter().flatten().map(|at| at.port()).collect();
    let policy = policy.guarding(own_ports);
    let daemon = Daemon::new(keys, policy, audit, pinned(&settings), wishes.clone(), executor.clone());
    let clock = Clock::new();
    let (mut hub, mut options) = (config(&settings), Options::default());
    settings.limits.apply(&mut hub, &mut options);
    let driver = Driver::new(hub, &secrets, daemon.ring(), daemon.clone(), clock, options);
    daemon.attach(driver.clone());
    daemon.allow_uploads(Uploads::new(settings.upload_roots.as_deref(), places));
    let desk = Desk {
        daemon: daemon.clone(),
        compat: settings.compat,
        state: places.state.clone(),
        knocks: Knocks::new("HTTP"),
    };
    let door = web_door(desk, &driver, clock, &executor)?;
    daemon.attach_web(door.clone());

    let signals = Signals::listen()?;
    lock.publish(&Record {
        pid: std::process::id(),
        address: address.to_string(),
        http: web_address.map(|at| at.to_string()),
        socket: settings.socket.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: unix_now(),
        flags: if flags.background {
            std::env::args().skip(2).filter(|a| a != "--background").collect()
        } else {
            Vec::new()
        },
    })?;
    announce(places, &settings, address, web_address);

    bridge_reactor::block_on(executor.run(async {
        let mut doors = vec![
            executor.spawn(websocket(executor.clone(), driver.clone(), daemon.clone(), tcp)),
            executor.spawn(unix(executor.clone(), driver.clone(), daemon.clone(), local)),
        ];
        if let Some(listener) = web {
            doors.push(executor.spawn(http(executor.clone(), door.clone(), listener)));
        }
        executor.spawn(driver.run_timers()).detach();
        signals.spawn(&executor, &wishes);
        wait(&wished, flags, places, &daemon).await;
        for door in doors {
            door.cancel().await;
        }
        // Nobody new may find us while we leave.
        drop(socket);
        driver.shutdown(GRACE).await;
        // Their calls are answered now; the answers still have to be written.
        door.finish(GRACE.as_millis() as u64).await;
    }));
    daemon.audit.close();
    log::info!("ended");
    Ok(())
}

/// Until somebody wants the daemon to end; reads the configuration again in between.
async fn wait(wished: &Receiver<Wish>, flags: &commands::Serve, places: &Places, daemon: &Daemon) {
    loop {
        match wished.recv().await {
            Ok(Wish::Reload) => reload(flags, places, daemon),
            Ok(Wish::Stop(why)) => return log::info!("ending: {why}"),
            Err(_) => return,
        }
    }
}

/// What can change without a restart: the policy, the log's level, its file, and who may connect.
fn reload(flags: &commands::Serve, places: &Places, daemon: &Daemon) {
    if let Err(e) = daemon.read_policy_again() {
        log::error!("the policy stays as it was: {e}");
    }
    match flags.given().and_then(|given| Settings::settle(given, places, flags.insecure_compat)) {
        Ok(settings) => {
            log::set_max_level(settings.log);
            daemon.pin(pinned(&settings));
            daemon.audit.require(settings.audit_required);
            daemon.allow_uploads(Uploads::new(settings.upload_roots.as_deref(), places));
            if let Err(e) = logging::reopen() {
                log::error!("{e}");
            }
            log::info!("configuration read again");
        }
        Err(e) => log::error!("the configuration stays as it was: {e}"),
    }
}

fn pinned(settings: &Settings) -> Vec<String> {
    let mut ids = settings.allow_extension.clone();
    ids.push(extension::ID.to_owned());
    ids
}

fn config(settings: &Settings) -> Config {
    let mut config = Config::default();
    config.limits.connections = usize::from(settings.max_connections);
    config.compat = match settings.compat {
        Compat::Strict => bridge_core::Compat::Strict,
        Compat::SameUser => bridge_core::Compat::SameUser,
        Compat::Open => bridge_core::Compat::Open,
    };
    config.server = bridge_core::Server { name: "bridged", version: env!("CARGO_PKG_VERSION") };
    config
}

/// As many descriptors as the system allows, and no core dumps: they would hold keys.
fn limits() {
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum });
    // Linux gives the memory to a program that collects crashes whatever the limit is, but for a limit of one byte, which is less
    // than a file needs either.
    for bytes in [u64::from(cfg!(target_os = "linux")), 0] {
        if setrlimit(Resource::Core, Rlimit { current: Some(bytes), maximum: Some(bytes) }).is_ok() {
            break;
        }
    }
}

fn bind(path: &Path) -> Outcome<SocketFile> {
    SocketFile::bind(path).map_err(|e| match e {
        SocketError::Running(_) => {
            Trouble::failed(format!("{}: {e}; choose another --socket", path.display()))
        }
        SocketError::Unfit(..) => Trouble::usage(format!(
            "cannot use the socket's place: {e}; mend that or choose another --socket"
        )),
        _ => Trouble::failed(format!("cannot listen on {}: {e}", path.display())),
    })
}

fn listen(port: u16, flag: &str) -> Outcome<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).map_err(|e| match e.kind() {
        std::io::ErrorKind::AddrInUse => {
            let whose = squatter::describe(port);
            let then = if flag == "port" { " and `bridged extension install` again" } else { "" };
            Trouble::failed(format!(
                "port {port} is taken by {whose}: end that program, or choose another port with --{flag}{then}"
            ))
        }
        std::io::ErrorKind::PermissionDenied => Trouble::usage(format!(
            "port {port} needs rights that you do not have: choose one above 1023 with --{flag}"
        )),
        _ => Trouble::failed(format!("cannot listen on 127.0.0.1:{port}: {e}")),
    })
}

/// A port that nobody chose is not worth ending for: the other doors work without it.
fn listen_http(http: Http) -> Outcome<Option<TcpListener>> {
    match listen(http.port, "http-port") {
        Err(e) if !http.chosen => {
            log::warn!("no HTTP this time: {e}");
            Ok(None)
        }
        other => other.map(Some),
    }
}

fn web_door(desk: Desk, driver: &Hub, clock: Clock, executor: &Rc<LocalExecutor<'static>>) -> Outcome<Web> {
    let executor = executor.clone();
    Ok(bridge_http::Door::new(bridge_http::Parts {
        driver: driver.clone(),
        clock,
        porter: Rc::new(desk),
        spawn: Rc::new(move |task| executor.spawn(task).detach()),
        seed: Seed::new(random()?),
        version: env!("CARGO_PKG_VERSION"),
    }))
}

fn announce(places: &Places, settings: &Settings, address: SocketAddr, web: Option<SocketAddr>) {
    if let Some(warning) = places.warning.as_ref().filter(|_| settings.socket == places.socket) {
        log::warn!("{warning}");
    }
    if settings.compat == Compat::Open {
        log::warn!("--compat open: any program on this machine may drive the browser; for tests only");
    }
    log::info!("listening on ws://{address} and {}", settings.socket.display());
    // Whoever started us may have closed its end; that is no reason not to serve.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "bridged listens on ws://{address}");
    if let Some(web) = web {
        let _ = writeln!(out, "bridged listens on http://{web}");
    }
    let _ = out.flush();
}

/// The next connection. A small answer is sent at once: held back for the one before it to be acknowledged, it takes 40 ms.
async fn arrival(listener: &TcpListener) -> std::io::Result<(TcpStream, SocketAddr)> {
    let (stream, peer) = listener.accept().await?;
    let _ = stream.set_nodelay(true);
    Ok((stream, peer))
}

async fn websocket(
    executor: Rc<LocalExecutor<'static>>,
    driver: Hub,
    daemon: Rc<Daemon>,
    listener: TcpListener,
) {
    let mut weary = Weary::default();
    let keeper = Rc::new(door::Keeper::new(daemon));
    loop {
        match arrival(&listener).await {
            Ok((stream, peer)) => {
                let Ok(local) = stream.get_ref().local_addr() else { continue };
                let (driver, keeper) = (driver.clone(), keeper.clone());
                let serving =
                    async move { bridge_websocket::accept(&driver, &*keeper, stream, local, peer).await };
                executor.spawn(serving).detach();
            }
            Err(e) => weary.rest("WebSocket", &e).await,
        }
    }
}

async fn http(executor: Rc<LocalExecutor<'static>>, door: Web, listener: TcpListener) {
    let mut weary = Weary::default();
    loop {
        match arrival(&listener).await {
            Ok((stream, peer)) => {
                let Ok(local) = stream.get_ref().local_addr() else { continue };
                executor.spawn(door.clone().serve(stream, local, peer)).detach();
            }
            Err(e) => weary.rest("HTTP", &e).await,
        }
    }
}

async fn unix(executor: Rc<LocalExecutor<'static>>, driver: Hub, daemon: Rc<Daemon>, listener: UnixListener) {
    let mut weary = Weary::default();
    let strangers = Flood::new();
    loop {
        match listener.accept().await {
            Ok(stream) => {
                if !bridge_unix::same_user(&stream) {
                    if let Some(more) = strangers.more() {
                        log::warn!(
                            "a program of another user knocked at the Unix socket and was closed{more}"
                        );
                    }
                    let (uid, pid) = (bridge_unix::peer_uid(&stream), bridge_unix::peer_pid(&stream));
                    let who = Who { uid, pid, exe: None };
                    daemon.audit.knocked("unix", None, "PERMISSION_DENIED", who);
                    continue;
                }
                let other = stream.clone();
                let lines = Lines::new().with_hangup(move || bridge_unix::hung_up(&other));
                let pid = bridge_unix::peer_pid(&stream);
                let serving = driver.serve(&bridge_unix::PEER, stream, lines);
                if let Some(conn) = serving.conn() {
                    daemon.audit.arrived(conn, pid);
                }
                executor.spawn(serving).detach();
            }
            Err(e) => weary.rest("Unix socket", &e).await,
        }
    }
}

/// An accept loop that cannot go on rests and tries again; it says so once, however often it is so within a minute.
#[derive(Default)]
struct Weary {
    last: Option<Instant>,
}

impl Weary {
    async fn rest(&mut self, which: &str, why: &std::io::Error) {
        let now = Instant::now();
        if self.last.replace(now).is_none_or(|last| now.duration_since(last) > QUIET) {
            log::error!("{which}: cannot accept connections for now: {why}");
        }
        Timer::at(now + REST).await;
    }
}

/// SIGTERM, SIGINT and SIGHUP as bytes in pipes, so that they are read where everything else is.
struct Signals {
    stop: StdUnixStream,
    reload: StdUnixStream,
}

impl Signals {
    fn listen() -> Outcome<Signals> {
        let pipe = |signals: &[i32]| -> std::io::Result<StdUnixStream> {
            let (read, write) = StdUnixStream::pair()?;
            for signal in signals {
                signal_hook::low_level::pipe::register(*signal, write.try_clone()?)?;
            }
            read.set_nonblocking(true)?;
            Ok(read)
        };
        let ending = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            // The first one sets the flag, so that the second ends the process wherever it hangs.
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, ending.clone())
                .and_then(|_| signal_hook::flag::register(signal, ending.clone()))
                .doing("listen for signals")?;
        }
        Ok(Signals {
            stop: pipe(&[SIGTERM, SIGINT]).doing("listen for signals")?,
            reload: pipe(&[SIGHUP]).doing("listen for signals")?,
        })
    }

    fn spawn(self, executor: &LocalExecutor<'static>, wishes: &Sender<Wish>) {
        for (pipe, wish) in [(self.stop, Wish::Stop("signal")), (self.reload, Wish::Reload)] {
            let Ok(mut pipe) = UnixStream::from_std(pipe) else { continue };
            let wishes = wishes.clone();
            let task = executor.spawn(async move {
                let mut byte = [0];
                while matches!(pipe.read(&mut byte).await, Ok(1)) {
                    let _ = wishes.try_send(wish);
                }
            });
            task.detach();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;

    #[test]
    fn small_answers_are_never_held_back() {
        bridge_reactor::block_on(async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
            let _dialled = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, _) = arrival(&listener).await.unwrap();
            assert!(stream.get_ref().nodelay().unwrap());
        });
    }
}
