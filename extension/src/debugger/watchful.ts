// Tabs whose dialogs are to be seen. Only a debugger that was there before a dialog opened can tell of it and answer it; but its bar
// should not come up for every click either. So it comes first where a client has shown that it expects dialogs: by handle_dialog, or
// because the tab got stuck once. In all other tabs acts stay as quiet as they are.
import type { Call } from '../call';
import { resolveTab, type TabParams } from '../tabs/resolve';
import { withDebugger } from './attach';

const tabs = new Set<number>();
const KEY = 'watchful';
const loaded = chrome.storage.session.get(KEY).then((stored) => { for (const id of (stored[KEY] as number[] | undefined) ?? []) tabs.add(id); }, () => {});
const save = () => void chrome.storage.session.set({ [KEY]: [...tabs] }).catch(() => {});

export function watchForDialogs(tabId: number): void {
  if (tabs.has(tabId)) return;
  tabs.add(tabId);
  // The oldest of very many is no longer waited for.
  if (tabs.size > 200) tabs.delete(tabs.values().next().value!);
  save();
}

/** Runs an act with the debugger on its tab, if dialogs are expected there; otherwise, or if it may not come, just runs it. */
export async function seeingDialogs<T>(call: Call, params: TabParams, work: () => Promise<T>): Promise<T> {
  await loaded;
  if (!tabs.size) return work();
  const tabId = params.tab_id ?? (await resolveTab(params, call).then((t) => t.id, () => undefined));
  if (tabId === undefined || !tabs.has(tabId)) return work();
  let begun: Promise<T> | undefined;
  try {
    return await withDebugger(tabId, () => (begun = work()));
  } catch (e) {
    if (begun || call.signal.aborted) throw e;
    return work();
  }
}

export function watchWatchful(): void {
  chrome.tabs.onRemoved.addListener((tabId) => { if (tabs.delete(tabId)) save(); });
}
