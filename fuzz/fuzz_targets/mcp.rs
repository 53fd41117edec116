//! An MCP session under arbitrary input; see `bridge_mcp::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(broken) = bridge_mcp::fuzz::run(&bridge_mcp::fuzz::steps(data)) {
        panic!("{broken}");
    }
});
