//! The daemon, under its own name.

use std::process::ExitCode;

fn main() -> ExitCode {
    bridged::main("bridged")
}
