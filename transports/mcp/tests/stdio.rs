//! The stdio driver over pipes in memory, on any runtime: here none but a poll loop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, ready};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bridge_mcp::provider::{Answer, BridgeCall, SaveFile};
use bridge_mcp::stdio::{Bridge, Clock, Options, serve};
use bridge_mcp::tools::ToolsConfig;
use bridge_mcp::{CallId, Config, Session};
use futures::channel::oneshot;
use futures::io::{AsyncRead, AsyncWrite};
use serde_json::{Value, json};

/// What the client has written and how it ends; reads give at most `chunk` bytes.
#[derive(Default)]
struct Input {
    bytes: RefCell<VecDeque<u8>>,
    /// So many bytes of a line without end come first.
    filler: Cell<usize>,
    ended: Cell<bool>,
    chunk: Cell<usize>,
}

#[derive(Default)]
struct Output {
    bytes: RefCell<Vec<u8>>,
    /// How many bytes it takes before it takes no more; then whether it is closed.
    room: Cell<usize>,
    closed: Cell<bool>,
}

impl AsyncRead for &Input {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.filler.get() > 0 {
            let n = self.filler.get().min(into.len());
            into[..n].fill(b'x');
            self.filler.set(self.filler.get() - n);
            return Poll::Ready(Ok(n));
        }
        let mut bytes = self.bytes.borrow_mut();
        if bytes.is_empty() {
            return if self.ended.get() { Poll::Ready(Ok(0)) } else { Poll::Pending };
        }
        let n = bytes.len().min(into.len()).min(self.chunk.get());
        for (at, byte) in bytes.drain(..n).enumerate() {
            into[at] = byte;
        }
        Poll::Ready(Ok(n))
    }
}

impl AsyncWrite for &Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        if self.closed.get() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let n = from.len().min(self.room.get());
        if n == 0 {
            return Poll::Pending;
        }
        self.room.set(self.room.get() - n);
        self.bytes.borrow_mut().extend_from_slice(&from[..n]);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

type Waiting = (CallId, BridgeCall, oneshot::Sender<Answer>);

#[derive(Default)]
struct Daemon {
    calls: RefCell<Vec<Waiting>>,
    cancelled: RefCell<Vec<CallId>>,
}

impl Bridge for Daemon {
    async fn call(&self, call: CallId, request: BridgeCall) -> Answer {
        let (sender, receiver) = oneshot::channel();
        self.calls.borrow_mut().push((call, request, sender));
        receiver.await.unwrap_or_else(|_| Answer::Lost("gone".to_owned()))
    }

    fn cancel(&self, call: CallId) {
        self.cancelled.borrow_mut().push(call);
    }

    async fn save(&self, file: SaveFile) -> Result<String, String> {
        Ok(format!("/pictures/1.{}", file.extension))
    }
}

/// A clock that the test moves.
#[derive(Default)]
struct Hands(Rc<Cell<Duration>>);

