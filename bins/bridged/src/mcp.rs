//! `bridged mcp`: MCP on standard input and output. A thin process: it finds or starts the daemon, is an owner of its own
//! there, and keeps that ownership when the daemon is restarted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge_mcp::provider::{Answer, BridgeCall, SaveFile};
use bridge_mcp::stdio::{self, Bridge, Clock, Options};
use bridge_mcp::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};
use bridge_mcp::{CallId, Config, Seed, Session};
use futures::channel::oneshot;
use futures::io::{AsyncRead, AsyncWrite};
use serde::Deserialize;
use serde_json::{Value, json};
use smol::{Async, LocalExecutor, Unblock};

use crate::files::random;
use crate::places::Places;
use crate::trouble::{Doing, Outcome, Trouble};
use crate::{background, captures};

/// The largest answer that is taken in; the daemon's own limit is 64 MiB.
const LARGEST: usize = 80 << 20;

/// Serves one client until it closes its end.
pub(crate) fn run(places: &Places, tools: Option<&str>) -> Outcome<()> {
    let set = tools.map(ToolSet::parse).unwrap_or_default();
    let tools = Tools::new(bridge_catalogue::JSON, &set)
        .map_err(|e| Trouble::usage(format!("--tools: {}", e.to_string().escape_debug())))?;
    let provider = BridgeTools::new(Arc::new(ToolsConfig::default()), Arc::new(tools), Seed::new(random()?));
    let mut session = Session::new(Config::default(), provider);
    let executor = Rc::new(LocalExecutor::new());
    let (spoken, opened) = oneshot::channel();
    let link = Rc::new(Link {
        places: places.clone(),
        executor: executor.clone(),
        up: smol::lock::Mutex::new(None),
        resume: RefCell::default(),
        ids: RefCell::default(),
        numbers: Cell::new(0),
        name: RefCell::new("mcp".to_owned()),
        spoken: RefCell::new(Some(spoken)),
        opened: RefCell::new(Some(opened)),
    });
    let (input, output) = (input()?, output()?);
    let clock = Time(Instant::now());
    let served = smol::block_on(executor.run(async {
        // The client's first message need not wait for the daemon, and its first call hardly.
        let early = link.clone();
        executor.spawn(async move { drop(early.connection().await) }).detach();
        stdio::serve(&mut session, input, output, &*link, &clock, &Options::default()).await
    }));
    served.doing("talk to the client")
}

/// The way to the daemon, made when it is needed and again when it is lost.
struct Link {
    places: Places,
    executor: Rc<LocalExecutor<'static>>,
    up: smol::lock::Mutex<Option<Rc<Connection>>>,
    /// What shows the daemon that the owner from before is us.
    resume: RefCell<Option<String>>,
    ids: RefCell<BTreeMap<CallId, u64>>,
    numbers: Cell<u64>,
    /// What the client calls itself, which is the label the hub shows.
    name: RefCell<String>,
    /// The first hello waits until the client has said its name, or calls without one.
    spoken: RefCell<Option<oneshot::Sender<()>>>,
    opened: RefCell<Option<oneshot::Receiver<()>>>,
}

/// A connection that said hello.
struct Connection {
    stream: Async<UnixStream>,
    unwritten: RefCell<Vec<u8>>,
    waiting: RefCell<BTreeMap<u64, oneshot::Sender<Vec<u8>>>>,
    dead: Cell<bool>,
    /// What the daemon takes at most, as it said itself: bytes of a message, and levels in it.
    most: Cell<(usize, usize)>,
}

impl Link {
    async fn connection(&self) -> Outcome<Rc<Connection>> {
        let mut up = self.up.lock().await;
        if let Some(connection) = up.as_ref().filter(|connection| !connection.dead.get()) {
            return Ok(connection.clone());
        }
        let connection = self.connect().await?;
        *up = Some(connection.clone());
        Ok(connection)
    }

