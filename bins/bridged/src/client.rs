//! One call after the other over the Unix socket: what the command line and the demo speak.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The largest answer that is taken in; the daemon's own limit is 64 MiB.
const LARGEST: u64 = 80 << 20;
/// How long the daemon gets beyond a call's own deadline.
const GRACE: Duration = Duration::from_secs(5);
/// A call's deadline if it names none.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A connection that said hello.
pub(crate) struct Client {
    stream: BufReader<UnixStream>,
    calls: u64,
    /// The largest message that the daemon takes.
    most: u64,
}

/// As what to say hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A person who drives a browser.
    Person,
    /// The owner of the daemon, who may change who gets in.
    Control,
}

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody answers at the socket.
    NoDaemon(io::Error),
    /// The daemon went away, or answered what is no answer.
    Broken(String),
    /// It answered that it failed.
    Refused(Refusal),
}

/// An error as the daemon or the extension gave it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Refusal {
    /// For people.
    pub error: String,
    /// For programs; v1 extensions give none.
    #[serde(default)]
    pub code: String,
    /// Whether the page may have been acted on all the same.
    #[serde(default)]
    pub maybe_executed: bool,
}

#[derive(Deserialize)]
struct Answer {
    success: bool,
    #[serde(default)]
    result: Option<Box<RawValue>>,
}

impl Client {
    /// Connects and says hello.
    pub(crate) fn connect(socket: &Path, role: Role) -> Result<Client, Failure> {
        let stream = UnixStream::connect(socket).map_err(Failure::NoDaemon)?;
        if !bridge_unix::same_user(&stream) {
            return Err(Failure::Broken(format!(
                "the program that listens at {} is another user's",
                socket.display()
            )));
        }
        let mut client =
            Client { stream: BufReader::with_capacity(64 << 10, stream), calls: 0, most: u64::MAX };
        let hello = match role {
            Role::Person => {
                json!({"type":"hello","role":"client","protocol":2,"class":"person","name":"bridge"})
            }
            Role::Control => json!({"type":"hello","role":"control","protocol":2,"name":"bridged"}),
        };
        client.send(hello.to_string(), GRACE)?;
        let line = client.receive(GRACE)?;
        match serde_json::from_slice::<Value>(&line) {
            Ok(ack) if ack["type"] == "hello_ack" => {
                client.most = ack["limits"]["frame_bytes"].as_u64().unwrap_or(u64::MAX);
                Ok(client)
            }
            Ok(_) => match serde_json::from_slice(&line) {
                Ok(refusal) => Err(Failure::Refused(refusal)),
                Err(_) => {
                    Err(Failure::Broken("the daemon did not answer the hello as bridged does".to_owned()))
                }
            },
            Err(e) => Err(Failure::Broken(format!("the daemon did not answer in JSON: {e}"))),
        }
    }

    /// One call; its result as JSON text. `deadline` none: the default one.
    pub(crate) fn call(
        &mut self,
        method: &str,
        params: &Value,
        deadline: Option<Duration>,
    ) -> Result<Box<RawValue>, Failure> {
        self.calls += 1;
        let id = self.calls.to_string();
        let mut request = json!({"id": id, "method": method, "params": params});
        if let Some(deadline) = deadline {
            request["timeout_ms"] = json!(deadline.as_millis() as u64);
        }
        let request = request.to_string();
        // A line that is too long would end the connection.
        let bytes = request.len() as u64;
        if bytes > self.most {
            return Err(Failure::Refused(Refusal {
                error: format!(
                    "message too large: {bytes} bytes, where the daemon takes {}; `bridged serve --limit client_bytes=N` takes more",
                    self.most
                ),
                code: "TOO_LARGE".to_owned(),
                maybe_executed: false,
            }));
        }
        let within = deadline.unwrap_or(DEADLINE) + GRACE;
        self.send(request, within)?;
        let line = self.receive(within)?;
        let answer: Answer = serde_json::from_slice(&line)
            .map_err(|e| Failure::Broken(format!("the answer is not understood: {e}")))?;
        match answer {
            Answer { success: true, result: Some(result) } => Ok(result),
            Answer { success: true, result: None } => {
                Err(Failure::Broken("the answer has no result".to_owned()))
            }
            Answer { success: false, .. } => match serde_json::from_slice(&line) {
                Ok(refusal) => Err(Failure::Refused(refusal)),
                Err(_) => Err(Failure::Broken("the call failed, and the answer does not say why".to_owned())),
            },
        }
    }

    /// The next message, however long it takes.
    pub(crate) fn next_message(&mut self) -> Result<Vec<u8>, Failure> {
        self.stream.get_ref().set_read_timeout(None).map_err(gone)?;
        self.line().map_err(gone)
    }

    /// A daemon that reads nothing (it was stopped, say) is waited for no longer than one that does not answer.
    fn send(&mut self, mut line: String, within: Duration) -> Result<(), Failure> {
        line.push('\n');
        self.stream.get_ref().set_write_timeout(Some(within)).map_err(gone)?;
        self.stream.get_mut().write_all(line.as_bytes()).map_err(|e| late(e, "take the request", within))
    }

    fn receive(&mut self, within: Duration) -> Result<Vec<u8>, Failure> {
        self.stream.get_ref().set_read_timeout(Some(within)).map_err(gone)?;
        self.line().map_err(|e| late(e, "answer", within))
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.stream.by_ref().take(LARGEST).read_until(b'\n', &mut line)?;
        match line.last() {
            Some(b'\n') => Ok(line),
            _ => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended")),
        }
    }
}

fn gone(e: io::Error) -> Failure {
    Failure::Broken(format!("the daemon went away: {e}"))
}

/// It went away, or did not do this in time.
fn late(e: io::Error, what: &str, within: Duration) -> Failure {
    match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Failure::Refused(Refusal {
            error: format!("timeout: the daemon did not {what} in {} s", within.as_secs()),
            code: "TIMEOUT".to_owned(),
            // A request that was not taken whole is none.
            maybe_executed: what == "answer",
        }),
        _ => gone(e),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_reads_nothing_is_not_waited_for_for_ever() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut client = Client { stream: BufReader::new(ours), calls: 0, most: u64::MAX };
        let large = json!({"text": "x".repeat(8 << 20)});
        let said = client.send(large.to_string(), Duration::from_millis(20));
        let Err(Failure::Refused(refusal)) = said else { unreachable!("{said:?}") };
        assert_eq!((refusal.code.as_str(), refusal.maybe_executed), ("TIMEOUT", false));
    }
}
