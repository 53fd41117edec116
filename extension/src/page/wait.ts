// Waiting inside a page. A page in a background tab draws no frames and its timers run once a second, so nothing here rests on
// them alone: changes of the document wake a wait at once, and the worker, whose timers are not slowed down, sends a tick
// every tenth of a second while a wait is on.
import { isPagesOwn } from '../overlay/host';
import { PageError } from './error';

const wakers = new Set<(tick: boolean) => void>();

/** Something may have changed: every wait looks again. `tick` marks those that are certain to come, and come at a fixed pace. */
function wake(isTick: boolean): void {
  for (const waker of [...wakers]) waker(isTick);
}

/** The worker's tick. */
export function tick(): void {
  wake(true);
}

let users = 0;
const observer = new MutationObserver(() => wake(false));
const EVENTS = ['load', 'readystatechange', 'DOMContentLoaded', 'transitionend', 'animationend', 'toggle', 'scroll', 'resize', 'input', 'change', 'focusin'];
const onEvent = () => wake(false);

/** How many timers and frames this code has asked for: who counts the page's must leave them out. */
export const own = { timers: 0, frames: 0 };

export function later(f: () => void, ms: number): number {
  own.timers++;
  return window.setTimeout(f, ms);
}

export function frame(f: () => void): number {
  own.frames++;
  return requestAnimationFrame(f);
}

/** Keeps the wake-ups coming while `work` runs. */
export async function watching<T>(work: () => Promise<T>): Promise<T> {
  if (users++ === 0) {
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const type of EVENTS) addEventListener(type, onEvent, { capture: true, passive: true });
  }
  try {
    return await work();
  } finally {
    if (--users === 0) {
      observer.disconnect();
      for (const type of EVENTS) removeEventListener(type, onEvent, { capture: true });
    }
  }
}

/** Resolves when something may have changed, but not before `gap` milliseconds, so that costly looks do not follow each other. */
export function change(signal: AbortSignal, gap: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    let due: number | undefined;
    const done = (): void => {
      clearTimeout(due);
      clearTimeout(fallback);
      wakers.delete(waker);
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) reject(cancelled()); else resolve();
    };
    const onAbort = () => done();
    const waker = () => {
      const left = from + gap - performance.now();
      if (left <= 0) done(); else due ??= later(done, left);
    };
    const fallback = later(done, Math.max(100, gap));
    wakers.add(waker);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) done();
  });
}

/** Resolves after the page has drawn twice (so that its observers of visibility have run), or a tick later where it draws nothing. */
export function drawn(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(fallback);
      wakers.delete(waker);
      signal.removeEventListener('abort', done);
      if (signal.aborted) reject(cancelled()); else resolve();
    };
    let ticks = 0;
    const waker = (isTick: boolean) => { if (isTick && ++ticks >= (document.hidden ? 1 : 10)) done(); };
    // A busy machine draws late; a page that is not drawn at all says that it is hidden.
    const fallback = later(done, document.hidden ? 150 : 1000);
    wakers.add(waker);
    signal.addEventListener('abort', done);
    if (!document.hidden) frame(() => frame(() => void queued(1).then(done)));
    if (signal.aborted) done();
  });
}

/** Lets everything run that the page has queued by now: promise callbacks, messages, the selectionchange event. Not slowed down anywhere. */
export async function queued(times = 2): Promise<void> {
  for (let i = 0; i < times; i++) {
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { port1.close(); resolve(); };
      port2.postMessage(null);
    });
  }
}

/** Resolves with the next frame, or a little later where none comes. */
export function framed(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => { clearTimeout(fallback); if (signal.aborted) reject(cancelled()); else resolve(); };
    const fallback = later(done, FRAME_MS);
    frame(() => void queued(1).then(done));
  });
}

const FRAME_MS = 40;

/**
 * Resolves after as many milliseconds by the page's own clock: all its timers that are due by then have run, for they come in
 * order. In a hidden tab, whose timers run once a second, that is up to a second later. With false, if it was given up: the page's clock
 * stands still, or the time is `until` (Date.now() milliseconds).
 */
export function pause(ms: number, until: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const end = Math.min(Date.now() + ms + STOPPED_MS, until);
    const finish = (whole: boolean): void => {
      clearTimeout(timer);
      wakers.delete(waker);
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) reject(cancelled()); else resolve(whole);
    };
    const onAbort = () => finish(false);
    const waker = (isTick: boolean) => { if (isTick && Date.now() >= end) finish(false); };
    const short = Date.now() + ms > end;
    const timer = later(() => finish(!short), short ? Math.max(0, end - Date.now()) : ms);
    wakers.add(waker);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
  });
}

/** How late a timer may be in a page whose clock runs. */
const STOPPED_MS = 2500;

export const cancelled = () => new PageError('CANCELLED', 'cancelled');

// ---- Has the page come to rest? ----

/** How long nothing may have been added or removed for a page to count as still. */
const STILL_MS = 200;
const KEEP_MS = 30_000;
let lastChange = 0;
let stopKeeping: number | undefined;
const stillness = new MutationObserver((records) => { if (records.some(isPagesOwn)) lastChange = Date.now(); });

/** Starts or goes on observing; what an earlier call saw need not be waited for again. */
export function observeStillness(): void {
  if (stopKeeping === undefined) {
    lastChange = Date.now();
    stillness.observe(document, { subtree: true, childList: true, characterData: true });
    addEventListener('load', () => { lastChange = Date.now(); }, { once: true });
  }
  clearTimeout(stopKeeping);
  stopKeeping = later(() => { stillness.disconnect(); stopKeeping = undefined; }, KEEP_MS);
}

/** Loaded and still for a while; or it had its second (half the timeout, if that is less). */
export function hasSettled(from: number, timeout: number): boolean {
  const now = Date.now();
  if (stillness.takeRecords().some(isPagesOwn)) lastChange = now;
  if (document.readyState === 'complete' && now - lastChange >= STILL_MS) return true;
  return now - from >= Math.min(1000, timeout / 2);
}
