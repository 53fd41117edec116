//! Proof that the doors run on smol, async-std and tokio alike: everything is in `tests/`.
