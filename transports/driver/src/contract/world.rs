//! A driver with a way to connect to it, as the suite needs it.

use crate::{Clock, Driver, Host, Judgement, Options};
use bridge_core::{Code, Config, Event, Keyring, Request, Role, Secrets};
use futures::future::LocalBoxFuture;
use std::cell::RefCell;
use std::rc::Rc;

/// One connection from the outside: text messages both ways.
pub trait End {
    /// Sends one message.
    fn send<'a>(&'a mut self, text: &'a str) -> LocalBoxFuture<'a, ()>;
    /// The next message; `None` at the end of the connection.
    fn recv(&mut self) -> LocalBoxFuture<'_, Option<String>>;
    /// Sends a message in two pieces with a pause between, as the transport can.
    fn send_in_pieces<'a>(&'a mut self, text: &'a str) -> LocalBoxFuture<'a, ()> {
        self.send(text)
    }
    /// Ends the sending side only, where [`Ends::half_close`] is set.
    fn half_close(&mut self) -> LocalBoxFuture<'_, ()>;
    /// The code it was closed with, where [`Ends::codes`] is set.
    fn code(&self) -> Option<u16>;
}

/// What a transport's ends can do beyond the common.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ends {
    /// A first message that is a request counts as a hello.
    pub implicit_hello: bool,
    /// The sending side can be ended alone.
    pub half_close: bool,
    /// There are close codes.
    pub codes: bool,
    /// Nothing is needed to connect: streams in memory, so that nothing else takes time.
    pub in_memory: bool,
}

/// A driver under test.
pub struct World<C: Clock> {
    /// The driver. Its timers run already.
    pub driver: Driver<TestHost, C>,
    /// Opens a connection, served by a task.
    pub connect: Box<dyn Fn() -> LocalBoxFuture<'static, Box<dyn End>>>,
    /// What its ends can do.
    pub ends: Ends,
}

/// Keys for nobody.
#[derive(Debug, Default)]
pub struct NoKeys;

impl Keyring for NoKeys {
    fn key(&self, _: Role, _: &str) -> Option<[u8; 32]> {
        None
    }

    fn token_matches(&self, _: &str) -> bool {
        false
    }
}

/// A host that lets everything pass, but for a few methods with names of their own.
#[derive(Debug, Default)]
pub struct TestHost {
    /// Everything that happened.
    pub events: RefCell<Vec<Event>>,
}

impl Host for TestHost {
    type Keys = NoKeys;

    fn judge(&self, request: &Request<'_>) -> Judgement {
        match request.method() {
            "forbidden" => Judgement::Refuse(Code::PermissionDenied, "not here".into(), false),
            "replaced" => Judgement::Replace(br#"{"by":"host"}"#.to_vec()),
            "answered" => Judgement::Answer(br#"{"by":"host"}"#.to_vec()),
            "held" => Judgement::Hold,
            _ => Judgement::Pass,
        }
    }

    fn held<C: Clock>(&self, driver: &Driver<Self, C>, held: crate::Held, request: &Request<'_>) {
        match request.params() {
            br#"{"then":"release"}"# => held.release(driver, "released", b"{}", None),
            br#"{"then":"complete"}"# => held.complete(driver, b"true"),
            br#"{"then":"drop"}"# => {}
            _ => held.fail(driver, Code::DeniedByUser, "no"),
        }
    }

    fn event(&self, event: &Event) {
        self.events.borrow_mut().push(*event);
    }
}

impl<C: Clock> World<C> {
    /// A driver for tests and what runs its timers.
    pub fn driver(config: Config, options: Options, clock: C) -> Driver<TestHost, C> {
        Driver::new(config, &secrets(), NoKeys, Rc::new(TestHost::default()), clock, options)
    }
}

/// What the suite expects of the hub: as it is by default, but short deadlines where a test waits for one.
#[must_use]
pub fn config() -> Config {
    Config::default()
}

/// The same every time.
#[must_use]
pub fn secrets() -> Secrets {
    Secrets { seed: [1; 32], resume: [2; 32] }
}
