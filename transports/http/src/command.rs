//! `POST /command`: one call, by OpenBridge's name for it or by ours.

use crate::callers::{Caller, Failure, result_in};
use crate::json::{DEEPEST, quoted, too_deep};
use crate::openbridge::{self, Shape, Tool};
use crate::response::{Pieces, Response};
use bridge_catalogue::{Method, catalogue, nearest};
use bridge_driver::{Clock, Host};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// The longest that a call may take, in milliseconds.
const LONGEST_MS: u64 = 600_000;

/// The body of a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Command<'a> {
    #[serde(borrow)]
    tool_name: Cow<'a, str>,
    #[serde(default)]
    args: Option<Map<String, Value>>,
    /// Whose call this is: requests with the same name share tabs and browser.
    #[serde(borrow, default)]
    pub(crate) session_id: Option<Cow<'a, str>>,
    #[serde(default, alias = "timeout_ms")]
    timeout_ms: Option<u64>,
    #[serde(borrow, default)]
    once: Option<Cow<'a, str>>,
}

impl<'a> Command<'a> {
    /// Reads a body that may nest so deep; `Err` says what is wrong with it.
    pub(crate) fn read(body: &'a [u8], depth: usize) -> Result<Self, Failure> {
        let wrong = |text: String| Failure::new("INVALID_REQUEST", text);
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err(wrong("the body must be a JSON object with a toolName".to_owned()));
        }
        if too_deep(body, depth.min(DEEPEST)) {
            return Err(wrong("the body nests too deep".to_owned()));
        }
        serde_json::from_slice(body).map_err(|error| wrong(format!("the body cannot be read: {error}")))
    }
}

