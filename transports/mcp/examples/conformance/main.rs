//! The fixture server that the official conformance suite wants, as a small HTTP server around [`bridge_mcp::http::Front`].
//!
//! It serves nothing of the bridge: its tools, prompts and resources are the suite's own (`fixture.rs`, `steps.rs`). What
//! is tested is the code beneath, which is the bridge's. `conformance.sh` beside this crate's manifest runs the suite.

mod fixture;
mod steps;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bridge_mcp::http::{CallKey, Exchange, Front, FrontConfig, HttpOutput, HttpRequest, Response};
use bridge_mcp::{AskId, Seed};
use fixture::Fixture;
use smol::LocalExecutor;
use smol::channel::{Receiver, Sender, bounded, unbounded};
use smol::io::{AsyncReadExt as _, AsyncWriteExt as _};
use smol::net::{TcpListener, TcpStream};

/// What a connection is told about its exchange.
enum Piece {
    Whole(Response),
    Begin(Vec<(&'static str, String)>),
    Event(Vec<u8>),
    End,
}

type Told = Result<String, String>;

/// The front, and who waits for what.
pub(crate) struct Server {
    front: RefCell<Front<Fixture>>,
    waiting: RefCell<HashMap<Exchange, Sender<Piece>>>,
    asked: RefCell<HashMap<(CallKey, AskId), Sender<Told>>>,
    started: Instant,
    executor: LocalExecutor<'static>,
}

impl Server {
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Does something with the front, then everything it wants done.
    pub(crate) fn with<T>(self: &Rc<Self>, act: impl FnOnce(&mut Front<Fixture>, Duration) -> T) -> T {
        let now = self.now();
        let result = act(&mut self.front.borrow_mut(), now);
        loop {
            let Some(output) = self.front.borrow_mut().poll_output() else { break };
            self.act(output);
        }
        result
    }

    /// Asks the client something and waits for its answer.
    pub(crate) async fn ask(self: &Rc<Self>, key: CallKey, method: &str, params: &str) -> Option<Told> {
        let (sender, receiver) = bounded(1);
        let ask = self.with(|front, now| front.ask(key, method, params, now))?;
        self.asked.borrow_mut().insert((key, ask), sender);
        receiver.recv().await.ok()
    }

    fn act(self: &Rc<Self>, output: HttpOutput) {
        match output {
            HttpOutput::Respond { exchange, response } => self.tell(exchange, Piece::Whole(response)),
            HttpOutput::Begin { exchange, headers } => self.tell(exchange, Piece::Begin(headers)),
            HttpOutput::Event { exchange, data } => self.tell(exchange, Piece::Event(data)),
            HttpOutput::End { exchange } => self.tell(exchange, Piece::End),
            HttpOutput::Call { key, request, .. } => {
                let server = Rc::clone(self);
                self.executor.spawn(async move { steps::run(&server, key, request).await }).detach();
            }
            HttpOutput::Told { key, ask, answer } => {
                if let Some(sender) = self.asked.borrow_mut().remove(&(key, ask)) {
                    let _ = sender.try_send(answer);
                }
            }
            HttpOutput::Cancel { .. } | HttpOutput::Save { .. } | HttpOutput::Ended { .. } => {}
        }
    }

    fn tell(&self, exchange: Exchange, piece: Piece) {
        if let Some(sender) = self.waiting.borrow().get(&exchange) {
            let _ = sender.try_send(piece);
        }
    }
}

fn main() -> io::Result<()> {
    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).unwrap_or(0);
    // The suite is no adversary: names that can be guessed are good enough for it.
    let front = Front::new(FrontConfig::default(), || Fixture, Seed::new([1; 32]));
    let server = Rc::new(Server {
        front: RefCell::new(front),
        waiting: RefCell::default(),
        asked: RefCell::default(),
        started: Instant::now(),
        executor: LocalExecutor::new(),
    });
    let listener = smol::block_on(TcpListener::bind(("127.0.0.1", port)))?;
    println!("http://127.0.0.1:{}/mcp", listener.local_addr()?.port());
    let accepting = Rc::clone(&server);
    server
        .executor
        .spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = Rc::clone(&accepting);
                accepting.executor.spawn(async move { serve(server, stream).await }).detach();
            }
        })
        .detach();
    let timing = Rc::clone(&server);
    server
        .executor
        .spawn(async move {
            loop {
                smol::Timer::after(Duration::from_millis(100)).await;
                timing.with(|front, now| front.handle_timeout(now));
            }
        })
        .detach();
    smol::block_on(server.executor.run(std::future::pending()))
}

/// One connection, one request.
async fn serve(server: Rc<Server>, mut stream: TcpStream) {
    let Ok(Some(request)) = read(&mut stream).await else { return };
    if !request.is_local() {
        let _ = stream
            .write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .await;
        return;
    }
    let (sender, receiver) = unbounded();
    let headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let http =
        HttpRequest { method: &request.method, headers: &headers, body: &request.body, caller: "suite" };
    let exchange = {
        let now = server.now();
        let exchange = server.front.borrow_mut().handle_request(&http, now);
        server.waiting.borrow_mut().insert(exchange, sender);
        server.with(|_, _| ());
        exchange
    };
    if answer(&mut stream, &receiver).await.is_err() {
        server.with(|front, now| front.handle_gone(exchange, now));
    }
    server.waiting.borrow_mut().remove(&exchange);
}

async fn answer(stream: &mut TcpStream, pieces: &Receiver<Piece>) -> io::Result<()> {
    while let Ok(piece) = pieces.recv().await {
        match piece {
            Piece::Whole(response) => {
                let mut head =
                    format!("HTTP/1.1 {} -\r\nContent-Length: {}\r\n", response.status, response.body.len());
                add(&mut head, &response.headers);
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(&response.body).await?;
                return stream.flush().await;
            }
            Piece::Begin(headers) => {
                let mut head = "HTTP/1.1 200 OK\r\n".to_owned();
                add(&mut head, &headers);
                stream.write_all(head.as_bytes()).await?;
            }
            Piece::Event(data) => stream.write_all(&data).await?,
            Piece::End => return stream.flush().await,
        }
    }
    Ok(())
}

fn add(head: &mut String, headers: &[(&'static str, String)]) {
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("Connection: close\r\n\r\n");
}

struct Request {
    method: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// What the door of the bridge checks too, and more of it.
    fn is_local(&self) -> bool {
        let local = |address: &str| {
            let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
            matches!(host, "127.0.0.1" | "localhost" | "[::1]")
        };
        let origin = self.header("origin").and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
        self.header("host").is_some_and(local) && origin.is_none_or(local)
    }
}

async fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let mut lines = head.split("\r\n");
            let method = lines.next().and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
            let headers: Vec<(String, String)> = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
                .collect();
            let mut request = Request { method, headers, body: bytes.split_off(end + 4) };
            let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            while request.body.len() < length {
                match stream.read(&mut chunk).await? {
                    0 => return Ok(None),
                    n => request.body.extend_from_slice(&chunk[..n]),
                }
            }
            return Ok(Some(request));
        }
        match stream.read(&mut chunk).await? {
            0 => return Ok(None),
            n => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}
