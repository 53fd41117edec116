//! The two answers too long for a fixed buffer, written piece by piece: `list_browsers` and `status`.

use crate::browsers::{Browser, Browsers};
use crate::config::Config;
use crate::output::Counters;
use crate::text::Writer;

/// A long result.
#[derive(Debug)]
pub(crate) enum Listing<'h> {
    Browsers(&'h Browsers),
    Status(Status<'h>),
}

/// What `status` tells.
#[derive(Debug)]
pub(crate) struct Status<'h> {
    pub(crate) config: &'h Config,
    pub(crate) browsers: &'h Browsers,
    pub(crate) counters: &'h Counters,
    pub(crate) uptime_ms: u64,
    pub(crate) connections: usize,
    pub(crate) in_flight: usize,
    /// The host's own members, each with a comma before it.
    pub(crate) more: &'h str,
}

/// Room for one piece: a browser, or the numbers.
const PIECE: usize = 1024;

impl Listing<'_> {
    pub(crate) fn each(&self, write: &mut dyn FnMut(&[u8])) {
        match self {
            Self::Browsers(browsers) => {
                write(b"{\"browsers\":");
                list(browsers, write);
                write(b"}");
            }
            Self::Status(status) => {
                piece(write, |w| status.head(w));
                list(status.browsers, write);
                piece(write, |w| status.numbers(w));
                write(status.more.as_bytes());
                write(b"}");
            }
        }
    }
}

fn piece(write: &mut dyn FnMut(&[u8]), fill: impl FnOnce(&mut Writer<'_>)) {
    let mut bytes = [0; PIECE];
    let mut w = Writer::new(&mut bytes);
    fill(&mut w);
    write(w.as_bytes());
}

fn list(browsers: &Browsers, write: &mut dyn FnMut(&[u8])) {
    write(b"[");
    for (n, browser) in browsers.here().enumerate() {
        if n > 0 {
            write(b",");
        }
        piece(write, |w| one(browser, w));
    }
    write(b"]");
}

fn one(browser: &Browser, w: &mut Writer<'_>) {
    w.put(b"{\"browser_id\":");
    if browser.id.is_empty() {
        w.put(b"null");
    } else {
        text(w, b"", &browser.id);
    }
    text(w, b",\"name\":", &browser.about.name);
    text(w, b",\"version\":", &browser.about.version);
    text(w, b",\"build\":", &browser.about.build);
    number(w, b",\"protocol\":", u64::from(browser.protocol));
    w.put(if browser.proven { b",\"proven\":true" } else { b",\"proven\":false" });
    number(w, b",\"methods\":", u64::from(browser.about.methods));
    w.put(b"}");
}

impl Status<'_> {
    fn head(&self, w: &mut Writer<'_>) {
        w.put(b"{\"server\":{\"name\":\"");
        w.escaped_up_to(self.config.server.name, 64);
        w.put(b"\",\"version\":\"");
        w.escaped_up_to(self.config.server.version, 64);
        w.put(b"\"},\"protocol\":2");
        number(w, b",\"uptime_ms\":", self.uptime_ms);
        w.put(b",\"browsers\":");
    }

    fn numbers(&self, w: &mut Writer<'_>) {
        let counters = self.counters;
        number(w, b",\"connections\":", self.connections as u64);
        number(w, b",\"in_flight\":", self.in_flight as u64);
        w.put(b",\"counters\":{");
        number(w, b"\"requests\":", counters.requests);
        number(w, b",\"answers\":", counters.answers);
        number(w, b",\"refused\":", counters.refused);
        number(w, b",\"timeouts\":", counters.timeouts);
        number(w, b",\"cancelled\":", counters.cancelled);
        number(w, b",\"stray\":", counters.stray);
        number(w, b",\"takeovers\":", counters.takeovers);
        number(w, b",\"auth_failed\":", counters.auth_failed);
        number(w, b",\"protocol_errors\":", counters.protocol_errors);
        number(w, b",\"legacy\":", counters.legacy);
        w.put(b"}");
    }
}

fn text(w: &mut Writer<'_>, key: &[u8], value: &str) {
    w.put(key);
    w.put(b"\"");
    w.escaped(value);
    w.put(b"\"");
}

fn number(w: &mut Writer<'_>, key: &[u8], value: u64) {
    w.put(key);
    w.number(value);
}
