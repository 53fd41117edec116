//! `GET /read`: a page as the user's own browser shows it, for tools that can only fetch an address. The page is opened in
//! a tab of an owner that exists for this one request, read, and closed again whatever happens.

use crate::callers::{Caller, Callers, Failure, result_in};
use crate::json::quoted;
use crate::mcp::Spawn;
use crate::response::{Pieces, Response};
use bridge_core::Door;
use bridge_driver::{Clock, Host};
use futures::channel::oneshot;
use futures::future::{self, Either};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

/// The longest that a page may take if the request does not say, and the longest it may say, in milliseconds.
const DEADLINE_MS: u64 = 30_000;
const LONGEST_MS: u64 = 300_000;

/// What a page is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Markdown,
    Text,
    Html,
    A11y,
}

/// A request as its query says it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    url: String,
    format: Format,
    /// For Markdown: the whole page, not its main content.
    full: bool,
    browser: Option<String>,
    timeout_ms: u64,
}

/// Where a page's tabs come from.
pub(crate) struct Reader<H: Host, C: Clock> {
    callers: Rc<Callers<H, C>>,
    spawn: Spawn,
    numbers: Cell<u64>,
    open: Rc<Cell<usize>>,
}

/// Pages read at once.
const AT_ONCE: usize = 16;

impl<H: Host, C: Clock> Reader<H, C> {
    pub(crate) fn new(callers: Rc<Callers<H, C>>, spawn: Spawn) -> Self {
        Self { callers, spawn, numbers: Cell::new(0), open: Rc::default() }
    }

    /// Reads a page; dropped, it gives up, and the tab is closed all the same.
    pub(crate) async fn run(&self, query: Option<&str>) -> Response {
        let wanted = match Wanted::of(query.unwrap_or_default()) {
            Ok(wanted) => wanted,
            Err(text) => return said(400, "INVALID_PARAMS", &text),
        };
        let number = self.numbers.get() + 1;
        self.numbers.set(number);
        if self.open.get() >= AT_ONCE {
            return said(503, "OVERLOADED", "too many pages are being read");
        }
        // An agent: its tab gets a window of its own, in nobody's way.
        let Ok(caller) = self.callers.open(Door::Mcp, "read", format!("c-read-{number}")) else {
            return said(503, "OVERLOADED", "too many callers at once");
        };
        let (sender, mut answer) = oneshot::channel();
        let open = self.open.clone();
        open.set(open.get() + 1);
        (self.spawn)(Box::pin(async move {
            let mut sender: oneshot::Sender<Response> = sender;
            let done = {
                let reading = pin!(read(&caller, &wanted));
                let gone = pin!(future::poll_fn(|cx| sender.poll_canceled(cx)));
                match future::select(reading, gone).await {
                    Either::Left((done, _)) => Some(done),
                    Either::Right(_) => None,
                }
            };
            // The tab is this owner's only one, and may exist although opening it failed.
            clean_up(&caller, &wanted).await;
            open.set(open.get() - 1);
            if let Some(done) = done {
                let _ = sender.send(done.unwrap_or_else(|failure| failed(&failure)));
            }
        }));
        (&mut answer).await.unwrap_or_else(|_| said(503, "SHUTTING_DOWN", "the bridge is going down"))
    }
}

async fn call<H: Host, C: Clock>(
    caller: &Rc<Caller<H, C>>,
    wanted: &Wanted,
    method: &str,
    params: Value,
    timeout_ms: u64,
) -> Result<Map<String, Value>, Failure> {
    let mut params = params;
    if let (Some(browser), Some(params)) = (&wanted.browser, params.as_object_mut()) {
        params.insert("browser_id".to_owned(), browser.as_str().into());
    }
    let mut answer = caller.call(method, &params.to_string(), Some(timeout_ms), None).await;
    let result = result_in(answer.as_mut())?;
    let answer = answer.unwrap_or_default();
    serde_json::from_slice(answer.get(result).unwrap_or_default())
        .map_err(|_| Failure::new("INVALID_RESPONSE", "the browser's answer cannot be read"))
}

async fn read<H: Host, C: Clock>(caller: &Rc<Caller<H, C>>, wanted: &Wanted) -> Result<Response, Failure> {
    let within = wanted.timeout_ms;
    let opened = call(caller, wanted, "new_tab", json!({"url": wanted.url}), within).await?;
    let tab = opened.get("tab_id").cloned().unwrap_or(Value::Null);
    // What the server answered is said too: a page of "not found" is a page like any other.
    let page_status = opened.get("status").and_then(Value::as_u64);
    let (method, params) = match wanted.format {
        Format::Markdown => ("get_page_markdown", json!({"tab_id": tab, "full": wanted.full})),
        Format::Text => ("get_page_content", json!({"tab_id": tab})),
        Format::A11y => ("get_a11y_tree", json!({"tab_id": tab})),
        Format::Html => {
            let code = "return '<!DOCTYPE html>\\n' + document.documentElement.outerHTML";
            ("run_script", json!({"tab_id": tab, "code": code}))
        }
    };
    let mut found = call(caller, wanted, method, params, within).await?;
    let mut text = |name: &str| match found.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(Failure::new("INVALID_RESPONSE", "the browser's answer holds no page")),
    };
    let (kind, body) = match wanted.format {
        Format::Markdown => ("text/markdown; charset=utf-8", text("markdown")?),
        Format::Text => ("text/plain; charset=utf-8", text("text")?),
        Format::Html => ("text/html; charset=utf-8", text("result")?),
        Format::A11y => ("application/json", Value::Object(found.clone()).to_string()),
    };
    let mut response = Response::new(200, kind, body.into());
    // A browser that is pointed here shows the page's source as a page, and runs none of it.
    response.headers.push(("Content-Security-Policy", "sandbox; default-src 'none'".to_owned()));
    let url = found.get("url").and_then(Value::as_str).or_else(|| opened.get("url").and_then(Value::as_str));
    if let Some(url) = url.filter(|url| url.bytes().all(|byte| (b'!'..=b'~').contains(&byte))) {
        response.headers.push(("Content-Location", url.to_owned()));
    }
    if let Some(status) = page_status {
        response.headers.push(("Bridged-Page-Status", status.to_string()));
    }
    Ok(response)
}

