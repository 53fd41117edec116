// list_tabs: the open tabs, with who opened them.
import type { Handler } from '../call';
import { ownerOf } from '../tabs/owners';
import type { ListTabsParams, ListTabsResult } from '../generated/methods';

export const handler: Handler<ListTabsParams, ListTabsResult> = async (_params, call) => {
  const tabs: ListTabsResult['tabs'] = [];
  for (const tab of await chrome.tabs.query({})) {
    if (tab.id === undefined || tab.id === chrome.tabs.TAB_ID_NONE) continue;
    const owner = await ownerOf(tab.id);
    // Agents do not see each other's tabs.
    if (call.class === 'agent' && owner !== undefined && owner !== call.owner) continue;
    tabs.push({
      tab_id: tab.id,
      url: tab.url || tab.pendingUrl || '',
      title: tab.title ?? '',
      active: tab.active,
      window_id: tab.windowId,
      ...(owner === undefined ? {} : { owner }),
    });
  }
  return { tabs };
};
