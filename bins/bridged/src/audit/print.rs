//! `bridged audit`: the lines, oldest first, and new ones as they come.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::pieces::{NAME, pieces};
use crate::client::{Client, Role};
use crate::log_file::moved;
use crate::places::Places;
use crate::record;
use crate::trouble::{Doing, Outcome, Trouble};

/// How often a file that is followed is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How long lines that are on their way are waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints the audit; with `follow` until nobody reads it any more.
pub(crate) fn run(places: &Places, follow: bool) -> Outcome<()> {
    settle(places);
    let mut out = std::io::stdout().lock();
    let mut any = false;
    let mut current = None;
    for path in pieces(&places.state).rev() {
        let Ok(file) = File::open(&path) else { continue };
        any = true;
        let mut reader = BufReader::new(file);
        if !copy(&mut reader, &mut out)? {
            return Ok(());
        }
        if path.file_name().is_some_and(|name| name == NAME) {
            current = Some(reader);
        }
    }
    if !any && !follow {
        let text =
            format!("there is no audit yet in {}; it begins with the first call", places.state.display());
        return Err(Trouble::failed(text));
    }
    if !follow {
        return Ok(());
    }
    let path = places.state.join(NAME);
    loop {
        std::thread::sleep(LOOK);
        if let Some(reader) = &mut current
            && !copy(reader, &mut out)?
        {
            return Ok(());
        }
        if current.as_ref().is_none_or(|reader| moved(reader.get_ref(), &path)) {
            current = File::open(&path).ok().map(BufReader::new);
        }
    }
}

/// Copies whole lines; false once nobody reads them.
fn copy(reader: &mut BufReader<File>, out: &mut impl Write) -> Outcome<bool> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).doing("read the audit")?;
        if read == 0 {
            return Ok(out.flush().is_ok());
        }
        if !line.ends_with(b"\n") {
            // The rest of it comes in a moment.
            reader.seek_relative(-(read as i64)).doing("read the audit")?;
            return Ok(out.flush().is_ok());
        }
        if out.write_all(&line).is_err() {
            return Ok(false);
        }
    }
}

/// Lines of calls that are over already are written first.
fn settle(places: &Places) {
    let Some(Some(daemon)) = record::running(&places.state) else { return };
    let Ok(mut owner) = Client::connect(&daemon.socket, Role::Control) else { return };
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        let Ok(said) = owner.call("audit", &json!({}), None) else { return };
        let said: Value = serde_json::from_str(said.get()).unwrap_or_default();
        if let Some(why) = said["degraded"].as_str() {
            eprintln!("bridged: lines are missing: {}", crate::show::harmless(why));
            return;
        }
        if said["waits"] != true {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
