// What comes of an act a little later. A page may take back, in a timer or with its next frame, what it seemed to accept; whether it
// has put anything off can be seen without looking into it: the ids of timers, frames and idle callbacks are dealt out in one row a
// document, to the page and to this world alike. So a page that put off nothing is not waited for, and one that did is.
import type { PageContext } from './context';
import { drawn, frame, framed, later, own, pause, queued } from './wait';

interface Ids { timers: number; frames: number; idles: number }

/** How far the ids had come at some time, and how many of them were this code's. */
export interface Mark { ids: Ids; own: Ids }

let idles = 0;

/** To be taken right before an act. */
export function mark(): Mark {
  const ids = { timers: later(() => {}, 0), frames: frame(() => {}), idles: requestIdleCallback(() => {}) };
  idles++;
  clearTimeout(ids.timers);
  cancelAnimationFrame(ids.frames);
  cancelIdleCallback(ids.idles);
  return { ids, own: { ...own, idles } };
}

/** What others than this code have put off since then. */
function putOff(since: Mark): { timers: boolean; frames: boolean } {
  const now = mark();
  const more = (kind: keyof Ids) => now.ids[kind] - since.ids[kind] > now.own[kind] - since.own[kind];
  return { timers: more('timers') || more('idles'), frames: more('frames') };
}

/** Where the page has put something off, it is given this long: it covers the delays with which fields are commonly checked. */
export const LATER_MS = 500;

/** What is left of the call's time for the answer itself. */
const ANSWER_MS = 60;

/** What could not be waited for, if anything, in words; and whether there are timers that were not to be waited for. */
export interface Aftermath { unseen?: string; waits: boolean }

/**
 * Resolves when what the page has put off since the act has run: promise callbacks and messages, one frame, and timers of up to
 * LATER_MS, in a hidden tab too (where they come up to a second late); the timers only if `whole`, else `waits` says that there are any.
 */
export async function aftermath(since: Mark, { signal, deadline }: Pick<PageContext, 'signal' | 'deadline'>, whole = true): Promise<Aftermath> {
  const end = performance.now() + LATER_MS;
  const until = deadline - ANSWER_MS;
  await queued();
  // A page that draws its state with every frame is seen to do so.
  if (!document.hidden) await framed(signal);
  if (!document.hidden && putOff(since).frames) await drawn(signal);
  const { timers } = putOff(since);
  let ran = true;
  if (timers && whole) {
    const first = mark();
    ran = await pause(Math.max(0, end - performance.now()), until, signal);
    // A second timer that a first one began has run by now in a page that is seen; in a hidden one it comes a second later.
    if (ran && document.hidden && putOff(first).timers) ran = await pause(LATER_MS, until, signal);
  }
  await queued(1);
  const unseen = !ran ? TIMERS_UNSEEN : document.hidden && putOff(since).frames ? FRAME_UNSEEN : undefined;
  return { unseen, waits: timers && !whole };
}

const TIMERS_UNSEEN = 'the page has put off a part of its reaction for longer than could be waited: what it makes of this then could not be read back';
const FRAME_UNSEEN = 'the page has put off a part of its reaction until its tab is shown: what it makes of this then could not be read back';
