// What of the debugger must outlive a restart of the worker: which tabs it is on, which dialogs are open, and the user's Cancel.
import type { Dialog } from './dialogs';

export interface Memory { tabs: number[]; dialogs: Record<number, Dialog>; cancelledAt?: number }

const KEY = 'debugger';
const empty = (): Memory => ({ tabs: [], dialogs: {} });
let memory: Promise<Memory> | undefined;

export function recall(): Promise<Memory> {
  memory ??= chrome.storage.session.get(KEY).then((stored) => ({ ...empty(), ...(stored[KEY] as Memory | undefined) }), empty);
  return memory;
}

export async function remember(change: Partial<Memory>): Promise<void> {
  const now = Object.assign(await recall(), change);
  await chrome.storage.session.set({ [KEY]: now }).catch(() => {});
}
