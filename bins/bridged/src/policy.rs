//! What the user allows: kept in `policy.json` in the state folder, judged for every call of a client, told to every
//! extension. It is changed by the owner's command line and the popup alone; every other door can at most pause.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_core::{Class, Code, Request};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::background::said;
use crate::client::{Client, Failure, Role};
use crate::files::{FolderLock, json_object, read_private, write_private};
use crate::permit::{self, Window};
use crate::places::{Places, private_folder};
use crate::record;
use crate::show::harmless;
use crate::trouble::{Doing, Outcome, Trouble};

/// The policy of one state folder.
pub(crate) struct Policy {
    folder: PathBuf,
    rules: Rules,
    /// The ports of this daemon's own doors.
    own_ports: Vec<u16>,
}

/// The rules themselves, as they are stored and as extensions are told them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Rules {
    /// Whether everything rests, reading too.
    pub paused: bool,
    /// Whether only what changes nothing is carried out.
    pub read_only: bool,
    /// When code may run in the pages' own world; none for never.
    pub evaluate: Option<Window>,
    /// Whether agents may upload files too; persons always may.
    pub uploads: bool,
}

/// A change: what it names is set, the rest stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// See [`Rules::paused`].
    pub paused: Option<bool>,
    /// See [`Rules::read_only`].
    pub read_only: Option<bool>,
    /// Opens or ends [`Rules::evaluate`].
    pub evaluate: Option<bool>,
    /// For how many seconds it is opened; an hour where nothing is said.
    pub evaluate_for: Option<u64>,
    /// See [`Rules::uploads`].
    pub uploads: Option<bool>,
}

impl Policy {
    /// Reads the folder's policy; without a file nothing is forbidden.
    pub(crate) fn open(folder: &Path) -> Outcome<Policy> {
        let path = file(folder);
        let rules = match read_private(&path)? {
            None => Rules::default(),
            // A policy that cannot be read might have forbidden anything, so it is not passed over.
            Some(content) => json_object(&content).map_err(|e| {
                Trouble::usage(format!(
                    "{} is damaged ({e}): mend it, or remove it to allow everything again",
                    path.display()
                ))
            })?,
        };
        Ok(Policy { folder: folder.to_owned(), rules, own_ports: Vec::new() })
    }

    /// Keeps every client away from these ports of this computer.
    pub(crate) fn guarding(mut self, ports: Vec<u16>) -> Policy {
        self.own_ports = ports;
        self
    }

    /// The rules.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The rules as one JSON object, with the ports of our doors: what browsers are told.
    pub(crate) fn whole(&self) -> Value {
        let mut all = json!(self.rules);
        all["own_ports"] = json!(self.own_ports);
        all
    }

    /// The same as text.
    pub(crate) fn text(&self) -> String {
        self.whole().to_string()
    }

    /// Reads the file again; says whether anything is different now. What cannot be read leaves the rules as they are.
    pub(crate) fn read_again(&mut self) -> Outcome<bool> {
        let rules = Policy::open(&self.folder)?.rules;
        Ok(std::mem::replace(&mut self.rules, rules.clone()) != rules)
    }

    /// Changes the rules, on the disk first; says whether anything is different now.
    pub(crate) fn change(&mut self, change: &Change) -> Outcome<bool> {
        let mut rules = self.rules.clone();
        if let Some(paused) = change.paused {
            rules.paused = paused;
        }
        if let Some(read_only) = change.read_only {
            rules.read_only = read_only;
        }
        match (change.evaluate, change.evaluate_for) {
            (Some(true), length) => {
                rules.evaluate = Some(Window::lasting(length.map_or(permit::USUAL, Duration::from_secs))?);
            }
            (_, Some(_)) => return Err(Trouble::usage("evaluate_for goes with evaluate: true")),
            (Some(false), None) => rules.evaluate = None,
            (None, None) => {}
        }
        if let Some(uploads) = change.uploads {
            rules.uploads = uploads;
        }
        if rules == self.rules {
            return Ok(false);
        }
        let _lock = FolderLock::take(&self.folder)?;
        let mut content = serde_json::to_vec_pretty(&rules).doing("write down the policy")?;
        content.push(b'\n');
        write_private(&file(&self.folder), &content)?;
        self.rules = rules;
        Ok(true)
    }

