// navigate: leads a tab to an address and waits as far as asked; puts it into a session if one is named.
import type { Handler } from '../call';
import type { NavigateParams, NavigateResult } from '../generated/methods';
import { closeTab } from '../tabs/close';
import { normalUrl } from '../tabs/address';
import { navigateNew, navigateTab } from '../tabs/navigation';
import { openTab } from '../tabs/open';
import { admitted, hasOwnWindow, ownActiveTab, resolveTab } from '../tabs/resolve';
import { admit, join, lastTab, type Grouped } from '../tabs/sessions';

export const handler: Handler<NavigateParams, NavigateResult> = async (params, call) => {
  const url = normalUrl(params.url);
  await admit(call, params);
  const inSession = params.tab_id === undefined && params.session_id !== undefined && !params.new_tab;
  const own = inSession ? await lastTab(params.session_id!) : undefined;
  // An agent that has nothing open yet gets a tab of its own instead of a person's; so does a session.
  const fresh = params.new_tab || (inSession && !own) || (params.tab_id === undefined && !own && hasOwnWindow(call) && !(await ownActiveTab(call.owner)));
  if (fresh) {
    call.acted();
    let grouped: Grouped = {};
    let opened: number | undefined;
    const open = async () => {
      const { id } = await openTab(call, { url });
      opened = id;
      grouped = await join(call, id, params);
      return id;
    };
    try {
      const arrival = await navigateNew(call, open, url, params.wait_until);
      return { ...arrival, ...grouped };
    } catch (e) {
      // Asked for as one more, it has an id that the caller never learns; otherwise it is where the next navigation goes.
      if (params.new_tab && opened !== undefined) await closeTab(call, opened).catch(() => {});
      throw e;
    }
  }
  if (own) await admitted(call, own);
  const { id } = own ?? (await resolveTab(params, call));
  const grouped = await join(call, id, params);
  return { ...(await navigateTab(call, id, url, params.wait_until)), ...grouped };
};
