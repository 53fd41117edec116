//! See `bridge_targets::lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_targets::lines(data));
