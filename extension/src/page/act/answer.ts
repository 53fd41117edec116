// How a page answers a click: where it goes, what it downloads, which windows it asks for, at once and by what it has put off.
import { idsNow, putOff } from '../aftermath';
import { later } from '../wait';
import { watchHeldBack } from './held-back';
import { watchOnward, type Onward } from './onward';
import { allow, disallow, told, type Moment, type Windows } from './windows';

export interface Answer extends Onward, Windows {
  /** From when to when the click went on, in Date.now() milliseconds, and how many calls that begin a request were heard meanwhile. */
  during?: { from: number; to: number; begun: number };
  /** The form that the browser did not submit, and why. */
  heldBack?: string;
}

/** A page that answers a click by a timer has so long to open its window. */
const LATER_MS = 1000;
/** So many promise callbacks one after the other belong to the click itself. */
const CALLBACKS = 50;

/** Runs a click on the element and adds to its result what it set off, the page's promise callbacks included; timers have not run by then. */
export async function answered<R extends object>(el: Element, act: () => R): Promise<R & Answer> {
  const from = Date.now();
  const since = idsNow();
  const moment = allow();
  const onward = watchOnward();
  const held = watchHeldBack(el);
  let lasts = false;
  try {
    const result = act();
    for (let i = 0; i < CALLBACKS; i++) await Promise.resolve();
    lasts = !moment.spent && putOff(since).timers > 0;
    const heldBack = held();
    return { ...result, ...onward(), ...told(moment), during: { from, to: Date.now(), begun: moment.requests }, ...(heldBack === undefined ? {} : { heldBack }) };
  } finally {
    onward();
    held();
    if (lasts) later(() => disallow(moment), LATER_MS); else disallow(moment);
  }
}

let further: { end(): Answer } | undefined;

/** For a page that is fetching what it will answer with: looks on until it is called without a time, or that has passed. */
export function answeringOp({ ms }: { ms: number }): Answer {
  const before = further?.end() ?? {};
  if (ms > 0) further = lookOn(allow(), ms);
  return before;
}

function lookOn(moment: Moment, ms: number): { end(): Answer } {
  const onward = watchOnward();
  const end = (): Answer => {
    clearTimeout(timer);
    disallow(moment);
    if (further === looking) further = undefined;
    return { ...onward(), ...told(moment) };
  };
  const timer = later(end, ms);
  const looking = { end };
  return looking;
}
