//! One run: a driver, its peers, and chance; then calm, then the end, with nothing left.

use crate::executor::Executor;
use crate::framing::Framing;
use crate::host::SimHost;
use crate::nature::{Door, Nature};
use crate::peer::{Peer, Wire};
use crate::setup;
use crate::time::{Happening, LATE_MS, SimClock, Time};
use crate::trail::Trail;
use crate::wire::link;
use bridge_core::{Config, Secrets};
use bridge_driver::{Driver, Options};
use bridge_model::world::World;
use bridge_unix::Lines;
use bridge_websocket::Frames;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// What a run came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Things that happened: a task run, an arrival, an act of a peer.
    pub steps: u64,
    /// What the hub was given meanwhile.
    pub inputs: u64,
    /// Messages that reached a peer.
    pub heard: u64,
    /// Who came.
    pub peers: u64,
    /// A sum over all of it: equal for equal runs.
    pub sum: u64,
}

/// See the module.
pub struct Episode {
    pub(crate) time: Rc<Time>,
    pub(crate) executor: Executor,
    pub(crate) driver: Driver<SimHost, SimClock>,
    pub(crate) host: Rc<SimHost>,
    pub(crate) config: Config,
    pub(crate) options: Options,
    pub(crate) peers: Vec<Peer>,
    /// The same inputs, given to a hub and its model.
    pub(crate) world: World,
    pub(crate) replayed: usize,
    pub(crate) steps: u64,
    /// The moment, and since which step it lasts.
    pub(crate) moment: (u64, u64),
    trail: Trail,
    wires: Vec<String>,
    most: usize,
    crowded: bool,
    calm: bool,
}

impl Episode {
    /// Nobody is there yet.
    pub fn new(seed: u64) -> Self {
        let time = Time::new(seed);
        // A third of all worlds are crowded with clients that ask for more than they read.
        let crowded = time.chance.one_in(3);
        let config = setup::config(&time.chance, crowded);
        let options = setup::options(&time.chance, crowded);
        let secrets = Secrets { seed: time.chance.key(), resume: time.chance.key() };
        let host = SimHost::new(&time);
        let driver = Driver::new(
            config,
            &secrets,
            bridge_model::stage::Keys,
            host.clone(),
            SimClock(time.clone()),
            options,
        );
        host.watch.begin(&driver, options);
        let (conns, calls) = setup::slots(&config);
        let mut executor = Executor::default();
        executor.spawn(driver.run_timers());
        time.after(0, Happening::Newcomer);
        time.after(100, Happening::Host);
        Self {
            most: if crowded { 20 } else { time.chance.pick(&[3, 8, 20]) },
            crowded,
            time,
            executor,
            driver,
            host,
            config,
            options,
            peers: Vec::new(),
            world: World::of(config, &secrets, conns, calls),
            replayed: 0,
            steps: 0,
            moment: (0, 0),
            trail: Trail::default(),
            wires: Vec::new(),
            calm: false,
        }
    }

    /// Lets so many things happen, and looks at everything on the way and at the end.
    pub fn run(mut self, steps: u64) -> Report {
        while self.steps < steps {
            self.step();
        }
        self.calm = true;
        self.let_pass(100_000);
        self.replay();
        self.check_the_calm();
        self.end();
        self.replay();
        self.check_the_end();
        self.host.watch.driver.take();
        let sum = self.sum();
        Report {
            steps: self.steps,
            inputs: self.host.inputs.borrow().len() as u64,
            heard: self.peers.iter().map(|peer| peer.heard.len() as u64).sum(),
            peers: self.peers.len() as u64,
            sum,
        }
    }

    /// One thing happens.
    fn step(&mut self) {
        self.steps += 1;
        self.check_that_time_passes();
        let chance = &self.time.chance;
        let tasks_first = !chance.one_in(4);
        if tasks_first && let Some(task) = self.executor.run_one(chance) {
            self.trail.note(self.time.now(), "task", task);
        } else if let Some(what) = self.time.due() {
            self.happen(what);
        } else if let Some(task) = self.executor.run_one(&self.time.chance) {
            self.trail.note(self.time.now(), "task", task);
        } else {
            self.check_a_moment();
            if !self.time.advance() {
                self.time.after(1, Happening::Newcomer);
            }
        }
    }

    fn let_pass(&mut self, ms: u64) {
        let end = self.time.now() + ms;
        // Something happens then, so that time comes by.
        self.time.at(end, Happening::Host);
        while self.time.now() < end || !self.executor.is_idle() {
            self.step();
        }
    }

