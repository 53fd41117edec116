//! What the fuzz targets of the doors and the files do with their input; the committed seeds go through the same functions
//! as plain tests.
//!
//! Each parser is held against a plain reading of the same bytes, written once more in the most obvious way.

// A broken expectation is exactly what must stop a test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arguments;
mod frames;
mod http;
mod lines;
mod stream;

pub use arguments::arguments;
pub use bridged::fuzz::files;
pub use frames::frames;
pub use http::http;
pub use lines::lines;
