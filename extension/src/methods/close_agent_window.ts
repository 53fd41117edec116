// close_agent_window: closes the window that was opened for an owner, with its tabs.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { CloseAgentWindowParams, CloseAgentWindowResult } from '../generated/methods';
import { userTabs } from '../policy/policy';
import { closeTab } from '../tabs/close';
import { ownerOf, windowOf } from '../tabs/owners';

const KEPT = "the window stays, as a tab of the user's is in it; the tabs that clients opened there are closed";
const STAYS = 'the window stays: a tab that came into it meanwhile is still there';

export const handler: Handler<CloseAgentWindowParams, CloseAgentWindowResult> = async (params, call) => {
  const owner = params.owner ?? call.owner;
  if (call.class === 'agent' && owner !== call.owner) throw new BridgeError('PERMISSION_DENIED', 'forbidden: not owner');
  const windowId = await windowOf(owner);
  if (windowId === undefined) return { closed: false, window_id: null };
  const all = await chrome.tabs.query({ windowId });
  // What the user has put there stays theirs, and the window with it.
  const keeps = call.class === 'agent' && userTabs !== 'allow';
  const tabs = keeps ? (await Promise.all(all.map(async (t) => ({ t, owner: await ownerOf(t.id ?? -1) })))).filter(({ owner }) => owner !== undefined).map(({ t }) => t) : all;
  call.acted();
  // Tab by tab, so that one that asks whether it may be left does not keep the window; nor does one that somebody else closes meanwhile.
  await Promise.all(tabs.map(async (t) => { if (t.id !== undefined) await closeTab(call, t.id).catch(() => {}); }));
  const left = tabs.length < all.length ? undefined : await chrome.windows.get(windowId).catch(() => undefined);
  if (left) await chrome.windows.remove(windowId).catch(() => {});
  // A window stands as long as there is a tab in it, and no longer.
  const stays = (await chrome.tabs.query({ windowId }).catch(() => [])).length > 0;
  return { closed: !stays, window_id: windowId, ...(stays ? { note: tabs.length < all.length ? KEPT : STAYS } : {}) };
};
