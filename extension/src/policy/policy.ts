// What the user allows, as the daemon last said (hello_ack, `policy` frames). Judged here again, against a fault of the other side;
// the rules that need the page's address or the tab's owner are judged nowhere else.
import { BridgeError } from '../errors';

export interface Policy {
  paused: boolean;
  read_only: boolean;
  /** Whether code may run in the page's own world. Off while unknown. */
  evaluate: boolean;
}

const unknown: Policy = { paused: false, read_only: false, evaluate: false };
export let policy: Policy = unknown;
const watchers = new Set<() => void>();

export function setPolicy(given: Record<string, unknown> | undefined): void {
  policy = { paused: given?.paused === true, read_only: given?.read_only === true, evaluate: given?.evaluate === true };
  for (const watcher of watchers) watcher();
}

export function onPolicy(watcher: () => void): void {
  watchers.add(watcher);
}

/** Refuses what the policy rules out whatever the page. */
export function judge(access: 'read' | 'write'): void {
  if (policy.paused) throw new BridgeError('PAUSED', 'paused by user');
  if (policy.read_only && access === 'write') throw new BridgeError('PERMISSION_DENIED', 'forbidden: read-only');
}
