// new_tab: opens a tab that belongs to the caller, at an address or blank, and waits for the page.
import type { Handler } from '../call';
import type { NewTabParams, NewTabResult } from '../generated/methods';
import { closeTab } from '../tabs/close';
import { normalUrl } from '../tabs/address';
import { StillWaiting } from '../tabs/led-nowhere';
import { navigateNew } from '../tabs/navigation';
import { openTab } from '../tabs/open';
import type { LiveTab } from '../tabs/resolve';
import { admit, join, type Grouped } from '../tabs/sessions';

export const handler: Handler<NewTabParams, NewTabResult> = async (params, call) => {
  const url = params.url ? normalUrl(params.url) : 'about:blank';
  await admit(call, params);
  call.acted();
  let tab: LiveTab | undefined;
  let grouped: Grouped = {};
  const open = async () => {
    tab = await openTab(call, { url });
    grouped = await join(call, tab.id, params);
    return tab.id;
  };
  try {
    // Also for an empty page: its events must be over before the next navigation is watched.
    const arrival = await navigateNew(call, open, url);
    const { active } = await chrome.tabs.get(arrival.tab_id);
    return { ...arrival, active, ...grouped };
  } catch (e) {
    if (!tab) throw e;
    if (e instanceof StillWaiting) return { tab_id: tab.id, url, title: '', active: tab.active, loaded: false, ...grouped };
    // The caller never learns this tab's id, so it must not stay behind.
    await closeTab(call, tab.id).catch(() => {});
    throw e;
  }
};
