// Where a tab has come to, as an answer tells it.
import { remaining, type Call } from '../call';
import { BridgeError } from '../errors';
import { sites, userTabs } from '../policy/policy';
import { refusalOf, unshared } from './admission';
import type { Where } from './document';
import { callPage } from './page';
import { restriction } from './restricted';

export interface Arrival {
  tab_id: number;
  url: string;
  title: string;
  /** Whether the load event has come. */
  loaded: boolean;
  /** The HTTP status, where the page knows it. */
  status?: number;
  /** With `network_idle`: whether the network came to rest, or only the patience to an end. */
  idle?: boolean;
}

/** Where the tab is now, in the words of the page itself if it can be asked. */
export async function report(call: Call, tabId: number, loaded: boolean): Promise<Arrival> {
  const tab = await chrome.tabs.get(tabId).catch(() => { throw new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while it was loading`); });
  const url = tab.url || tab.pendingUrl || '';
  // Led here by an address that is allowed, or come to this since.
  const refusal = sites.limited ? await refusalOf(tabId, { frameId: 0 }, url) : undefined;
  if (refusal !== undefined) throw new BridgeError('PERMISSION_DENIED', refusal);
  const arrival: Arrival = { tab_id: tabId, url, title: tab.title ?? '', loaded };
  let where: Where = {};
  if (call.class === 'agent' && userTabs !== 'allow') {
    // No question to the user comes of a page's answer: the page that is asked is the very one that was judged.
    const top = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
    for (const at of [url, top?.url ?? url]) {
      const place = await unshared(call, tabId, at);
      if (place !== undefined) return { ...arrival, url: place, title: '' };
    }
    if (!top) return arrival;
    where = { documentId: top.documentId };
  }
  if (restriction(url)) return arrival;
  // The tab's own title lags behind the page; but a page that is busy must not hold up the answer.
  const asking: Call = { ...call, deadline: Date.now() + Math.min(1000, Math.max(100, remaining(call))) };
  const info = await Promise.race([
    callPage<{ url: string; title: string; status: number }>(asking, tabId, 'info', null, where).catch(() => undefined),
    new Promise<undefined>((r) => setTimeout(r, 1000)),
  ]);
  if (!info) return arrival;
  return { ...arrival, url: info.url, title: info.title, ...(info.status ? { status: info.status } : {}) };
}
