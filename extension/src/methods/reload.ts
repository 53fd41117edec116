// reload: loads the page of a tab again.
import type { Handler } from '../call';
import type { ReloadParams, ReloadResult } from '../generated/methods';
import { navigateBy } from '../tabs/navigation';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ReloadParams, ReloadResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  return { ...(await navigateBy(call, id, () => chrome.tabs.reload(id))) };
};
