//! What came in and goes nowhere yet: messages that are not complete. Each is bounded by the codec; here all of them together
//! are, so that many connections that each begin a large one do not fill the memory.

use crate::clock::Clock;
use crate::driver::Shared;
use crate::host::Host;
use crate::link::AnyLink;
use bridge_core::{Role, Violation};

impl<H: Host, C: Clock> Shared<H, C> {
    /// After reading: counts what the codec holds, and has somebody go if all hold too much.
    pub(crate) fn check_unfinished(&self, link: &AnyLink) {
        // Browsers are few, and each large answer was asked for.
        let held = match link.role.get() {
            Some(Role::Extension) => 0,
            _ => link.wire.borrow_mut().codec().map_or(0, |codec| codec.held()),
        };
        if held == link.unfinished.get() {
            return;
        }
        self.count_unfinished(link, held);
        while self.incoming.get() > self.options.all_incoming && self.cut_off_the_largest() {}
    }

    pub(crate) fn count_unfinished(&self, link: &AnyLink, held: usize) {
        let before = link.unfinished.replace(held);
        self.incoming.set(self.incoming.get() - before + held);
    }

    /// Ends the connection whose unfinished message holds most; `false` if there is none.
    fn cut_off_the_largest(&self) -> bool {
        let largest = self.links.borrow().iter().flatten().max_by_key(|link| link.unfinished.get()).cloned();
        let Some(link) = largest.filter(|link| link.unfinished.get() > 0) else { return false };
        self.reject(&link, Violation::TooBig);
        link.id.get().is_none()
    }
}
