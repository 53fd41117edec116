//! `bridged pair`, `pairings`, `approve`, `revoke`, `reset-pairing`, `token`: by the running daemon, or on its files.

use serde_json::{Value, json};

use crate::config::{DEFAULT_PORT, Given, Settings};
use crate::control;
use crate::keys::{Keys, unix_now};
use crate::places::Places;
use crate::record;
use crate::show::{ago, harmless, table};
use crate::trouble::{Outcome, Trouble};

/// `bridged pair`.
pub(crate) fn pair(places: &Places) -> Outcome<()> {
    let made = ask(places, "pair", &json!({}))?;
    println!("{}", made["code"].as_str().unwrap_or_default());
    let within = format!("Paste this into the extension's popup within {} s", made["expires_in"]);
    match port(places)? {
        DEFAULT_PORT => eprintln!("{within}."),
        port => {
            eprintln!("{within}, with `:{port}` right behind it: the popup knows no port but {DEFAULT_PORT}.")
        }
    }
    if record::running(&places.state).is_none() {
        eprintln!("No daemon runs that it could connect to: `bridged start` first.");
    }
    Ok(())
}

/// The one of the daemon that runs, else of the one that would.
fn port(places: &Places) -> Outcome<u16> {
    let running = record::running(&places.state).flatten();
    match running.and_then(|daemon| daemon.address.rsplit_once(':')?.1.parse().ok()) {
        Some(port) => Ok(port),
        None => Ok(Settings::settle(Given::default(), places, false)?.port),
    }
}

/// `bridged pairings`.
pub(crate) fn pairings(places: &Places, as_json: bool) -> Outcome<()> {
    let known = ask(places, "pairings", &json!({}))?;
    if as_json {
        println!("{known}");
        return Ok(());
    }
    let text = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), harmless);
    let rows: Vec<[String; 4]> = known["extensions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|p| {
            let late = p["expires"].as_u64().is_some_and(|limit| limit < unix_now());
            let never = if late { "never, and too late now" } else { "never" };
            let seen = p["last_seen"].as_u64().map_or_else(|| never.to_owned(), ago);
            [text(&p["key_id"]), text(&p["label"]), text(&p["browser_id"]), seen]
        })
        .collect();
    if rows.is_empty() {
        println!("no extension is paired; `bridged extension install DIR` makes one that is");
    } else {
        println!("{}", table(["KEY", "LABEL", "BROWSER", "LAST SEEN"], &rows));
    }
    for id in known["approved"].as_array().into_iter().flatten() {
        println!("approved without a key: {}", text(id));
    }
    Ok(())
}

/// `bridged approve`.
pub(crate) fn approve(places: &Places, id: &str) -> Outcome<()> {
    let done = ask(places, "approve", &json!({"extension_id": id}))?;
    println!(
        "{} may connect without a key; `bridged revoke {0}` takes that back",
        done["approved"].as_str().unwrap_or(id)
    );
    Ok(())
}

/// `bridged revoke`.
pub(crate) fn revoke(places: &Places, name: &str) -> Outcome<()> {
    let done = ask(places, "revoke", &json!({"name": name}))?;
    println!(
        "revoked {}: whoever came in by it is out; `bridged extension install` and `bridged pair` make new keys",
        done["revoked"].as_str().unwrap_or(name)
    );
    Ok(())
}

/// `bridged reset-pairing`.
pub(crate) fn reset(places: &Places) -> Outcome<()> {
    let done = control::ask(places, "reset_pairing", &json!({}), || {
        // The files may be the very reason for it, so they are not read first.
        Ok(json!({"folders": Keys::reset(&places.state)?.book().folders}))
    })?;
    println!("all keys are new: whatever was paired is a stranger now, and the client token has changed");
    let mut folders = done["folders"].as_array().into_iter().flatten().filter_map(Value::as_str).peekable();
    if folders.peek().is_none() {
        println!(
            "pair with `bridged extension install`, or a browser that has the extension with `bridged pair`"
        );
    }
    for folder in folders {
        println!("pair it again with `bridged extension install {}`", harmless(folder));
    }
    println!("programs that hold the token need the new one, which `bridged token` prints");
    Ok(())
}

/// `bridged token`.
pub(crate) fn token(places: &Places, action: Option<&str>) -> Outcome<()> {
    match action {
        None => println!("{}", *Keys::open(&places.state)?.token()),
        Some("rotate") => {
            ask(places, "token_rotate", &json!({}))?;
            println!("the token is new; the old one works for another minute, sessions go on");
            println!("`bridged token` prints it");
        }
        Some(other) => {
            return Err(Trouble::usage(format!(
                "there is no `bridged token {}`, only `rotate`",
                other.escape_debug()
            )));
        }
    }
    Ok(())
}

/// By the daemon, so that it can end sessions; without one on the files.
fn ask(places: &Places, method: &str, params: &Value) -> Outcome<Value> {
    control::ask(places, method, params, || {
        match control::perform(&mut Keys::open(&places.state)?, method, params) {
            Some(done) => done.map(|(result, _)| result),
            None => Err(Trouble::failed(format!("there is no control method {method}"))),
        }
    })
}
