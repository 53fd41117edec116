//! The hub against its reference model; see `bridge_model::targets::hub_ops`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bridge_model::targets::hub_ops(data));
