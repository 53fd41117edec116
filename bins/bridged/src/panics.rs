//! What a fault in this program says of itself: where it happened, and never what it was working on. The text that Rust
//! makes of one may quote the string that was cut wrongly or the value that did not fit, and those come from pages and clients.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::PanicHookInfo;

/// Faults are told in these words from now on.
pub(crate) fn keep_quiet() {
    std::panic::set_hook(Box::new(|fault| {
        // Where nobody reads any more, there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{}", text(fault));
    }));
}

fn text(fault: &PanicHookInfo<'_>) -> String {
    let place = fault.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    // A text that was there when the program was built holds nothing from outside.
    let why = fault.payload().downcast_ref::<&'static str>().map_or(String::new(), |why| format!(" ({why})"));
    let mut text = format!("bridged: a fault in this program at {place}{why}; please report it");
    // With RUST_BACKTRACE: names of functions, no values.
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use std::cell::RefCell;
    use std::panic::{catch_unwind, set_hook, take_hook};

    thread_local!(static SAID: RefCell<Option<String>> = const { RefCell::new(None) });

    /// T94: the text of a panic.
    #[test]
    fn a_fault_says_where_and_not_what_it_worked_on() {
        let others = take_hook();
        set_hook(Box::new(move |fault| {
            // The tests beside this one keep the hook that they have.
            let ours = SAID.with_borrow_mut(|said| said.as_mut().map(|said| *said = super::text(fault)));
            if ours.is_none() {
                others(fault);
            }
        }));
        let said = |faulty: fn(&str)| {
            SAID.set(Some(String::new()));
            assert!(catch_unwind(|| faulty("é cAnArY-5f0c")).is_err());
            SAID.take().unwrap()
        };
        let faults: [fn(&str); 4] = [
            |text| drop(text[1..].to_owned()),
            |text| assert_eq!(text, "other"),
            |text| panic!("{text}"),
            |text| std::panic::panic_any(text.to_owned()),
        ];
        for fault in faults {
            let said = said(fault);
            assert!(said.contains("panics.rs:") && !said.contains("cAnArY"), "{said}");
        }
        assert!(
            said(|_| panic!("the tables do not fit")).contains("(the tables do not fit); please report it")
        );
    }
}