    /// Why a client's call may not be made, if it may not. The hub's own methods never come here.
    pub(crate) fn forbids(&self, request: &Request<'_>) -> Option<(Code, String)> {
        if self.rules.paused {
            return Some((Code::Paused, "paused by user".to_owned()));
        }
        if request.method() == "batch" {
            return steps_refusal(&self.rules, &self.own_ports, request.class(), request.params());
        }
        permit::refusal(&self.rules, &self.own_ports, request.method(), request.class(), &|key| {
            request.param(key)
        })
    }
}

/// Why a batch may not be made: each of its steps is judged like a call of its own, and with one that is forbidden none is run.
fn steps_refusal(rules: &Rules, own: &[u16], class: Class, params: &[u8]) -> Option<(Code, String)> {
    #[derive(Deserialize)]
    struct Batch {
        steps: Vec<Step>,
    }
    #[derive(Deserialize)]
    struct Step {
        method: String,
        params: Option<HashMap<String, Box<RawValue>>>,
    }
    // What cannot be read cannot be judged, so the browser does not get it either.
    let Ok(batch) = serde_json::from_slice::<Batch>(params) else {
        let text = "invalid params: steps must be a list of objects, each with a method and its params";
        return Some((Code::InvalidParams, text.to_owned()));
    };
    batch.steps.iter().enumerate().find_map(|(at, step)| {
        let param = |key: &str| Some(step.params.as_ref()?.get(key)?.get().as_bytes());
        let (code, text) = permit::refusal(rules, own, &step.method, class, &param)?;
        Some((code, format!("{text} (step {at} of the batch; none was run)")))
    })
}

fn file(folder: &Path) -> PathBuf {
    folder.join("policy.json")
}

/// Reads a change from the wire.
pub(crate) fn change_in(params: &Value) -> Outcome<Change> {
    Change::deserialize(params).map_err(|e| Trouble::usage(format!("policy: {e}")))
}

/// `bridged policy show`.
pub(crate) fn show(places: &Places, as_json: bool) -> Outcome<()> {
    let rules = ask(places, None)?;
    if as_json {
        println!("{rules}");
    } else {
        let paused = rules["paused"] == true;
        println!("pause      {}", if paused { "on: every call is refused" } else { "off" });
        let read_only = rules["read_only"] == true;
        println!("read-only  {}", if read_only { "on: nothing may be changed" } else { "off" });
        let window = serde_json::from_value::<Option<Window>>(rules["evaluate"].clone()).ok().flatten();
        match window.and_then(|window| window.left()) {
            Some(left) => println!("evaluate   on for another {}", spoken(left)),
            None => println!("evaluate   off: no code may run in the pages' own world"),
        }
        let uploads = rules["uploads"] == true;
        println!(
            "uploads    {}",
            if uploads { "on: agents may upload files" } else { "off: only persons may upload files" }
        );
    }
    Ok(())
}

