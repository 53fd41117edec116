// One act at a time a tab: for acts that are more than one synchronous step in the page, such as trusted input.
import { BridgeError } from '../errors';
import type { Call } from '../call';

const tails = new Map<string, Promise<void>>();

/**
 * Runs `act` when every earlier act on the tab is over. Waiting for elements, reading and navigation do not belong in here. `waited`
 * tells it that another act came first: what was seen before that may no longer be so.
 */
export const withTabLock = <T>(call: Call, tabId: number, act: (waited: boolean) => Promise<T>): Promise<T> => inTurn(call, `act ${tabId}`, act);

/** Whether an act has the tab now. */
export const isTaken = (tabId: number): boolean => tails.has(`act ${tabId}`);

/** Takes a picture of a tab, or prints it, when every earlier one is done: the browser makes one at a time, and the next one would fail or hang. */
export const withCamera = <T>(call: Call, tabId: number, take: () => Promise<T>): Promise<T> =>
  inTurn(call, `picture ${tabId}`, () => Promise.race([take(), aborted(call).then(() => { throw new BridgeError('CANCELLED', 'cancelled'); })]));

async function inTurn<T>(call: Call, key: string, act: (waited: boolean) => Promise<T>): Promise<T> {
  const before = tails.get(key);
  let release!: () => void;
  const mine = new Promise<void>((r) => { release = r; });
  const tail = (before ?? Promise.resolve()).then(() => mine);
  tails.set(key, tail);
  try {
    if (before) await Promise.race([before, aborted(call)]);
    if (call.signal.aborted) throw new BridgeError('CANCELLED', 'cancelled while waiting for another act on this tab');
    return await act(before !== undefined);
  } finally {
    release();
    if (tails.get(key) === tail) tails.delete(key);
  }
}

const aborted = (call: Call) => new Promise<void>((resolve) => {
  if (call.signal.aborted) resolve();
  else call.signal.addEventListener('abort', () => resolve(), { once: true });
});
