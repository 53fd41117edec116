//! Printing. Whoever reads may have seen enough (`bridged status | head -1`), which is no failure and no reason to leave
//! the work half done; the macros of the standard library, in whose place these are, would make a fault of it.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints text.
macro_rules! print {
    ($($text:tt)*) => { $crate::out::write(format_args!($($text)*)) };
}

/// Prints a line.
macro_rules! println {
    () => { print!("\n") };
    ($($text:tt)*) => { $crate::out::write(format_args!("{}\n", format_args!($($text)*))) };
}

static FAILED: AtomicBool = AtomicBool::new(false);

/// Writes to standard output.
pub(crate) fn write(text: Arguments<'_>) {
    let mut out = std::io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe && !FAILED.swap(true, Ordering::Relaxed) => {
            let _ = writeln!(std::io::stderr().lock(), "bridged: cannot write to standard output: {e}");
        }
        _ => {}
    }
}

/// Whether something that was to be read could not be written.
pub(crate) fn failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}
