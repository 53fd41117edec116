//! The limits that may be set: each by `--limit NAME=VALUE`, in `BRIDGED_LIMIT`, or in the table `limit` of the configuration.

use std::collections::BTreeMap;

use bridge_core::Config;
use bridge_driver::Options;

use crate::config::Text;
use crate::trouble::{Outcome, Trouble};

/// One of them: a number of bytes, milliseconds or things.
struct Limit {
    name: &'static str,
    least: usize,
    most: usize,
    set: fn(&mut Config, &mut Options, usize),
}

const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

/// In the order of the table in docs/configuration.md.
const ALL: [Limit; 18] = [
    limit("hello_bytes", KB, MB, |hub, _, n| hub.limits.hello_bytes = n),
    limit("client_bytes", 4 * KB, 256 * MB, |hub, _, n| hub.limits.client_bytes = n),
    limit("extension_bytes", 64 * KB, 1024 * MB, |hub, _, n| hub.limits.extension_bytes = n),
    limit("calls_of_client", 1, 32_768, |hub, _, n| hub.limits.in_flight_client = n),
    limit("calls", 1, 32_768, |hub, _, n| hub.limits.in_flight = n),
    limit("client_queue", 64 * KB, 1024 * MB, |_, driver, n| driver.client_queue = n),
    limit("extension_queue", 64 * KB, 4096 * MB, |_, driver, n| driver.extension_queue = n),
    limit("all_queues", MB, 16_384 * MB, |_, driver, n| driver.all_queues = n),
    limit("all_incoming", MB, 16_384 * MB, |_, driver, n| driver.all_incoming = n),
    limit("strangers", 1, 1_024, |hub, driver, n| {
        hub.limits.greeting_strangers = n;
        driver.heads = n;
    }),
    limit("greeting", 1, 4_096, |hub, _, n| {
        hub.limits.greeting_same_user = n;
        hub.limits.greeting_local = n;
    }),
    limit("depth", 8, 1_024, |hub, _, n| hub.limits.depth = u16::try_from(n).unwrap_or(u16::MAX)),
    limit("id_bytes", 16, 256, |hub, _, n| hub.limits.id_bytes = u16::try_from(n).unwrap_or(u16::MAX)),
    limit("protocol_errors", 1, 255, |hub, _, n| {
        hub.limits.protocol_errors = u8::try_from(n).unwrap_or(u8::MAX);
    }),
    limit("takeovers", 1, 255, |hub, _, n| hub.limits.takeovers = u8::try_from(n).unwrap_or(u8::MAX)),
    limit("hello_ms", 100, 600_000, |hub, driver, n| {
        hub.deadlines.hello_ms = n as u64;
        hub.deadlines.proof_ms = n as u64;
        driver.head_ms = n as u64;
    }),
    limit("write_ms", 100, 600_000, |_, driver, n| driver.stall_ms = n as u64),
    limit("message_ms", 100, 600_000, |_, driver, n| driver.fragment_ms = n as u64),
];

const fn limit(
    name: &'static str,
    least: usize,
    most: usize,
    set: fn(&mut Config, &mut Options, usize),
) -> Limit {
    Limit { name, least, most, set }
}

/// What somebody set, by name.
pub(crate) type Given = BTreeMap<String, Text>;

/// What was set, judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits(BTreeMap<&'static str, usize>);

impl Limits {
    /// Judges what the sources gave; the first that sets a limit counts.
    pub(crate) fn settle(sources: [Option<Given>; 3]) -> Outcome<Limits> {
        let mut settled = BTreeMap::new();
        for (name, text) in sources.into_iter().flatten().flatten() {
            let Some(limit) = ALL.iter().find(|limit| limit.name == name) else {
                let names: Vec<&str> = ALL.iter().map(|limit| limit.name).collect();
                let name = name.escape_debug();
                return Err(Trouble::usage(format!(
                    "there is no limit `{name}`; there are {}",
                    names.join(", ")
                )));
            };
            let number = text.number(limit.least, limit.most).ok_or_else(|| {
                let (least, most) = (limit.least, limit.most);
                text.wrong(&format!("a number from {least} to {most} for the limit `{name}`"))
            })?;
            settled.entry(limit.name).or_insert(number);
        }
        Ok(Limits(settled))
    }

    /// Sets them.
    pub(crate) fn apply(&self, config: &mut Config, options: &mut Options) {
        for limit in &ALL {
            if let Some(number) = self.0.get(limit.name) {
                (limit.set)(config, options, *number);
            }
        }
    }
}

/// `NAME=VALUE`, several of them from one source.
pub(crate) fn read<'t>(pairs: impl IntoIterator<Item = &'t str>, source: &str) -> Outcome<Option<Given>> {
    let mut given = Given::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            let pair = pair.escape_debug();
            return Err(Trouble::usage(format!("{source}: expected NAME=VALUE, got `{pair}`")));
        };
        given.insert(name.trim().to_owned(), Text::new(value.trim(), source));
    }
    Ok((!given.is_empty()).then_some(given))
}
