//! A session of the bridge's tools, driven by hand in virtual time.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::time::Duration;

use bridge_mcp::provider::{Answer, BridgeCall, SaveFile};
use bridge_mcp::tools::{BridgeTools, ToolSet, Tools, ToolsConfig};
use bridge_mcp::{CallId, Config, Lane, Output, Seed, Sent, Session};
use serde_json::{Value, json};

pub use bridge_catalogue::JSON as CATALOGUE;

pub fn tools(set: &str) -> Arc<Tools> {
    Arc::new(Tools::new(CATALOGUE, &ToolSet::parse(set)).unwrap())
}

pub fn provider(config: ToolsConfig) -> BridgeTools {
    BridgeTools::new(Arc::new(config), tools("all"), Seed::new([7; 32]))
}

/// A session and what came out of it.
pub struct Rig {
    pub session: Session<BridgeTools>,
    pub now: Duration,
    pub sent: Vec<String>,
    pub calls: Vec<(CallId, BridgeCall)>,
    pub cancelled: Vec<CallId>,
    pub files: Vec<(CallId, SaveFile)>,
}

impl Rig {
    pub fn new() -> Self {
        Self::with(Config::default(), ToolsConfig::default())
    }

    pub fn with(config: Config, tools: ToolsConfig) -> Self {
        let session = Session::new(config, provider(tools));
        let (sent, calls, cancelled, files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { session, now: Duration::ZERO, sent, calls, cancelled, files }
    }

    /// One that has shaken hands.
    pub fn open(version: &str) -> Self {
        let mut rig = Self::new();
        rig.hello(version);
        rig
    }

    pub fn hello(&mut self, version: &str) {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.say(
            &json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params}).to_string(),
        );
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.sent.clear();
    }

    pub fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    pub fn say_bytes(&mut self, line: &[u8]) {
        self.session.handle_message(Lane(0), line, self.now);
        self.drain();
    }

    /// A tool call with this id; nothing answers it yet.
    pub fn call(&mut self, id: u64, name: &str, arguments: Value) {
        let params = json!({"name": name, "arguments": arguments});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string());
    }

    /// Answers the oldest call.
    pub fn answer(&mut self, frame: Value) {
        self.answer_text(frame.to_string());
    }

    pub fn answer_text(&mut self, frame: impl Into<String>) {
        let (call, _) = self.calls.remove(0);
        self.session.handle_answer(call, Answer::Frame(frame.into().into_bytes()));
        self.drain();
    }

    /// Calls a tool, answers with this result and gives what the client gets.
    pub fn result(&mut self, name: &str, result: Value) -> Value {
        self.call(900, name, json!({}));
        self.answer(json!({"id": "x", "success": true, "result": result}));
        self.last()["result"].clone()
    }

    /// The text of the first block of such a result.
    pub fn text(&mut self, name: &str, result: Value) -> String {
        self.result(name, result)["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.session.handle_timeout(self.now);
        self.drain();
    }

    /// The last message for the client.
    pub fn last(&self) -> Value {
        serde_json::from_str(self.sent.last().expect("something was sent")).unwrap()
    }

    pub fn drain(&mut self) {
        while let Some(output) = self.session.poll_output() {
            match output {
                Output::Send { message, kind, .. } => {
                    assert!(matches!(kind, Sent::Reply(_) | Sent::Notice));
                    self.sent.push(String::from_utf8(message).unwrap());
                }
                Output::Call { call, request, .. } => self.calls.push((call, request)),
                Output::Cancel { call } => self.cancelled.push(call),
                Output::Save { call, file } => self.files.push((call, file)),
                Output::Told { .. } | Output::Silent { .. } => {}
            }
        }
    }
}

/// The mark at the head of a block of page text.
pub fn boundary(text: &str) -> String {
    let rest = text.strip_prefix("[[page:").expect("a marked block");
    rest.split_once("]]").unwrap().0.to_owned()
}