struct Until(Rc<Cell<Duration>>, Duration);

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.get() >= self.1 { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Clock for Hands {
    type Sleep = Until;

    fn now(&self) -> Duration {
        self.0.get()
    }

    fn sleep_until(&self, at: Duration) -> Until {
        Until(Rc::clone(&self.0), at)
    }
}

struct World {
    input: Input,
    output: Output,
    daemon: Daemon,
    clock: Hands,
    config: Config,
    options: Options,
}

impl World {
    fn new() -> Self {
        let world = Self {
            input: Input::default(),
            output: Output::default(),
            daemon: Daemon::default(),
            clock: Hands::default(),
            config: Config::default(),
            options: Options::default(),
        };
        world.input.chunk.set(usize::MAX);
        world.output.room.set(usize::MAX);
        world
    }

    /// Runs the driver; `script` is called whenever it has nothing left to do, with the number of the time.
    fn run(&self, mut script: impl FnMut(&Self, usize)) -> io::Result<()> {
        let tools = ToolsConfig { max_inline: 100, ..ToolsConfig::default() };
        let mut session = Session::new(self.config.clone(), common::provider(tools));
        let mut driver =
            pin!(serve(&mut session, &self.input, &self.output, &self.daemon, &self.clock, &self.options));
        let mut context = Context::from_waker(Waker::noop());
        for turn in 0..10_000 {
            // Without wake-ups a future is polled until it stands still.
            for _ in 0..50 {
                if let Poll::Ready(done) = driver.as_mut().poll(&mut context) {
                    return done;
                }
            }
            script(self, turn);
        }
        panic!("the driver never ends");
    }

    fn write(&self, line: &str) {
        self.input.bytes.borrow_mut().extend(line.bytes());
    }

    fn say(&self, line: &str) {
        self.write(line);
        self.write("\n");
    }

    fn hello(&self) {
        self.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#);
    }

    fn call(&self, id: u64, name: &str) {
        self.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}})
                .to_string(),
        );
    }

    fn answer(&self, at: usize, frame: &str) {
        let (_, _, sender) = self.daemon.calls.borrow_mut().remove(at);
        let _ = sender.send(Answer::Frame(frame.as_bytes().to_vec()));
    }

    fn end(&self) {
        self.input.ended.set(true);
    }

    fn replies(&self) -> Vec<Value> {
        let bytes = self.output.bytes.borrow();
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "whole lines only");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn lines_are_answered_and_the_end_of_input_ends_it() {
    let world = World::new();
    world.hello();
    world.say("");
    world.say("   ");
    world.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    world.end();
    world.run(|_, _| panic!("it waits for nothing")).unwrap();
    assert_eq!(world.replies().len(), 2);
}