    fn happen(&mut self, what: Happening) {
        let (kind, which) = what.name();
        self.trail.note(self.time.now(), kind, which);
        match what {
            Happening::Wake(waker) => waker.wake(),
            Happening::Arrival(way) => {
                let reader = way.borrow_mut().notify();
                if let Some(peer) = reader {
                    self.peers[peer].listen();
                }
            }
            Happening::Peer(peer) => {
                let limits = &self.config.limits;
                let next = self.peers[peer].act(self.calm, &mut self.wires, limits);
                if next != u64::MAX {
                    self.time.after(next, Happening::Peer(peer));
                }
            }
            Happening::Newcomer => self.newcomer(),
            Happening::Host => {
                self.host.decide(&self.driver);
                self.time.after(self.time.chance.between(1, 500), Happening::Host);
            }
        }
    }

    /// Somebody new comes, if there is room; now and then the host drops somebody.
    fn newcomer(&mut self) {
        let time = self.time.clone();
        if self.calm {
            return;
        }
        time.after(time.chance.pick(&[1, 10, 100, 800]), Happening::Newcomer);
        let here = self.peers.iter().filter(|peer| peer.is_here()).count();
        if here < self.most {
            let greedy = self.crowded && time.chance.one_in(2);
            self.connect(if greedy { Nature::greedy(&time.chance) } else { Nature::of(&time.chance) });
        } else if time.chance.one_in(40) {
            let nth = time.chance.index(self.peers.len());
            let peer = &mut self.peers[nth];
            if let Some(task) = peer.task {
                peer.blameless = false;
                self.executor.abandon(task);
            }
        }
    }

    fn connect(&mut self, nature: Nature) {
        let time = self.time.clone();
        let number = self.peers.len();
        let before = self.driver.look(|hub| hub.counters().opened);
        self.host.opening.set(Some(nature.opening));
        let delay = if nature.honest {
            (0, time.chance.pick(&[0, 3, 20]))
        } else {
            time.chance.pick(&[(0, 5), (50, 400)])
        };
        let room = match &nature {
            it if it.honest => 1 << 20,
            it if it.greedy => time.chance.pick(&[200, 4_000, 30_000]),
            _ => time.chance.pick(&[200, 4_000, 1 << 20]),
        };
        let (wire, task) = match nature.door {
            Door::Local => match self.driver.local(&nature.opening) {
                Ok(local) => (Wire::Local(local), None),
                Err(_) => (Wire::Gone, None),
            },
            Door::Unix => {
                let (near, far) = link(&time, number, room, delay);
                let serving = self.driver.serve(&nature.opening, near, Lines::new());
                (Wire::Link(far, Framing::Lines(Vec::new())), Some(self.executor.spawn(serving)))
            }
            Door::WebSocket => {
                let (near, far) = link(&time, number, room, delay);
                let serving = self.driver.serve(&nature.opening, near, Frames::new());
                (Wire::Link(far, Framing::Frames(Vec::new(), None)), Some(self.executor.spawn(serving)))
            }
        };
        let mut peer = Peer::new(&time, number, nature, wire, task);
        peer.conn = (self.driver.look(|hub| hub.counters().opened) > before).then_some(before as usize);
        if !peer.nature.honest {
            peer.leaves = u64::MAX;
        }
        // While a browser's link is congested its clients are not read, for as long as that browser likes; where that
        // cannot happen, answers are soon there.
        let patient = self.options.slow_mark < 1 << 20 || self.options.extension_queue < 1 << 20;
        peer.grace_ms = if patient { 3_600_000 } else { 2_000 };
        peer.greet();
        self.peers.push(peer);
        time.after(time.chance.between(1, 30), Happening::Peer(number));
    }

    /// Everything ends: by a shutdown, or because everybody leaves.
    fn end(&mut self) {
        let by_shutdown = self.time.chance.one_in(2);
        if by_shutdown {
            let over = Rc::new(Cell::new(false));
            let told = over.clone();
            let shutdown = self.driver.shutdown(Duration::from_secs(2));
            self.executor.spawn(async move {
                shutdown.await;
                told.set(true);
            });
            self.let_pass(2_000 + LATE_MS);
            assert!(over.get(), "a shutdown took longer than its grace");
        }
        for peer in &mut self.peers {
            match &peer.wire {
                Wire::Link(far, _)
                    if !peer.ended && peer.nature.door == Door::WebSocket && self.time.chance.one_in(4) =>
                {
                    far.cut();
                }
                Wire::Link(far, _) => far.leave(),
                _ => {}
            }
            peer.wire = Wire::Gone;
        }
        self.host.held.borrow_mut().clear();
        self.let_pass(120_000);
    }

    /// Gives what the hub was given since the last time to another hub and to the model.
    fn replay(&mut self) {
        let inputs = self.host.inputs.borrow();
        self.world.replay(&inputs[self.replayed..]);
        self.replayed = inputs.len();
    }

    /// A sum over everything that peers heard.
    fn sum(&self) -> u64 {
        let mut sum = self.steps;
        for byte in self.peers.iter().flat_map(|peer| peer.heard.iter().flatten()) {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
        sum
    }
}
