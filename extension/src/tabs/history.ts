// Steps through a tab's history, also where a step stays within one document or brings a page back from Chrome's cache.
import type { Call } from '../call';
import { debugging } from '../debugger/attach';
import { BridgeError, PageLeft } from '../errors';
import type { Arrival } from './arrival';
import { navigateBy } from './navigation';
import { callPage } from './page';
import { resolveTab, type TabParams } from './resolve';

/** When history.go() has led to nothing for so long, there is probably nothing to go to; Chrome's own command then knows for sure. */
const NOTHING_MS = 600;

export async function step(params: TabParams, call: Call, direction: 'back' | 'forward'): Promise<Arrival> {
  const { id } = await resolveTab(params, call);
  return navigateBy(call, id, async (watch) => {
    // chrome.tabs.goBack() leaves out every page on which no person ever clicked, and a client's pages are mostly such; the page's own
    // history does not. Where no script may run, Chrome's command has to do.
    const asked = await callPage(call, id, 'history', { delta: direction === 'back' ? -1 : 1 }).then(() => true, (e: unknown) => e instanceof PageLeft);
    if (asked && (await watch.begins(NOTHING_MS))) return;
    try {
      await (direction === 'back' ? chrome.tabs.goBack(id) : chrome.tabs.goForward(id));
    } catch (e) {
      const text = e instanceof Error ? e.message : String(e);
      if (!/history/i.test(text)) throw e;
      if (asked || !(await stepByDebugger(call, id, direction))) throw new BridgeError('NAVIGATION_FAILED', `tab ${id} has no page to go ${direction} to`, { maybe_executed: false });
    }
  });
}

interface Entries { currentIndex: number; entries: { id: number }[] }

/** From a page of the browser's own, such as that of an address that could not be loaded; false if there is nothing to go to. */
async function stepByDebugger(call: Call, tabId: number, direction: 'back' | 'forward'): Promise<boolean> {
  return debugging(call, tabId, async (send) => {
    const { currentIndex, entries } = await send<Entries>('Page.getNavigationHistory');
    const entry = entries[currentIndex + (direction === 'back' ? -1 : 1)];
    if (!entry) return false;
    await send('Page.navigateToHistoryEntry', { entryId: entry.id });
    return true;
  }).catch((e: unknown) => { if (call.signal.aborted) throw e; return false; });
}