/// Whole minutes, or seconds where it is less.
fn spoken(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// `bridged policy set KEY VALUE [--for TIME]`.
pub(crate) fn set(places: &Places, key: &str, value: &str, length: Option<&str>) -> Outcome<()> {
    let on = match value {
        "on" => true,
        "off" => false,
        other => {
            return Err(Trouble::usage(format!("{key}: expected on or off, got `{}`", other.escape_debug())));
        }
    };
    if length.is_some() && !(key == "evaluate" && on) {
        return Err(Trouble::usage("--for goes with `evaluate on`"));
    }
    let length = length
        .map(|text| {
            let wrong = || {
                Trouble::usage(format!("--for: expected a time as 30m or 1h, got `{}`", text.escape_debug()))
            };
            permit::duration(text).ok_or_else(wrong)
        })
        .transpose()?;
    let change = match key {
        "pause" => json!({"paused": on}),
        "read-only" => json!({"read_only": on}),
        "evaluate" if on => {
            json!({"evaluate": true, "evaluate_for": length.unwrap_or(permit::USUAL).as_secs()})
        }
        "evaluate" => json!({"evaluate": false}),
        "uploads" => json!({"uploads": on}),
        other => {
            return Err(Trouble::usage(format!(
                "there is no policy `{}`; `bridged policy --help` lists them",
                other.escape_debug()
            )));
        }
    };
    ask(places, Some(&change))?;
    match key {
        "evaluate" if on => println!("evaluate is on for {}", spoken(length.unwrap_or(permit::USUAL))),
        _ => println!("{key} is {value}"),
    }
    Ok(())
}

/// By the daemon, so that it holds at once; without one on the file.
fn ask(places: &Places, change: Option<&Value>) -> Outcome<Value> {
    if let Some(Some(daemon)) = record::running(&places.state) {
        let (method, params) =
            change.map_or(("policy_get", json!({})), |change| ("policy_set", change.clone()));
        let answer =
            Client::connect(&daemon.socket, Role::Control).and_then(|mut c| c.call(method, &params, None));
        return match answer {
            Ok(result) => serde_json::from_str(result.get()).doing("understand the daemon"),
            Err(Failure::Refused(refusal)) => Err(Trouble::failed(harmless(&refusal.error))),
            Err(other) => Err(Trouble::failed(said(&other))),
        };
    }
    private_folder(&places.state)?;
    let mut policy = Policy::open(&places.state)?;
    if let Some(change) = change {
        policy.change(&change_in(change)?)?;
    }
    Ok(json!(policy.rules))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;

    fn refused(rules: &Rules, class: Class, params: &str) -> Option<(Code, String)> {
        steps_refusal(rules, &[9225], class, params.as_bytes())
    }

    #[test]
    fn each_step_of_a_batch_is_judged_like_a_call_of_its_own() {
        let read_only = Rules { read_only: true, ..Rules::default() };
        let batch = |step: &str| format!(r#"{{"steps":[{{"method":"list_tabs"}},{step}]}}"#);
        for step in [
            r#"{"method":"click","params":{"target":{"value":"a"}}}"#,
            r#"{"method":"run_script","params":{"code":"1"}}"#,
            // Waiting for a script runs one.
            r#"{"method":"wait_for","params":{"script":"1"}}"#,
            r#"{"method":"wait_for","params":{"scr\u0069pt":"1"}}"#,
            r#"{"params":{"url":"https://a.example"},"method":"get_page_\u006darkdown"}"#,
        ] {
            let (code, text) = refused(&read_only, Class::Person, &batch(step)).unwrap();
            assert_eq!(code, Code::PermissionDenied, "{step}");
            assert!(text.starts_with("forbidden: ") && text.contains("step 1 of the batch"), "{text}");
            assert_eq!(refused(&Rules::default(), Class::Person, &batch(step)), None, "{step}");
        }
        let reads = r#"{"method":"wait_for","params":{"text":"a","script":null}}"#;
        assert_eq!(refused(&read_only, Class::Person, &batch(reads)), None);
        let evaluate = batch(r#"{"method":"evaluate","params":{"expression":"1"}}"#);
        assert!(refused(&Rules::default(), Class::Person, &evaluate).is_some());
        let upload = batch(r#"{"method":"upload","params":{"paths":["/tmp/a"]}}"#);
        assert!(refused(&Rules::default(), Class::Agent, &upload).is_some());
        assert!(refused(&Rules::default(), Class::Person, &upload).is_none());
        let ours = batch(r#"{"method":"navigate","params":{"url":"http://127.0.0.1:9\u003225/"}}"#);
        assert!(refused(&Rules::default(), Class::Person, &ours).is_some());
    }

    #[test]
    fn a_batch_that_cannot_be_judged_is_refused() {
        for params in [
            "{}",
            r#"{"steps":{}}"#,
            r#"{"steps":[1]}"#,
            r#"{"steps":[{"params":{}}]}"#,
            r#"{"steps":[{"method":"click","params":[]}]}"#,
            r#"{"steps":[],"steps":[{"method":"evaluate"}]}"#,
            r#"{"steps":[{"method":"ping","method":"evaluate"}]}"#,
        ] {
            let (code, _) = refused(&Rules::default(), Class::Person, params).unwrap();
            assert_eq!(code, Code::InvalidParams, "{params}");
        }
        assert_eq!(refused(&Rules::default(), Class::Person, r#"{"steps":[],"more":1}"#), None);
    }
}
