//! Puts the built extension into the program. Without one the program builds all the same and says so when asked for it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extension/dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    if dist.join("manifest.json").is_file() {
        collect(&dist, &mut files)?;
        files.sort();
    }
    let mut code = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[\n");
    for file in &files {
        let name = file.strip_prefix(&dist).unwrap_or(file);
        let _ = writeln!(
            code,
            "    ({:?}, include_bytes!({:?})),",
            name.to_string_lossy(),
            file.to_string_lossy()
        );
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("extension_files.rs");
    // An unchanged list keeps its time stamp, so that nothing is compiled again for it.
    if fs::read_to_string(&out).ok().as_deref() != Some(&code) {
        fs::write(out, code)?;
    }
    Ok(())
}

/// Every file beneath `folder` but a key that somebody installed there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() && entry.file_name() != "pairing.json" {
            files.push(entry.path());
        }
    }
    Ok(())
}