    async fn connect(&self) -> Outcome<Rc<Connection>> {
        let places = self.places.clone();
        let (daemon, _) = smol::unblock(move || background::ensure(&places, &[])).await?;
        let opened = self.opened.borrow_mut().take();
        if let Some(opened) = opened {
            let _ = opened.await;
        }
        let stream = Async::<UnixStream>::connect(&daemon.socket).await.doing("connect to the daemon")?;
        if !bridge_unix::same_user(&stream) {
            return Err(Trouble::failed("the program at the daemon's socket is another user's"));
        }
        let connection = Rc::new(Connection {
            stream,
            unwritten: RefCell::default(),
            waiting: RefCell::default(),
            dead: Cell::new(false),
            most: Cell::new((usize::MAX, usize::MAX)),
        });
        let mut hello =
            json!({"type": "hello", "role": "client", "protocol": 2, "name": *self.name.borrow()});
        if let Some(resume) = self.resume.borrow().as_deref() {
            hello["resume"] = resume.into();
        }
        let (sender, ack) = oneshot::channel();
        // Answers are known by their number, which begins at one; the acknowledgement has none.
        connection.waiting.borrow_mut().insert(0, sender);
        connection.clone().send(&self.executor, hello.to_string().as_bytes());
        self.executor.spawn(connection.clone().read()).detach();
        let gone = |_| Trouble::failed("the daemon closed the connection");
        let ack: Value = serde_json::from_slice(&ack.await.map_err(gone)?).doing("understand the daemon")?;
        if ack["type"] != "hello_ack" {
            let said = ack["error"].as_str().unwrap_or("no word of why");
            return Err(Trouble::failed(format!("the daemon refused the connection: {said}")));
        }
        let limit = |name: &str| ack["limits"][name].as_u64().and_then(|n| n.try_into().ok());
        let (bytes, depth) = (limit("frame_bytes"), limit("depth"));
        connection.most.set((bytes.unwrap_or(usize::MAX), depth.unwrap_or(usize::MAX)));
        *self.resume.borrow_mut() = ack["resume"].as_str().map(str::to_owned);
        Ok(connection)
    }

