// Waits for something to become true in a tab: in any of its frames, and in whatever page the tab comes to show meanwhile.
import { remaining, type Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { Condition, Standing } from '../page/wait-for';
import { findDocument, framesOf } from './document';
import { ticking } from './element';
import { callPage } from './page';

export interface Period { from: number; until: number; timeout: number }

/** What is left of the call's deadline for the answer to travel. */
const ANSWER_MS = 250;
/** However short the time, there is one look at how things stand; it may take this long. */
export const LOOK_MS = 1500;
const TICK_MS = 100;
/** Child frames are woken less often: there may be many. */
const FRAME_TICK_MS = 400;
const MAX_FRAMES = 100;
/** How soon a tab without a page is looked at again, if no event comes first. */
const NO_PAGE_MS = 500;

export function period(call: Call, timeout: number): Period {
  const from = Date.now();
  return { from, timeout, until: Math.min(from + timeout, Math.max(from, call.deadline - ANSWER_MS)) };
}

/** The time is over; `what` did not come. */
export const waited = (what: string, { from }: Period) => new BridgeError('TIMEOUT', `timeout: ${what} (waited ${((Date.now() - from) / 1000).toFixed(1)} s)`);

/** A promise that is settled from outside, and what to do when it is. */
export class Settling {
  readonly promise: Promise<void>;
  done = false;
  private readonly after: (() => void)[] = [];
  private settle!: (error?: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => { this.settle = (error) => { if (error === undefined) resolve(); else reject(error instanceof Error ? error : new Error(String(error))); }; });
    this.promise.catch(() => {});
  }

  end(error?: unknown): void {
    if (this.done) return;
    this.done = true;
    for (const f of this.after) f();
    this.settle(error);
  }

  onEnd(f: () => void): void {
    this.after.push(f);
  }

  listen<F extends (...args: never[]) => unknown>(event: { addListener(f: F): void; removeListener(f: F): void }, f: F): void {
    event.addListener(f);
    this.onEnd(() => event.removeListener(f));
  }

  after_ms(ms: number, f: () => void): void {
    const timer = setTimeout(f, ms);
    this.onEnd(() => clearTimeout(timer));
  }
}

/** Ends a wait when its time is over and it has `looked` at least once, its call is cancelled or its tab closed. */
export function bounded(call: Call, tabId: number, wait: Settling, { from, until }: Period, late: () => BridgeError, looked: () => boolean): void {
  const onAbort = () => wait.end(remaining(call) <= 50 ? late() : new BridgeError('CANCELLED', 'cancelled'));
  call.signal.addEventListener('abort', onAbort, { once: true });
  wait.onEnd(() => call.signal.removeEventListener('abort', onAbort));
  const over = () => {
    if (looked() || Date.now() >= Math.min(from + LOOK_MS, call.deadline - ANSWER_MS)) wait.end(late());
    else wait.after_ms(20, over);
  };
  wait.after_ms(Math.max(0, until - Date.now()), over);
  wait.listen(chrome.tabs.onRemoved, (id: number) => { if (id === tabId) wait.end(new BridgeError('TAB_NOT_FOUND', `tab ${tabId} was closed while something was waited for in it`)); });
  if (call.signal.aborted) onAbort();
}