/// Which way a call goes.
enum Way {
    Tool(&'static Tool),
    Method,
}

/// Makes the call and answers it.
pub(crate) async fn run<H: Host, C: Clock>(
    caller: &Rc<Caller<H, C>>,
    command: Command<'_>,
    browser: Option<&str>,
    session: &str,
) -> Response {
    match attempt(caller, command, browser, session).await {
        Ok(pieces) => Response::json(200, pieces),
        Err(failure) => Response::json(400, failure.body()),
    }
}

async fn attempt<H: Host, C: Clock>(
    caller: &Rc<Caller<H, C>>,
    command: Command<'_>,
    browser: Option<&str>,
    session: &str,
) -> Result<Pieces, Failure> {
    let (way, method) = find(&command.tool_name)?;
    let args = command.args.unwrap_or_default();
    let (mut params, mut timeout_ms) = (None, command.timeout_ms);
    let remembered = caller.tab.get();
    if let Way::Tool(tool) = way {
        let wrong = |text| Failure::new("INVALID_PARAMS", text);
        let translated = tool.translate(&args, remembered, session).map_err(wrong)?;
        timeout_ms = translated.timeout_ms.or(timeout_ms);
        params = Some(translated.params);
    }
    let mut sent = params.take().unwrap_or_else(|| args.clone());
    if let (Some(browser), None) = (browser, sent.get("browser_id")) {
        sent.insert("browser_id".to_owned(), browser.into());
    }
    check(method, &sent)?;
    if command.timeout_ms.is_some_and(|ms| !(1..=LONGEST_MS).contains(&ms)) {
        return Err(Failure::new("INVALID_REQUEST", format!("timeoutMs: expected 1 to {LONGEST_MS}")));
    }
    once_is_sound(command.once.as_deref())?;
    let text = Value::Object(sent).to_string();
    let mut answer = caller.call(&method.name, &text, timeout_ms, command.once.as_deref()).await;
    let result = match result_in(answer.as_mut()) {
        Ok(result) => result,
        Err(failure) => {
            if failure.code == "TAB_NOT_FOUND" && remembered.is_some() && caller.tab.get() == remembered {
                caller.tab.set(None);
            }
            let idle = match way {
                Way::Tool(tool) => {
                    tool.nothing_to_do(&failure.code, &failure.text).map(|value| (tool, value))
                }
                Way::Method => None,
            };
            let (tool, value) = idle.ok_or(failure)?;
            return Ok(format!(r#"{{"data":{}}}"#, tool.result(&args, value)).into());
        }
    };
    let answer = answer.unwrap_or_default();
    match way {
        Way::Method => {
            Ok(Pieces { lead: br#"{"data":"#.to_vec(), owner: answer, part: result, trail: b"}".to_vec() })
        }
        Way::Tool(tool) if tool.shape == Shape::Picture => picture(answer, result),
        Way::Tool(tool) => {
            let unread = |_| Failure::new("INVALID_RESPONSE", "the browser's answer cannot be read");
            let value: Value =
                serde_json::from_slice(answer.get(result).unwrap_or_default()).map_err(unread)?;
            remember(caller, tool, &value);
            Ok(format!(r#"{{"data":{}}}"#, tool.result(&args, value)).into())
        }
    }
}

/// The method behind a name.
fn find(name: &str) -> Result<(Way, &'static Method), Failure> {
    if let Some(tool) = openbridge::tool(name) {
        let missing = || {
            let text = format!("{name} needs the method {}, which this version does not have", tool.method);
            Failure::new("UNSUPPORTED", text)
        };
        return Ok((Way::Tool(tool), tool.in_catalogue().ok_or_else(missing)?));
    }
    let known = catalogue().methods().iter().map(|method| method.name.as_str());
    match catalogue().method(name) {
        Some(method) => Ok((Way::Method, method)),
        None => {
            let shown: String = name.chars().take(64).collect();
            let hint = nearest(&shown, known).map_or(String::new(), |near| format!("; did you mean {near}?"));
            Err(Failure::new(
                "UNKNOWN_METHOD",
                format!("there is no tool or method {}{hint}", quoted(&shown)),
            ))
        }
    }
}

fn check(method: &Method, params: &Map<String, Value>) -> Result<(), Failure> {
    // The hub reads this level itself, and reads no escaped names.
    if params.keys().any(|name| name.chars().any(|c| c.is_control() || c == '"' || c == '\\')) {
        return Err(Failure::new("INVALID_PARAMS", "a parameter's name holds a character that none has"));
    }
    method.check(params).map_err(|text| Failure::new("INVALID_PARAMS", text))
}

fn once_is_sound(once: Option<&str>) -> Result<(), Failure> {
    let sound = |once: &str| {
        (1..=64).contains(&once.len())
            && once.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    match once {
        Some(once) if !sound(once) => {
            Err(Failure::new("INVALID_REQUEST", "once: expected 1 to 64 letters, digits, - or _"))
        }
        _ => Ok(()),
    }
}

/// OpenBridge's callers name no tab: they work on the one they opened or chose last.
fn remember<H: Host, C: Clock>(caller: &Caller<H, C>, tool: &Tool, result: &Value) {
    let tab = result.get("tab_id").and_then(Value::as_i64);
    if tool.leads {
        caller.tab.set(tab);
    } else if tool.method == "close_tab" && tab == caller.tab.get() {
        caller.tab.set(None);
    }
}

/// A picture as OpenBridge gives it: its base64 stays where it was received.
fn picture(answer: Vec<u8>, result: std::ops::Range<usize>) -> Result<Pieces, Failure> {
    #[derive(Deserialize)]
    struct Picture<'a> {
        #[serde(borrow)]
        data: &'a str,
    }
    let unread = || Failure::new("INVALID_RESPONSE", "the browser's answer holds no picture");
    let whole = answer.get(result).unwrap_or_default();
    let read: Picture<'_> = serde_json::from_slice(whole).map_err(|_| unread())?;
    let url = read.data.strip_prefix("data:").ok_or_else(unread)?;
    let (mime, base64) = url.split_once(";base64,").ok_or_else(unread)?;
    let from = (base64.as_ptr() as usize).wrapping_sub(answer.as_ptr() as usize);
    let part = from..from.saturating_add(base64.len());
    let trail = format!(r#"","mimeType":{}}}}}"#, quoted(mime)).into_bytes();
    Ok(Pieces { lead: br#"{"data":{"base64":""#.to_vec(), owner: answer, part, trail })
}
