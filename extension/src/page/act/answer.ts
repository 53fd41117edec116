// How a page answers a click: where it goes, what it downloads, which windows it asks for, at once and by what it has put off.
import { idsNow, putOff } from '../aftermath';
import { later } from '../wait';
import { watchHeldBack } from './held-back';
import { watchOnward, type Onward } from './onward';
import { allow, disallow, told, type Moment, type Windows } from './windows';

export interface Answer extends Onward, Windows {
  /** From when to when the click went on, in Date.now() milliseconds, how many calls that begin a request were heard meanwhile, and, where timers were begun that are to be waited for, how long these may take at most. */
  during?: { from: number; to: number; begun: number; putOff?: number };
  /** The form that the browser did not submit, and why. */
  heldBack?: string;
}

/** A page that answers a click by a timer has so long to open its window. */
const LATER_MS = 1000;
/** Timers of a click have run by then; those of a hidden tab come once a second. */
const TIMERS_MS = 700;
const TIMERS_HIDDEN_MS = 1600;
/** So many promise callbacks one after the other belong to the click itself. */
const CALLBACKS = 50;

/** Runs a click on the element and adds to its result what it set off, the page's promise callbacks included; timers have not run by then. */
export async function answered<R extends object>(el: Element, act: () => R): Promise<R & Answer> {
  const from = Date.now();
  const since = idsNow();
  further?.end();
  const moment = allow();
  moment.within++;
  const onward = watchOnward();
  const held = watchHeldBack(el);
  let lasts = false;
  try {
    const result = act();
    for (let i = 0; i < CALLBACKS; i++) await Promise.resolve();
    moment.within--;
    lasts = !moment.spent && putOff(since).timers > 0;
    const heldBack = held();
    return { ...result, ...onward(), ...told(moment), during: { from, to: Date.now(), begun: moment.requests, ...(moment.timers ? { putOff: document.hidden ? TIMERS_HIDDEN_MS : TIMERS_MS } : {}) }, ...(heldBack === undefined ? {} : { heldBack }) };
  } finally {
    onward();
    held();
    if (moment.timers) further = lookOn(moment, LATER_MS);
    else if (lasts) later(() => disallow(moment), LATER_MS); else disallow(moment);
  }
}

interface Looking { end(): Answer; afterTimers(): Promise<Answer> }
let further: Looking | undefined;

/**
 * For a page that is fetching what it will answer with: looks on until it is called without a time, or that has passed. With `timers`, for one that has put its
 * answer off: says what came of it once those have run.
 */
export function answeringOp({ ms, timers }: { ms: number; timers?: boolean }): Answer | Promise<Answer> {
  if (timers) return further?.afterTimers() ?? {};
  const before = further?.end() ?? {};
  if (ms > 0) further = lookOn(allow(), ms);
  return before;
}

function lookOn(moment: Moment, ms: number): Looking {
  const onward = watchOnward();
  const from = Date.now();
  const seen = (): Answer => {
    if (further === looking) further = undefined;
    return { ...onward(), ...told(moment), during: { from, to: Date.now(), begun: moment.requests } };
  };
  const end = (): Answer => {
    clearTimeout(timer);
    disallow(moment);
    return seen();
  };
  const timer = later(end, ms);
  // What a longer timer asks for is not looked at any more, but the page may still open its window.
  const afterTimers = async () => {
    if (moment.timers) await new Promise<void>((ran) => { moment.ran = ran; });
    for (let i = 0; i < CALLBACKS; i++) await Promise.resolve();
    return further === looking ? seen() : {};
  };
  const looking = { end, afterTimers };
  return looking;
}
