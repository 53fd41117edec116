//! Streamable HTTP: sessions, headers, statuses, and when an answer becomes a stream.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::time::Duration;

use bridge_mcp::http::{CallKey, Exchange, Front, FrontConfig, HttpOutput, HttpRequest, Response};
use bridge_mcp::provider::{Answer, BridgeCall};
use bridge_mcp::tools::{BridgeTools, ToolsConfig};
use bridge_mcp::{Config, Seed};
use serde_json::{Value, json};

const JSON: (&str, &str) = ("Content-Type", "application/json");
const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

type Called = (CallKey, Arc<str>, Option<Arc<str>>, BridgeCall);

struct Rig {
    front: Front<BridgeTools>,
    now: Duration,
    responses: Vec<(Exchange, Response)>,
    events: Vec<(Exchange, Vec<u8>)>,
    begun: Vec<Exchange>,
    ended: Vec<Exchange>,
    calls: Vec<Called>,
    cancelled: Vec<CallKey>,
    gone: Vec<Arc<str>>,
}

impl Rig {
    fn new() -> Self {
        Self::with(FrontConfig::default())
    }

    fn with(config: FrontConfig) -> Self {
        let mut first = common::provider(ToolsConfig::default());
        let front = Front::new(config, move || first.fork(), Seed::new([9; 32]));
        Self {
            front,
            now: Duration::from_secs(1),
            responses: Vec::new(),
            events: Vec::new(),
            begun: Vec::new(),
            ended: Vec::new(),
            calls: Vec::new(),
            cancelled: Vec::new(),
            gone: Vec::new(),
        }
    }

    fn send(&mut self, method: &str, headers: &[(&str, &str)], body: &str) -> Exchange {
        let request = HttpRequest { method, headers, body: body.as_bytes(), caller: "me" };
        let exchange = self.front.handle_request(&request, self.now);
        self.drain();
        exchange
    }

    fn post(&mut self, headers: &[(&str, &str)], body: &str) -> Response {
        let all: Vec<_> = [JSON, BOTH].into_iter().chain(headers.iter().copied()).collect();
        let exchange = self.send("POST", &all, body);
        let (of, response) = self.responses.pop().expect("an answer");
        assert_eq!(of, exchange);
        response
    }

    /// A stateless request with all headers it should have.
    fn modern(&mut self, id: u64, method: &str, params: &str) -> Exchange {
        let name =
            serde_json::from_str::<Value>(params).unwrap()["name"].as_str().unwrap_or_default().to_owned();
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let headers = [
            JSON,
            BOTH,
            ("mcp-protocol-version", "2026-07-28"),
            ("MCP-METHOD", method),
            ("Mcp-Name", name.as_str()),
        ];
        let used = if name.is_empty() { &headers[..4] } else { &headers[..] };
        self.send("POST", used, &body)
    }

    fn hello(&mut self) -> String {
        self.hello_of("test").expect("a session")
    }

    /// Begins a session as the client of this name; an answer without one is that it must not.
    fn hello_of(&mut self, name: &str) -> Option<String> {
        let response = self.post(&[], &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}}}}}"#));
        assert!(response.status == 200 || code(&response) == (503, -32603), "{response:?}");
        header(&response, "Mcp-Session-Id")
    }

    /// A call in a session that its page answers at once, or never.
    fn calls_in(&mut self, session: &str, answered: bool) {
        let call = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"click"}}"#;
        self.send("POST", &[JSON, BOTH, ("mcp-session-id", session)], call);
        if answered {
            let (key, ..) = self.calls.pop().expect("a call");
            self.front.handle_answer(
                key,
                Answer::Frame(br#"{"success":true,"result":{}}"#.to_vec()),
                self.now,
            );
            self.drain();
        }
    }

    fn answer(&mut self, frame: &str) {
        let (key, ..) = self.calls.remove(0);
        self.front.handle_answer(key, Answer::Frame(frame.as_bytes().to_vec()), self.now);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.front.poll_output() {
            match output {
                HttpOutput::Respond { exchange, response } => self.responses.push((exchange, response)),
                HttpOutput::Begin { exchange, headers } => {
                    assert!(headers.contains(&("Content-Type", "text/event-stream".to_owned())));
                    self.begun.push(exchange);
                }
                HttpOutput::Event { exchange, data } => self.events.push((exchange, data)),
                HttpOutput::End { exchange } => self.ended.push(exchange),
                HttpOutput::Call { key, caller, session, request, .. } => {
                    self.calls.push((key, caller, session, request))
                }
                HttpOutput::Cancel { key } => self.cancelled.push(key),
                HttpOutput::Ended { session, .. } => self.gone.push(session),
                HttpOutput::Save { .. } | HttpOutput::Told { .. } => {}
            }
        }
    }
}

