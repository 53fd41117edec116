//! What a model pays for the list of tools, and what it gets for it.

use bridge_mcp::tools::{ToolSet, Tools};

const CATALOGUE: &str = include_str!("../../../catalogue/methods.json");
#[test]
fn measure() {
    for set in ["core", "all"] {
        let t = Tools::new(CATALOGUE, &ToolSet::parse(set)).unwrap();
        println!("{set}: {} tools {} bytes {} each", t.len(), t.bytes(), t.bytes() / t.len());
        for (n, s) in t.sizes() {
            println!("  {s} {n}");
        }
    }
}
