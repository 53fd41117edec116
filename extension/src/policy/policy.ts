// What the user allows: the daemon's word (hello_ack, `policy` frames) and the pause button of the popup. Judged here again, against a
// fault of the other side; the rules that need the page's address or the tab's owner are judged nowhere else.
import { BridgeError } from '../errors';

export interface Policy {
  paused: boolean;
  read_only: boolean;
  /** Whether code may run in the page's own world. Off while unknown. */
  evaluate: boolean;
}

export let policy: Policy = { paused: false, read_only: false, evaluate: false };
let pausedHere = false;
let given: Record<string, unknown> | undefined;
const watchers = new Set<() => void>();

/** Resolves when the popup's pause is known; no command is judged before. */
export const policyReady: Promise<void> = chrome.storage.local.get<{ paused?: boolean }>('paused').then((stored) => {
  pausedHere = stored.paused === true;
  refresh();
});

/** The daemon's policy, as a whole; undefined when it said none. */
export function setPolicy(policyGiven: Record<string, unknown> | undefined): void {
  given = policyGiven;
  refresh();
}

/** The popup's pause: holds in this browser whatever the daemon says, until it is lifted here. */
export async function pauseHere(on: boolean): Promise<void> {
  await chrome.storage.local.set({ paused: on });
  pausedHere = on;
  refresh();
}

export function onPolicy(watcher: () => void): void {
  watchers.add(watcher);
}

function refresh(): void {
  policy = { paused: pausedHere || given?.paused === true, read_only: given?.read_only === true, evaluate: given?.evaluate === true };
  for (const watcher of watchers) watcher();
}

/** Refuses what the policy rules out whatever the page. */
export function judge(method: string, access: 'read' | 'write', params: Record<string, unknown>): void {
  if (policy.paused) throw new BridgeError('PAUSED', 'paused by user');
  if (policy.read_only && writes(method, access, params)) throw new BridgeError('PERMISSION_DENIED', 'forbidden: read-only');
}

/** Some reading methods change what the user sees when asked for it. */
function writes(method: string, access: 'read' | 'write', params: Record<string, unknown>): boolean {
  return access === 'write' || (method === 'get_page_markdown' && params.url !== undefined) || (method === 'screenshot' && params.foreground === true);
}