fn header(response: &Response, name: &str) -> Option<String> {
    response.headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
}

fn code(response: &Response) -> (u16, i64) {
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    (response.status, body["error"]["code"].as_i64().unwrap_or(0))
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn a_handshake_begins_a_session_that_later_requests_name() {
    let mut rig = Rig::new();
    let session = rig.hello();
    assert!(session.len() == 32 && session.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let response = rig.post(&[("mcp-session-id", &session)], note);
    assert_eq!((response.status, response.body.len()), (202, 0));
    assert_eq!(
        rig.post(&[("mcp-session-id", &session), ("mcp-protocol-version", "2025-11-25")], PING).status,
        200
    );
    assert_eq!(code(&rig.post(&[], PING)), (400, -32600));
    assert_eq!(code(&rig.post(&[("mcp-session-id", "nope")], PING)), (404, -32600));
    assert_ne!(rig.hello(), session);
    assert_eq!(rig.front.sessions(), 2);
}

#[test]
fn a_session_belongs_to_who_began_it() {
    let mut rig = Rig::new();
    let session = rig.hello();
    let headers = [JSON, BOTH, ("mcp-session-id", session.as_str())];
    let request =
        HttpRequest { method: "POST", headers: &headers, body: PING.as_bytes(), caller: "somebody else" };
    rig.front.handle_request(&request, rig.now);
    rig.drain();
    assert_eq!(rig.responses.pop().unwrap().1.status, 404);
}

#[test]
fn a_deleted_session_is_gone_and_its_calls_given_up() {
    let mut rig = Rig::new();
    let session = rig.hello();
    let waiting = rig.send(
        "POST",
        &[JSON, BOTH, ("mcp-session-id", &session)],
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"click"}}"#,
    );
    assert_eq!(rig.calls[0].2.as_deref(), Some(session.as_str()));
    rig.send("DELETE", &[("mcp-session-id", &session)], "");
    let statuses: Vec<_> =
        rig.responses.drain(..).map(|(exchange, response)| (exchange == waiting, response.status)).collect();
    assert_eq!(statuses, [(true, 404), (false, 204)], "who waits in it is told that it is gone");
    assert_eq!((rig.cancelled.len(), rig.gone.len()), (1, 1));
    assert_eq!(rig.post(&[("mcp-session-id", &session)], PING).status, 404);
    rig.send("DELETE", &[("mcp-session-id", &session)], "");
    assert_eq!(rig.responses.pop().unwrap().1.status, 404);
    rig.answer(r#"{"success":true,"result":{}}"#);
    assert!(rig.responses.is_empty());
}

#[test]
fn idle_sessions_expire_and_the_idlest_makes_room() {
    let mut rig =
        Rig::with(FrontConfig { max_sessions: 2, idle: Duration::from_secs(100), ..FrontConfig::default() });
    let first = rig.hello();
    rig.now += Duration::from_secs(10);
    let second = rig.hello();
    rig.now += Duration::from_secs(10);
    rig.post(&[("mcp-session-id", &first)], PING);
    let third = rig.hello();
    assert_eq!(rig.gone.iter().map(|name| name.to_string()).collect::<Vec<_>>(), [second]);
    assert_eq!(rig.front.poll_timeout(), Some(rig.now + Duration::from_secs(100)), "nothing is open");
    rig.now += Duration::from_secs(50);
    rig.post(&[("mcp-session-id", &third)], PING);
    rig.now += Duration::from_secs(50);
    rig.front.handle_timeout(rig.now);
    rig.drain();
    assert_eq!(rig.gone.last().unwrap().to_string(), first);
    assert_eq!(rig.front.sessions(), 1);
}

/// A client that begins a session a call and never ends one, beside an honest one that rests.
#[test]
fn a_client_that_begins_sessions_without_end_costs_others_none() {
    let few = || FrontConfig { max_sessions: 8, max_sessions_client: 6, ..FrontConfig::default() };
    let mut rig = Rig::with(few());
    let honest = rig.hello_of("honest").unwrap();
    rig.calls_in(&honest, true);
    for _ in 0..50 {
        rig.now += Duration::from_secs(1);
        let session = rig.hello_of("careless").unwrap();
        rig.calls_in(&session, true);
    }
    assert_eq!(rig.front.sessions(), 7, "its share, and the honest one's");
    assert_eq!(rig.post(&[("mcp-session-id", &honest)], PING).status, 200);
    // Many that begin and then do nothing go before one that has done something, whatever they call themselves.
    for other in 0..50 {
        rig.now += Duration::from_secs(1);
        rig.hello_of(&format!("prober-{other}")).unwrap();
    }
    assert_eq!((rig.front.sessions(), rig.post(&[("mcp-session-id", &honest)], PING).status), (8, 200));
}

/// A client all of whose sessions hang, beside others that come.
#[test]
fn a_client_whose_sessions_are_all_busy_keeps_nobody_else_out() {
    let mut rig =
        Rig::with(FrontConfig { max_sessions: 8, max_sessions_client: 6, ..FrontConfig::default() });
    for _ in 0..6 {
        let session = rig.hello_of("hung").unwrap();
        rig.calls_in(&session, false);
    }
    assert_eq!(rig.hello_of("hung"), None, "its share is taken");
    let response = rig.hello_of("honest").unwrap();
    rig.calls_in(&response, true);
    for _ in 0..20 {
        assert!(rig.hello_of("another").is_some());
    }
    assert_eq!(rig.post(&[("mcp-session-id", &response)], PING).status, 200);
    assert_eq!(rig.front.sessions(), 8);
}

/// Stateless requests share one session; whose calls hang there costs no other caller its own.
#[test]
fn a_stateless_caller_with_too_many_calls_keeps_nobody_else_out() {
    let config = Config { max_in_flight: 3, ..Config::default() };
    let mut rig = Rig::with(FrontConfig { session: config, ..FrontConfig::default() });
    let click = format!(r#"{{"name":"click","_meta":{META}}}"#);
    for id in 0..3 {
        rig.modern(id, "tools/call", &click);
    }
    rig.modern(3, "tools/call", &click);
    assert_eq!((rig.calls.len(), code(&rig.responses.pop().unwrap().1)), (3, (200, -32603)));
    rig.modern(4, "tools/list", &format!(r#"{{"_meta":{META}}}"#));
    assert_eq!(code(&rig.responses.pop().unwrap().1), (200, 0), "what is answered at once is answered");
    let headers = [
        JSON,
        BOTH,
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "click"),
    ];
    let body = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{click}}}"#);
    let other =
        HttpRequest { method: "POST", headers: &headers, body: body.as_bytes(), caller: "somebody else" };
    rig.front.handle_request(&other, rig.now);
    rig.drain();
    assert_eq!((rig.calls.len(), rig.responses.len()), (4, 0), "a call of its own is under way");
}

#[test]
fn whoever_waits_when_all_sessions_end_is_told() {
    let mut rig = Rig::new();
    let session = rig.hello();
    rig.calls_in(&session, false);
    rig.responses.clear();
    rig.front.end_sessions();
    rig.drain();
    assert_eq!((code(&rig.responses[0].1), rig.front.open(), rig.front.sessions()), ((404, -32600), 0, 0));
    assert_eq!(rig.cancelled.len(), 1);
}

#[test]
fn a_busy_front_refuses_rather_than_forgets() {
    let config = Config { max_in_flight: 8, ..Config::default() };
    let mut rig = Rig::with(FrontConfig {
        max_sessions: 1,
        session: config,
        max_exchanges: 2,
        ..FrontConfig::default()
    });
    let session = rig.hello();
    let call = r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"click"}}"#;
    rig.send("POST", &[JSON, BOTH, ("mcp-session-id", &session)], &call.replace("ID", "1"));
    let response = rig.post(
        &[],
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    );
    assert_eq!(code(&response), (503, -32603));
    rig.send("POST", &[JSON, BOTH, ("mcp-session-id", &session)], &call.replace("ID", "2"));
    assert_eq!(code(&rig.post(&[("mcp-session-id", &session)], PING)), (503, -32603));
    assert_eq!(rig.front.open(), 2);
}