/// Closes whatever this owner opened, for as long as there is somebody to ask.
async fn clean_up<H: Host, C: Clock>(caller: &Rc<Caller<H, C>>, wanted: &Wanted) {
    for method in ["close_auto_tabs", "close_agent_window"] {
        let done = call(caller, wanted, method, json!({"owner": caller.owner}), 10_000).await;
        if done.is_err_and(|failure| failure.code == "NO_EXTENSION" || failure.code == "SHUTTING_DOWN") {
            return;
        }
    }
}

impl Wanted {
    fn of(query: &str) -> Result<Self, String> {
        let mut url = None;
        let mut wanted = Self {
            url: String::new(),
            format: Format::Markdown,
            full: false,
            browser: None,
            timeout_ms: DEADLINE_MS,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)
                .ok_or_else(|| format!("{}: not valid percent-encoding of UTF-8", quoted(name)))?;
            match name {
                "url" if url.is_none() => url = Some(value),
                "url" => return Err("url: given twice".to_owned()),
                "format" => {
                    wanted.format = match value.as_str() {
                        "markdown" => Format::Markdown,
                        "text" => Format::Text,
                        "html" => Format::Html,
                        "a11y" => Format::A11y,
                        _ => return Err("format: expected one of markdown, text, html, a11y".to_owned()),
                    }
                }
                "full" => {
                    wanted.full = match value.as_str() {
                        "true" | "1" => true,
                        "false" | "0" => false,
                        _ => return Err("full: expected true or false".to_owned()),
                    }
                }
                "browser_id" if !value.is_empty() => wanted.browser = Some(value),
                "timeout" => {
                    let digits = !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit());
                    let number = value.parse().ok().filter(|ms| digits && (1..=LONGEST_MS).contains(ms));
                    wanted.timeout_ms =
                        number.ok_or_else(|| format!("timeout: expected 1 to {LONGEST_MS} milliseconds"))?;
                }
                _ => return Err(format!("{}: there is no such parameter", quoted(name))),
            }
        }
        wanted.url = url.ok_or("url is missing: the page to read")?;
        let web = ["http://", "https://"].iter().any(|scheme| {
            wanted.url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        if !web || wanted.url.chars().any(|c| c.is_control() || c == ' ') {
            return Err("url: expected an address that begins with http:// or https://".to_owned());
        }
        Ok(wanted)
    }
}

/// Percent-decoding, `+` for a space, as forms have it.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(out).ok()
}

fn said(status: u16, code: &str, text: &str) -> Response {
    failed_with(status, &Failure::new(code, text))
}

fn failed(failure: &Failure) -> Response {
    let status = match failure.code.as_str() {
        "INVALID_PARAMS" | "INVALID_REQUEST" => 400,
        "PAUSED" | "PERMISSION_DENIED" | "DENIED_BY_USER" => 403,
        "NO_SUCH_BROWSER" => 404,
        "TIMEOUT" | "PAGE_BLOCKED" => 504,
        "NO_EXTENSION" | "OVERLOADED" | "SHUTTING_DOWN" | "EXTENSION_DISCONNECTED" | "EXTENSION_REPLACED" => {
            503
        }
        _ => 502,
    };
    failed_with(status, failure)
}

/// Plain text: whoever only fetches addresses shows it to somebody.
fn failed_with(status: u16, failure: &Failure) -> Response {
    let text = format!("{}: {}\n", failure.code, failure.text);
    Response::new(status, "text/plain; charset=utf-8", Pieces::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_what_is_wanted() {
        let wanted =
            Wanted::of("url=https%3A%2F%2Fe.example%2Fa%3Fb%3Dc+d%26e&format=text&full=1&timeout=5000");
        assert_eq!(wanted.as_ref().map_or("", |wanted| &wanted.url), "");
        let wanted =
            Wanted::of("url=https%3A%2F%2Fe.example%2Fa%3Fb%3Dc%26d&format=text&full=1&timeout=5000");
        let expected = Wanted {
            url: "https://e.example/a?b=c&d".to_owned(),
            format: Format::Text,
            full: true,
            browser: None,
            timeout_ms: 5000,
        };
        assert_eq!(wanted, Ok(expected));
    }

    #[test]
    fn a_query_that_says_something_else_is_refused() {
        let wrong = [
            "",
            "url=",
            "url=ftp://a",
            "url=javascript:1",
            "url=file:///etc/passwd",
            "url=http://a&url=http://b",
            "url=http://a&format=pdf",
            "url=http://a&timeout=0",
            "url=http://a&timeout=+1",
            "url=http://%ff",
            "url=http://%zz",
            "url=http://a%",
            "url=http://a&x=1",
            "url=http://a%0d%0ab",
            "url=http://a&full=x",
            "url=http://a&timeout=300001",
        ];
        for query in wrong {
            assert!(Wanted::of(query).is_err(), "{query}");
        }
    }
}
