// "Stop now": every call under way ends at once, each with an honest answer, and the debugger leaves all tabs.
import type { Call } from '../call';
import { detachAll } from '../debugger/attach';
import { BridgeError } from '../errors';
import { policy } from '../policy/policy';
import { tabsOf } from './acting';

interface Running {
  call: Call;
  controller: AbortController;
  writes: boolean;
  /** Whether the page may have been changed by now. */
  acted(): boolean;
  /** Set when the user has stopped it: what it is answered with. */
  answer?: Promise<BridgeError>;
  end(error: BridgeError): void;
}

const running = new Set<Running>();
const STOPPED = new BridgeError('DENIED_BY_USER', 'stopped by the user');
/** How long a page may take to say that it has heard of the end of its work. */
const HEARD_MS = 1000;
/** An `acted` report travels on another road than that word. */
const REPORT_MS = 50;

/** Whether the user stopped what this signal belongs to: nothing may be done for it any more. */
export const isStopped = (signal: AbortSignal): boolean => signal.reason === STOPPED;

/** Runs a call so that the user can stop it. */
export async function stoppable<T>(what: Omit<Running, 'answer' | 'end'>, work: () => Promise<T>): Promise<T> {
  // A call that waited for something between being judged and being begun.
  if (policy.paused) throw new BridgeError('PAUSED', 'paused by user');
  let end!: (error: BridgeError) => void;
  const stopped = new Promise<never>((_, reject) => { end = reject; });
  stopped.catch(() => {});
  const mine: Running = { ...what, end };
  running.add(mine);
  try {
    // What was done before the stop reached it is told as done.
    return await Promise.race([work(), stopped]);
  } catch (e) {
    throw mine.answer ? await mine.answer : e;
  } finally {
    running.delete(mine);
  }
}

/** Ends every call under way; gives how many those were. Resolves when all of them have been answered. */
export async function stopAll(): Promise<number> {
  const all = [...running];
  for (const one of all) {
    one.controller.abort(STOPPED);
    one.answer = answerOf(one);
  }
  const off = detachAll('the user stopped all work');
  await Promise.all(all.map(async (one) => one.end(await one.answer!)));
  await off;
  return all.length;
}

async function answerOf(one: Running): Promise<BridgeError> {
  const heard = one.writes && !one.acted() ? await pagesHeard(tabsOf(one.call.id)) : true;
  const acted = one.acted() || !heard;
  return new BridgeError('DENIED_BY_USER', STOPPED.message, acted ? { maybe_executed: true } : {});
}

/**
 * Whether the pages have come to what was sent to them after the cancelling: from then on none of them acts. One that is stuck may have
 * acted without having said so.
 */
async function pagesHeard(tabs: number[]): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((r) => { timer = setTimeout(r, HEARD_MS, false); });
  const ask = (tabId: number) => chrome.scripting.executeScript({ target: { tabId, allFrames: true }, injectImmediately: true, func: () => true }).catch(() => []);
  const heard = await Promise.race([Promise.all(tabs.map(ask)).then(() => true), late]);
  clearTimeout(timer);
  if (heard) await new Promise((r) => setTimeout(r, REPORT_MS));
  return heard;
}
