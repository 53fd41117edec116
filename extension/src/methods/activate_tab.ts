// activate_tab: shows a tab and brings its window to the front.
import type { Handler } from '../call';
import type { ActivateTabParams, ActivateTabResult } from '../generated/methods';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ActivateTabParams, ActivateTabResult> = async (params, call) => {
  const { id, windowId } = await resolveTab(params, call);
  call.acted();
  await chrome.tabs.update(id, { active: true });
  await chrome.windows.update(windowId, { focused: true });
  const tab = await chrome.tabs.get(id);
  return { tab_id: id, url: tab.url || tab.pendingUrl || '', title: tab.title ?? '', active: tab.active };
};
