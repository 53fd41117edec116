//! The page about configuration names what there is.

#![allow(clippy::unwrap_used)] // a test may stop at the first surprise

mod support;

use support::Home;

#[test]
fn every_flag_of_the_daemon_is_documented_with_its_variable_and_key() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md")).unwrap();
    let help = Home::new().bridged(["serve", "--help"]).ok();
    let flags = help.split_whitespace().filter_map(|word| word.strip_prefix("[--"));
    let mut count = 0;
    for flag in flags {
        let key = flag.replace('-', "_");
        for text in [format!("`--{flag}`"), format!("`BRIDGED_{}`", key.to_uppercase()), format!("`{key}`")] {
            assert!(page.contains(&text), "docs/configuration.md lacks {text}");
        }
        count += 1;
    }
    assert!(count >= 6, "{help}");
}

/// The table of limits says of each what it is without being set, how far it may be set, and which tests hold it.
#[test]
fn every_limit_is_documented_with_its_bounds_and_its_tests() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let page = std::fs::read_to_string(format!("{root}/docs/configuration.md")).unwrap();
    let home = Home::new();
    let names = home.bridged(["serve", "--limit", "nothing=1"]).err;
    let (_, names) = names.trim().split_once("there are ").unwrap();
    let names: Vec<&str> = names.split(", ").collect();
    assert!(names.len() >= 17, "{names:?}");
    for name in names {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |"))).unwrap_or_default();
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 6, "docs/configuration.md has no whole row for {name}");
        let said = home.bridged(["serve", "--limit", &format!("{name}=0")]).err;
        let (_, bounds) = said.split_once("a number from ").unwrap();
        let (least, bounds) = bounds.split_once(" to ").unwrap();
        let (most, _) = bounds.split_once(' ').unwrap();
        assert_eq!(cells[2], format!("{} to {}", short(least), short(most)), "the bounds of {name}");
        for test in cells[5].split(", ") {
            let (file, test) = test.trim_matches('`').split_once("::").unwrap();
            let rooms = ["core", "transports/runtimes", "bins/bridged"];
            let mut texts = rooms
                .iter()
                .filter_map(|room| std::fs::read_to_string(format!("{root}/{room}/tests/{file}.rs")).ok());
            let wanted = format!("#[test]\nfn {test}()");
            assert!(texts.any(|text| text.contains(&wanted)), "{name}: there is no test {test}");
        }
    }
}

/// 65536 as people write it.
fn short(number: &str) -> String {
    let number: u64 = number.parse().unwrap();
    match number {
        n if n >= 1 << 30 && n % (1 << 30) == 0 => format!("{} GiB", n >> 30),
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n if n >= 1 << 10 && n % (1 << 10) == 0 && n != 1 << 10 && n != 4 << 10 && n != 32 << 10 => {
            format!("{} KiB", n >> 10)
        }
        n => n.to_string(),
    }
}
