// close_tab: closes a tab, also one that is stuck in a dialog or an endless script.
import type { Handler } from '../call';
import type { CloseTabParams, CloseTabResult } from '../generated/methods';
import { closeTab } from '../tabs/close';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<CloseTabParams, CloseTabResult> = async (params, call) => {
  const { id } = await resolveTab(params, call);
  call.acted();
  await closeTab(call, id);
  return { closed: true, tab_id: id };
};
