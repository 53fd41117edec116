//! `bridged extension install`: private, repeatable, and never over what is somebody else's.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Done, Home, mode};

/// A built extension as far as the installation cares.
fn dist(home: &Home) {
    fs::create_dir_all(home.path("dist/icons")).unwrap();
    fs::write(home.path("dist/manifest.json"), r#"{"name":"x","key":"ours"}"#).unwrap();
    fs::write(home.path("dist/worker.js"), "// worker").unwrap();
    fs::write(home.path("dist/icons/icon.png"), "png").unwrap();
    fs::write(home.path("dist/pairing.json"), "somebody's key").unwrap();
}

fn install(home: &Home, args: &[&str]) -> Done {
    let mut command = home.program("bridged");
    command.args(["extension", "install"]).args(args).env("BRIDGED_EXTENSION_DIST", home.path("dist"));
    Done::of(&mut command)
}

fn pairing(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("pairing.json")).unwrap()).unwrap()
}

#[test]
fn it_is_unpacked_privately_with_a_key_of_its_own() {
    let home = Home::new();
    dist(&home);
    let said = install(&home, &["unpacked", "--port", "4711"]).ok();
    assert!(said.contains("Load unpacked") && said.contains("chrome://extensions"), "{said}");
    let folder = home.path("unpacked");
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("pairing.json")), 0o600);
    assert_eq!(fs::read(folder.join("worker.js")).unwrap(), b"// worker");
    assert_eq!(fs::read(folder.join("icons/icon.png")).unwrap(), b"png");
    let key = pairing(&folder);
    assert_eq!(key["url"], "ws://127.0.0.1:4711");
    assert_eq!(key["key"].as_str().unwrap().len(), 43);
    assert!(key["key_id"].as_str().unwrap().starts_with("k-"));
    assert_eq!(key["browser_id"], Value::Null);
    assert_eq!(home.bridged(["extension", "path"]).ok().trim(), folder.to_str().unwrap());
    assert!(home.bridged(["pairings"]).ok().contains(key["key_id"].as_str().unwrap()));
}

#[test]
fn again_makes_a_new_key_and_ends_the_old_one() {
    let home = Home::new();
    dist(&home);
    install(&home, &["unpacked"]).ok();
    let old = pairing(&home.path("unpacked"));
    fs::write(home.path("dist/worker.js"), "// newer").unwrap();
    assert!(install(&home, &["unpacked"]).ok().contains("renewed"));
    let new = pairing(&home.path("unpacked"));
    assert_ne!(old["key"], new["key"]);
    assert_eq!(fs::read(home.path("unpacked/worker.js")).unwrap(), b"// newer");
    let paired = home.bridged(["pairings"]).ok();
    assert!(
        !paired.contains(old["key_id"].as_str().unwrap()) && paired.contains(new["key_id"].as_str().unwrap())
    );
}

#[test]
fn a_folder_with_anything_else_in_it_is_refused_and_kept() {
    let home = Home::new();
    dist(&home);
    fs::create_dir(home.path("documents")).unwrap();
    fs::write(home.path("documents/letter.txt"), "dear").unwrap();
    install(&home, &["documents"]).fails(1, &["holds something else"]);
    assert_eq!(fs::read_dir(home.path("documents")).unwrap().count(), 1);

    fs::write(home.path("documents/manifest.json"), r#"{"key":"another extension's"}"#).unwrap();
    install(&home, &["documents"]).fails(1, &["holds something else"]);

    std::os::unix::fs::symlink(home.path("nowhere"), home.path("link")).unwrap();
    install(&home, &["link"]).fails(2, &["symbolic link"]);
    fs::write(home.path("file"), "").unwrap();
    install(&home, &["file"]).fails(1, &["file"]);
}

#[test]
fn it_dials_the_daemon_that_runs() {
    let home = Home::new();
    dist(&home);
    let daemon = home.serve();
    install(&home, &["unpacked"]).ok();
    assert_eq!(pairing(&home.path("unpacked"))["url"], format!("ws://127.0.0.1:{}", daemon.port));
}

#[test]
fn without_a_folder_it_goes_where_data_go() {
    let home = Home::new();
    dist(&home);
    install(&home, &[]).ok();
    assert_eq!(
        home.bridged(["extension", "path"]).ok().trim(),
        home.path("data/bridged/extension").to_str().unwrap()
    );
}

#[test]
fn before_the_first_installation_there_is_no_path() {
    let home = Home::new();
    home.bridged(["extension", "path"]).fails(1, &["bridged extension install DIR"]);
}
