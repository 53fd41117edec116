//! See `bridge_targets::arguments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_targets::arguments(data));
