//! The command line: the same program as `bridged`, under its other name.

use std::process::ExitCode;

fn main() -> ExitCode {
    bridged::main("bridge")
}
