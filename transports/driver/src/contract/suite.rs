//! The behaviours. Each takes a world of its own; none of them waits for time to pass.

use super::world::{End, World};
use crate::Clock;
use std::time::Duration;

type Ended = Box<dyn End>;

/// Runs every behaviour, each in a world of its own that `make` makes.
pub async fn all<C: Clock, F: Future<Output = World<C>>>(make: impl Fn() -> F) {
    hello_is_silent_and_ping_is_answered(make().await).await;
    what_is_no_hello_is_refused(make().await).await;
    a_request_reaches_the_browser_and_its_answer_comes_back(make().await).await;
    the_host_may_refuse_replace_answer_and_hold(make().await).await;
    without_a_browser_the_answer_says_so(make().await).await;
    equal_ids_of_two_clients_never_mix(make().await).await;
    a_takeover_answers_at_once(make().await).await;
    a_lost_browser_answers_at_once(make().await).await;
    a_client_that_leaves_is_forgotten(make().await).await;
    a_message_in_pieces_is_one_message(make().await).await;
    a_large_answer_arrives_byte_for_byte(make().await).await;
    many_messages_at_once_keep_their_order(make().await).await;
    a_call_past_its_time_is_answered(make().await).await;
    cancelling_answers_and_tells_the_browser(make().await).await;
    shutting_down_answers_everybody(make().await).await;
    implicit_hello(make().await).await;
    a_half_closed_client_still_gets_its_answer(make().await).await;
}

/// A hello of the first protocol is accepted without a word; `ping` is the hub's own.
pub async fn hello_is_silent_and_ping_is_answered<C: Clock>(world: World<C>) {
    for role in ["client", "extension"] {
        let mut end = greeted(&world, role).await;
        ping(&mut end).await;
    }
}

