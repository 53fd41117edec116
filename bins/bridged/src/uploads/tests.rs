//! Which files an upload gets, and which never.

use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

/// A root with some files, and a folder beside it that is none of anybody's business.
fn place() -> (tempfile::TempDir, Uploads) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for folder in ["root/sub", "root/own/bridged", "root/.ssh", "outside"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    for file in [
        "root/a.txt",
        "root/sub/b.txt",
        "root/own/bridged/root.key",
        "root/.ssh/id",
        "root/.env",
        "outside/secret",
    ] {
        fs::write(base.join(file), file).unwrap();
    }
    let uploads = Uploads { roots: vec![base.join("root")], never: vec![base.join("root/own/bridged")] };
    (dir, uploads)
}

fn fill(uploads: &Uploads, paths: &[String]) -> Result<Value, Refusal> {
    let params = json!({"target": {"value": "#f"}, "paths": paths});
    uploads.fill(params.to_string().as_bytes()).map(|filled| serde_json::from_slice(&filled).unwrap())
}

fn code(uploads: &Uploads, path: &str) -> Code {
    fill(uploads, &[path.to_owned()]).unwrap_err().0
}

#[test]
fn files_beneath_a_root_are_read_and_their_paths_stay_here() {
    let (dir, uploads) = place();
    let base = dir.path().canonicalize().unwrap();
    let paths = ["root/a.txt", "root/sub/b.txt"].map(|p| base.join(p).to_str().unwrap().to_owned());
    let filled = fill(&uploads, &paths).unwrap();
    assert_eq!(filled["files"][0]["name"], "a.txt");
    assert_eq!(filled["files"][1]["data"], Base64::encode_string(b"root/sub/b.txt"));
    assert_eq!(filled["target"]["value"], "#f");
    assert!(!filled.to_string().contains(base.to_str().unwrap()));
}

/// T89: places that are none of anybody's business.
#[test]
fn other_places_dot_files_and_our_own_folders_are_forbidden() {
    let (dir, uploads) = place();
    let base = dir.path().canonicalize().unwrap();
    let inside = [
        "outside/secret",
        "root/../outside/secret",
        "root/./a.txt",
        "root/.env",
        "root/.ssh/id",
        "root/own/bridged/root.key",
    ];
    for path in inside {
        assert_eq!(code(&uploads, base.join(path).to_str().unwrap()), Code::PermissionDenied, "{path}");
    }
    for path in ["/proc/self/environ", "/etc/passwd", "~/a.txt", "a.txt", "/", "\0", &"/x".repeat(3000)] {
        assert_eq!(code(&uploads, path), Code::PermissionDenied, "{path:?}");
    }
}

/// T89: links, folders, pipes.
#[test]
fn links_folders_pipes_and_what_is_not_there_are_refused() {
    let (dir, uploads) = place();
    let base = dir.path().canonicalize().unwrap();
    symlink(base.join("outside/secret"), base.join("root/link")).unwrap();
    symlink(base.join("outside"), base.join("root/door")).unwrap();
    symlink(base.join("root/a.txt"), base.join("root/same")).unwrap();
    let pipe = base.join("root/pipe");
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).unwrap();
    for path in ["root/link", "root/door/secret", "root/same", "root/sub", "root/pipe"] {
        assert_eq!(code(&uploads, base.join(path).to_str().unwrap()), Code::PermissionDenied, "{path}");
    }
    assert_eq!(code(&uploads, base.join("root/none").to_str().unwrap()), Code::InvalidParams);
}