#[test]
fn a_failed_handshake_leaves_no_session() {
    let mut rig = Rig::new();
    let response = rig.post(&[], r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    assert_eq!((code(&response), rig.front.sessions()), ((400, -32602), 0));
}

#[test]
fn what_the_door_should_not_have_let_in_is_refused_by_status() {
    let mut rig = Rig::with(FrontConfig {
        session: Config { max_message: 100, ..Config::default() },
        ..FrontConfig::default()
    });
    for (headers, body, status) in [
        (vec![("Content-Type", "text/plain"), BOTH], PING.to_owned(), 415),
        (vec![BOTH], PING.to_owned(), 415),
        (vec![JSON, ("Accept", "text/html")], PING.to_owned(), 406),
        (vec![JSON, BOTH], "x".repeat(200), 413),
        (vec![JSON, BOTH], "{".to_owned(), 400),
        (vec![JSON, BOTH], "[]".to_owned(), 400),
        (vec![JSON, BOTH, ("mcp-session-id", "a"), ("Mcp-Session-Id", "b")], PING.to_owned(), 400),
        (
            vec![("content-type", "Application/JSON; charset=utf-8"), ("mcp-session-id", "a")],
            PING.to_owned(),
            404,
        ),
    ] {
        rig.send("POST", &headers, &body);
        assert_eq!(rig.responses.pop().unwrap().1.status, status, "{headers:?} {body}");
    }
    for method in ["GET", "PUT", "OPTIONS", "HEAD"] {
        rig.send(method, &[], "");
        let (_, response) = rig.responses.pop().unwrap();
        assert_eq!((response.status, header(&response, "Allow").as_deref()), (405, Some("POST, DELETE")));
    }
    let body = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}";
    rig.front
        .handle_request(&HttpRequest { method: "POST", headers: &[JSON, BOTH], body, caller: "me" }, rig.now);
    rig.drain();
    assert_eq!(rig.responses.pop().unwrap().1.status, 400);
    assert_eq!(rig.front.open(), 0);
}

