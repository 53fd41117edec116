//! The table of attacks names tests that exist, and each of their files says which case it is for.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop at the first surprise

use std::collections::BTreeSet;
use std::path::Path;

/// One row: the case, and its last cell.
fn rows(table: &str) -> Vec<(&str, &str)> {
    table
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
            let case = cells.next()?;
            let number = case.strip_prefix('T')?;
            let known = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
            (!known.is_empty() && known.bytes().all(|b| b.is_ascii_digit())).then_some((case, cells.last()?))
        })
        .collect()
}

/// Whether a text holds the case's number as a word of its own: T5 is not T58.
fn says(text: &str, case: &str) -> bool {
    text.match_indices(case).any(|(at, _)| {
        let beside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !beside(text[..at].chars().next_back()) && !beside(text[at + case.len()..].chars().next())
    })
}

#[test]
fn every_test_that_the_table_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = std::fs::read_to_string(root.join("docs/security-tests.md")).unwrap();
    let mut seen = BTreeSet::new();
    for (case, tests) in rows(&table) {
        assert!(seen.insert(case), "{case} has two rows");
        let named: Vec<(&str, &str)> =
            tests.split('`').skip(1).step_by(2).filter_map(|test| test.split_once("::")).collect();
        // A case without a test says why.
        assert!(!named.is_empty() || tests.len() > 30, "{case} has neither a test nor a reason");
        for (file, name) in named {
            let text = std::fs::read_to_string(root.join(file))
                .unwrap_or_else(|e| panic!("{case}: {file} is not there: {e}"));
            let sought = if file.ends_with(".rs") { format!("fn {name}(") } else { name.to_owned() };
            assert!(text.contains(&sought), "{case}: {file} has no test {name}");
            assert!(says(&text, case), "{case}: {file} does not say its number");
        }
    }
    for number in 1..=132 {
        assert!(seen.contains(format!("T{number}").as_str()), "T{number} has no row");
    }
}

/// T44: secrets are compared by functions whose time does not tell where two of them differ, and by nothing else.
#[test]
fn secrets_are_compared_in_constant_time() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let core = read("core/src/proof.rs");
    assert!(core.contains("signature.ct_eq(&self.expected)") && core.contains("ct_eq(&self.sign(owner))"));
    assert!(read("transports/websocket/src/proof.rs").contains(".ct_eq(&self.digest("));
    let keys = read("bins/bridged/src/keys.rs");
    assert!(keys.contains("any |= same(") && keys.contains(".verify_slice("));
    for text in [&core, &keys] {
        for secret in ["signature", "given", "expected", "proof"] {
            assert!(
                !text.contains(&format!("{secret} == ")) && !text.contains(&format!(" == {secret}")),
                "{secret}"
            );
        }
    }
}
