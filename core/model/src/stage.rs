//! A hub with a proven browser and a client, ready for calls: the common start of counts and benchmarks.

use bridge_core::{
    Config, ConnId, Connection, Door, Forward, Hub, Inspected, Instant, Keyring, Output, Peer, Pending, Role,
    Secrets, Trust,
};

use crate::render::{KEY_ID, TOKEN};

/// One paired key for every role, and one token.
#[derive(Debug, Clone, Default)]
pub struct Keys;

impl Keyring for Keys {
    fn key(&self, _role: Role, key_id: &str) -> Option<[u8; 32]> {
        (key_id == KEY_ID).then_some([7; 32])
    }
    fn token_matches(&self, token: &str) -> bool {
        token == TOKEN
    }
    fn policy(&self) -> &str {
        "{\"paused\":false}"
    }
}

/// The hub of benchmarks: as many slots as a daemon on a desk needs.
pub type StageHub = Hub<[Connection; 64], [Pending; 256], Keys>;

/// A hub with a proven extension and a client of protocol 2.
pub struct Stage {
    /// The hub.
    pub hub: Box<StageHub>,
    /// The browser.
    pub extension: ConnId,
    /// Who asks.
    pub client: ConnId,
    /// The present.
    pub now: Instant,
}

impl Stage {
    /// Ready for calls.
    pub fn new() -> Self {
        let now = Instant::from_millis(1_000);
        let secrets = Secrets { seed: [1; 32], resume: [2; 32] };
        let mut hub = Box::new(Hub::new(
            Config::default(),
            &secrets,
            Keys,
            [const { Connection::vacant() }; 64],
            [const { Pending::vacant() }; 256],
        ));
        let (extension, _) = join(
            &mut hub,
            br#"{"type":"hello","role":"extension","name":"chrome","protocol":2,"browser_id":"b-1"}"#,
            now,
        );
        let (client, _) =
            join(&mut hub, br#"{"type":"hello","role":"client","name":"test","protocol":2}"#, now);
        Stage { hub, extension, client, now }
    }

    /// A call is made; its envelope's id is returned.
    pub fn call(&mut self, frame: &[u8]) -> String {
        let Inspected::Forward(forward) = self.hub.receive(self.client, frame, self.now) else {
            panic!("the request was not passed on")
        };
        let envelope = forward.parts().concat();
        drain(&mut self.hub);
        crate::ledger::wire_id(&envelope).unwrap()
    }
}

impl Default for Stage {
    fn default() -> Self {
        Self::new()
    }
}

/// A hello over a door that needs no proof: the connection, and how many answers the client of old got because of it.
pub fn join(hub: &mut StageHub, hello: &[u8], now: Instant) -> (ConnId, usize) {
    let peer = Peer { door: Door::Unix, trust: Trust::Owner, origin: None, approved: false, address: "" };
    let conn = hub.open(&peer, now).unwrap();
    assert!(matches!(hub.inspect(conn, hello, now), Inspected::Absorbed), "the hello was not taken");
    let mut others = 0;
    while let Some(output) = hub.poll_output() {
        others += usize::from(matches!(output, Output::Send { to, .. } if to != conn));
    }
    (conn, others)
}

/// Takes all output and returns the number of its bytes.
pub fn drain(hub: &mut StageHub) -> usize {
    let mut bytes = 0;
    while let Some(output) = hub.poll_output() {
        if let Output::Send { message, .. } = output {
            message.each(|piece| bytes += piece.len());
        }
    }
    bytes
}

/// Goes over the parts as a writer would, without keeping them.
pub fn written(forward: &Forward<'_>) -> usize {
    forward.parts().iter().map(|part| part.len()).sum()
}

/// A request like most.
pub const REQUEST: &[u8] =
    br##"{"id":"req-1","method":"click","params":{"target":{"by":"css","value":"#submit"},"tab_id":7,"timeout":5000}}"##;

/// An answer with a result of this many bytes, as our own extension writes it.
pub fn answer(id: &str, bytes: usize) -> Vec<u8> {
    let data = "iVBORw0KGgoAAAANSUhEUgAA".repeat(bytes / 24 + 1);
    format!(
        r#"{{"id":"{id}","success":true,"result":{{"data":"data:image/png;base64,{}"}}}}"#,
        &data[..bytes]
    )
    .into()
}