#[test]
fn stateless_requests_need_no_session_and_ids_may_be_equal() {
    let mut rig = Rig::new();
    let params = format!(r#"{{"name":"click","_meta":{META}}}"#);
    let (one, two) = (rig.modern(1, "tools/call", &params), rig.modern(1, "tools/call", &params));
    assert_eq!((rig.calls.len(), rig.calls[0].2.is_none(), rig.calls[0].1.as_ref()), (2, true, "me"));
    rig.calls.reverse();
    rig.answer(r#"{"success":true,"result":{"tab_id":2}}"#);
    rig.answer(r#"{"success":true,"result":{"tab_id":1}}"#);
    let order: Vec<_> = rig.responses.iter().map(|(exchange, _)| *exchange).collect();
    assert_eq!(order, [two, one]);
    assert!(
        rig.responses
            .iter()
            .all(|(_, response)| response.status == 200 && header(response, "Mcp-Session-Id").is_none())
    );
}

#[test]
fn headers_that_differ_from_the_body_are_refused() {
    let mut rig = Rig::new();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"click","_meta":{META}}}}}"#
    );
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let method = ("Mcp-Method", "tools/call");
    for (headers, what) in [
        (vec![method, ("Mcp-Name", "click")], "MCP-Protocol-Version is missing"),
        (vec![("MCP-Protocol-Version", "2025-11-25"), method], "differs from _meta"),
        (vec![version, ("Mcp-Name", "click")], "Mcp-Method is missing"),
        (vec![version, ("Mcp-Method", "Tools/Call"), ("Mcp-Name", "click")], "differs from the method"),
        (vec![version, method], "Mcp-Name is missing"),
        (vec![version, method, ("Mcp-Name", "run_script")], "differs from the params"),
        (vec![version, method, ("Mcp-Name", "=?base64?***?=")], "malformed"),
        (vec![version, method, ("Mcp-Name", "cl\u{e9}ck")], "malformed"),
        (vec![version, method, ("Mcp-Name", "click"), ("mcp-name", "run_script")], "more than once"),
    ] {
        let response = rig.post(&headers, &call);
        assert_eq!(code(&response), (400, -32020), "{headers:?}");
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert!(body["error"]["message"].as_str().unwrap().contains(what) && body["id"] == 1, "{body}");
    }
    assert!(rig.calls.is_empty());
    rig.send("POST", &[JSON, BOTH, version, method, ("Mcp-Name", "=?base64?Y2xpY2s=?=")], &call);
    assert_eq!(rig.calls.len(), 1);
}

