// The tabs that a client may see, as list_tabs and find_tab show them.
import type { Call } from '../call';
import type { ListTabsResult } from '../generated/methods';
import { ownerOf } from './owners';
import { describer } from './sessions';

export type Listed = ListTabsResult['tabs'][number];

export async function listTabs(call: Call): Promise<{ shown: Listed; tab: chrome.tabs.Tab }[]> {
  const grouped = await describer();
  const all: { shown: Listed; tab: chrome.tabs.Tab }[] = [];
  for (const tab of await chrome.tabs.query({})) {
    if (tab.id === undefined || tab.id === chrome.tabs.TAB_ID_NONE) continue;
    const owner = await ownerOf(tab.id);
    // Agents do not see each other's tabs.
    if (call.class === 'agent' && owner !== undefined && owner !== call.owner) continue;
    const shown: Listed = {
      tab_id: tab.id,
      url: tab.url || tab.pendingUrl || '',
      title: tab.title ?? '',
      active: tab.active,
      window_id: tab.windowId,
      ...(owner === undefined ? {} : { owner }),
      ...grouped(tab),
    };
    all.push({ shown, tab });
  }
  return all;
}
