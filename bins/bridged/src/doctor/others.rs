//! What other programs were told about us: MCP clients, their skills, the system's service.

use super::{Finding, Patient};
use crate::install::clients::{self, Entry};
use crate::install::{self, change, service};
use crate::{skill as skills, trouble::Trouble};

/// The entries of the MCP clients that are used here.
pub(super) fn clients(patient: &Patient) -> Vec<Finding> {
    let here: Vec<_> = clients::all(&patient.places.home, &patient.places.config_home);
    let here: Vec<_> = here.into_iter().filter(clients::Client::is_here).collect();
    let (Some(_), Ok(program)) = (here.first(), install::program()) else {
        return vec![Finding::ok("mcp", "no MCP client that this program knows is used here")];
    };
    let look = |client: &clients::Client| {
        let entry = change::read(&client.config).and_then(|text| client.entry(&text.unwrap_or_default()));
        let title = client.title;
        match entry {
            Err(why) => {
                Finding::warn("mcp", format!("{title}: {why}"), "docs/mcp.md shows the entry to add by hand")
            }
            Ok(Entry::None) => Finding::warn(
                "mcp",
                format!("{title} does not know the bridge"),
                format!("`bridged install {}`", client.name),
            ),
            Ok(entry) if install::leads_here(&entry, &program) => {
                Finding::ok("mcp", format!("{title} starts `bridged mcp`"))
            }
            Ok(Entry::Runs { command, .. }) => Finding::warn(
                "mcp",
                format!("{title} starts another program ({command})"),
                format!("`bridged install {}`", client.name),
            ),
        }
    };
    here.iter().map(look).collect()
}

/// The skills that are installed, compared with this version's.
pub(super) fn skill(patient: &Patient) -> Option<Finding> {
    let settings = patient.settings.as_ref()?;
    let text = skills::text(settings);
    let mut paths: Vec<_> = clients::all(&patient.places.home, &patient.places.config_home)
        .into_iter()
        .filter(clients::Client::is_here)
        .filter_map(|client| client.skill)
        .collect();
    paths.dedup();
    let first = paths.first()?.clone();
    let found: Vec<_> =
        paths.into_iter().filter_map(|p| Some((p.clone(), change::read(&p).ok()??))).collect();
    if found.is_empty() {
        return Some(Finding::warn("skill", "agents here have no skill for the bridge", "`bridged install`"));
    }
    let stale: Vec<_> = found.into_iter().filter(|(_, there)| *there != text).collect();
    if stale.is_empty() {
        return Some(Finding::ok("skill", format!("this version's, in {}", first.display())));
    }
    if let Some((path, _)) = stale.iter().find(|(_, there)| !skills::is_ours(there)) {
        let about = format!("{} is not one that bridged wrote", path.display());
        return Some(Finding::warn("skill", about, "compare it with `bridged skill`"));
    }
    let finding = Finding::warn("skill", "the installed skill is another version's", "`bridged install`");
    Some(finding.fixed_by(move || {
        for (path, before) in &stale {
            change::write(path, Some(before), &text, 0o644).map_err(Trouble::failed)?;
        }
        Ok("renewed".to_owned())
    }))
}

/// The unit, if there is one of ours.
pub(super) fn service(patient: &Patient) -> Option<Finding> {
    let path = service::path(&patient.places);
    let text = change::read(&path).ok()??;
    let program = service::program_of(&text)?;
    Some(match program.is_file() {
        true => Finding::ok("service", format!("{} starts {}", path.display(), program.display())),
        false => Finding::warn(
            "service",
            format!("{} starts {}, which is not there", path.display(), program.display()),
            "`bridged install service`, then `systemctl --user daemon-reload`",
        ),
    })
}
