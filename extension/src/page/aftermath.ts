// What comes of an act a little later. A page may take back, in a timer or with its next frame, what it seemed to accept; whether it
// has put anything off can be seen without looking into it: the ids of timers, frames and idle callbacks are dealt out in one row a
// document, to the page and to this world alike. So a page that put off nothing is not waited for. One that has begun timers is waited
// for until they have run, where they were all seen (begun.ts), else for as long as could matter.
import { begunByNow, unwatchBegun, watchBegun, type Timer } from './begun';
import type { PageContext } from './context';
import { drawn, frame, framed, later, own, pause, queued } from './wait';

interface Ids { timers: number; frames: number; idles: number }

/** How far the ids had come at some time, and how many of them were this code's; and how many timers and requests of the page had been seen. */
export interface Mark { ids: Ids; own: Ids; at: number; seen?: { count: number; asked: number } }

let idles = 0;

/** To be taken right before an act of which only whether the page puts something off is to be known. */
export function idsNow(): Pick<Mark, 'ids' | 'own'> {
  const ids = { timers: later(() => {}, 0), frames: frame(() => {}), idles: requestIdleCallback(() => {}) };
  idles++;
  clearTimeout(ids.timers);
  cancelAnimationFrame(ids.frames);
  cancelIdleCallback(ids.idles);
  return { ids, own: { ...own, idles } };
}

/** To be taken right before an act. What the page begins is watched from then on. */
export function mark(): Mark {
  watchBegun();
  clearTimeout(forgotten);
  forgotten = later(unwatchBegun, FORGOTTEN_MS);
  return { at: performance.now(), seen: begunByNow(), ...idsNow() };
}

/** An act whose aftermath nobody asks for does not keep the page watched. */
const FORGOTTEN_MS = 3000;
let forgotten: number | undefined;

/** How much others than this code have put off since then. */
export function putOff(since: Pick<Mark, 'ids' | 'own'>): Ids {
  const now = idsNow();
  const more = (kind: keyof Ids) => now.ids[kind] - since.ids[kind] - (now.own[kind] - since.own[kind]);
  return { timers: more('timers'), frames: more('frames'), idles: more('idles') };
}

/** Where the page has put something off, it is given this long: it covers the delays with which fields are commonly checked. */
export const LATER_MS = 500;

/** What is left of the call's time for the answer itself. */
const ANSWER_MS = 60;

/** What could not be waited for, if anything, in words; whether there are timers that were not to be waited for, and how often the page has asked its server since then. */
export interface Aftermath { unseen?: string; waits: boolean; asked: number }

/**
 * Resolves when what the page has put off since the act has run: promise callbacks and messages, one frame, and timers of up to
 * LATER_MS, in a hidden tab too (where they come up to a second late); the timers only if `whole`, else `waits` says that there are any. Then the
 * page is watched no longer, unless it has asked its server: what comes of the answer may be looked at, too. `goOn` leaves that to the caller.
 */
export async function aftermath(since: Mark, { signal, deadline }: Pick<PageContext, 'signal' | 'deadline'>, whole = true, goOn = false): Promise<Aftermath> {
  const end = performance.now() + LATER_MS;
  const until = deadline - ANSWER_MS;
  await queued();
  // A page that draws its state with every frame is seen to do so.
  if (!document.hidden) await framed(signal);
  if (!document.hidden && putOff(since).frames) await drawn(signal);
  const { timers, idles } = putOff(since);
  const waits = timers > 0 || idles > 0 || unheard() > 0;
  let ran = true;
  if (waits && whole) {
    if (timers || idles) ran = await (document.hidden ? hiddenRun(since, end, until, signal) : timersRun(since, end, until, signal));
    if (ran && idles) ran = await idle(end, until, signal);
    if (ran) await heard(end, until, signal);
  }
  await queued(1);
  const asked = askedSince(since);
  if (whole && !goOn && !asked) unwatchBegun();
  const unseen = !ran ? TIMERS_UNSEEN : document.hidden && putOff(since).frames ? FRAME_UNSEEN : undefined;
  return { unseen, waits: waits && !whole, asked };
}

