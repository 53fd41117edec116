// Closes tabs for good: a page that asks whether it may be left must not keep its tab open behind the answer.
import { remaining, type Call } from '../call';
import { lettingGo } from '../debugger/leave';
import { BridgeError } from '../errors';
import { mayAsk } from './leaving';
import { forgetTabs } from './owners';
import { leaveGroup } from './sessions';

/** How long a tab may take to go before something is thought to hold it. */
const CLOSE_MS = 2000;

/** Closes a tab; throws if it stays. Whoever names a tab to be closed means it: the page's own question is answered with yes. */
export async function closeTab(call: Call, tabId: number): Promise<void> {
  await leaveGroup(tabId);
  const close = () => removeTab(tabId, remaining(call, CLOSE_MS));
  const gone = (await mayAsk(call, tabId)) ? await lettingGo(tabId, close) : await close();
  // With its question showing, a second request closes the tab without asking.
  if (!gone && !(await removeTab(tabId, remaining(call, CLOSE_MS)))) {
    throw new BridgeError('PAGE_BLOCKED', `tab ${tabId} asks whether it may be closed (beforeunload) and stays open`);
  }
  await forgetTabs([tabId]);
}

/** Whether the tab went within the time. The promise of tabs.remove() hangs while a question stands, so only the event counts. */
async function removeTab(tabId: number, ms: number): Promise<boolean> {
  let stop!: () => void;
  const gone = new Promise<boolean>((resolve) => {
    const onRemoved = (id: number) => { if (id === tabId) resolve(true); };
    const timer = setTimeout(resolve, ms, false);
    chrome.tabs.onRemoved.addListener(onRemoved);
    stop = () => {
      clearTimeout(timer);
      chrome.tabs.onRemoved.removeListener(onRemoved);
    };
  });
  try {
    return await Promise.race([chrome.tabs.remove(tabId).then(() => gone), gone]);
  } catch (e) {
    const text = e instanceof Error ? e.message : String(e);
    if (/No tab with id/i.test(text)) throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`);
    throw e;
  } finally {
    stop();
  }
}
