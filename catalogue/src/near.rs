//! "Did you mean": the known word that is closest to a mistyped one.

/// The closest of `known` to `word`, if any is close enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> =
        word.chars().take(64).map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect();
    let allowed = word.len().div_ceil(4);
    known.into_iter().map(|k| (distance(&word, k), k)).filter(|(d, _)| *d <= allowed).min().map(|(_, k)| k)
}

/// How many letters must be put in, taken out or changed.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| if c == '_' { '-' } else { c }).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
