// close_auto_tabs: closes tabs that clients opened, never a person's own.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { CloseAutoTabsParams, CloseAutoTabsResult } from '../generated/methods';
import { closeTab } from '../tabs/close';
import { ownedTabs } from '../tabs/owners';

export const handler: Handler<CloseAutoTabsParams, CloseAutoTabsResult> = async (params, call) => {
  // An agent reaches its own tabs only; a person's client without an owner means all, as in v1.
  if (call.class === 'agent' && params.owner !== undefined && params.owner !== call.owner) throw new BridgeError('PERMISSION_DENIED', 'forbidden: not owner');
  const ids = await ownedTabs(call.class === 'agent' ? call.owner : params.owner);
  call.acted();
  const outcomes = await Promise.all(ids.map((id) => closeTab(call, id).then(() => id, () => undefined)));
  return { closed: outcomes.filter((id) => id !== undefined) };
};
