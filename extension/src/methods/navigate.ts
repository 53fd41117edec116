// navigate: leads a tab to an address and waits until the page has loaded.
import type { Handler } from '../call';
import type { NavigateParams, NavigateResult } from '../generated/methods';
import { navigateNew, navigateTab, normalUrl } from '../tabs/navigation';
import { openTab } from '../tabs/open';
import { hasOwnWindow, ownActiveTab, resolveTab } from '../tabs/resolve';

export const handler: Handler<NavigateParams, NavigateResult> = async (params, call) => {
  const url = normalUrl(params.url);
  // An agent that has nothing open yet gets a tab of its own instead of a person's.
  const fresh = params.new_tab || (params.tab_id === undefined && hasOwnWindow(call) && !(await ownActiveTab(call.owner)));
  if (fresh) {
    call.acted();
    return { ...(await navigateNew(call, async () => (await openTab(call, { url })).id, url, params.wait_until)) };
  }
  const { id } = await resolveTab(params, call);
  return { ...(await navigateTab(call, id, url, params.wait_until)) };
};
