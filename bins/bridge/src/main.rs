//! The command line: the same program as `bridged`, under its other name.
fn main() {}