#[test]
fn modern_failures_have_the_status_of_their_code() {
    let mut rig = Rig::new();
    let other = META.replace("2026-07-28", "2099-01-01");
    for (version, method, params, wanted) in [
        ("2099-01-01", "tools/list", format!(r#"{{"_meta":{other}}}"#), (400, -32022)),
        ("1900-01-01", "tools/list", "{}".to_owned(), (400, -32022)),
        ("2026-07-28", "tools/list", "{}".to_owned(), (400, -32602)),
        ("2026-07-28", "initialize", format!(r#"{{"_meta":{META}}}"#), (404, -32601)),
        ("2026-07-28", "no/such", format!(r#"{{"_meta":{META}}}"#), (404, -32601)),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let response = rig.post(&[("MCP-Protocol-Version", version), ("Mcp-Method", method)], &body);
        assert_eq!(code(&response), wanted, "{version} {method}");
    }
    let version = ("MCP-Protocol-Version", "2026-07-28");
    assert_eq!(code(&rig.post(&[version], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)), (400, -32600));
    assert_eq!(code(&rig.post(&[version], &format!("[{PING}]"))), (400, -32600));
    assert_eq!(
        rig.post(
            &[version],
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#
        )
        .status,
        202
    );
}

#[test]
fn an_answer_is_a_stream_only_once_progress_comes_before_it() {
    let mut rig = Rig::new();
    let session = rig.hello();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"click","_meta":{"progressToken":"p"}}}"#;
    let exchange = rig.send("POST", &[JSON, BOTH, ("mcp-session-id", &session)], call);
    rig.now += Duration::from_secs(1);
    rig.front.handle_timeout(rig.now);
    rig.drain();
    assert_eq!((rig.begun.as_slice(), rig.ended.len()), ([exchange].as_slice(), 0));
    rig.answer(r#"{"success":true,"result":{}}"#);
    assert_eq!(rig.ended, [exchange]);
    let events: Vec<_> =
        rig.events.iter().map(|(_, data)| String::from_utf8(data.clone()).unwrap()).collect();
    assert!(
        events[0]
            .starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"")
    );
    assert!(
        events[1].starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,")
            && events[1].ends_with("}\n\n")
    );
    assert!(rig.responses.is_empty() && rig.front.open() == 0);
    // A client that takes no streams gets its answer without.
    let plain = rig.send("POST", &[JSON, ("Accept", "application/json"), ("mcp-session-id", &session)], call);
    rig.now += Duration::from_secs(5);
    rig.front.handle_timeout(rig.now);
    rig.drain();
    rig.answer(r#"{"success":true,"result":{}}"#);
    assert_eq!((rig.responses.pop().unwrap().0, rig.events.len()), (plain, 2));
    // And one that takes nothing else gets a stream at once.
    let stream =
        rig.send("POST", &[JSON, ("Accept", "text/event-stream"), ("mcp-session-id", &session)], PING);
    assert_eq!((rig.begun.last(), rig.ended.last()), (Some(&stream), Some(&stream)));
}

#[test]
fn hanging_up_cancels_a_stateless_call_and_no_other() {
    let mut rig = Rig::new();
    let session = rig.hello();
    let legacy = rig.send(
        "POST",
        &[JSON, BOTH, ("mcp-session-id", &session)],
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"click"}}"#,
    );
    let modern = rig.modern(5, "tools/call", &format!(r#"{{"name":"click","_meta":{META}}}"#));
    for exchange in [legacy, modern] {
        rig.front.handle_gone(exchange, rig.now);
        rig.drain();
    }
    assert_eq!(rig.cancelled, [rig.calls[1].0]);
    rig.answer(r#"{"success":true,"result":{}}"#);
    assert_eq!((rig.responses.len(), rig.front.open()), (0, 0));
    rig.send(
        "POST",
        &[JSON, BOTH, ("mcp-session-id", &session)],
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"click"}}"#,
    );
    assert_eq!(
        rig.post(
            &[("mcp-session-id", &session)],
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}"#
        )
        .status,
        202
    );
    assert_eq!(rig.cancelled.len(), 2);
}

#[test]
fn batches_of_the_one_revision_that_has_them_are_one_answer() {
    let mut rig = Rig::new();
    let response = rig.post(
        &[],
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#,
    );
    let session = header(&response, "Mcp-Session-Id").unwrap();
    let response = rig.post(&[("mcp-session-id", &session)], &format!("[{PING},{PING}]"));
    assert_eq!(
        (response.status, serde_json::from_slice::<Value>(&response.body).unwrap().as_array().unwrap().len()),
        (200, 2)
    );
    let note = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    assert_eq!(rig.post(&[("mcp-session-id", &session)], note).status, 202);
}

#[test]
fn everything_ends_as_json() {
    let mut rig = Rig::new();
    let exchange = rig.modern(1, "server/discover", &format!(r#"{{"_meta":{META}}}"#));
    let (of, response) = rig.responses.pop().unwrap();
    assert_eq!((of, header(&response, "Content-Type").as_deref()), (exchange, Some("application/json")));
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(
        body["result"]["supportedVersions"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    );
}

#[test]
fn a_long_call_is_kept_alive_without_a_progress_token() {
    let mut rig = Rig::new();
    let exchange = rig.modern(1, "tools/call", &format!(r#"{{"name":"click","_meta":{META}}}"#));
    assert_eq!(rig.front.poll_timeout(), Some(rig.now + Duration::from_secs(15)));
    for _ in 0..2 {
        rig.now += Duration::from_secs(15);
        rig.front.handle_timeout(rig.now);
        rig.drain();
    }
    assert_eq!((rig.begun.as_slice(), rig.events.len()), ([exchange].as_slice(), 2));
    assert!(rig.events.iter().all(|(_, data)| data == b":\n\n"));
    rig.answer(r#"{"success":true,"result":{}}"#);
    assert_eq!((rig.events.len(), rig.ended.as_slice()), (3, [exchange].as_slice()));
    assert_eq!(rig.front.poll_timeout(), None);
}
