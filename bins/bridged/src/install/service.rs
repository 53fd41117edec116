//! A systemd unit of the user's own, for those who want the daemon from the login on. Without it, it starts when needed.

use std::path::{Path, PathBuf};

use crate::places::Places;

/// The first line of ours.
const MARK: &str = "# Written by `bridged install`; `bridged install --uninstall service` removes it.";

/// Where it goes.
pub(crate) fn path(places: &Places) -> PathBuf {
    places.config_home.join("systemd/user/bridged.service")
}

/// Whether we wrote this.
pub(crate) fn is_ours(text: &str) -> bool {
    text.starts_with(MARK)
}

/// The program that a unit of ours starts.
pub(crate) fn program_of(text: &str) -> Option<PathBuf> {
    let line = text.lines().find_map(|line| line.strip_prefix("ExecStart="))?;
    let quoted = line.strip_suffix(" serve")?;
    Some(PathBuf::from(
        quoted.trim_matches('"').replace("\\\"", "\"").replace("%%", "%").replace("\\\\", "\\"),
    ))
}

/// The unit. Exit codes 1 and 2 mean that another daemon runs or that the configuration is wrong: trying again helps neither.
pub(crate) fn text(program: &Path) -> String {
    let program = program.to_string_lossy();
    let program = program.replace('\\', "\\\\").replace('%', "%%").replace('"', "\\\"");
    format!(
        "{MARK}\n[Unit]\nDescription=bridged, the browser bridge\n\n\
         [Service]\nExecStart=\"{program}\" serve\nRestart=on-failure\nRestartSec=2\nRestartPreventExitStatus=1 2\n\
         NoNewPrivileges=yes\nLimitCORE=1\n\n[Install]\nWantedBy=default.target\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{is_ours, program_of, text};
    use std::path::Path;

    #[test]
    fn a_path_with_odd_characters_comes_back() {
        let path = Path::new("/opt/a b/100%/$x/bridged");
        assert!(is_ours(&text(path)));
        assert_eq!(program_of(&text(path)).as_deref(), Some(path));
    }
}
