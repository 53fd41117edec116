//! Puts the built extension into the program. Without one the program builds all the same and says so when asked for it.
//! Where the compiler has it, GCC's unwinder goes in too.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    if unwinder_can_be_inside() {
        // Named before the standard library names `libgcc_s.so.1`, which nothing needs then.
        println!("cargo::rustc-link-lib=gcc_eh");
    }
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

/// Whether this is a release for glibc by a compiler that has the unwinder as an archive. Loading it as a library of its own
/// takes a tenth of the daemon's start: on x86 it asks the processor again what it can do, and in a virtual machine each of
/// these questions goes to the host.
fn unwinder_can_be_inside() -> bool {
    let wanted = [
        ("PROFILE", "release"),
        ("CARGO_CFG_TARGET_ARCH", "x86_64"),
        ("CARGO_CFG_TARGET_OS", "linux"),
        ("CARGO_CFG_TARGET_ENV", "gnu"),
    ];
    if !wanted.iter().all(|(name, value)| env::var(name).as_deref() == Ok(*value)) {
        return false;
    }
    // A compiler that does not find the archive gives its bare name back.
    let compiler = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let asked = Command::new(compiler).arg("-print-file-name=libgcc_eh.a").output();
    asked.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_file())
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
