// reload: loads the page of a tab again.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { ReloadParams, ReloadResult } from '../generated/methods';
import { navigateBy } from '../tabs/navigation';
import { resolveTab } from '../tabs/resolve';

/** A reload that has not begun after this long is one that Chrome asks the person about: what a form sent would be sent again. */
const BEGINS_MS = 3000;

export const handler: Handler<ReloadParams, ReloadResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  return {
    ...(await navigateBy(call, id, async (watch) => {
      await chrome.tabs.reload(id);
      if (await watch.begins(BEGINS_MS)) return;
      throw new BridgeError('NAVIGATION_FAILED', `tab ${id} was not reloaded: its page is probably the answer to a form, and Chrome asks the person whether to send that again, or the page asks whether it may be left; navigate to its address asks for it anew`);
    })),
  };
};
