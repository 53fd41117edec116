// Which tab a call means: the one it names, else the default of protocol.md §5.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { working } from '../person/acting';
import { guarded } from '../policy/policy';
import { admitTab, isOurs, leavesOwn } from './admission';
import { came } from './answers';
import { agentWindows, ownerOf, windowOf } from './owners';

export interface TabParams { tab_id?: number }

/** A tab that certainly has an id. */
export type LiveTab = chrome.tabs.Tab & { id: number };

/** An agent works in a window of its own and sees only its tabs; also a v1 client that calls itself `mcp-…`. */
export const hasOwnWindow = (call: Pick<Call, 'class' | 'owner'>): boolean => call.class === 'agent' || call.owner.startsWith('mcp-');

export async function resolveTab(params: TabParams, call: Call): Promise<LiveTab> {
  const tab = await tabMeant(params, call);
  await admitted(call, tab);
  working(call, tab.id);
  return tab;
}

/** Refuses a tab that the user keeps from the call; to be asked of every tab that is not found by resolveTab. */
export async function admitted(call: Call, tab: LiveTab): Promise<void> {
  if (isOurs(tab.url) && !(await leavesOwn(call, tab.id))) throw new BridgeError('PERMISSION_DENIED', `forbidden: tab ${tab.id} shows a page of the bridge's own extension`);
  came(call, tab.id);
  if (guarded(call)) await admitTab(call, tab);
}

async function tabMeant(params: TabParams, call: Call): Promise<LiveTab> {
  if (params.tab_id !== undefined) return namedTab(params.tab_id, call);
  if (hasOwnWindow(call)) {
    const tab = await ownActiveTab(call.owner);
    if (tab) return tab;
    throw new BridgeError('TAB_NOT_FOUND', 'you have no tab open yet: open one with new_tab or navigate, or name a tab_id from list_tabs');
  }
  const tab = await activeTab();
  if (!tab) throw new BridgeError('TAB_NOT_FOUND', 'no tab is open');
  return tab;
}

async function namedTab(id: number, call: Call): Promise<LiveTab> {
  let tab: chrome.tabs.Tab;
  try {
    // Chrome's schema refuses what does not fit into 32 bits with a text of its own; to a client that is simply no tab.
    tab = await chrome.tabs.get(id);
  } catch {
    throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${id}`);
  }
  if (call.class === 'agent') {
    const owner = await ownerOf(id);
    if (owner !== undefined && owner !== call.owner) throw new BridgeError('PERMISSION_DENIED', `forbidden: tab ${id} belongs to another client`);
  }
  return { ...tab, id };
}

/** The active tab of the owner's own window, if it has one. */
export async function ownActiveTab(owner: string): Promise<LiveTab | undefined> {
  const windowId = await windowOf(owner);
  if (windowId === undefined) return undefined;
  const [tab] = await chrome.tabs.query({ windowId, active: true });
  return tab as LiveTab | undefined;
}

/** The active tab of the window that a person used last; agents' windows count only if there is no other. */
export async function activeTab(): Promise<LiveTab | undefined> {
  const theirs = await agentWindows();
  const [focused] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  if (focused && !theirs.has(focused.windowId) && !isOurs(focused.url)) return focused as LiveTab;
  const all = await chrome.tabs.query({ active: true, windowType: 'normal' });
  const own = all.filter((t) => !theirs.has(t.windowId)).sort((a, b) => (b.lastAccessed ?? 0) - (a.lastAccessed ?? 0));
  return (own[0] ?? focused ?? all[0]) as LiveTab | undefined;
}