const unheard = () => begunByNow()?.unheard ?? 0;
const HEARD_MS = 15;

/** Resolves when something has come over each socket over which the page has sent something; not every message has an answer, so in vain it is no news. */
async function heard(end: number, until: number, signal: AbortSignal): Promise<void> {
  if (!unheard()) return;
  const before = idsNow();
  while (unheard() && performance.now() < end && await pause(HEARD_MS, until, signal));
  await queued();
  if (!document.hidden && putOff(before).frames) await drawn(signal);
}

/** How often the page has been seen to ask its server since then. */
export function askedSince(since: Mark): number {
  const seen = begunByNow();
  return seen && since.seen ? Math.max(0, seen.asked - since.seen.asked) : 0;
}

const TIMERS_UNSEEN = 'the page has put off a part of its reaction for longer than could be waited: what it makes of this then could not be read back';
const FRAME_UNSEEN = 'the page has put off a part of its reaction until its tab is shown: what it makes of this then could not be read back';

/** When a timer was begun is noted right after it was: where the machine gave the time in between to others, it runs so much sooner than it seems due. */
const SOONER_MS = 10;

/** The page's timers since then that it has not taken back; nothing if there are any that were not seen. */
function timersSince(since: Mark): Timer[] | undefined {
  const seen = begunByNow();
  return seen && since.seen && putOff(since).timers <= seen.count - since.seen.count ? seen.timers.filter((t) => t.at >= since.at) : undefined;
}

/** In the order in which they fall due: the timers that the act began, and those that these began in turn. */
async function timersRun(since: Mark, end: number, until: number, signal: AbortSignal): Promise<boolean> {
  const whole = () => pause(Math.max(0, end - performance.now()), until, signal);
  // A page may have other timers going round; what begins while none of these runs is not of their making.
  const times: [from: number, to: number][] = [[since.at, performance.now()]];
  const ran = new Set<number>();
  for (;;) {
    const timers = timersSince(since);
    if (!timers) return whole();
    const next = timers.filter((t) => t.due <= end && !ran.has(t.id) && times.some(([from, to]) => t.at >= from && t.at <= to)).sort((a, b) => a.due - b.due)[0];
    if (!next) return true;
    const before = idsNow();
    const wait = Math.max(0, Math.ceil(next.due - performance.now())) + 1;
    const due = timers.filter((t) => t.due <= performance.now() + wait);
    if (!await pause(wait, until, signal)) return false;
    await queued();
    const { frames, idles } = putOff(before);
    if (frames) await framed(signal);
    if (idles && !await idle(end, until, signal)) return false;
    for (const { id } of due) ran.add(id);
    times.push([next.due - SOONER_MS, performance.now()]);
    if (due.some(({ id, repeats }) => repeats && timersSince(since)?.some((t) => t.id === id))) return whole();
  }
}

/** In a hidden tab all timers come once a second, so that those of a second are one wait. */
async function hiddenRun(since: Mark, end: number, until: number, signal: AbortSignal): Promise<boolean> {
  const seen = timersSince(since);
  if (seen && !seen.some((t) => t.due <= end)) return true;
  const first = idsNow();
  if (!await pause(Math.max(0, end - performance.now()), until, signal)) return false;
  // A second timer that a first one began comes a second later.
  return putOff(first).timers ? pause(LATER_MS, until, signal) : true;
}

/** Resolves when the page's idle callbacks have run, which come in order; with false if that was too late. */
function idle(end: number, until: number, signal: AbortSignal): Promise<boolean> {
  const controller = new AbortController();
  idles++;
  const all = new Promise<boolean>((resolve) => {
    const id = requestIdleCallback(() => { controller.abort(); resolve(true); });
    controller.signal.addEventListener('abort', () => cancelIdleCallback(id));
  });
  const time = pause(Math.max(0, end - performance.now()), until, AbortSignal.any([signal, controller.signal]));
  return Promise.race([all, time.catch((e: unknown) => { if (signal.aborted) throw e; return true; })]).finally(() => controller.abort());
}
