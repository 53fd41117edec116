//! How many columns of a terminal a text takes: those of Chinese, Japanese and Korean, and emoji, take two each.

/// Letters that take two columns, of the blocks that are wide throughout (Unicode's East Asian Width, W and F).
const WIDE: [(u32, u32); 14] = [
    (0x1100, 0x115f),
    (0x2e80, 0x303e),
    (0x3041, 0x33ff),
    (0x3400, 0x4dbf),
    (0x4e00, 0x9fff),
    (0xa000, 0xa4cf),
    (0xac00, 0xd7a3),
    (0xf900, 0xfaff),
    (0xfe30, 0xfe6f),
    (0xff01, 0xff60),
    (0xffe0, 0xffe6),
    (0x1f300, 0x1f64f),
    (0x1f680, 0x1f9ff),
    (0x20000, 0x3fffd),
];
/// Marks that stand on the letter before them.
const NONE: [(u32, u32); 4] = [(0x300, 0x36f), (0x200b, 0x200f), (0x20d0, 0x20ff), (0xfe00, 0xfe0f)];

/// The columns that `text` takes.
pub(super) fn width(text: &str) -> usize {
    let within = |ranges: &[(u32, u32)], letter: u32| ranges.iter().any(|(a, z)| (*a..=*z).contains(&letter));
    let of = |letter: char| match u32::from(letter) {
        letter if within(&NONE, letter) => 0,
        letter => 1 + usize::from(within(&WIDE, letter)),
    };
    text.chars().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn wide_letters_take_two_columns_and_marks_none() {
        for (text, columns) in
            [("", 0), ("Shop", 4), ("中文", 4), ("ｶ한あ！", 7), ("é", 1), ("e\u{301}", 1), ("🙂", 2)]
        {
            assert_eq!(width(text), columns, "{text}");
        }
    }
}