/// Anything else than a hello gets an error and the end.
pub async fn what_is_no_hello_is_refused<C: Clock>(world: World<C>) {
    let mut end = (world.connect)().await;
    end.send(r#"{"type":"greetings"}"#).await;
    expect(&mut end, &[r#""type":"error""#, "hello"]).await;
    assert_eq!(end.recv().await, None);
    let mut end = (world.connect)().await;
    end.send(r#"{"type":"hello","role":"admin"}"#).await;
    expect(&mut end, &["hello must declare role"]).await;
    assert_eq!(end.recv().await, None);
}

/// The usual way, and the envelope holds what it must.
pub async fn a_request_reaches_the_browser_and_its_answer_comes_back<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    client.send(r#"{"id":"a","method":"list_tabs","params":{"x":[1, 2]}}"#).await;
    let asked = expect(&mut browser, &[r#""method":"list_tabs""#, r#""params":{"x":[1, 2]}"#]).await;
    answer(&mut browser, &asked, r#"{"tabs":[]}"#).await;
    assert_eq!(client.recv().await.as_deref(), Some(r#"{"id":"a","success":true,"result":{"tabs":[]}}"#));
}

/// The host's judgement stands between the two.
pub async fn the_host_may_refuse_replace_answer_and_hold<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    client.send(r#"{"id":"1","method":"forbidden"}"#).await;
    expect(&mut client, &[r#""id":"1""#, "not here", "PERMISSION_DENIED"]).await;
    client.send(r#"{"id":"2","method":"answered"}"#).await;
    expect(&mut client, &[r#""id":"2""#, r#"{"by":"host"}"#]).await;
    client.send(r#"{"id":"3","method":"held"}"#).await;
    expect(&mut client, &[r#""id":"3""#, "DENIED_BY_USER"]).await;
    client.send(r#"{"id":"4","method":"held","params":{"then":"complete"}}"#).await;
    expect(&mut client, &[r#""id":"4""#, r#""result":true"#]).await;
    client.send(r#"{"id":"5","method":"held","params":{"then":"release"}}"#).await;
    let asked = expect(&mut browser, &[r#""method":"released""#]).await;
    answer(&mut browser, &asked, "5").await;
    expect(&mut client, &[r#""id":"5""#, r#""result":5"#]).await;
    client.send(r#"{"id":"6","method":"replaced","params":{"by":"client"}}"#).await;
    let asked = expect(&mut browser, &[r#""params":{"by":"host"}"#]).await;
    answer(&mut browser, &asked, "6").await;
    expect(&mut client, &[r#""id":"6""#]).await;
}

/// Nobody to ask is an answer too.
pub async fn without_a_browser_the_answer_says_so<C: Clock>(world: World<C>) {
    let mut client = greeted(&world, "client").await;
    client.send(r#"{"id":"1","method":"list_tabs"}"#).await;
    expect(&mut client, &["no extension connected", "NO_EXTENSION"]).await;
}

/// Two clients, the same ids, answers in the other order.
pub async fn equal_ids_of_two_clients_never_mix<C: Clock>(world: World<C>) {
    let (mut browser, mut first) = both(&world).await;
    let mut second = greeted(&world, "client").await;
    for round in 0..20 {
        first.send(r#"{"id":"x","method":"m","params":{"of":1}}"#).await;
        let one = expect(&mut browser, &[r#"{"of":1}"#]).await;
        second.send(r#"{"id":"x","method":"m","params":{"of":2}}"#).await;
        let two = expect(&mut browser, &[r#"{"of":2}"#]).await;
        let order = if round % 2 == 0 { [(&two, 2), (&one, 1)] } else { [(&one, 1), (&two, 2)] };
        for (asked, of) in order {
            answer(&mut browser, asked, &of.to_string()).await;
        }
        expect(&mut first, &[r#""id":"x""#, r#""result":1"#]).await;
        expect(&mut second, &[r#""id":"x""#, r#""result":2"#]).await;
    }
}

/// A newer connection of the same browser.
pub async fn a_takeover_answers_at_once<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    for n in 0..64 {
        client.send(&format!(r#"{{"id":"{n}","method":"m"}}"#)).await;
        expect(&mut browser, &[r#""method":"m""#]).await;
    }
    let mut newer = greeted(&world, "extension").await;
    for n in 0..64 {
        expect(&mut client, &[&format!(r#""id":"{n}""#), "extension replaced by a new connection"]).await;
    }
    while browser.recv().await.is_some() {}
    if world.ends.codes {
        assert_eq!(browser.code(), Some(4001));
    }
    client.send(r#"{"id":"after","method":"m"}"#).await;
    let asked = expect(&mut newer, &[r#""method":"m""#]).await;
    answer(&mut newer, &asked, "1").await;
    expect(&mut client, &[r#""id":"after""#, r#""success":true"#]).await;
}

/// The browser is gone without a word.
pub async fn a_lost_browser_answers_at_once<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    for n in 0..64 {
        client.send(&format!(r#"{{"id":"{n}","method":"m"}}"#)).await;
        expect(&mut browser, &[r#""method":"m""#]).await;
    }
    drop(browser);
    for n in 0..64 {
        expect(&mut client, &[&format!(r#""id":"{n}""#), "extension disconnected"]).await;
    }
}

/// Its late answer goes nowhere, and the browser is not harmed by it.
pub async fn a_client_that_leaves_is_forgotten<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    let mut other = greeted(&world, "client").await;
    client.send(r#"{"id":"1","method":"m"}"#).await;
    let asked = expect(&mut browser, &[r#""method":"m""#]).await;
    drop(client);
    other.send(r#"{"id":"1","method":"n"}"#).await;
    let second = expect(&mut browser, &[r#""method":"n""#]).await;
    answer(&mut browser, &asked, "1").await;
    answer(&mut browser, &second, "2").await;
    expect(&mut other, &[r#""id":"1""#, r#""result":2"#]).await;
}

/// However the stream is cut.
pub async fn a_message_in_pieces_is_one_message<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    client.send_in_pieces(r#"{"id":"1","method":"m","params":{"text":"drei Stücke"}}"#).await;
    let asked = expect(&mut browser, &["drei Stücke"]).await;
    let id = id_of(&asked);
    browser.send_in_pieces(&format!(r#"{{"id":"{id}","success":true,"result":"ganz"}}"#)).await;
    assert_eq!(client.recv().await.as_deref(), Some(r#"{"id":"1","success":true,"result":"ganz"}"#));
}

/// From the largest that is copied to many times the queues' size.
pub async fn a_large_answer_arrives_byte_for_byte<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    for size in [100, 32 << 10, 70 << 10, 300 << 10, 3 << 20] {
        client.send(r#"{"id":"big","method":"m"}"#).await;
        let asked = expect(&mut browser, &[r#""method":"m""#]).await;
        let data: String = (0..size).map(|n| char::from(b'a' + (n * 7 % 26) as u8)).collect();
        let result = format!(r#"{{"data":"{data}é"}}"#);
        let (_, received) = futures::join!(answer(&mut browser, &asked, &result), client.recv());
        let expected = format!(r#"{{"id":"big","success":true,"result":{result}}}"#);
        assert!(received.as_deref() == Some(&expected), "an answer of {size} bytes changed on its way");
    }
}

/// A burst, faster than the other side reads.
pub async fn many_messages_at_once_keep_their_order<C: Clock>(world: World<C>) {
    const COUNT: usize = 500;
    let (mut browser, mut client) = both(&world).await;
    let ask = async {
        for n in 0..COUNT {
            client.send(&format!(r#"{{"id":"{n}","method":"m","params":{{"n":{n}}}}}"#)).await;
        }
        for n in 0..COUNT {
            expect(&mut client, &[&format!(r#""id":"{n}","#), &format!(r#""result":{n}"#)]).await;
        }
    };
    let serve = async {
        for n in 0..COUNT {
            let asked = expect(&mut browser, &[&format!(r#"{{"n":{n}}}"#)]).await;
            answer(&mut browser, &asked, &n.to_string()).await;
        }
    };
    futures::join!(ask, serve);
}

/// The deadline is the client's own.
pub async fn a_call_past_its_time_is_answered<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    client.send(r#"{"id":"1","method":"m","timeout_ms":20}"#).await;
    let asked = expect(&mut browser, &[r#""method":"m""#]).await;
    expect(&mut client, &[r#""id":"1""#, "timeout: extension did not respond", "TIMEOUT"]).await;
    answer(&mut browser, &asked, "1").await;
    // The late answer is dropped: the next message is another one's.
    ping(&mut client).await;
}

/// With a browser of protocol 2 in the world it would be told; here the client is answered, once.
pub async fn cancelling_answers_and_tells_the_browser<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    client.send(r#"{"id":"1","method":"m"}"#).await;
    let asked = expect(&mut browser, &[r#""method":"m""#]).await;
    client.send(r#"{"type":"cancel","id":"1"}"#).await;
    expect(&mut client, &[r#""id":"1""#, "CANCELLED"]).await;
    answer(&mut browser, &asked, "1").await;
    ping(&mut client).await;
}

/// Everybody is answered, told, and gone; also one that never lets go.
pub async fn shutting_down_answers_everybody<C: Clock>(world: World<C>) {
    let (mut browser, mut client) = both(&world).await;
    let silent = greeted(&world, "client").await;
    for n in 0..50 {
        client.send(&format!(r#"{{"id":"{n}","method":"m"}}"#)).await;
        expect(&mut browser, &[r#""method":"m""#]).await;
    }
    let shutdown = world.driver.shutdown(Duration::from_secs(2));
    let rest = async {
        for n in 0..50 {
            expect(&mut client, &[&format!(r#""id":"{n}""#), "SHUTTING_DOWN"]).await;
        }
        assert_eq!(client.recv().await, None);
        assert_eq!(browser.recv().await, None);
        if world.ends.codes {
            assert_eq!((client.code(), browser.code()), (Some(1001), Some(1001)));
        }
        drop((client, browser));
    };
    futures::join!(shutdown, rest);
    drop(silent);
    assert_eq!(world.driver.with_hub(|hub| hub.connections().count()), 0);
}

/// Where the transport has it: a request as the first message.
pub async fn implicit_hello<C: Clock>(world: World<C>) {
    if !world.ends.implicit_hello {
        return;
    }
    let mut client = (world.connect)().await;
    client.send(r#"{"id":"1","method":"ping"}"#).await;
    expect(&mut client, &[r#""id":"1""#, "pong"]).await;
}

/// Where the transport has it: `printf … | nc -U` gets its answer, then the end.
pub async fn a_half_closed_client_still_gets_its_answer<C: Clock>(world: World<C>) {
    if !world.ends.half_close {
        return;
    }
    let (mut browser, mut client) = both(&world).await;
    client.send(r#"{"id":"1","method":"m"}"#).await;
    client.half_close().await;
    let asked = expect(&mut browser, &[r#""method":"m""#]).await;
    answer(&mut browser, &asked, "1").await;
    expect(&mut client, &[r#""id":"1""#, r#""result":1"#]).await;
    assert_eq!(client.recv().await, None);
}

/// A connection that has said hello, and of which the hub knows.
async fn greeted<C: Clock>(world: &World<C>, role: &str) -> Ended {
    let mut end = (world.connect)().await;
    end.send(&format!(r#"{{"type":"hello","role":"{role}","name":"suite"}}"#)).await;
    ping(&mut end).await;
    end
}

async fn both<C: Clock>(world: &World<C>) -> (Ended, Ended) {
    (greeted(world, "extension").await, greeted(world, "client").await)
}

async fn ping(end: &mut Ended) {
    end.send(r#"{"id":"sync","method":"ping"}"#).await;
    expect(end, &[r#""id":"sync""#, r#""pong":true"#]).await;
}

/// The next message, which must hold all of these.
async fn expect(end: &mut Ended, parts: &[&str]) -> String {
    let message = end.recv().await;
    let text = message.clone().unwrap_or_default();
    for part in parts {
        assert!(text.contains(part), "expected {part} in {message:?}");
    }
    text
}

/// The id the hub gave a request.
fn id_of(request: &str) -> &str {
    request.strip_prefix(r#"{"id":""#).and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

async fn answer(browser: &mut Ended, request: &str, result: &str) {
    let id = id_of(request);
    browser.send(&format!(r#"{{"id":"{id}","success":true,"result":{result}}}"#)).await;
}
