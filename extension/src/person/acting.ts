// Who is acting where, for the popup and for the badge: which client works in which tab, by what method, since when.
import type { Call } from '../call';
import { attend } from '../tabs/traffic';

export interface Acting {
  owner: string;
  class: Call['class'];
  tabId: number;
  /** The method that was last called there. */
  method: string;
  /** When the client took hold of the tab, and when it last did something in it: Date.now() milliseconds. */
  since: number;
  last: number;
  /** Calls that are under way there. */
  running: number;
}

/** A tab counts as held for so long after the last call on it. */
const HELD_MS = 5000;
/** The popup tells of what is over for so long. */
const KEEP_MS = 60_000;
const MAX = 100;

const table = new Map<string, Acting>();
/** The tabs that a call has come to, by its id: a batch comes to several. */
const byCall = new Map<string, Set<Acting>>();
const watchers = new Set<() => void>();
let next: ReturnType<typeof setTimeout> | undefined;

/** A call has come to a tab: to be said as soon as it is known which. */
export function working(call: Call, tabId: number): void {
  // One that has been answered holds nothing any more, whatever its handler still does.
  if (call.signal.aborted) return;
  attend(tabId);
  const key = `${tabId}\n${call.owner}`;
  const now = Date.now();
  let entry = table.get(key);
  // Somebody who comes back after having let go takes hold anew.
  if (!entry || !isHeld(entry, now)) {
    entry = { owner: call.owner, class: call.class, tabId, method: call.method, since: now, last: now, running: 0 };
    table.delete(key);
    table.set(key, entry);
    bound();
  }
  const mine = byCall.get(call.id) ?? new Set();
  byCall.set(call.id, mine);
  if (!mine.has(entry)) {
    mine.add(entry);
    entry.running++;
  }
  entry.method = call.method;
  entry.last = now;
  changed();
}

/** The call has been answered or given up. */
export function over(callId: string): void {
  const mine = byCall.get(callId);
  if (!mine) return;
  byCall.delete(callId);
  for (const entry of mine) {
    entry.running--;
    entry.last = Date.now();
  }
  changed();
}

/** The tabs that a call under way has come to. */
export const tabsOf = (callId: string): number[] => [...(byCall.get(callId) ?? [])].map((entry) => entry.tabId);

export const isHeld = ({ running, last }: Acting, now: number): boolean => running > 0 || now - last < HELD_MS;

/** The tabs that agents hold now, each with the one that was last there. */
export function heldByAgents(): Map<number, Acting> {
  const now = Date.now();
  const held = new Map<number, Acting>();
  for (const entry of table.values()) {
    if (entry.class === 'agent' && isHeld(entry, now) && entry.last >= (held.get(entry.tabId)?.last ?? 0)) held.set(entry.tabId, entry);
  }
  return held;
}

/** All that the popup tells, those at work first, then the latest. */
export function allActing(): Acting[] {
  const now = Date.now();
  return [...table.values()].filter((e) => e.running > 0 || now - e.last < KEEP_MS).sort((a, b) => Number(b.running > 0) - Number(a.running > 0) || b.last - a.last);
}

export function onActing(watcher: () => void): void {
  watchers.add(watcher);
}

/** To be called at the top level of the worker. */
export function watchActing(): void {
  chrome.tabs.onRemoved.addListener((tabId) => {
    for (const [key, entry] of table) if (entry.tabId === tabId) table.delete(key);
    changed();
  });
}

/** What is over longest goes first. */
function bound(): void {
  for (const [key, entry] of table) {
    if (table.size <= MAX) return;
    if (entry.running === 0) table.delete(key);
  }
}

function changed(): void {
  const now = Date.now();
  for (const [key, entry] of table) if (entry.running === 0 && now - entry.last >= KEEP_MS) table.delete(key);
  clearTimeout(next);
  // The next one that lets go by being idle.
  const due = [...table.values()].filter((e) => e.running === 0 && now - e.last < HELD_MS).map((e) => e.last + HELD_MS - now);
  if (due.length) next = setTimeout(changed, Math.min(...due) + 20);
  for (const watcher of watchers) watcher();
}
