// close_agent_window: closes the window that was opened for an owner, with its tabs.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { CloseAgentWindowParams, CloseAgentWindowResult } from '../generated/methods';
import { closeTab } from '../tabs/close';
import { windowOf } from '../tabs/owners';

export const handler: Handler<CloseAgentWindowParams, CloseAgentWindowResult> = async (params, call) => {
  const owner = params.owner ?? call.owner;
  if (call.class === 'agent' && owner !== call.owner) throw new BridgeError('PERMISSION_DENIED', 'forbidden: not owner');
  const windowId = await windowOf(owner);
  if (windowId === undefined) return { closed: false, window_id: null };
  const tabs = await chrome.tabs.query({ windowId });
  call.acted();
  // Tab by tab, so that one that asks whether it may be left does not keep the window.
  await Promise.all(tabs.map(async (t) => { if (t.id !== undefined) await closeTab(call, t.id); }));
  const left = await chrome.windows.get(windowId).catch(() => undefined);
  if (left) await chrome.windows.remove(windowId).catch(() => {});
  return { closed: true, window_id: windowId };
};
