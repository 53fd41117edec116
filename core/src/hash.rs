//! A keyed hash for clients' ids, so that nobody can make them collide: SipHash-1-3.

/// Hashes with a key of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    keys: (u64, u64),
}

impl Hasher {
    pub(crate) fn new(random: &[u8; 32]) -> Self {
        let word = |at: usize| {
            let bytes = random.get(at..).and_then(|it| it.first_chunk()).copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        Self { keys: (word(0), word(8)) }
    }

    /// Hashes a number and a text.
    pub(crate) fn hash(&self, salt: u64, text: &[u8]) -> u32 {
        let (k0, k1) = self.keys;
        let mut state = State([
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ]);
        state.absorb(salt);
        let (words, rest) = text.as_chunks::<8>();
        for word in words {
            state.absorb(u64::from_le_bytes(*word));
        }
        let last = rest.iter().rev().fold(0, |word, b| (word << 8) | u64::from(*b));
        state.absorb(last | ((text.len() as u64) << 56));
        state.finish()
    }
}

struct State([u64; 4]);

impl State {
    fn round(&mut self) {
        let [a, b, c, d] = &mut self.0;
        *a = a.wrapping_add(*b);
        *b = b.rotate_left(13) ^ *a;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*d);
        *d = d.rotate_left(16) ^ *c;
        *a = a.wrapping_add(*d);
        *d = d.rotate_left(21) ^ *a;
        *c = c.wrapping_add(*b);
        *b = b.rotate_left(17) ^ *c;
        *c = c.rotate_left(32);
    }

    fn absorb(&mut self, word: u64) {
        let [_, _, _, d] = &mut self.0;
        *d ^= word;
        self.round();
        let [a, ..] = &mut self.0;
        *a ^= word;
    }

    fn finish(mut self) -> u32 {
        let [_, _, c, _] = &mut self.0;
        *c ^= 0xff;
        self.round();
        self.round();
        self.round();
        let [a, b, c, d] = self.0;
        let all = a ^ b ^ c ^ d;
        (all ^ (all >> 32)) as u32
    }
}
