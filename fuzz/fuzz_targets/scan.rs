//! The hub's scanner against serde_json; see `bridge_model::targets::scan`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_model::targets::scan(data));
