//! Pictures and documents that are too large to be sent to a model: files in the state folder, the oldest go.

use std::fs;
use std::path::{Path, PathBuf};

use bridge_mcp::provider::SaveFile;

use crate::keys::unix_now;
use crate::places::private_folder;
use crate::saving::{letters, save_new};
use crate::trouble::{Outcome, Trouble};

/// How many are kept.
const KEPT: usize = 50;

/// Writes one and returns where it is.
pub(crate) fn save(state: &Path, file: &SaveFile) -> Outcome<PathBuf> {
    let content = file.decode().ok_or_else(|| Trouble::failed("what came is no base64"))?;
    private_folder(state)?;
    let folder = state.join("captures");
    private_folder(&folder)?;
    prune(&folder);
    // The time goes first, so that names sort by age.
    let path = folder.join(format!("{:012}-{}.{}", unix_now(), letters()?, file.extension));
    match save_new(&path, &content)? {
        true => Ok(path),
        false => Err(Trouble::failed(format!("{} is there already", path.display()))),
    }
}

/// Makes room for one more. What cannot be removed stays.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names.iter().take(names.len().saturating_sub(KEPT - 1)) {
        let _ = fs::remove_file(folder.join(name));
    }
}
