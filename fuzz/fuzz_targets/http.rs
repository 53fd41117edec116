//! See `bridge_targets::http`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_targets::http(data));