    async fn call_through(&self, call: CallId, request: BridgeCall) -> Answer {
        drop(self.spoken.take());
        let connection = match self.connection().await {
            Ok(connection) => connection,
            // It never left, so that it may be tried again.
            Err(e) => return failed("INTERNAL_ERROR", &e.to_string()),
        };
        let id = self.numbers.get() + 1;
        self.numbers.set(id);
        let method = Value::from(request.method);
        let timeout = request.timeout_ms.map_or(String::new(), |ms| format!(r#","timeout_ms":{ms}"#));
        // A line end between two of its tokens would end the message.
        let params = request.params.replace(['\n', '\r'], " ");
        let frame = format!(r#"{{"id":"{id}","method":{method},"params":{params}{timeout}}}"#);
        // The daemon would end the connection for the one, with all its calls, and could not say whose the other is.
        let (bytes, depth) = connection.most.get();
        if frame.len() > bytes {
            return failed("TOO_LARGE", &format!("message too large: the bridge takes {bytes} bytes"));
        }
        if bridge_http::too_deep(frame.as_bytes(), depth) {
            return failed("INVALID_PARAMS", &format!("too deep: the bridge takes {depth} levels"));
        }
        let (sender, answer) = oneshot::channel();
        connection.waiting.borrow_mut().insert(id, sender);
        self.ids.borrow_mut().insert(call, id);
        connection.clone().send(&self.executor, frame.as_bytes());
        let answer = answer.await;
        self.ids.borrow_mut().remove(&call);
        match answer {
            Ok(frame) => Answer::Frame(frame),
            Err(_) => Answer::Lost("the daemon went away".to_owned()),
        }
    }
}

impl Bridge for Link {
    async fn call(&self, call: CallId, request: BridgeCall) -> Answer {
        self.call_through(call, request).await
    }

    fn cancel(&self, call: CallId) {
        let Some(id) = self.ids.borrow_mut().remove(&call) else { return };
        // Without waiting: while a new connection is being made there is nobody to tell.
        let Some(connection) = self.up.try_lock().and_then(|up| up.clone()) else { return };
        connection.waiting.borrow_mut().remove(&id);
        connection.send(&self.executor, format!(r#"{{"type":"cancel","id":"{id}"}}"#).as_bytes());
    }

    fn opened(&self, name: Option<&str>) {
        self.name.replace(name.unwrap_or("mcp").to_owned());
        drop(self.spoken.take());
    }

    async fn save(&self, file: SaveFile) -> Result<String, String> {
        let state = self.places.state.clone();
        let saved = smol::unblock(move || captures::save(&state, &file)).await;
        saved.map(|path| path.display().to_string()).map_err(|e| e.to_string())
    }
}

impl Connection {
    /// Writes a line, at once if the socket takes it.
    fn send(self: Rc<Self>, executor: &LocalExecutor<'static>, message: &[u8]) {
        let idle = {
            let mut unwritten = self.unwritten.borrow_mut();
            let idle = unwritten.is_empty();
            unwritten.extend_from_slice(message);
            unwritten.push(b'\n');
            idle
        };
        if idle && !self.write() {
            let task = async move {
                while !self.dead.get() && !self.write() {
                    if self.stream.writable().await.is_err() {
                        self.end();
                    }
                }
            };
            executor.spawn(task).detach();
        }
    }

    /// Writes what the socket takes; whether that was all.
    fn write(&self) -> bool {
        let mut unwritten = self.unwritten.borrow_mut();
        while !unwritten.is_empty() {
            match self.stream.get_ref().write(&unwritten) {
                Ok(count) if count > 0 => drop(unwritten.drain(..count)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return false,
                _ => {
                    unwritten.clear();
                    self.dead.set(true);
                }
            }
        }
        true
    }

    /// Hands every answer to whoever waits for it, until the daemon goes.
    async fn read(self: Rc<Self>) {
        let mut buffer = Vec::new();
        let mut searched = 0;
        let mut chunk = vec![0; 64 << 10];
        loop {
            let read = self.stream.read_with(|mut stream| stream.read(&mut chunk)).await;
            match read {
                Ok(count) if count > 0 => buffer.extend_from_slice(&chunk[..count]),
                _ => break,
            }
            while let Some(at) = buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = buffer.split_off(searched + at + 1);
                let line = std::mem::replace(&mut buffer, rest);
                searched = 0;
                self.deliver(line);
            }
            searched = buffer.len();
            if searched > LARGEST {
                break;
            }
        }
        self.end();
    }

    fn deliver(&self, line: Vec<u8>) {
        let waiter = self.waiting.borrow_mut().remove(&id_of(&line));
        if let Some(waiter) = waiter {
            let _ = waiter.send(line);
        }
    }

    /// Nobody who waits gets an answer any more.
    fn end(&self) {
        self.dead.set(true);
        self.waiting.borrow_mut().clear();
    }
}

/// A call that never left.
fn failed(code: &str, text: &str) -> Answer {
    Answer::Frame(json!({"success": false, "code": code, "error": text}).to_string().into_bytes())
}

/// The number in an answer's id; zero if it has none.
fn id_of(line: &[u8]) -> u64 {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow, default)]
        id: &'a str,
    }
    let written = line.strip_prefix(br#"{"id":""#).and_then(|rest| {
        let end = rest.iter().take(21).position(|byte| *byte == b'"')?;
        std::str::from_utf8(rest.get(..end)?).ok()
    });
    let id = written.or_else(|| Some(serde_json::from_slice::<Named<'_>>(line).ok()?.id));
    id.and_then(|id| id.parse().ok()).unwrap_or(0)
}

/// Time since the process began.
struct Time(Instant);

impl Clock for Time {
    type Sleep = Sleep;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, at: Duration) -> Sleep {
        Sleep(smol::Timer::at(self.0 + at))
    }
}

struct Sleep(smol::Timer);

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(|_| ())
    }
}

type Input = Pin<Box<dyn AsyncRead>>;
type Output = Pin<Box<dyn AsyncWrite>>;

/// Standard input: a pipe is waited for where everything else is, anything else is read by a thread.
fn input() -> Outcome<Input> {
    let file = File::from(io::stdin().as_fd().try_clone_to_owned().doing("read standard input")?);
    Ok(if is_pipe(&file) {
        Box::pin(Async::new(file).doing("read standard input")?)
    } else {
        Box::pin(Unblock::new(file))
    })
}

/// Standard output, likewise.
fn output() -> Outcome<Output> {
    let file = File::from(io::stdout().as_fd().try_clone_to_owned().doing("write standard output")?);
    Ok(if is_pipe(&file) {
        Box::pin(Async::new(file).doing("write standard output")?)
    } else {
        Box::pin(Unblock::new(file))
    })
}

/// Its other end is somebody else's, so that how we read it concerns nobody but us; a terminal is shared.
fn is_pipe(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.metadata().is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket())
}
