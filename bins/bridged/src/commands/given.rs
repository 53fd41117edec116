//! The flags of `serve` and `start` as settings, and as flags again for the daemon that `start` starts.

use super::{Serve, Start};
use crate::config::{Given, Text};
use crate::limits;
use crate::trouble::Outcome;

impl Serve {
    /// The settings among the flags.
    pub(crate) fn given(&self) -> Outcome<Given> {
        let text = |value: &Option<String>, flag: &str| value.as_ref().map(|v| Text::new(v.clone(), flag));
        Ok(Given {
            port: text(&self.port, "--port"),
            http_port: text(&self.http_port, "--http-port"),
            socket: self.socket.as_ref().map(Into::into),
            max_connections: text(&self.max_connections, "--max-connections"),
            limit: limits::read(self.limit.iter().map(String::as_str), "--limit")?,
            allow_extension: (!self.allow_extension.is_empty()).then(|| self.allow_extension.clone()),
            upload_roots: None,
            log: text(&self.log, "--log"),
            compat: text(&self.compat, "--compat"),
            audit: None,
        })
    }
}

impl Start {
    /// The settings among the flags.
    pub(crate) fn given(&self) -> Outcome<Given> {
        let Start { port, http_port, socket, max_connections, limit, allow_extension, log, compat } =
            self.clone();
        Serve {
            port,
            http_port,
            socket,
            max_connections,
            limit,
            allow_extension,
            log,
            compat,
            ..Serve::default()
        }
        .given()
    }

    /// The same flags for `bridged serve`.
    pub(crate) fn flags(&self) -> Vec<String> {
        let one = [
            ("--port", &self.port),
            ("--http-port", &self.http_port),
            ("--socket", &self.socket),
            ("--max-connections", &self.max_connections),
            ("--log", &self.log),
            ("--compat", &self.compat),
        ];
        let one = one.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?]));
        let many = self.allow_extension.iter().map(|id| ["--allow-extension".to_owned(), id.clone()]);
        let limits = self.limit.iter().map(|limit| ["--limit".to_owned(), limit.clone()]);
        one.chain(many).chain(limits).flatten().collect()
    }
}
