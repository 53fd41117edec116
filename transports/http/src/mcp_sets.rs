//! `/mcp?tools=…`: which tools a client is shown. Each choice is an endpoint of its own, with sessions of its own, made when it is
//! first asked for.

use crate::callers::Callers;
use crate::door::Porter;
use crate::head::Head;
use crate::json::quoted;
use crate::mcp::{Mcp, Spawn};
use crate::read::decode;
use crate::response::Response;
use bridge_driver::{Clock, Host};
use bridge_mcp::Seed;
use bridge_mcp::tools::{ToolSet, Tools};
use futures::future::{AbortHandle, Abortable};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many choices there may be at once beside the default, which stays; one that nobody uses makes room.
const SETS: usize = 16;

/// The endpoints.
pub(crate) struct Sets<H: Host, C: Clock> {
    callers: Rc<Callers<H, C>>,
    porter: Rc<dyn Porter>,
    clock: Rc<C>,
    spawn: Spawn,
    seed: RefCell<Seed>,
    sets: RefCell<BTreeMap<String, Open<H, C>>>,
}

/// An endpoint that somebody asked for, and what ends its timer.
struct Open<H: Host, C: Clock> {
    mcp: Rc<Mcp<H, C>>,
    timer: AbortHandle,
}

impl<H: Host, C: Clock> Sets<H, C> {
    pub(crate) fn new(
        callers: Rc<Callers<H, C>>,
        porter: Rc<dyn Porter>,
        clock: Rc<C>,
        spawn: Spawn,
        seed: Seed,
    ) -> Self {
        let seed = RefCell::new(seed);
        Self { callers, porter, clock, spawn, seed, sets: RefCell::default() }
    }

    /// Answers one request; dropped, its client is gone.
    pub(crate) async fn run(&self, head: &Head, body: &[u8], credential: &str) -> Response {
        let mcp = match wanted(head.query.as_deref()).and_then(|set| self.of(&set.unwrap_or_default())) {
            Ok(mcp) => mcp,
            Err((status, text)) => {
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32602,"message":{}}}}}"#,
                    quoted(&text)
                );
                return Response::json(status, body);
            }
        };
        mcp.run(head, body, credential).await
    }

    /// Ends every session of every choice.
    pub(crate) fn end_sessions(&self) {
        let all: Vec<_> = self.sets.borrow().values().map(|there| there.mcp.clone()).collect();
        all.iter().for_each(|mcp| mcp.end_sessions());
    }

    /// The endpoint of a choice.
    fn of(&self, set: &ToolSet) -> Result<Rc<Mcp<H, C>>, (u16, String)> {
        let mut sets = self.sets.borrow_mut();
        let name = set.name();
        if let Some(there) = sets.get(&name) {
            return Ok(there.mcp.clone());
        }
        let tools = Tools::new(bridge_catalogue::JSON, set).map_err(|e| (400, format!("tools: {e}")))?;
        let default = ToolSet::default().name();
        let chosen = || sets.iter().filter(|(name, _)| **name != default);
        if name != default && chosen().count() >= SETS {
            let idle = chosen().find(|(_, there)| there.mcp.is_idle()).map(|(name, _)| name.clone());
            let busy = || (503, "OVERLOADED: too many different sets of tools are in use".to_owned());
            if let Some(gone) = sets.remove(&idle.ok_or_else(busy)?) {
                gone.timer.abort();
            }
        }
        let seed = self.seed.borrow_mut().split();
        let (callers, porter, clock) = (self.callers.clone(), self.porter.clone(), self.clock.clone());
        let mcp = Mcp::new(callers, porter, clock, self.spawn.clone(), tools, seed);
        let (timer, registration) = AbortHandle::new_pair();
        let running = Abortable::new(mcp.clone().run_timer(), registration);
        (self.spawn)(Box::pin(async move {
            let _ = running.await;
        }));
        sets.insert(name, Open { mcp: mcp.clone(), timer });
        Ok(mcp)
    }
}

/// The choice in a query, if there is one.
fn wanted(query: Option<&str>) -> Result<Option<ToolSet>, (u16, String)> {
    let wrong = |text: &str| (400, format!("tools: {text}"));
    let mut named = query.unwrap_or_default().split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name == "tools").then_some(value)
    });
    let Some(value) = named.next() else { return Ok(None) };
    if named.next().is_some() {
        return Err(wrong("given twice"));
    }
    let text = decode(value).ok_or_else(|| wrong("not valid percent-encoding of UTF-8"))?;
    if text.chars().any(char::is_control) || text.len() > 4096 {
        return Err(wrong("expected core, all, or names of groups and methods with commas between"));
    }
    Ok(Some(ToolSet::parse(&text)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may stop at the first surprise
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_as_the_command_line_reads_it() {
        for (query, set) in [
            ("tools=all", "all"),
            ("x=1&tools=tabs%2Cread", "tabs,read"),
            ("tools=tabs,get-value", "tabs,get_value"),
        ] {
            assert_eq!(wanted(Some(query)).unwrap(), Some(ToolSet::parse(set)), "{query}");
        }
        assert_eq!(wanted(None).unwrap(), None);
        assert_eq!(wanted(Some("tool=all")).unwrap(), None);
        assert_eq!(wanted(Some("tools=")).unwrap(), Some(ToolSet::default()));
        for query in ["tools=all&tools=core", "tools=%ff", "tools=%", "tools=a%0ab"] {
            assert!(wanted(Some(query)).is_err(), "{query}");
        }
    }

    #[test]
    fn the_order_of_a_choice_makes_no_other_endpoint() {
        assert_eq!(ToolSet::parse("read,tabs,read").name(), ToolSet::parse("tabs, read").name());
    }
}
