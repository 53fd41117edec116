//! What the owner of the daemon may change: pairings, approvals, the token. The same on the running daemon's control
//! connection and on the files when none runs.

use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use crate::background::said;
use crate::client::{Client, Failure, Role};
use crate::config::extension_id;
use crate::keys::{Keys, PASTE_WITHIN};
use crate::places::Places;
use crate::record::{self, Holder};
use crate::show::harmless;
use crate::trouble::{Doing, Outcome, Trouble};

/// How long a daemon that is just starting may take to say where it is.
const START: Duration = Duration::from_secs(10);

/// Asks the daemon, so that what changes holds at once and whom it concerns is told. Where none runs, `alone` does it on the
/// files, and no daemon reads them meanwhile.
pub(crate) fn ask(
    places: &Places,
    method: &str,
    params: &Value,
    alone: impl FnOnce() -> Outcome<Value>,
) -> Outcome<Value> {
    let daemon = match record::holder(&places.state, START)? {
        Holder::Nobody(_absence) => return alone(),
        Holder::Runs(daemon) => daemon,
    };
    let answer =
        Client::connect(&daemon.socket, Role::Control).and_then(|mut c| c.call(method, params, None));
    match answer {
        Ok(result) => serde_json::from_str(result.get()).doing("understand the daemon"),
        Err(Failure::Refused(refusal)) => Err(Trouble::failed(harmless(&refusal.error))),
        Err(other) => Err(Trouble::failed(said(&other))),
    }
}

/// Which sessions a change ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// None.
    Nobody,
    /// Those that proved themselves with this key.
    Key(String),
    /// Those that were let in by their extension id.
    Origin,
    /// All.
    Everybody,
}

/// Carries out one control method; none if there is no such method.
pub(crate) fn perform(keys: &mut Keys, method: &str, params: &Value) -> Option<Outcome<(Value, Ends)>> {
    let text = |name: &str| {
        let value = params[name].as_str().filter(|v| !v.is_empty() && v.len() <= 256);
        value.ok_or_else(|| Trouble::usage(format!("{name}: expected text")))
    };
    Some(match method {
        "pair" => pair(keys, params["label"].as_str().unwrap_or("pasted key")),
        "pairings" => Ok((pairings(keys), Ends::Nobody)),
        "revoke" => text("name").and_then(|name| revoke(keys, name)),
        "approve" => text("extension_id").and_then(|id| approve(keys, id)),
        "token_rotate" => keys.rotate().map(|()| (json!({"rotated": true}), Ends::Nobody)),
        "reset_pairing" => reset(keys),
        _ => return None,
    })
}

fn pair(keys: &mut Keys, label: &str) -> Outcome<(Value, Ends)> {
    let label: String = label.chars().filter(|c| !c.is_control()).take(64).collect();
    let (key_id, key) = keys.pair(&label, Some(PASTE_WITHIN))?;
    let code = format!("bridged1.{key_id}.{}", Base64UrlUnpadded::encode_string(&*key));
    Ok((json!({"code": code, "key_id": key_id, "expires_in": PASTE_WITHIN}), Ends::Nobody))
}

fn pairings(keys: &mut Keys) -> Value {
    let book = keys.book();
    json!({"extensions": book.extensions, "approved": book.approved})
}

fn revoke(keys: &mut Keys, name: &str) -> Outcome<(Value, Ends)> {
    let book = keys.book();
    if book.approved.iter().any(|id| id == name) {
        keys.change(|book| book.approved.retain(|id| id != name))?;
        return Ok((json!({"revoked": name}), Ends::Origin));
    }
    let matching = |p: &&crate::keys::Pairing| {
        p.key_id == name || p.label == name || p.browser_id.as_deref() == Some(name)
    };
    let found: Vec<String> = book.extensions.iter().filter(matching).map(|p| p.key_id.clone()).collect();
    match found.as_slice() {
        [] => Err(Trouble::failed(format!(
            "there is no pairing `{}`; `bridged pairings` lists them",
            name.escape_debug()
        ))),
        [key_id] => {
            keys.change(|book| book.extensions.retain(|p| p.key_id != *key_id))?;
            Ok((json!({"revoked": key_id}), Ends::Key(key_id.clone())))
        }
        several => {
            Err(Trouble::failed(format!("`{name}` fits several pairings; say which: {}", several.join(", "))))
        }
    }
}

fn approve(keys: &mut Keys, id: &str) -> Outcome<(Value, Ends)> {
    let id = id.strip_prefix("chrome-extension://").unwrap_or(id).trim_end_matches('/');
    extension_id(id)?;
    keys.change(|book| {
        if !book.approved.iter().any(|known| known == id) {
            book.approved.push(id.to_owned());
        }
    })?;
    Ok((json!({"approved": id}), Ends::Nobody))
}

fn reset(keys: &mut Keys) -> Outcome<(Value, Ends)> {
    *keys = Keys::reset(keys.folder())?;
    Ok((json!({"reset": true, "folders": keys.book().folders}), Ends::Everybody))
}
