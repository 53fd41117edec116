//! A server under test as a process of its own, and what the kernel says about it.

use std::fs;
use std::io::Result;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a server that begins is asked whether it takes connections.
const LOOK_AGAIN: Duration = Duration::from_micros(50);
/// One that takes none for so long does not begin.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ended when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// From its start until it took a connection.
    pub(crate) start: Duration,
}

impl Server {
    /// The relay, which is this program by another argument.
    pub(crate) fn floor() -> Result<Self> {
        let port = free_port()?;
        Self::start(Command::new(std::env::current_exe()?).args(["--floor", &port.to_string()]), port)
    }

    /// The daemon, with a home of its own.
    pub(crate) fn hub(program: &Path, home: &Path) -> Result<Self> {
        let run = home.join("run");
        fs::create_dir_all(&run)?;
        fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args(["serve", "--port", &port.to_string(), "--http-port", "off", "--log", "error"]);
        command.env("XDG_STATE_HOME", home).env("XDG_CONFIG_HOME", home).env("XDG_RUNTIME_DIR", run);
        Self::start(&mut command, port)
    }

    fn start(command: &mut Command, port: u16) -> Result<Self> {
        let begin = Instant::now();
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let mut server = Self { child, port, start: Duration::ZERO };
        loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                // A connection that got this very port for its own end has only found itself.
                Ok(stream) if stream.local_addr()?.port() != port => break,
                Err(error) if begin.elapsed() > PATIENCE => return Err(error),
                _ => std::thread::sleep(LOOK_AGAIN),
            }
        }
        server.start = begin.elapsed();
        Ok(server)
    }

    /// Time it has spent on a core.
    pub(crate) fn cpu(&self) -> Duration {
        let path = format!("/proc/{}/schedstat", self.child.id());
        let text = fs::read_to_string(path).unwrap_or_default();
        Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
    }

    /// Its memory, in MB.
    pub(crate) fn rss(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most it ever was, in MB, since [`Server::forget_the_peak`].
    pub(crate) fn peak(&self) -> f64 {
        self.status("VmHWM:")
    }

    pub(crate) fn forget_the_peak(&self) {
        let _ = fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    fn status(&self, name: &str) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on now.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
