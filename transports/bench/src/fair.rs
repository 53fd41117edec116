//! An honest client beside three kinds of others: one that asks for 512 MB and reads it, one that asks for as much and never
//! reads, and 128 that pipeline. What it waits, and what the daemon holds.

use crate::load::{Conn, Load, request};
use crate::server::Server;
use std::io::{Error, Result};
use std::time::Duration;

/// 512 MB in answers of this size.
const ANSWER: usize = 1 << 20;
const ANSWERS: usize = 512;
const CROWD: usize = 128;
/// How long the honest client is watched, before the others come and from then on.
const CALM: Duration = Duration::from_secs(2);
const STORM: Duration = Duration::from_secs(4);

/// What came of it.
pub(crate) struct Fair {
    /// p99 with the others over p99 before they came.
    pub(crate) ratio: f64,
    /// The longest wait of all, in milliseconds.
    pub(crate) longest: f64,
    /// The most memory beyond what was held before they came, in MB.
    pub(crate) memory: f64,
}

/// Puts all of them to one daemon. Fails if an answer is lost.
pub(crate) fn measure(server: &Server) -> Result<Fair> {
    let mut honest = Load::new(server.port, 1)?;
    honest.for_a_while(CALM / 4, 64)?;
    let calm = honest.for_a_while(CALM, 64)?;
    let before = server.rss();
    server.forget_the_peak();
    let port = server.port;
    let deaf = ask_for_much(port)?;
    let hungry = std::thread::spawn(move || -> Result<()> {
        let mut client = ask_for_much(port)?;
        for _ in 0..ANSWERS {
            if client.receive()?.len() < ANSWER {
                return Err(Error::other("an answer was lost"));
            }
        }
        Ok(())
    });
    let crowd = std::thread::spawn(move || -> Result<()> {
        let clients: Result<Vec<Conn>> = (0..CROWD).map(|_| Conn::open(port, "client")).collect();
        Load::of(clients?).all_at_once(8, 20_000).map(drop)
    });
    let storm = honest.for_a_while(STORM, 64)?;
    for thread in [hungry, crowd] {
        thread.join().map_err(|_| Error::other("a client panicked"))??;
    }
    let memory = server.peak() - before;
    drop(deaf);
    let longest = storm.iter().max().copied().unwrap_or_default().as_secs_f64() * 1e3;
    Ok(Fair { ratio: p99(storm) / p99(calm), longest, memory })
}

fn ask_for_much(port: u16) -> Result<Conn> {
    let mut client = Conn::open(port, "client")?;
    (0..ANSWERS).for_each(|n| client.queue(request(n, ANSWER).as_bytes()));
    client.flush()?;
    Ok(client)
}

fn p99(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 100 * 99).copied().unwrap_or_default().as_secs_f64()
}
