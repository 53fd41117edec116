//! `bridged policy`: by the daemon, so that it holds at once; without one on the file.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Policy, change_in};
use crate::control;
use crate::permit::{self, Window};
use crate::places::Places;
use crate::show::harmless;
use crate::trouble::{Outcome, Trouble};

/// What may stand in a command line after `bridged policy`, for completions.
pub(crate) const WORDS: &str =
    "show set pause read-only evaluate uploads user-tabs allow deny on off ask none --json --for --help";

/// `bridged policy show`.
pub(crate) fn show(places: &Places, as_json: bool) -> Outcome<()> {
    let rules = ask(places, None)?;
    if as_json {
        println!("{rules}");
    } else {
        print(&rules);
    }
    Ok(())
}

fn print(rules: &Value) {
    let on = |key: &str, on: &'static str, off: &'static str| if rules[key] == true { on } else { off };
    println!("pause      {}", on("paused", "on: every call is refused", "off"));
    println!("read-only  {}", on("read_only", "on: nothing may be changed", "off"));
    let window = serde_json::from_value::<Option<Window>>(rules["evaluate"].clone()).ok().flatten();
    match window.and_then(|window| window.left()) {
        Some(left) => println!("evaluate   on for another {}", spoken(left)),
        None => println!("evaluate   off: no code may run in the pages' own world"),
    }
    let uploads = on("uploads", "on: agents may upload files", "off: only persons may upload files");
    println!("uploads    {uploads}");
    println!("user-tabs  {}", spoken_user_tabs(rules["user_tabs"].as_str()));
    for list in ["allow", "deny"] {
        println!("{list:9}  {}", spoken_list(list, &rules[list]));
    }
}

fn spoken_user_tabs(value: Option<&str>) -> &'static str {
    match value {
        Some("deny") => "deny: agents may do nothing in your own tabs",
        Some("ask") => "ask: agents may work in your own tabs once you have said yes to the site",
        _ => "allow: agents may work in those of your own tabs that they name",
    }
}

fn spoken_list(list: &str, sites: &Value) -> String {
    let sites: Vec<&str> = sites.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match (list, sites.as_slice()) {
        ("allow", []) => "every site".to_owned(),
        (_, []) => "no site".to_owned(),
        ("allow", some) => format!("only {}", harmless(&some.join(", "))),
        (_, some) => harmless(&some.join(", ")),
    }
}

/// Whole minutes, or seconds where it is less.
fn spoken(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// `bridged policy set KEY VALUE… [--for TIME]`.
pub(crate) fn set(places: &Places, key: &str, values: &[String], length: Option<&str>) -> Outcome<()> {
    let value = values.join(" ");
    if length.is_some() && !(key == "evaluate" && value == "on") {
        return Err(Trouble::usage("--for goes with `evaluate on`"));
    }
    let expected = |what: &str| {
        let given = value.chars().take(100).collect::<String>();
        Trouble::usage(format!("{key}: expected {what}, got `{}`", given.escape_debug()))
    };
    let on = || match value.as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(expected("on or off")),
    };
    let length = length.map_or(Ok(permit::USUAL), |text| {
        let wrong =
            || Trouble::usage(format!("--for: expected a time as 30m or 1h, got `{}`", text.escape_debug()));
        permit::duration(text).ok_or_else(wrong)
    })?;
    let change = match key {
        "pause" => json!({"paused": on()?}),
        "read-only" => json!({"read_only": on()?}),
        "evaluate" if on()? => json!({"evaluate": true, "evaluate_for": length.as_secs()}),
        "evaluate" => json!({"evaluate": false}),
        "uploads" => json!({"uploads": on()?}),
        "user-tabs" => match value.as_str() {
            "allow" | "ask" | "deny" => json!({"user_tabs": value}),
            _ => return Err(expected("allow, ask or deny")),
        },
        "allow" | "deny" => {
            let sites = sites_in(values).ok_or_else(|| {
                expected("sites as `example.com, *.example.org`, or `none`, which empties the list")
            })?;
            json!({key: sites})
        }
        other => {
            let known = ["pause", "read-only", "evaluate", "uploads", "user-tabs", "allow", "deny"];
            let near =
                bridge_catalogue::nearest(other, known).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| "; `bridged policy --help` lists them".to_owned());
            return Err(Trouble::usage(format!("there is no policy `{}`{near}", other.escape_debug())));
        }
    };
    let rules = ask(places, Some(&change))?;
    match key {
        "evaluate" if value == "on" => println!("evaluate is on for {}", spoken(length)),
        "user-tabs" => println!("user-tabs is {}", spoken_user_tabs(rules["user_tabs"].as_str())),
        "allow" | "deny" => println!("{key}: {}", spoken_list(key, &rules[key])),
        _ => println!("{key} is {value}"),
    }
    Ok(())
}

/// The sites that were written, with commas or spaces between them; none for what is surely not meant as one.
fn sites_in(values: &[String]) -> Option<Vec<&str>> {
    let sites: Vec<&str> = values
        .iter()
        .flat_map(|value| value.split([',', ' ', '\t', '\n']))
        .filter(|site| !site.is_empty())
        .collect();
    match sites.as_slice() {
        ["none"] => Some(Vec::new()),
        // Whoever writes one of these does not mean a computer of that name.
        some if some.iter().any(|site| matches!(*site, "none" | "all" | "any" | "on" | "off" | "ask")) => {
            None
        }
        _ => Some(sites),
    }
}

/// By the daemon, so that it holds at once; without one on the file.
fn ask(places: &Places, change: Option<&Value>) -> Outcome<Value> {
    let (method, params) = change.map_or(("policy_get", json!({})), |change| ("policy_set", change.clone()));
    control::ask(places, method, &params, || {
        let mut policy = Policy::open(&places.state)?;
        if let Some(change) = change {
            policy.change(&change_in(change)?)?;
        }
        Ok(json!(policy.rules))
    })
}
