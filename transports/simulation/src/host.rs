//! The host of a simulated driver: judges by chance, and writes down all that the hub is given.

use crate::time::{SimClock, Time};
use crate::watch::Watch;
use bridge_core::{CallId, Code, ConnId, Event, Request, Role};
use bridge_driver::{Clock, Driver, Held, Host, Input, Judgement};
use bridge_model::op::Then;
use bridge_model::replay;
use bridge_model::stage::Keys;
use bridge_model::talk::{CHANGED, REFUSED, RESULT};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Peers as the simulation opens them, so that they can be written down without a lifetime.
pub(crate) type Opening = bridge_core::Peer<'static>;

/// See the module.
pub(crate) struct SimHost {
    time: Rc<Time>,
    /// All inputs of the hub so far, with their times.
    pub(crate) inputs: RefCell<Vec<(u64, replay::Input)>>,
    /// Requests that wait for a decision, with their params.
    pub(crate) held: RefCell<Vec<(Held, Vec<u8>)>>,
    /// The peer that is being opened.
    pub(crate) opening: Cell<Option<Opening>>,
    /// Everything that happened.
    pub(crate) events: RefCell<Vec<Event>>,
    pub(crate) watch: Watch,
}

impl SimHost {
    /// A host without memory.
    pub(crate) fn new(time: &Rc<Time>) -> Rc<Self> {
        Rc::new(Self {
            time: time.clone(),
            inputs: RefCell::default(),
            held: RefCell::default(),
            opening: Cell::new(None),
            events: RefCell::default(),
            watch: Watch::new(time),
        })
    }

    /// Decides about one held request, or forgets it.
    pub(crate) fn decide(&self, driver: &Driver<Self, SimClock>) {
        let next = {
            let mut held = self.held.borrow_mut();
            if held.is_empty() {
                return;
            }
            let nth = self.time.chance.index(held.len());
            held.swap_remove(nth)
        };
        let (held, params) = next;
        self.watch.deciding.set(true);
        match self.time.chance.below(8) {
            0..=3 => held.release(driver, "navigate", &params, Some("once-1")),
            4..=5 => held.complete(driver, RESULT),
            6 => held.fail(driver, Code::DeniedByUser, "no"),
            // It runs into its deadline.
            _ => drop(held),
        }
        self.watch.deciding.set(false);
    }

    fn note(&self, input: replay::Input) {
        self.inputs.borrow_mut().push((self.time.now(), input));
    }
}

impl Host for SimHost {
    type Keys = Keys;

    fn judge(&self, request: &Request<'_>) -> Judgement {
        if request.role() == Role::Control {
            return Judgement::Answer(RESULT.to_vec());
        }
        match self.time.chance.below(40) {
            0 => Judgement::Replace(CHANGED.to_vec()),
            1 => Judgement::Refuse(Code::Paused, REFUSED.to_owned(), true),
            2 => Judgement::Answer(RESULT.to_vec()),
            3 | 4 => Judgement::Hold,
            _ => Judgement::Pass,
        }
    }

    fn held<C: Clock>(&self, _: &Driver<Self, C>, held: Held, request: &Request<'_>) {
        self.held.borrow_mut().push((held, request.params().to_vec()));
    }

    fn accepted(&self, call: CallId, browser: Option<ConnId>) {
        self.watch.accepted(call, browser.is_some());
    }

    fn answered(&self, call: CallId, answer: &[&[u8]]) {
        // What the hub itself answers comes in one piece.
        self.watch.answered(call, answer.len() > 1 && !self.watch.deciding.get());
    }

    fn event(&self, event: &Event) {
        if let Event::Left { conn, .. } = *event {
            self.watch.left(conn);
        }
        self.events.borrow_mut().push(*event);
    }

    fn input(&self, input: &Input<'_>) {
        self.watch.input(input);
        self.note(match *input {
            Input::Open(peer) => {
                let peer_now = self.opening.take().expect("somebody is being opened");
                assert_eq!((peer.door, peer.trust), (peer_now.door, peer_now.trust));
                replay::Input::Open(peer_now)
            }
            Input::Frame(conn, frame) => replay::Input::Frame(conn, frame.to_vec()),
            Input::Forward(None) => replay::Input::Then(Then::Forward),
            Input::Forward(Some(_)) => replay::Input::Then(Then::ForwardChanged),
            Input::Refuse => replay::Input::Then(Then::Refuse),
            Input::Busy => replay::Input::Then(Then::Busy),
            Input::Answer => replay::Input::Then(Then::Answer),
            Input::Hold => replay::Input::Then(Then::Hold),
            Input::Release { call, method, params, once } => replay::Input::Release {
                call,
                method: method.to_owned(),
                params: params.to_vec(),
                once: once.map(str::to_owned),
            },
            Input::Complete(call) => replay::Input::Complete(call),
            Input::Fail(call) => replay::Input::Fail(call),
            Input::Close(conn) => replay::Input::Close(conn),
            Input::HalfClose(conn) => replay::Input::HalfClose(conn),
            Input::Reject(conn, why) => replay::Input::Reject(conn, why),
            Input::Congested(conn, how) => replay::Input::Congested(conn, how),
            Input::Timeout => replay::Input::Timeout,
            Input::Shutdown => replay::Input::Shutdown,
            _ => panic!("an input that cannot be repeated: {input:?}"),
        });
    }
}
