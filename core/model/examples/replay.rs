//! Gives one file to a fuzz target: `TRACE=1 cargo run -p bridge-model --example replay -- hub_ops FILE`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a tool for the test bench")]

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, file] = &arguments[..] else { panic!("usage: replay scan|hub_ops FILE") };
    let data = std::fs::read(file).unwrap();
    match target.as_str() {
        "scan" => bridge_model::targets::scan(&data),
        "hub_ops" => bridge_model::targets::hub_ops(&data),
        other => panic!("no target {other}"),
    }
}
