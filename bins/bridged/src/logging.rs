//! The log: lines on standard error, each with its moment; what peers sent is escaped, so that a line stays a line.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use bridge_core::deceptive;
use log::{Level, LevelFilter, Log, Metadata, Record};

use crate::log_file::Own;
use crate::trouble::{Doing, Outcome};

struct Lines;

static LINES: Lines = Lines;

/// The file that standard error leads to, where it is one of ours.
static FILE: Mutex<Option<Own>> = Mutex::new(None);

fn file() -> MutexGuard<'static, Option<Own>> {
    FILE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins logging.
pub(crate) fn begin(level: LevelFilter) {
    // A second call would only mean that logging has begun already.
    let _ = log::set_logger(&LINES);
    log::set_max_level(level);
}

/// From here on the log is this file, which is never longer than it may be.
pub(crate) fn keep(own: Own) {
    *file() = Some(own);
}

/// Goes on in the file that stands at the log's place now.
pub(crate) fn reopen() -> Outcome<()> {
    match &mut *file() {
        Some(own) => rustix::stdio::dup2_stderr(own.anew()?).doing("open the log again"),
        None => Ok(()),
    }
}

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let level = match record.level() {
            Level::Error => "error",
            Level::Warn => "warn ",
            Level::Info => "info ",
            Level::Debug => "debug",
            Level::Trace => "trace",
        };
        let text: String = record.args().to_string().chars().flat_map(escaped).collect();
        let line = format!("{} {level} {text}\n", moment());
        if let Some(fresh) = file().as_mut().and_then(|own| own.before(line.len())) {
            let _ = rustix::stdio::dup2_stderr(fresh);
        }
        // In one piece, as other processes may write to the same file. A log that cannot be written to must not end the daemon.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

fn escaped(c: char) -> impl Iterator<Item = char> {
    let (as_is, escape) = if deceptive(c) { (None, Some(c.escape_unicode())) } else { (Some(c), None) };
    as_is.into_iter().chain(escape.into_iter().flatten())
}

/// Now, as `2026-11-30T17:45:00Z`.
fn moment() -> String {
    moment_of(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}

/// A moment in seconds since 1970, in the same form.
pub(crate) fn moment_of(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The date so many days after 1970-01-01. Years are counted from March, so that the leap day ends one.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::{date, escaped};

    #[test]
    fn days_are_counted_by_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(20_787), (2026, 11, 30));
    }

    #[test]
    fn a_line_stays_a_line() {
        let text: String = "a\nb\u{1b}[2J\u{2028}".chars().flat_map(escaped).collect();
        assert_eq!(text, "a\\u{a}b\\u{1b}[2J\\u{2028}");
    }
}
