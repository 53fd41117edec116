// The last look at what a call is answered with, where the user limits anything: an act may have led to a site that they deny or to one of
// which they share no tabs, by a link, a redirect or a page's own script. Of such a site nothing is told but its host.
import type { Call } from '../call';
import { BridgeError, toBridgeError } from '../errors';
import { guarded, sites } from '../policy/policy';
import { placeOf } from '../policy/sites';
import { refusalOf, unshared } from './admission';
import { hasOwnAddress } from './inherited';

/** The tab that each call came to last. */
const places = new WeakMap<Call, number>();
export const came = (call: Call, tabId: number): void => void places.set(call, tabId);

/** What these tell is the whole tab's, whatever document was in it when they were judged. */
const WHOLE_TAB = new Set(['evaluate', 'screenshot', 'save_as_pdf', 'console', 'network', 'handle_dialog', 'activate_tab', 'wait_for']);

interface Told {
  url?: unknown;
  navigated?: unknown;
  opened?: { url: string }[];
  download?: { origin?: string };
  downloads?: { origin?: string }[];
}

/** Runs a call's work; what it gives or throws tells nothing of denied sites, nor where in the user's own tab it came to an unshared one. */
export async function telling(call: Call, work: () => Promise<object>): Promise<object> {
  let result: Told;
  try {
    result = await work();
  } catch (e) {
    const error = toBridgeError(e);
    // Texts of errors say where the tab is, or what it shows.
    const refusal = error.code === 'PERMISSION_DENIED' ? undefined : await refusalNow(call);
    throw refusal === undefined ? e : new BridgeError('PERMISSION_DENIED', refusal, error.extra);
  }
  if (!guarded(call)) return result;
  if (typeof result.navigated === 'string') {
    const tabId = places.get(call);
    const place = tabId === undefined ? undefined : await unshared(call, tabId, result.navigated);
    result = { ...result, navigated: place ?? cut(result.navigated) };
  }
  if (!sites.limited) return result;
  const { url } = result;
  const told = typeof url === 'string';
  const refusal = (told ? sites.refusal(url) : undefined) ?? (WHOLE_TAB.has(call.method) || (told && !hasOwnAddress(url)) ? await refusalNow(call) : undefined);
  if (refusal !== undefined) throw new BridgeError('PERMISSION_DENIED', refusal);
  return {
    ...result,
    ...(result.opened ? { opened: result.opened.map((o) => ({ ...o, url: cut(o.url) })) } : {}),
    ...(result.download ? { download: bare(result.download) } : {}),
    ...(result.downloads ? { downloads: result.downloads.map(bare) } : {}),
  };
}

/** An address that may be of a denied site. */
export const cut = (url: string): string => (sites.refusal(url) === undefined ? url : placeOf(url));

/** A download's name is its site's word. */
const bare = <D extends { origin?: string }>(download: D): object => {
  const { origin } = download;
  if (origin === undefined || sites.refusal(origin) === undefined) return download;
  const { state, bytes } = download as { state?: unknown; bytes?: unknown };
  return { state, ...(bytes === undefined ? {} : { bytes }), origin };
};

async function refusalNow(call: Call): Promise<string | undefined> {
  const tabId = places.get(call);
  const tab = tabId === undefined || !sites.limited ? undefined : await chrome.tabs.get(tabId).catch(() => undefined);
  return tab && refusalOf(tab.id!, { frameId: 0 }, tab.url ?? '');
}
