// activate_tab: shows a tab and brings its window to the front; puts it into a session if one is named.
import type { Handler } from '../call';
import type { ActivateTabParams, ActivateTabResult } from '../generated/methods';
import { admitted, resolveTab } from '../tabs/resolve';
import { admit, join, lastTab } from '../tabs/sessions';
import { show } from '../tabs/show';

export const handler: Handler<ActivateTabParams, ActivateTabResult> = async (params, call) => {
  await admit(call, params);
  const own = params.tab_id === undefined && params.session_id !== undefined ? await lastTab(params.session_id) : undefined;
  if (own) await admitted(call, own);
  const { id } = own ?? (await resolveTab(params, call));
  call.acted();
  // A group may lie in another window.
  const grouped = await join(call, id, params);
  await show(id, (await chrome.tabs.get(id)).windowId);
  const tab = await chrome.tabs.get(id);
  return { tab_id: id, url: tab.url || tab.pendingUrl || '', title: tab.title ?? '', active: tab.active, ...grouped };
};
