//! See `bridge_targets::files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_targets::files(data));
