// What clients call themselves. A request carries its owner only, an id; the daemon says the name of those that the extension asks for,
// in its `policy` frame. A name is a client's own word: it is shown as text and proves nothing.
import { tell } from '../connection/connection';

const KEEP = 200;
const names = new Map<string, string>();
const watchers = new Set<() => void>();
const asked = new Map<string, number>();
/** A daemon that knows no such question, or no such client any more, is not asked all the time. */
const ASK_AGAIN_MS = 30_000;

/** What the daemon said of clients in a `policy` frame. */
export function learnNames(policy: Record<string, unknown>): void {
  const { clients } = policy;
  if (clients === null || typeof clients !== 'object') return;
  for (const [owner, said] of Object.entries(clients)) {
    const name = (said as { name?: unknown } | null)?.name;
    if (typeof name !== 'string' || !name) continue;
    names.delete(owner);
    names.set(owner, harmless(name));
  }
  for (const owner of names.keys()) if (names.size > KEEP) names.delete(owner);
  for (const watcher of watchers) watcher();
}

export function onNames(watcher: () => void): void {
  watchers.add(watcher);
}

/** The name, if it is known; asks for it if not. */
export function nameOf(owner: string): string | undefined {
  const name = names.get(owner);
  if (name === undefined && owner && Date.now() - (asked.get(owner) ?? 0) > ASK_AGAIN_MS) {
    if (tell({ type: 'event', event: 'who', owner })) asked.set(owner, Date.now());
    for (const old of asked.keys()) if (asked.size > KEEP) asked.delete(old);
  }
  return name;
}

/** What stands for a client where people read it. */
export const calledAs = (owner: string): string => nameOf(owner) ?? (harmless(owner) || '–');

/** Text of others on one line: no control characters, nothing that turns the direction of writing, nothing invisible, and not long. */
export function harmless(text: string, most = 64): string {
  const plain = text.slice(0, 4 * most).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '').replace(/\s+/g, ' ').trim();
  const letters = [...plain];
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : plain;
}
