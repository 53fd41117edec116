//! `make bench`: the daemon beside the floor in one run on one core, judged by ratio.
//!
//!     bridge-bench target/release/bridged [REPEATS]
//!
//! Both are measured in turn, repeat by repeat; a row shows the median of each and the median of the ratios, which is what
//! carries over to other machines. One core for servers and load alike: what is measured is the length of the path.

mod fair;
mod floor;
mod load;
mod server;

use load::Load;
use server::Server;
use std::io::Result;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// What is measured, and how much more than the floor it may be. The last ones stand for themselves.
const ROWS: [Row; 11] = [
    Row { name: "round trip p50, us", goal: Goal::AtMost(1.5) },
    Row { name: "round trip p99, us", goal: Goal::AtMost(1.5) },
    Row { name: "CPU a request, one by one, us", goal: Goal::AtMost(2.0) },
    Row { name: "16 clients 8 deep, requests/s", goal: Goal::AtLeast(0.65) },
    Row { name: "CPU a request, 16 x 8, us", goal: Goal::AtMost(3.0) },
    Row { name: "10 MB answer p50, ms", goal: Goal::AtMost(1.6) },
    // Of a process that binds one socket; docs/performance.md says what else the daemon has done by then.
    Row { name: "start to listening, ms", goal: Goal::AtMost(1.5) },
    Row { name: "idle memory, MB", goal: Goal::Itself(6.0) },
    Row { name: "beside the greedy: p99 over calm", goal: Goal::Itself(2.0) },
    Row { name: "beside the greedy: longest, ms", goal: Goal::Itself(100.0) },
    Row { name: "beside the greedy: memory, +MB", goal: Goal::Itself(64.0) },
];

struct Row {
    name: &'static str,
    goal: Goal,
}

#[derive(Clone, Copy)]
enum Goal {
    AtMost(f64),
    AtLeast(f64),
    Itself(f64),
}

type Figures = [f64; ROWS.len()];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let first = args.next().unwrap_or_default();
    let number = args.next().and_then(|number| number.parse::<u16>().ok());
    let outcome = match first.as_str() {
        "--floor" => floor::serve(number.unwrap_or(0)).map(|()| true),
        "" => {
            eprintln!("usage: bridge-bench PATH-OF-BRIDGED [REPEATS]");
            return ExitCode::from(2);
        }
        program => run(Path::new(program), number.unwrap_or(5)),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bridge-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(program: &Path, repeats: u16) -> Result<bool> {
    pin()?;
    let home = tempfile::tempdir()?;
    // The first start makes keys; it is not what a start costs.
    drop(Server::hub(program, home.path())?);
    let (mut floors, mut hubs) = (Vec::new(), Vec::new());
    for repeat in 1..=repeats {
        eprintln!("repeat {repeat} of {repeats}");
        floors.push(measure(false, Server::floor)?);
        hubs.push(measure(true, || Server::hub(program, home.path()))?);
    }
    println!("{:<32} {:>10} {:>10} {:>8}   goal", "", "floor", "bridged", "ratio");
    let mut all_good = true;
    for (nth, row) in ROWS.iter().enumerate() {
        let of = |figures: &[Figures]| figures.iter().map(|it| it[nth]).collect::<Vec<f64>>();
        let (floor, hub) = (of(&floors), of(&hubs));
        let ratio = median(floor.iter().zip(&hub).map(|(floor, hub)| hub / floor).collect());
        let (floor, hub) = (median(floor), median(hub));
        let (good, goal) = match row.goal {
            Goal::AtMost(goal) => (ratio <= goal, format!("<= x{goal}")),
            Goal::AtLeast(goal) => (ratio >= goal, format!(">= x{goal}")),
            Goal::Itself(goal) => (hub <= goal, format!("<= {goal}")),
        };
        all_good &= good;
        let verdict = if good { "" } else { "  MISSED" };
        let shown = |figure: f64, text: String| if figure.is_nan() { "-".to_owned() } else { text };
        println!(
            "{:<32} {:>10} {hub:>10.1} {:>8}   {goal}{verdict}",
            row.name,
            shown(floor, format!("{floor:.1}")),
            shown(ratio, format!("x{ratio:.2}"))
        );
    }
    Ok(all_good)
}

/// All figures of one server.
fn measure(is_hub: bool, start: impl Fn() -> Result<Server>) -> Result<Figures> {
    let server = start()?;
    let began = server.start;
    let mut alone = Load::new(server.port, 1)?;
    let idle = server.rss();
    alone.one_by_one(2_000, 64)?;
    let before = server.cpu();
    let mut times = alone.one_by_one(20_000, 64)?;
    let cpu = (server.cpu() - before) / 20_000;
    times.sort_unstable();
    let mut large = alone.one_by_one(12, 10 << 20)?;
    large.sort_unstable();
    drop(alone);
    // A server of its own, without anybody from before.
    drop(server);
    let server = start()?;
    let mut many = Load::new(server.port, 16)?;
    many.all_at_once(8, 10_000)?;
    let before = server.cpu();
    let rate = many.all_at_once(8, 100_000)?;
    let cpu_many = (server.cpu() - before) / (100_000 + 16 * 8);
    drop((many, server));
    // The floor is fair to nobody.
    let fair = if is_hub { Some(fair::measure(&start()?)?) } else { None };
    let us = |time: Duration| time.as_nanos() as f64 / 1e3;
    Ok([
        us(times[times.len() / 2]),
        us(times[times.len() / 100 * 99]),
        us(cpu),
        rate,
        us(cpu_many),
        us(large[large.len() / 2]) / 1e3,
        us(began) / 1e3,
        idle,
        fair.as_ref().map_or(f64::NAN, |it| it.ratio),
        fair.as_ref().map_or(f64::NAN, |it| it.longest),
        fair.as_ref().map_or(f64::NAN, |it| it.memory),
    ])
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// This process and those that it starts stay on one core.
fn pin() -> Result<()> {
    let mine = rustix::thread::sched_getaffinity(None)?;
    let core = (0..1024).find(|core| mine.is_set(*core)).unwrap_or(0);
    let mut one = rustix::thread::CpuSet::new();
    one.set(core);
    Ok(rustix::thread::sched_setaffinity(None, &one)?)
}
