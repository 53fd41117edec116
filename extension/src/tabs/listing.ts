// The tabs that a client may see, as list_tabs and find_tab show them.
import type { Call } from '../call';
import type { ListTabsResult } from '../generated/methods';
import { guarded, userTabs } from '../policy/policy';
import { isOurs, refusalOf, unshared } from './admission';
import { ownerOf } from './owners';
import { describer } from './sessions';

export type Listed = ListTabsResult['tabs'][number];

interface Seen { shown: Listed; tab: chrome.tabs.Tab }

export async function listTabs(call: Call): Promise<Seen[]> {
  const grouped = await describer();
  // Beside each other: a page that does not answer is waited for while it is found out whose it is.
  const all = await Promise.all((await chrome.tabs.query({})).map((tab) => seen(call, tab, grouped)));
  return all.filter((one) => one !== undefined);
}

async function seen(call: Call, tab: chrome.tabs.Tab, grouped: Awaited<ReturnType<typeof describer>>): Promise<Seen | undefined> {
  if (tab.id === undefined || tab.id === chrome.tabs.TAB_ID_NONE) return undefined;
  const owner = await ownerOf(tab.id);
  // Agents do not see each other's tabs.
  if (call.class === 'agent' && owner !== undefined && owner !== call.owner) return undefined;
  const place = guarded(call) || isOurs(tab.url) ? await listed(call, { ...tab, id: tab.id }, owner) : { url: tab.url || tab.pendingUrl || '', title: tab.title ?? '' };
  if (!place) return undefined;
  const shown: Listed = {
    tab_id: tab.id,
    ...place,
    active: tab.active,
    window_id: tab.windowId,
    ...(owner === undefined ? {} : { owner }),
    ...grouped(tab),
  };
  return { shown, tab };
}

/** What the call is told of a tab where the user limits something; nothing if it is not to know of it. */
async function listed(call: Call, tab: chrome.tabs.Tab & { id: number }, owner: string | undefined): Promise<Pick<Listed, 'url' | 'title'> | undefined> {
  const url = tab.url || tab.pendingUrl || '';
  // The window that asks the user, or a page of ours that somebody opened: nobody works there.
  if (isOurs(url) && owner === undefined) return undefined;
  if ((await refusalOf(tab.id, { frameId: 0 }, url)) !== undefined) return undefined;
  if (call.class === 'agent' && owner === undefined && userTabs !== 'allow') {
    if (userTabs === 'deny') return undefined;
    const place = await unshared(call, tab.id, url);
    // Enough to ask for it by its id.
    if (place !== undefined) return { url: place, title: '' };
  }
  return { url, title: tab.title ?? '' };
}
