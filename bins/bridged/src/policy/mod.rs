//! What the user allows: kept in `policy.json` in the state folder, judged for every call of a client, told to every
//! extension. It is changed by the owner's command line and the popup alone; every other door can at most pause.

mod batch;
mod command;
mod pattern;
pub(crate) mod sites;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bridge_core::{Code, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(crate) use command::{WORDS, set, show};
use sites::Sites;

use crate::files::{FolderLock, Holds, json_object, read_private, write_private};
use crate::permit::{self, Window};
use crate::trouble::{Doing, Outcome, Trouble};

/// The policy of one state folder.
pub(crate) struct Policy {
    folder: PathBuf,
    rules: Rules,
    /// The ports of this daemon's own doors.
    own_ports: Vec<u16>,
    /// A pause that could not be written down holds until somebody ends it, whatever the file says meanwhile.
    owed_pause: bool,
}

/// The rules themselves, as they are stored and as extensions are told them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
// A rule by a name that we do not know might forbid anything, too.
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rules {
    /// Whether everything rests, reading too.
    pub paused: bool,
    /// Whether only what changes nothing is carried out.
    pub read_only: bool,
    /// When code may run in the pages' own world; none for never.
    pub evaluate: Option<Window>,
    /// Whether agents may upload files too; persons always may.
    pub uploads: bool,
    /// What agents may do with the user's own tabs; the extension, which knows whose a tab is, goes by it.
    pub user_tabs: UserTabs,
    /// The only sites that are worked on; all where it is empty.
    pub allow: Sites,
    /// Sites that are never worked on.
    pub deny: Sites,
}

/// What agents may do with the user's own tabs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UserTabs {
    /// Work on those that they name.
    #[default]
    Allow,
    /// The same, once the user has said yes to the site.
    Ask,
    /// Nothing.
    Deny,
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
    /// See [`Rules::user_tabs`].
    pub user_tabs: Option<UserTabs>,
    /// The new list, or what is added to it (`+`) and taken off it (`-`). See [`Rules::allow`].
    pub allow: Option<Vec<String>>,
    /// The same for [`Rules::deny`].
    pub deny: Option<Vec<String>>,
}

impl Change {
    /// Whether it pauses, and does nothing else.
    fn is_pause(&self) -> bool {
        *self == Change { paused: Some(true), ..Change::default() }
    }
}

impl Policy {
    /// Reads the folder's policy; without a file nothing is forbidden.
    pub(crate) fn open(folder: &Path) -> Outcome<Policy> {
        let rules = read(folder)?.unwrap_or_default();
        Ok(Policy { folder: folder.to_owned(), rules, own_ports: Vec::new(), owed_pause: false })
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

    /// What clients and the log are told: not which sites the user has put on the lists.
    pub(crate) fn text_for_clients(&self) -> String {
        let mut all = self.whole();
        for list in ["allow", "deny"] {
            all.as_object_mut().map(|all| all.remove(list));
        }
        all.to_string()
    }

    /// Reads the file again; says whether anything is different now. What cannot be read leaves the rules as they are.
    pub(crate) fn read_again(&mut self) -> Outcome<bool> {
        let mut rules = Policy::open(&self.folder)?.rules;
        rules.paused |= self.owed_pause;
        Ok(std::mem::replace(&mut self.rules, rules.clone()) != rules)
    }

    /// Changes the rules, on the disk first; says whether anything is different now. What the user has edited in the file
    /// since it was read is kept, and holds from here on.
    pub(crate) fn change(&mut self, change: &Change) -> Outcome<bool> {
        match self.written(change) {
            // Pausing must not fail.
            Err(e) if change.is_pause() => {
                log::error!("the pause holds until it is ended here, but is not written down: {e}");
                self.owed_pause = true;
                Ok(!std::mem::replace(&mut self.rules.paused, true))
            }
            other => other,
        }
    }

    fn written(&mut self, change: &Change) -> Outcome<bool> {
        let _lock = FolderLock::take_soon(&self.folder)?;
        let stored = read(&self.folder)?;
        // A file that is gone says nothing.
        let mut rules = stored.clone().unwrap_or_else(|| self.rules.clone());
        rules.paused = change.paused.unwrap_or(rules.paused || self.owed_pause);
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
        rules.user_tabs = change.user_tabs.unwrap_or(rules.user_tabs);
        for (list, sites, written) in
            [("allow", &mut rules.allow, &change.allow), ("deny", &mut rules.deny, &change.deny)]
        {
            if let Some(written) = written {
                *sites = sites.change(list, written)?;
            }
        }
        if rules != stored.unwrap_or_default() {
            let mut content = serde_json::to_vec_pretty(&rules).doing("write down the policy")?;
            content.push(b'\n');
            write_private(&file(&self.folder), &content)?;
        }
        self.owed_pause = false;
        Ok(std::mem::replace(&mut self.rules, rules.clone()) != rules)
    }

    /// Why a client's call may not be made, if it may not. The hub's own methods never come here.
    pub(crate) fn forbids(&self, request: &Request<'_>) -> Option<(Code, String)> {
        if self.rules.paused {
            return Some((Code::Paused, "paused by user".to_owned()));
        }
        if request.method() == "batch" {
            return batch::refusal(&self.rules, &self.own_ports, request.class(), request.params());
        }
        permit::refusal(&self.rules, &self.own_ports, request.method(), request.class(), &|key| {
            request.param(key)
        })
    }
}

/// What the folder's file says; none without one.
fn read(folder: &Path) -> Outcome<Option<Rules>> {
    let path = file(folder);
    let Some(content) = read_private(&path, Holds::Rules)? else { return Ok(None) };
    // A policy that cannot be read might have forbidden anything, so it is not passed over.
    json_object(&content).map(Some).map_err(|e| {
        Trouble::usage(format!(
            "{} is damaged ({e}): mend it, or remove it to allow everything again",
            path.display()
        ))
    })
}

fn file(folder: &Path) -> PathBuf {
    folder.join("policy.json")
}

/// Reads a change from the wire.
pub(crate) fn change_in(params: &Value) -> Outcome<Change> {
    Change::deserialize(params).map_err(|e| Trouble::usage(format!("policy: {e}")))
}
