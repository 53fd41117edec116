//! Files that leave the bridge and files that it reads: where they may be, and that nothing else is touched.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use support::calm::Calm;
use support::extension::{Recorder, done};
use support::{Daemon, Home, mode};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A browser whose screenshot is this data URL, and that takes any upload.
fn browser(daemon: &Daemon, data: &'static str) -> Recorder {
    Recorder::new(daemon, move |request| match request["method"].as_str() {
        Some("screenshot") => {
            done(json!({"tab_id": 7, "url": "u", "title": "t", "mime": "image/png", "format": "png",
            "width": 8, "height": 6, "size": 8, "data": data}))
        }
        Some("get_page_content") => done(json!({"title": "t", "url": "u", "text": "text"})),
        _ => done(json!({"files": []})),
    })
}

const PICTURE: &str = "data:image/png;base64,iVBORw0KGgo=";

/// T85: no door takes a path from a client or a model; the command line's own `-o` names a file of its user's, and what is
/// no file's name is refused with nothing written.
#[test]
fn a_name_that_is_no_files_is_refused() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon, PICTURE);
    fs::create_dir(home.path("folder")).unwrap();
    let long = "x".repeat(4096);
    for name in ["folder", "folder/", "..", "/", "gone/shot.png", &long, "", "/proc/self/mem"] {
        home.bridge(["screenshot", "-o", name]).fails(1, &["cannot write"]);
    }
    assert_eq!(fs::read_dir(home.path("folder")).unwrap().count(), 0);
    // A tilde is a letter like any other: the shell's business, not ours.
    home.bridge(["screenshot", "-o", "~shot.png"]).ok();
    assert!(home.path("~shot.png").is_file());
}

/// T86, T87: a link in the file's place is refused and its target untouched; a file is private, and replaced only if it is ours.
#[test]
fn what_is_saved_is_private_and_goes_through_no_link() {
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon, PICTURE);
    let calm = Calm::of(&daemon, None);
    let target = home.path("target");
    fs::write(&target, "precious").unwrap();
    symlink(&target, home.path("shot.png")).unwrap();
    for args in [&["screenshot"][..], &["screenshot", "--json"], &["get-page-content"]] {
        home.bridge([args, &["-o", "shot.png"]].concat())
            .fails(1, &["shot.png", "symbolic link", "not followed"]);
    }
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    fs::remove_file(home.path("shot.png")).unwrap();
    fs::write(home.path("shot.png"), "an older one").unwrap();
    fs::set_permissions(home.path("shot.png"), PermissionsExt::from_mode(0o666)).unwrap();
    home.bridge(["screenshot", "-o", "shot.png"]).ok();
    assert_eq!(
        (fs::read(home.path("shot.png")).unwrap(), mode(&home.path("shot.png"))),
        (PNG.to_vec(), 0o600)
    );
    home.bridge(["get-page-content", "-o", "page.txt"]).ok();
    assert_eq!(mode(&home.path("page.txt")), 0o600);
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&target, Some(65534), None).unwrap();
        home.bridge(["screenshot", "-o", "target"]).fails(1, &["belongs to user 65534"]);
        assert_eq!(fs::read(&target).unwrap(), b"precious");
    }
    calm.again(&daemon, None);
}

/// T88: an answer that is no picture leaves no file.
#[test]
fn an_answer_that_is_no_picture_leaves_no_file() {
    for data in ["data:image/png;base64,!!!", "data:image/png,plain", "data:image/png;base64,iVBORw0KGgo"] {
        let home = Home::new();
        let daemon = home.serve();
        let _browser = browser(&daemon, data);
        home.bridge(["screenshot", "-o", "shot.png"]).fails(1, &["not valid base64"]);
        assert!(!home.path("shot.png").exists(), "{data}");
    }
    // A disk that fills up half-way leaves neither half a picture nor a leftover beside it.
    let home = Home::new();
    let daemon = home.serve();
    let _browser = browser(&daemon, PICTURE);
    fs::create_dir(home.path("out")).unwrap();
    let mut shell = std::process::Command::new("sh");
    home.settle(&mut shell);
    let line = "trap '' XFSZ; ulimit -f 0; exec \"$0\" screenshot -o out/shot.png";
    let link = home.path("bridge");
    symlink(env!("CARGO_BIN_EXE_bridged"), &link).unwrap();
    support::Done::of(shell.args(["-c", line]).arg(&link)).fails(1, &["out/shot.png"]);
    assert_eq!(fs::read_dir(home.path("out")).unwrap().count(), 0);
}

/// T89, T90, T91, T92: over the wire, an upload gets nothing from outside the roots, nothing of ours, nothing endless; no
/// parameter changes that, and the refusal shows a name that plays tricks as what it is.
#[test]
fn an_upload_gets_only_what_it_may() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = browser(&daemon, PICTURE);
    let calm = Calm::of(&daemon, None);
    let root = home.path("Downloads");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("fine.txt"), "fine").unwrap();
    symlink("/proc/self/environ", root.join("environ")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    fs::hard_link(home.state("root.key"), root.join("holiday.jpg")).unwrap();
    fs::File::create(root.join("large")).unwrap().set_len(2 << 30).unwrap();
    let mut client = daemon.client();
    let mut asked = |paths: Value, more: Value| {
        let mut params = json!({"target": {"value": "#f"}, "paths": paths});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("upload", params)
    };
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    for name in
        ["environ", "etc/passwd", "holiday.jpg", "../state/bridged/root.key", "trick\u{202e}gnp\n.exe/../x"]
    {
        let answer = asked(json!([path(name)]), json!({}));
        assert_eq!(answer["code"], "PERMISSION_DENIED", "{name}: {answer}");
        let text = answer["error"].as_str().unwrap();
        assert!(text.starts_with("forbidden: path") && !text.contains(['\u{202e}', '\n']), "{text}");
    }
    for place in ["/proc/self/environ", "/dev/zero", "/etc/passwd", home.state("root.key").to_str().unwrap()]
    {
        let more = json!({"roots": ["/"], "upload_roots": ["/"]});
        assert_eq!(asked(json!([place]), more)["code"], "PERMISSION_DENIED", "{place}");
    }
    assert_eq!(asked(json!([path("large")]), json!({}))["code"], "TOO_LARGE");
    assert!(browser.of_method("upload").is_empty(), "the browser hears of none of these");
    assert_eq!(asked(json!([path("fine.txt")]), json!({}))["success"], true);
    assert_eq!(browser.only("upload")["params"]["files"][0]["name"], "fine.txt");
    drop(client);
    calm.again(&daemon, None);
}

/// T89: the key file of an extension that was unpacked into a root stays there.
#[test]
fn the_key_of_an_extension_unpacked_into_a_root_is_never_uploaded() {
    let home = Home::new();
    let daemon = home.serve();
    let browser = browser(&daemon, PICTURE);
    let dist = home.path("dist");
    fs::create_dir_all(&dist).unwrap();
    fs::write(dist.join("manifest.json"), r#"{"key":"ours"}"#).unwrap();
    let mut command = home.program("bridged");
    command.args(["extension", "install", "Downloads/unpacked"]).env("BRIDGED_EXTENSION_DIST", &dist);
    support::Done::of(&mut command).ok();
    let key = home.path("Downloads/unpacked/pairing.json");
    let params = json!({"target": {"value": "#f"}, "paths": [key]});
    assert!(key.is_file());
    assert_eq!(daemon.client().call("upload", params)["code"], "PERMISSION_DENIED");
    assert!(browser.of_method("upload").is_empty());
}
