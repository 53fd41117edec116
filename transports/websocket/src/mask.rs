//! The mask of RFC 6455, eight bytes at a time.

/// XORs `data` with the mask, whose byte `at & 3` meets the first one.
pub(crate) fn apply(data: &mut [u8], mask: [u8; 4], at: usize) {
    let turned: [u8; 8] = std::array::from_fn(|i| mask[(at + i) & 3]);
    let wide = u64::from_ne_bytes(turned);
    let (chunks, rest) = data.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(turned) {
        *byte ^= key;
    }
}