#[test]
fn input_in_single_bytes_and_output_in_single_bytes_are_the_same() {
    let world = World::new();
    world.input.chunk.set(1);
    world.output.room.set(1);
    world.hello();
    world.end();
    world.run(|world, _| world.output.room.set(1)).unwrap();
    assert_eq!(world.replies()[0]["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn four_calls_run_side_by_side_and_each_is_sent_once() {
    let world = World::new();
    world.hello();
    for id in 1..=4 {
        world.call(id, "click");
    }
    world
        .run(|world, turn| match turn {
            0 => {
                assert_eq!(world.daemon.calls.borrow().len(), 4);
                for _ in 0..4 {
                    let last = world.daemon.calls.borrow().len() - 1;
                    world.answer(last, r#"{"success":false,"error":"no","code":"TIMEOUT"}"#);
                }
            }
            _ => world.end(),
        })
        .unwrap();
    let ids: Vec<_> = world.replies().iter().map(|reply| reply["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 5);
    assert!(world.daemon.calls.borrow().is_empty(), "a failed call is not tried again");
}

#[test]
fn at_the_end_calls_have_a_moment_and_are_then_given_up() {
    let world = World::new();
    world.hello();
    world.call(1, "click");
    world.call(2, "click");
    world.end();
    world
        .run(|world, turn| match turn {
            0 => world.answer(0, r#"{"success":true,"result":{}}"#),
            1 => assert_eq!(world.daemon.cancelled.borrow().len(), 0),
            _ => world.clock.0.set(Duration::from_secs(2)),
        })
        .unwrap();
    assert_eq!(world.replies().len(), 2);
    assert_eq!(world.daemon.cancelled.borrow().len(), 1);
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_bridge_and_its_future_dropped() {
    let world = World::new();
    world.hello();
    world.call(1, "click");
    world
        .run(|world, turn| match turn {
            0 => {
                world.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
            }
            1 => {
                assert_eq!(*world.daemon.cancelled.borrow(), [world.daemon.calls.borrow()[0].0]);
                assert!(world.daemon.calls.borrow()[0].2.is_canceled());
            }
            _ => world.end(),
        })
        .unwrap();
    assert_eq!(world.replies().len(), 1);
}

#[test]
fn output_that_is_closed_ends_it_cleanly_and_gives_its_calls_up() {
    let world = World::new();
    world.hello();
    world.call(1, "click");
    world
        .run(|world, turn| match turn {
            0 => world.output.closed.set(true),
            _ => world.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
        })
        .unwrap();
    assert_eq!(world.daemon.cancelled.borrow().len(), 1);
}

/// T120.
#[test]
fn a_line_of_100_mb_is_one_error_and_is_never_held() {
    let mut world = World::new();
    world.config.max_message = 64 << 10;
    world.input.filler.set(100 << 20);
    world.write("\n");
    world.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    world.end();
    world.run(|_, _| ()).unwrap();
    let replies = world.replies();
    assert_eq!(
        (replies.len(), &replies[0]["error"]["code"], &replies[1]["id"]),
        (2, &json!(-32600), &json!(1))
    );
}

#[test]
fn an_end_in_the_middle_of_a_line_is_an_error_or_a_last_message() {
    for (text, wanted) in [
        (r#"{"jsonrpc":"2.0","id":1,"me"#, "error"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "result"),
    ] {
        let world = World::new();
        world.write(text);
        world.end();
        world.run(|_, _| ()).unwrap();
        assert!(world.replies()[0].get(wanted).is_some(), "{text}");
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_an_error_and_the_next_line_is_read() {
    let world = World::new();
    world.input.bytes.borrow_mut().extend(b"\xff\xfe\n");
    world.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    world.end();
    world.run(|_, _| ()).unwrap();
    assert_eq!(
        (world.replies()[0]["error"]["code"].clone(), world.replies()[1]["id"].clone()),
        (json!(-32700), json!(1))
    );
}

#[test]
fn while_the_client_takes_nothing_nothing_more_is_read() {
    let mut world = World::new();
    world.options.max_unwritten = 1000;
    world.output.room.set(0);
    world.hello();
    for id in 1..=200 {
        let params = json!({"filler": "x".repeat(500)});
        world.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params}).to_string());
    }
    world.end();
    world
        .run(|world, turn| match turn {
            0 => assert!(world.input.bytes.borrow().len() > 50_000, "most of it waits outside"),
            _ => world.output.room.set(1 << 20),
        })
        .unwrap();
    assert_eq!(world.replies().len(), 201);
}

#[test]
fn a_large_picture_is_saved_by_the_host() {
    let world = World::new();
    world.hello();
    world.call(1, "screenshot");
    let frame =
        json!({"success": true, "result": {"data": format!("data:image/png;base64,{}", "A".repeat(400))}});
    world
        .run(|world, turn| match turn {
            0 => world.answer(0, &frame.to_string()),
            _ => world.end(),
        })
        .unwrap();
    assert!(
        world.replies()[1]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .ends_with("saved as /pictures/1.png")
    );
}

#[test]
fn progress_comes_while_a_call_takes_its_time() {
    let world = World::new();
    world.hello();
    world.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"click","_meta":{"progressToken":9}}}"#);
    world
        .run(|world, turn| match turn {
            0..=2 => world.clock.0.set(Duration::from_secs(2 * turn as u64 + 1)),
            3 => world.answer(0, r#"{"success":true,"result":{}}"#),
            _ => world.end(),
        })
        .unwrap();
    let methods: Vec<_> =
        world.replies().iter().map(|reply| reply["method"].as_str().unwrap_or("-").to_owned()).collect();
    assert_eq!(
        methods,
        ["-", "notifications/progress", "notifications/progress", "notifications/progress", "-"]
    );
}

#[test]
fn a_bridge_that_never_waits_is_fine() {
    struct Echo;
    impl Bridge for Echo {
        fn call(&self, _: CallId, request: BridgeCall) -> impl Future<Output = Answer> {
            let frame = json!({"success": true, "result": {"method": request.method}}).to_string();
            ready(Answer::Frame(frame.into_bytes()))
        }
        fn cancel(&self, _: CallId) {}
        async fn save(&self, _: SaveFile) -> Result<String, String> {
            Err("no".to_owned())
        }
    }
    let world = World::new();
    world.hello();
    world.call(1, "ping");
    world.end();
    let mut session = Session::new(Config::default(), common::provider(ToolsConfig::default()));
    smol::block_on(serve(&mut session, &world.input, &world.output, &Echo, &world.clock, &world.options))
        .unwrap();
    assert_eq!(world.replies()[1]["result"]["structuredContent"]["method"], "ping");
}
