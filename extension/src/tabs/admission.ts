// Whether a call may work on a tab and on a document: the user's site lists, which bind everybody, and what agents may do with the tabs
// that no client opened. Asked right before each operation, of the document that is there then. Only where the policy limits anything:
// callers look at `guarded` first.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { grantsReady, isGranted } from '../policy/grants';
import { guarded, sites, userTabs } from '../policy/policy';
import { placeOf } from '../policy/sites';
import { mayUse } from '../prompt/ask';
import { hasOwnAddress, makerOf, placeIn, type Which } from './inherited';
import { ownerOf } from './owners';

const denied = (message: string) => new BridgeError('PERMISSION_DENIED', message);
const NOBODYS = 'forbidden: domain unknown: the page has no address of its own, and whose it is cannot be found out; the user has limited the sites that may be worked on';
const NOBODYS_TAB = 'forbidden: the page has no address of its own, and whose it is cannot be found out; the user shares their tabs site by site';

/** Refuses an address before anything goes to it. */
export function admitAddress(url: string): void {
  const refusal = sites.refusal(url);
  if (refusal !== undefined) throw denied(refusal);
}

/** The bridge's own pages, the one that asks the user among them, are nobody's to work on. */
export const isOurs = (url: string | undefined): boolean => url?.startsWith(OURS) === true;
const OURS = chrome.runtime.getURL('');

/**
 * What leads away from a page or ends it, and tells nothing of it, a client may always do with its own tab; and a person's with every one
 * that a client opened, as a command line is a new client at every call.
 */
const LEAVING = new Set(['close_tab', 'navigate']);
export async function leavesOwn(call: Call, tabId: number): Promise<boolean> {
  if (!LEAVING.has(call.method)) return false;
  const owner = await ownerOf(tabId);
  return owner !== undefined && (owner === call.owner || call.class === 'person');
}

/** Whether the call may work on the tab as it is now; asks the user where they want to be asked. */
export async function admitTab(call: Call, tab: chrome.tabs.Tab & { id: number }): Promise<void> {
  const owner = await ownerOf(tab.id);
  const url = tab.url || tab.pendingUrl || '';
  if (await leavesOwn(call, tab.id)) return;
  await admitUrl(tab.id, { frameId: 0 }, url);
  if (owner === undefined) await admitUsers(call, tab.id, { frameId: 0 }, url);
}

interface Frame { frameId: number; documentId: string; url: string }

/** Whether the call may work in the document. */
export async function admitDocument(call: Call, tabId: number, { frameId, documentId, url }: Frame): Promise<void> {
  await admitUrl(tabId, { documentId }, url);
  if (frameId !== 0 || userTabs === 'allow' || call.class !== 'agent') return;
  if ((await ownerOf(tabId)) === undefined) await admitUsers(call, tabId, { documentId }, url);
}

/** Whether the tab may still be worked on: it may have gone elsewhere since the call came to it. */
export async function admitNow(call: Call, tabId: number): Promise<void> {
  if (!guarded(call)) return;
  const tab = await chrome.tabs.get(tabId).catch(() => { throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`); });
  await admitTab(call, { ...tab, id: tabId });
}

/** Why nobody is told of the page, or undefined. */
export async function refusalOf(tabId: number, which: Which, url: string): Promise<string | undefined> {
  if (!sites.limited) return undefined;
  if (hasOwnAddress(url)) return sites.refusal(url);
  const maker = await makerOf(tabId, which);
  return maker === undefined ? NOBODYS : sites.refusal(maker);
}

async function admitUrl(tabId: number, which: Which, url: string): Promise<void> {
  const refusal = await refusalOf(tabId, which, url);
  if (refusal !== undefined) throw denied(refusal);
}

/**
 * Of a page in a tab of the user's that is not shared with the call, its place, which alone may be told; undefined if all may be. Nobody is
 * asked: a call that was admitted to one page may have led to this one.
 */
export async function unshared(call: Call, tabId: number, url: string): Promise<string | undefined> {
  if (call.class !== 'agent' || userTabs === 'allow' || (await ownerOf(tabId)) !== undefined) return undefined;
  await grantsReady;
  const place = await placeIn(tabId, { frameId: 0 }, url);
  return place !== undefined && isGranted(call.owner, place) ? undefined : (place ?? placeOf(url));
}

async function admitUsers(call: Call, tabId: number, which: Which, url: string): Promise<void> {
  if (call.class !== 'agent' || userTabs === 'allow') return;
  if (userTabs === 'deny') throw denied('forbidden: the user keeps their own tabs to themselves (user-tabs is deny)');
  // An empty page is the one's that made it: with a yes to one, not every other is shared.
  const place = await placeIn(tabId, which, url);
  if (place === undefined) throw denied(NOBODYS_TAB);
  await mayUse(call, tabId, place);
}
