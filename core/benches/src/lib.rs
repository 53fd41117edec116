//! Instruction counts of the hub's hot paths; see `counts/hub.rs` and `compare.sh`.