/** Resolves when the condition holds in the tab. */
export async function waitInPages(call: Call, tabId: number, condition: Condition, time: Period, what: string): Promise<void> {
  const absent = 'state' in condition && (condition.state === 'hidden' || condition.state === 'detached');
  const wait = new Settling();
  /** How it stands in each frame's present document. */
  const frames = new Map<number, { documentId: string; standing?: Standing; stop: AbortController }>();
  let noPage: BridgeError | undefined;

  const why = () => {
    const top = frames.get(0)?.standing;
    const standing = top?.found ? top : [...frames.values()].map((f) => f.standing).find((s) => s?.found);
    if (noPage && !frames.has(0)) return noPage;
    return waited(`${what} did not come${standing?.reason ? `: ${standing.reason}` : 'text' in condition || absent ? '' : ': nothing matches'}`, time);
  };
  const judge = () => {
    const top = frames.get(0)?.standing;
    if (wait.done || !top) return;
    if (top.found) { if (top.holds) wait.end(); return; }
    // The top document has nothing: its child frames decide.
    const others = [...frames].filter(([id]) => id !== 0).map(([, f]) => f.standing);
    if (absent) {
      if (others.every((s) => s?.holds)) wait.end();
    } else if ((top.settled || 'text' in condition) && others.some((s) => s?.found && s.holds)) wait.end();
  };

  const follow = async (frameId: number, documentId: string) => {
    if (wait.done || frames.get(frameId)?.documentId === documentId || frames.size >= MAX_FRAMES) return;
    frames.get(frameId)?.stop.abort();
    const stop = new AbortController();
    const mine: { documentId: string; standing?: Standing; stop: AbortController } = { documentId, stop };
    frames.set(frameId, mine);
    const asking: Call = { ...call, signal: AbortSignal.any([call.signal, stop.signal]) };
    const current = () => !wait.done && frames.get(frameId) === mine;
    try {
      for (;;) {
        const args = { condition, ...time, known: mine.standing };
        const standing = await ticking({ tabId, documentId }, () => callPage<Standing>(asking, tabId, 'standing', args, { documentId }), frameId === 0 ? TICK_MS : FRAME_TICK_MS);
        if (!current()) return;
        mine.standing = standing;
        judge();
        if (wait.done || Date.now() >= time.until) return;
      }
    } catch (e) {
      if (!current()) return;
      frames.delete(frameId);
      if (e instanceof BridgeError && ['INVALID_PARAMS', 'STALE_REF', 'UNSUPPORTED'].includes(e.code)) return wait.end(e);
      if (frameId !== 0) return judge();
      // A page that is left makes room for the next; anything else stands in the way of waiting.
      const left = e instanceof PageLeft || (e instanceof BridgeError && (e.code === 'CANCELLED' || e.code === 'NAVIGATION_FAILED' || e.code === 'RESTRICTED_PAGE'));
      if (!left) return wait.end(e);
      wait.after_ms(50, () => void scan());
    }
  };

  let scanning = false;
  let again = false;
  const scan = async () => {
    again = scanning;
    if (scanning || wait.done) return;
    scanning = true;
    try {
      const top = await findDocument(call, tabId);
      noPage = undefined;
      void follow(0, top.documentId);
      for (const f of await framesOf(tabId)) if (f.frameId !== 0) void follow(f.frameId, f.documentId);
    } catch (e) {
      if (!(e instanceof BridgeError) || (e.code !== 'RESTRICTED_PAGE' && e.code !== 'NAVIGATION_FAILED')) wait.end(e);
      else {
        noPage = e;
        wait.after_ms(NO_PAGE_MS, () => void scan());
      }
    } finally {
      scanning = false;
      // The page that was found has gone meanwhile.
      if (again) void scan();
    }
  };

  const looked = () => {
    const top = frames.get(0)?.standing;
    return noPage !== undefined || (top !== undefined && (top.found || (!scanning && [...frames.values()].every((f) => f.standing))));
  };
  bounded(call, tabId, wait, time, why, looked);
  wait.listen(chrome.webNavigation.onCommitted, (d: { tabId: number; frameId: number; documentId?: string; documentLifecycle?: string }) => {
    if (d.tabId !== tabId || d.documentLifecycle !== 'active') return;
    if (d.frameId === 0) {
      // The child frames went with their page.
      for (const [id, f] of frames) { f.stop.abort(); frames.delete(id); }
      void scan();
    } else if (d.documentId) void follow(d.frameId, d.documentId);
  });
  void scan();
  try {
    await wait.promise;
  } finally {
    for (const f of frames.values()) f.stop.abort();
  }
}
