//! See `bridge_targets::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_targets::frames(data));
