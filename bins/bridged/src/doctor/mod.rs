//! `bridged doctor`: looks at everything that a call passes through, and says of each what is wrong and what to do. It asks
//! the daemon over its Unix socket and runs nothing in a browser, so that no connection and no page notices it.

mod browser;
mod daemon;
mod others;
mod security;

use std::ffi::OsString;

use serde_json::{Value, json};

use crate::config::{Given, Settings};
use crate::places::Places;
use crate::record::Record;
use crate::show::harmless;
use crate::trouble::{Outcome, Trouble};

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// As it should be.
    Ok,
    /// Worth knowing; calls work all the same.
    Warn,
    /// Calls fail because of it.
    Fail,
}

/// A repair that can do no harm.
type Fix = Box<dyn Fn() -> Outcome<String>>;

/// What a check found.
struct Finding {
    check: &'static str,
    verdict: Verdict,
    about: String,
    todo: Option<String>,
    fix: Option<Fix>,
    fixed: bool,
}

impl Finding {
    fn ok(check: &'static str, about: impl Into<String>) -> Finding {
        Finding { check, verdict: Verdict::Ok, about: about.into(), todo: None, fix: None, fixed: false }
    }

    fn warn(check: &'static str, about: impl Into<String>, todo: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Warn, todo: Some(todo.into()), ..Finding::ok(check, about) }
    }

    fn fail(check: &'static str, about: impl Into<String>, todo: impl Into<String>) -> Finding {
        Finding { verdict: Verdict::Fail, todo: Some(todo.into()), ..Finding::ok(check, about) }
    }

    fn fixed_by(self, fix: impl Fn() -> Outcome<String> + 'static) -> Finding {
        Finding { fix: Some(Box::new(fix)), ..self }
    }

    fn json(&self) -> Value {
        let status = match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
        };
        let mut out = json!({"check": self.check, "status": status, "about": self.about});
        if let Some(todo) = &self.todo {
            out["todo"] = json!(todo);
        }
        if self.fixed {
            out["fixed"] = json!(true);
        } else if self.fix.is_some() {
            out["fixable"] = json!(true);
        }
        out
    }

    fn print(&self) {
        let mark = match self.verdict {
            Verdict::Ok => "ok  ",
            Verdict::Warn => "warn",
            Verdict::Fail => "FAIL",
        };
        println!("{mark}  {:<11} {}", self.check, harmless(&self.about));
        if let Some(todo) = &self.todo {
            let fixable = if self.fix.is_some() { "  (--fix does it)" } else { "" };
            println!("                  -> {}{fixable}", harmless(todo));
        }
    }
}

/// What the checks share.
struct Patient {
    places: Places,
    /// None: the configuration is wrong.
    settings: Option<Settings>,
    /// None: no daemon runs.
    record: Option<Record>,
    /// What the daemon says; null where it does not.
    hub: Value,
    /// What it says to its owner alone.
    secret: Value,
    policy: Value,
    audit: Value,
}

/// Runs every check, and with `fix` the repairs.
pub(crate) fn run(places: &Places, as_json: bool, fix: bool, security: bool) -> Outcome<()> {
    let examine = |places: &Places| examine(places, security);
    let mut findings = examine(places);
    if fix {
        let mut repaired = Vec::new();
        for finding in &findings {
            let Some(fix) = &finding.fix else { continue };
            match fix() {
                Ok(done) => {
                    if !as_json {
                        println!("fixed {}: {}", finding.check, harmless(&done));
                    }
                    repaired.push(finding.check);
                }
                Err(why) if !as_json => {
                    println!("could not fix {}: {}", finding.check, harmless(&why.to_string()))
                }
                Err(_) => {}
            }
        }
        if !repaired.is_empty() {
            findings = examine(places);
            findings
                .iter_mut()
                .for_each(|f| f.fixed = f.verdict == Verdict::Ok && repaired.contains(&f.check));
        }
    }
    let worst = findings.iter().map(|f| f.verdict).max().unwrap_or(Verdict::Ok);
    if as_json {
        let checks: Vec<Value> = findings.iter().map(Finding::json).collect();
        println!(
            "{}",
            json!({"ok": worst < Verdict::Fail, "version": env!("CARGO_PKG_VERSION"), "checks": checks})
        );
    } else {
        findings.iter().for_each(Finding::print);
        let count = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
        println!("{} ok, {} warn, {} fail", count(Verdict::Ok), count(Verdict::Warn), count(Verdict::Fail));
    }
    if worst == Verdict::Fail { Err(Trouble::failed("")) } else { Ok(()) }
}

/// The variables of this shell that settings come from: a daemon that was started elsewhere may have others.
fn variables(lead: &str) -> String {
    let set = |(name, value): (OsString, OsString)| {
        let name =
            name.into_string().ok().filter(|name| name.starts_with("BRIDGED_") && !value.is_empty())?;
        Some(harmless(&name))
    };
    let mut names: Vec<String> = std::env::vars_os().filter_map(set).collect();
    names.sort();
    if names.is_empty() { String::new() } else { format!("{lead} {}", names.join(", ")) }
}

fn examine(places: &Places, security: bool) -> Vec<Finding> {
    let settled = Settings::settle(Given::default(), places, false);
    let settings_finding = match &settled {
        Ok(_) if !places.config.exists() => Finding::ok(
            "settings",
            format!("the defaults{}; there is no configuration file", variables(", but for")),
        ),
        Ok(_) => {
            let file = places.config.display();
            Finding::ok("settings", format!("{file} is valid{}", variables("; before it count")))
        }
        Err(e) => Finding::fail(
            "settings",
            e.to_string(),
            "correct that; docs/configuration.md lists what there is",
        ),
    };
    let mut patient = Patient {
        places: places.clone(),
        settings: settled.ok(),
        record: None,
        hub: Value::Null,
        secret: Value::Null,
        policy: Value::Null,
        audit: Value::Null,
    };
    if security {
        daemon::running(&mut patient);
        return security::examine(&patient);
    }
    let mut findings = vec![daemon::program(), settings_finding, daemon::state(&patient)];
    findings.extend(daemon::running(&mut patient));
    findings.push(daemon::port(&patient));
    findings.push(daemon::http(&patient));
    findings.extend(daemon::pause(&patient));
    findings.extend(daemon::audit(&patient));
    findings.extend(browser::files(&patient));
    findings.extend(browser::connected(&patient));
    findings.extend(browser::strangers(&patient));
    findings.push(browser::chrome());
    findings.extend(others::clients(&patient));
    findings.extend(others::skill(&patient));
    findings.extend(others::service(&patient));
    findings
}