/// T86: a folder swapped for a link, a thousand times.
#[test]
fn a_folder_that_is_swapped_for_a_link_never_leads_outside() {
    let (dir, uploads) = place();
    let base = dir.path().canonicalize().unwrap();
    fs::write(base.join("root/sub/secret"), "harmless").unwrap();
    let (folder, aside, link) = (base.join("root/sub"), base.join("root/aside"), base.join("root/link"));
    symlink(base.join("outside"), &link).unwrap();
    let done = AtomicBool::new(false);
    let path = [folder.join("secret").to_str().unwrap().to_owned()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::rename(&folder, &aside).unwrap();
                fs::rename(&link, &folder).unwrap();
                fs::rename(&folder, &link).unwrap();
                fs::rename(&aside, &folder).unwrap();
            }
        });
        for _ in 0..1000 {
            if let Ok(filled) = fill(&uploads, &path) {
                assert_eq!(filled["files"][0]["data"], Base64::encode_string(b"harmless"));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn calls_that_wait_hold_no_more_than_their_bound_together() {
    let waiting = Waiting::default();
    let mut shares: Vec<_> = (0..8).map(|_| waiting.share(MOST_WAITING / 8).unwrap()).collect();
    assert!(waiting.share(1).is_none() && waiting.share(usize::MAX).is_none());
    shares.pop();
    assert!(waiting.share(MOST_WAITING / 8 + 1).is_none());
    shares.push(waiting.share(MOST_WAITING / 8).unwrap());
    assert!(waiting.share(1).is_none());
    shares.clear();
    assert!(waiting.share(MOST_WAITING).is_some());
}

/// T90: two gigabytes.
#[test]
fn too_much_is_refused_unread() {
    let (dir, uploads) = place();
    let large = dir.path().canonicalize().unwrap().join("root/large");
    fs::File::create(&large).unwrap().set_len(2 << 30).unwrap();
    assert_eq!(code(&uploads, large.to_str().unwrap()), Code::TooLarge);
    let half = dir.path().canonicalize().unwrap().join("root/half");
    fs::File::create(&half).unwrap().set_len(20 << 20).unwrap();
    let path = half.to_str().unwrap().to_owned();
    assert_eq!(fill(&uploads, &[path.clone(), path]).unwrap_err().0, Code::TooLarge);
    assert_eq!(fill(&uploads, &[]).unwrap_err().0, Code::InvalidParams);
    assert_eq!(code(&uploads, ""), Code::InvalidParams);
}

/// T92: a parameter that would widen the roots.
#[test]
fn no_parameter_widens_the_roots() {
    let (dir, uploads) = place();
    let secret = dir.path().canonicalize().unwrap().join("outside/secret");
    let params = json!({"paths": [secret], "roots": ["/"], "upload_roots": ["/"]});
    assert_eq!(uploads.fill(params.to_string().as_bytes()).unwrap_err().0, Code::PermissionDenied);
}

/// T91: names that play tricks.
#[test]
fn a_name_that_plays_tricks_is_harmless_in_the_refusal() {
    let (_dir, uploads) = place();
    let text = fill(&uploads, &["/x/\u{202e}gnp\u{1b}[2J\n.exe".to_owned()]).unwrap_err().1;
    assert!(!text.contains(['\u{202e}', '\u{1b}', '\n']), "{text:?}");
}

/// T89: neither a hard link in a root nor an extension unpacked into one leads to a key.
#[test]
fn a_key_stays_here_under_whatever_name_it_lies_in_a_root() {
    let (dir, uploads) = place();
    let base = dir.path().canonicalize().unwrap();
    fs::hard_link(base.join("root/own/bridged/root.key"), base.join("root/holiday.jpg")).unwrap();
    assert_eq!(code(&uploads, base.join("root/holiday.jpg").to_str().unwrap()), Code::PermissionDenied);
    fs::hard_link(base.join("root/a.txt"), base.join("root/twice.txt")).unwrap();
    let twice = base.join("root/twice.txt").to_str().unwrap().to_owned();
    assert!(fill(&uploads, std::slice::from_ref(&twice)).is_ok());

    fs::create_dir(base.join("root/unpacked")).unwrap();
    fs::write(base.join("root/unpacked/pairing.json"), "key").unwrap();
    let key = base.join("root/unpacked/pairing.json").to_str().unwrap().to_owned();
    assert!(fill(&uploads, std::slice::from_ref(&key)).is_ok(), "a folder like any other");
    let uploads = uploads.sparing(&[base.join("root/unpacked")]);
    assert_eq!(code(&uploads, &key), Code::PermissionDenied);
}

/// T89: a second name of a file from elsewhere, given by somebody else: where everybody or another user may write, or to a file of
/// another user.
#[test]
fn a_second_name_that_others_may_have_given_leads_nowhere() {
    let (dir, uploads) = place();
    let base = dir.path().canonicalize().unwrap();
    let (plain, name) = (base.join("root/sub/b.txt"), base.join("root/sub/holiday.jpg"));
    fs::hard_link(base.join("outside/secret"), &name).unwrap();
    let [plain, name] = [plain, name].map(|path| path.to_str().unwrap().to_owned());
    assert!(fill(&uploads, std::slice::from_ref(&name)).is_ok(), "a folder of the user's alone");
    fs::set_permissions(base.join("root/sub"), fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(code(&uploads, &name), Code::PermissionDenied);
    assert!(
        fill(&uploads, std::slice::from_ref(&plain)).is_ok(),
        "one name is one name, as in the temporary folder"
    );
    fs::set_permissions(base.join("root/sub"), fs::Permissions::from_mode(0o755)).unwrap();
    // Only root can play another user.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(base.join("root/sub"), Some(65534), None).unwrap();
        assert_eq!(code(&uploads, &name), Code::PermissionDenied, "its owner may have given it");
        assert!(fill(&uploads, std::slice::from_ref(&plain)).is_ok(), "one name is one name there too");
        std::os::unix::fs::chown(base.join("root/sub"), Some(0), None).unwrap();
        assert!(fill(&uploads, std::slice::from_ref(&name)).is_ok(), "ours again");
        std::os::unix::fs::chown(&name, Some(65534), None).unwrap();
        assert_eq!(code(&uploads, &name), Code::PermissionDenied);
        std::os::unix::fs::chown(&plain, Some(65534), None).unwrap();
        assert!(fill(&uploads, &[plain]).is_ok(), "what may be read under its one name may be given away");
    }
}
