// Opens tabs on behalf of a client: in its own window if it is an agent, else where the person is; and records whose they are.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { working } from '../person/acting';
import { came } from './answers';
import { agentWindows, own, setWindow, windowOf } from './owners';
import { hasOwnWindow, type LiveTab } from './resolve';

/** One agent's first tabs, asked for at the same time, must end up in one window. */
const opening = new Map<string, Promise<unknown>>();

/** Opens an empty tab for the caller; the navigation is a step of its own, so that its events can be listened to from the start. */
export async function openTab(call: Call, options: { active?: boolean; url?: string } = {}): Promise<LiveTab> {
  const tab = hasOwnWindow(call) ? await inOwnWindow(call, options) : await beside(options);
  if (tab?.id === undefined) throw new BridgeError('INTERNAL_ERROR', 'Chrome opened no tab');
  await own(tab.id, call.owner);
  working(call, tab.id);
  came(call, tab.id);
  return { ...tab, id: tab.id };
}

async function inOwnWindow(call: Call, { active = true, url = 'about:blank' }: { active?: boolean; url?: string }): Promise<chrome.tabs.Tab | undefined> {
  await opening.get(call.owner);
  const existing = await windowOf(call.owner);
  if (existing !== undefined) {
    const tab = await chrome.tabs.create({ windowId: existing, active, url }).catch(() => undefined);
    if (tab) return tab;
  }
  const work = (async () => {
    // Without focus: a person goes on typing where they are.
    const created = await chrome.windows.create({ focused: false, url });
    if (created?.id === undefined) throw new BridgeError('INTERNAL_ERROR', 'Chrome opened no window');
    await setWindow(call.owner, created.id);
    return created.tabs?.[0] ?? (await chrome.tabs.query({ windowId: created.id }))[0];
  })();
  opening.set(call.owner, work.catch(() => undefined));
  try {
    return await work;
  } finally {
    opening.delete(call.owner);
  }
}

/** In the window a person used last, but never in an agent's; in a new one if there is no other. */
async function beside({ active = true, url = 'about:blank' }: { active?: boolean; url?: string }): Promise<chrome.tabs.Tab | undefined> {
  const theirs = await agentWindows();
  const windows = (await chrome.windows.getAll({ windowTypes: ['normal'] })).filter((w) => w.id !== undefined && !theirs.has(w.id));
  const last = await chrome.windows.getLastFocused({ windowTypes: ['normal'] }).catch(() => undefined);
  const chosen = windows.find((w) => w.id === last?.id) ?? windows[0];
  if (chosen?.id !== undefined) return chrome.tabs.create({ windowId: chosen.id, active, url });
  return (await chrome.windows.create({ url, focused: true }))?.tabs?.[0];
}
