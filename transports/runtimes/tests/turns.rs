//! One client's thousand screenshots do not stand before another one's click.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use bridge_core::{Door, Peer};
use bridge_driver::contract::{StillClock, TestHost, World, config};
use bridge_driver::{Driver, Local, Options};
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use std::collections::VecDeque;

type End = Local<TestHost, StillClock>;

struct Still {
    pool: LocalPool,
    clock: StillClock,
    driver: Driver<TestHost, StillClock>,
}

impl Still {
    fn new() -> Self {
        Self::with(Options { client_queue: 1 << 30, all_queues: 1 << 30, ..Options::default() })
    }

    fn with(options: Options) -> Self {
        let pool = LocalPool::new();
        let clock = StillClock::new();
        let driver = World::driver(config(), options, clock.clone());
        pool.spawner().spawn_local(driver.run_timers()).unwrap();
        Self { pool, clock, driver }
    }

    fn local(&self, role: &str) -> End {
        let local = self.driver.local(&Peer::in_process(Door::Memory)).unwrap();
        local.send(format!(r#"{{"type":"hello","role":"{role}","name":"t"}}"#).as_bytes());
        local
    }

    fn pass(&mut self, ms: u64) {
        self.pool.run_until_stalled();
        self.clock.advance(ms);
        self.pool.run_until_stalled();
    }
}

fn ask(client: &End, from: usize, to: usize, more: &str) {
    for n in from..to {
        client.send(format!(r#"{{"id":"{n}","method":"m"{more}}}"#).as_bytes());
    }
}

/// The ids of what the browser was asked and has not been asked before.
fn asked(browser: &End) -> Vec<String> {
    let id = |text: &str| text.strip_prefix(r#"{"id":""#).unwrap().split('"').next().unwrap().to_owned();
    std::iter::from_fn(|| browser.try_recv()).map(|text| id(&String::from_utf8(text).unwrap())).collect()
}

fn answer(browser: &End, id: &str, size: usize) {
    let data = "x".repeat(size);
    browser.send(format!(r#"{{"id":"{id}","success":true,"result":"{data}"}}"#).as_bytes());
}

#[test]
fn heavy_answers_are_asked_for_a_few_at_a_time() {
    let still = Still::new();
    let (browser, heavy, light) = (still.local("extension"), still.local("client"), still.local("client"));
    ask(&heavy, 0, 300, "");
    let mut under_way = asked(&browser);
    assert_eq!(under_way.len(), 8, "before anything is known");
    let mut answered = 0;
    while answered < 300 {
        answer(&browser, &under_way.remove(0), 1 << 20);
        answered += 1;
        let text = heavy.try_recv().unwrap();
        assert!(text.starts_with(format!(r#"{{"id":"{}","#, answered - 1).as_bytes()));
        under_way.extend(asked(&browser));
        if answered == 200 {
            assert!(under_way.len() <= 9, "{} under way", under_way.len());
            ask(&light, 0, 1, "");
            let id = asked(&browser).pop().expect("the other client's turn is at once");
            answer(&browser, &id, 10);
            assert!(light.try_recv().is_some());
        }
    }
    assert_eq!(still.driver.with_hub(|hub| hub.in_flight()), 0);
}

#[test]
fn light_answers_are_never_held_up() {
    let still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    for round in 0..20 {
        ask(&client, 0, 8, "");
        let ids = asked(&browser);
        assert_eq!(ids.len(), 8, "in round {round}");
        ids.iter().for_each(|id| answer(&browser, id, 100));
        assert_eq!(std::iter::from_fn(|| client.try_recv()).count(), 8);
    }
    // No time passes here: answers alone make room, and soon for as many as a browser can use.
    ask(&client, 0, 1000, "");
    let mut under_way = VecDeque::from(asked(&browser));
    let mut most = 0;
    for answered in 0..1000 {
        let id = under_way.pop_front().expect("there is always one under way");
        answer(&browser, &id, 100);
        under_way.extend(asked(&browser));
        most = most.max(under_way.len());
        assert!(!(30..=930).contains(&answered) || under_way.len() == 64, "{} under way", under_way.len());
    }
    assert_eq!(most, 64);
    assert_eq!(std::iter::from_fn(|| client.try_recv()).count(), 1000);
}

/// What was light says nothing about what comes next.
#[test]
fn who_was_light_and_asks_for_much_at_once_is_taken_for_a_newcomer() {
    let still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    for _ in 0..100 {
        ask(&client, 0, 1, "");
        answer(&browser, &asked(&browser)[0], 100);
    }
    ask(&client, 0, 200, "");
    let under_way = asked(&browser);
    assert_eq!(under_way.len(), 8);
    answer(&browser, &under_way[0], 4 << 20);
    assert_eq!(asked(&browser).len(), 0, "it is heavy now");
}

/// What stands before an honest client's request does not grow with the number of greedy ones.
#[test]
fn greedy_clients_share_what_one_may_have_under_way() {
    let still = Still::new();
    let browser = still.local("extension");
    let greedy: Vec<End> = (0..6).map(|_| still.local("client")).collect();
    greedy.iter().for_each(|client| ask(client, 0, 20, ""));
    let mut under_way = VecDeque::from(asked(&browser));
    assert!(
        under_way.len() <= 8 + 4 + 2 + 2 + 1 + 1,
        "{} under way before anything is known",
        under_way.len()
    );
    let honest = still.local("client");
    let mut heard = 0;
    for answered in 0..6 * 20 {
        let id = under_way.pop_front().expect("there is always one under way");
        answer(&browser, &id, 2 << 20);
        greedy.iter().for_each(|client| heard += std::iter::from_fn(|| client.try_recv()).count());
        under_way.extend(asked(&browser));
        if answered > 40 {
            assert!(under_way.len() <= 8, "{} under way, one or two for each", under_way.len());
            ask(&honest, 0, 1, "");
            let id = asked(&browser).pop().expect("the honest client's turn is at once");
            answer(&browser, &id, 10);
            assert!(honest.try_recv().is_some());
        }
    }
    assert_eq!(heard, 6 * 20);
    // Nobody shares any more.
    ask(&still.local("client"), 0, 20, "");
    assert_eq!(asked(&browser).len(), 8);
}

/// While a browser is at work on what others asked for, nobody's patience ends but everybody's together.
#[test]
fn of_greedy_newcomers_little_is_asked_for_regardless_while_the_browser_is_busy() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let greedy: Vec<End> = (0..8).map(|_| still.local("client")).collect();
    greedy.iter().for_each(|client| ask(client, 0, 24, ""));
    let mut under_way = VecDeque::from(asked(&browser));
    let mut most = under_way.len();
    // A hundred megabytes a second.
    for _ in 0..8 * 24 {
        still.pass(40);
        under_way.extend(asked(&browser));
        most = most.max(under_way.len());
        answer(&browser, &under_way.pop_front().expect("there is always one under way"), 4 << 20);
        under_way.extend(asked(&browser));
    }
    assert!(most <= 24, "{most} under way");
    let heard: usize = greedy.iter().map(|client| std::iter::from_fn(|| client.try_recv()).count()).sum();
    assert_eq!(heard, 8 * 24);
}

/// Others' heavy answers explain a wait, but a short call does not stay behind a long one for as long as they come.
#[test]
fn beside_heavy_answers_of_others_a_call_behind_a_long_one_still_comes_to_its_turn() {
    let mut still = Still::new();
    let browser = still.local("extension");
    let one = still.local("client");
    for n in 0..2 {
        ask(&one, n, n + 1, "");
        answer(&browser, &asked(&browser)[0], 8 << 20);
    }
    // Long calls, and short ones behind them.
    ask(&one, 2, 12, "");
    assert!(asked(&browser).len() < 10);
    let other = still.local("client");
    for waited in 0.. {
        assert!(waited < 30, "not asked for in {} ms", waited * 40);
        ask(&other, waited, waited + 1, "");
        let ids = asked(&browser);
        ids.iter().for_each(|id| answer(&browser, id, 4 << 20));
        still.pass(40);
        if !asked(&browser).is_empty() {
            break;
        }
    }
}

/// A slow browser is not given more and more of what it is slow with.
#[test]
fn of_heavy_answers_little_is_asked_for_regardless() {
    let mut still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 100, "");
    let under_way = asked(&browser);
    under_way.iter().for_each(|id| answer(&browser, id, 4 << 20));
    asked(&browser);
    still.pass(60);
    let mut more = asked(&browser).len();
    for _ in 0..4 {
        still.pass(50);
        more += asked(&browser).len();
    }
    assert!((4..=12).contains(&more), "{more} more");
}

#[test]
fn a_client_that_waits_for_many_things_gets_them_all_asked() {
    let mut still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 200, "");
    assert_eq!(asked(&browser).len(), 8);
    for _ in 0..24 {
        still.pass(50);
    }
    assert_eq!(asked(&browser).len(), 192);
}

/// Answers that trickle in do not keep the next request waiting for all of the calls that last.
#[test]
fn who_has_many_long_calls_under_way_is_not_held_up_by_a_trickle_of_light_answers() {
    let mut still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 200, "");
    let mut under_way = VecDeque::from(asked(&browser));
    for _ in 0..24 {
        still.pass(50);
        under_way.extend(asked(&browser));
    }
    assert_eq!(under_way.len(), 200);
    let mut trickle = |still: &mut Still, times: usize| {
        for _ in 0..times {
            answer(&browser, &under_way.pop_front().expect("most are under way"), 100);
            still.pass(20);
        }
        asked(&browser).len()
    };
    trickle(&mut still, 20);
    ask(&client, 0, 1, "");
    assert_eq!(trickle(&mut still, 4), 1);
}

/// Others' heavy answers say nothing against more of what is light.
#[test]
fn who_has_many_light_calls_under_way_is_not_held_up_by_heavy_answers_of_others() {
    let mut still = Still::new();
    let (browser, client, other) = (still.local("extension"), still.local("client"), still.local("client"));
    ask(&client, 0, 200, "");
    let mut under_way = VecDeque::from(asked(&browser));
    for _ in 0..24 {
        still.pass(50);
        under_way.extend(asked(&browser));
    }
    under_way.drain(..20).for_each(|id| answer(&browser, &id, 100));
    // It is known to be light, and has most under way.
    ask(&client, 200, 240, "");
    let mut more = 0;
    for _ in 0..8 {
        still.pass(20);
        ask(&other, 0, 1, "");
        let ids = asked(&browser);
        more += ids.len() - 1;
        answer(&browser, ids.last().expect("the other one's"), 4 << 20);
        still.pass(30);
        more += asked(&browser).len();
    }
    assert_eq!(more, 40);
}

/// What ended by itself is under way no more.
#[test]
fn who_was_light_is_taken_for_a_newcomer_also_after_a_call_that_was_never_answered() {
    let mut still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 1, r#","timeout_ms":50"#);
    asked(&browser);
    still.pass(60);
    for _ in 0..50 {
        ask(&client, 0, 1, "");
        answer(&browser, &asked(&browser)[0], 100);
    }
    ask(&client, 0, 200, "");
    assert_eq!(asked(&browser).len(), 8);
}

#[test]
fn time_runs_while_waiting_for_a_turn() {
    let mut still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 100, r#","timeout_ms":50"#);
    still.pass(60);
    let answers: Vec<_> = std::iter::from_fn(|| client.try_recv()).collect();
    assert_eq!(answers.len(), 100);
    assert!(answers.iter().all(|text| String::from_utf8_lossy(text).contains("TIMEOUT")));
    still.pass(1_000);
    assert_eq!(asked(&browser).len(), 8, "what nobody waits for is not asked");
    ask(&client, 0, 8, "");
    assert_eq!(asked(&browser).len(), 8);
}

/// T113a: what waits is bounded for all clients together, and who asks for more is told.
#[test]
fn what_all_clients_have_waiting_for_their_turn_is_bounded() {
    let still = Still::with(Options { all_incoming: 200_000, ..Options::default() });
    let browser = still.local("extension");
    let params = format!(r#","params":{{"x":"{}"}}"#, "y".repeat(10_000));
    let clients: Vec<End> = (0..4).map(|_| still.local("client")).collect();
    clients.iter().for_each(|client| ask(client, 0, 14, &params));
    let told = |client: &End| {
        let answers: Vec<String> =
            std::iter::from_fn(|| client.try_recv()).map(|text| String::from_utf8(text).unwrap()).collect();
        assert!(answers.iter().all(|text| text.contains(r#""code":"OVERLOADED""#)), "{answers:?}");
        answers.len()
    };
    let refused: usize = clients.iter().map(told).sum();
    let passed = asked(&browser);
    assert_eq!(passed.len() + 9 + refused, 4 * 14, "nine times ten thousand bytes fit");
    // Answers make room.
    passed[..8].iter().for_each(|id| answer(&browser, id, 10));
    assert_eq!(std::iter::from_fn(|| clients[0].try_recv()).count(), 8);
    assert!(!asked(&browser).is_empty());
    ask(&clients[3], 100, 101, &params);
    assert_eq!(told(&clients[3]), 0);
    drop(clients);
    assert_eq!(still.driver.census().incoming, 0);
}

#[test]
fn who_waits_for_a_browser_that_goes_is_told_at_once() {
    let still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 100, "");
    drop(browser);
    let answers: Vec<_> = std::iter::from_fn(|| client.try_recv()).collect();
    assert_eq!(answers.len(), 100);
}

#[test]
fn who_waits_for_a_browser_that_is_replaced_is_asked_of_the_new_one() {
    let still = Still::new();
    let (_browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 60, "");
    let newer = still.local("extension");
    let answers = std::iter::from_fn(|| client.try_recv()).count();
    assert_eq!(answers, 8, "those that may have been carried out");
    assert_eq!(asked(&newer).len(), 8);
}

#[test]
fn a_client_that_leaves_takes_its_turns_with_it() {
    let mut still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 200, "");
    drop(client);
    still.pass(1_000);
    assert_eq!(still.driver.with_hub(|hub| hub.in_flight()), 0);
    assert!(still.driver.queued() < 20_000);
    drop(browser);
    assert_eq!(still.driver.queued(), 0);
}

/// Those that ended in the middle of the queue are no room.
#[test]
fn who_cancels_some_of_what_waits_has_no_more_under_way_for_it() {
    let still = Still::new();
    let (browser, client) = (still.local("extension"), still.local("client"));
    ask(&client, 0, 1000, "");
    let first = asked(&browser);
    assert_eq!(first.len(), 8);
    for n in (9..1000).step_by(2) {
        client.send(format!(r#"{{"type":"cancel","id":"{n}"}}"#).as_bytes());
    }
    for id in &first[..4] {
        answer(&browser, id, 1 << 20);
        assert!(asked(&browser).len() <= 1, "one was answered, one may follow");
    }
}
