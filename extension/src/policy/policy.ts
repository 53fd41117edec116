// What the user allows: the daemon's word (hello_ack, `policy` frames) and the pause button of the popup. Judged here again, against a
// fault of the other side; the rules that need the page's address or the tab's owner are judged nowhere else.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { SiteLists } from './sites';

export interface Policy {
  paused: boolean;
  read_only: boolean;
}

/** What agents may do with tabs that no client opened. */
export type UserTabs = 'allow' | 'ask' | 'deny';

export let policy: Policy = { paused: false, read_only: false };
let pausedHere = false;
let given: Record<string, unknown> | undefined;
const watchers = new Set<() => void>();

export let userTabs: UserTabs = 'allow';
export let sites = new SiteLists([], []);

/** As the popup tells it. */
export function limits(): { userTabs: UserTabs; allow: string[]; deny: string[] } {
  const list = (of: unknown) => (Array.isArray(of) ? of.filter((p): p is string => typeof p === 'string') : []);
  return { userTabs, allow: list(given?.allow), deny: list(given?.deny) };
}

/** Whether anything stands between this call and a tab: nothing more is looked at where nothing does. */
export const guarded = (call: Pick<Call, 'class'>): boolean => sites.limited || (userTabs !== 'allow' && call.class === 'agent');

/** Resolves when the popup's pause is known; no command is judged before. */
export const policyReady: Promise<void> = chrome.storage.local.get<{ paused?: boolean }>('paused').then((stored) => {
  pausedHere = stored.paused === true;
  refresh();
});

/** The daemon's policy, as a whole; undefined when it said none. */
export function setPolicy(policyGiven: Record<string, unknown> | undefined): void {
  given = policyGiven;
  // A daemon that is gone has taken nothing back: what is still under way keeps within what it said last.
  if (given) {
    sites = new SiteLists(given.allow, given.deny);
    const { user_tabs: theirs = 'allow' } = given;
    userTabs = theirs === 'allow' || theirs === 'ask' ? theirs : 'deny';
  }
  // The daemon keeps the pause now, so it is the one to end it: the command line can do it too.
  if (given?.paused === true && pausedHere) void pauseHere(false);
  else refresh();
}

/** Whether the popup's pause has not come to the daemon yet. */
export const pausedOnlyHere = (): boolean => pausedHere && given?.paused !== true;

/** A clock that is put right goes back by less than this; one that goes back further must not prolong anything. */
const SLACK_MS = 60_000;

/** Until when code may run in the pages' own world; undefined if it may not: switched off, over, or nobody said. */
export function evaluateUntil(): number | undefined {
  const { since, until } = (given?.evaluate ?? {}) as { since?: unknown; until?: unknown };
  const now = Date.now();
  return typeof since === 'number' && typeof until === 'number' && since - SLACK_MS <= now && now < until ? until : undefined;
}

/** The bridge's own doors: no page of theirs is worked on, whoever asks. */
export function isOwnAddress(url: string): boolean {
  const ports = Array.isArray(given?.own_ports) ? (given.own_ports as unknown[]) : [];
  if (!ports.length || !URL.canParse(url)) return false;
  const { protocol, hostname, port } = new URL(url);
  if (!/^(https?|wss?):$/.test(protocol) || !ports.includes(Number(port || (/s:$/.test(protocol) ? 443 : 80)))) return false;
  const host = hostname.replace(/\.$/, '');
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:(7f[\da-f]{2}:[\da-f]+|0:0)\])$/.test(host);
}

/** The popup's pause: holds in this browser until the daemon has taken it over or it is lifted here. */
export async function pauseHere(on: boolean): Promise<void> {
  await chrome.storage.local.set({ paused: on });
  pausedHere = on;
  refresh();
}

export function onPolicy(watcher: () => void): void {
  watchers.add(watcher);
}

function refresh(): void {
  policy = { paused: pausedHere || given?.paused === true, read_only: given?.read_only === true };
  for (const watcher of watchers) watcher();
}

/** Refuses what the policy rules out whatever the page. */
export function judge(method: string, access: 'read' | 'write', params: Record<string, unknown>): void {
  if (policy.paused) throw new BridgeError('PAUSED', 'paused by user');
  if (policy.read_only && writes(method, access, params)) {
    throw new BridgeError('PERMISSION_DENIED', `forbidden: read-only is on, and ${method} changes something as it is asked for`);
  }
  if (method === 'evaluate' && evaluateUntil() === undefined) {
    throw new BridgeError('PERMISSION_DENIED', 'forbidden: evaluate is off; the user turns it on for a time with `bridged policy set evaluate on` or in the popup');
  }
}

/** Some reading methods change what the user sees when asked for it. */
function writes(method: string, access: 'read' | 'write', params: Record<string, unknown>): boolean {
  return access === 'write' || (method === 'get_page_markdown' && params.url !== undefined) || (method === 'screenshot' && params.foreground === true);
}
