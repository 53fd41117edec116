// Closes tabs for good: a page that asks whether it may be left must not keep its tab open behind the answer.
import { remaining, type Call } from '../call';
import { withDebugger } from '../debugger/attach';
import { BridgeError } from '../errors';
import { forgetTabs } from './owners';

/** How long a tab may take to go before something is thought to hold it. */
const CLOSE_MS = 1500;

/** Closes a tab; throws if it stays. */
export async function closeTab(call: Call, tabId: number): Promise<void> {
  const gone = removed(tabId, remaining(call, CLOSE_MS));
  try {
    // The promise of remove() hangs while a beforeunload question stands, so only the event counts.
    await Promise.race([chrome.tabs.remove(tabId).then(() => gone), gone]);
  } catch (e) {
    const text = e instanceof Error ? e.message : String(e);
    if (/No tab with id/i.test(text)) throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`);
    throw e;
  }
  const open = await chrome.tabs.get(tabId).catch(() => undefined);
  if (open) await forceClose(tabId, remaining(call, CLOSE_MS));
  await forgetTabs([tabId]);
}

/** Resolves when the tab is removed or the time is up. */
function removed(tabId: number, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      chrome.tabs.onRemoved.removeListener(onRemoved);
      resolve();
    };
    const onRemoved = (id: number) => { if (id === tabId) done(); };
    const timer = setTimeout(done, ms);
    chrome.tabs.onRemoved.addListener(onRemoved);
  });
}

/** The debugger's Page.close asks no questions. */
async function forceClose(tabId: number, ms: number): Promise<void> {
  const gone = removed(tabId, Math.max(ms, 500));
  // A tab that goes takes the debugger with it, so these may never be answered; only the event counts.
  void withDebugger(tabId, async (send) => {
    void send('Page.handleJavaScriptDialog', { accept: true }).catch(() => {});
    void send('Page.close').catch(() => {});
    await gone;
  }).catch(() => {});
  await gone;
  if (await chrome.tabs.get(tabId).then(() => true, () => false)) {
    throw new BridgeError('PAGE_BLOCKED', `tab ${tabId} asks whether it may be closed (beforeunload) and stays open`);
  }
}
