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
