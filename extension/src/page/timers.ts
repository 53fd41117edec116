// When the timers fall due that a page begins. That it has begun some shows in their ids (aftermath.ts); for how long only its own functions
// are told. So while an act is looked after, and not longer, the page's window has functions in their place that note the time and go on
// to them. A page that keeps the functions from before is not seen so: then there are more ids than notes, and the whole time is waited.

type Name = 'setTimeout' | 'setInterval' | 'clearTimeout' | 'clearInterval';

/** A timer of the page, in milliseconds of performance.now(). */
export interface Timer { id: number; at: number; due: number; repeats: boolean }
/** How many timers the page has begun so far while it was watched, and those of them that it has not taken back. */
export interface Begun { count: number; timers: Timer[] }

/**
 * Goes into the page's own world as text, so it must stand alone. It listens to events of a name that the page does not know. The page
 * can lie here as it can everywhere; all it gets by that is a look at its field that comes too early or too late.
 */
export function seeTimers(name: string): void {
  type Own = Record<Name, (...args: unknown[]) => unknown>;
  interface Watch { count: number; live: Map<unknown, [at: number, due: number, repeats: boolean]>; end(): void }
  const MOST = 1000;
  const scope = window as unknown as Own;
  const { apply } = Reflect;
  let watch: Watch | undefined;

  // Functions of their own for each watch: one that the page has kept, or put its own around, goes on as it did.
  const begin = (): Watch => {
    const { setTimeout, setInterval, clearTimeout, clearInterval } = scope;
    const was: Own = { setTimeout, setInterval, clearTimeout, clearInterval };
    let on = true;
    const note = (id: unknown, delay: unknown, repeats: boolean) => {
      // What is no number becomes one in ways that the page might see: such a timer counts as not seen.
      if (!on || typeof id !== 'number' || made.live.size >= MOST || !(delay === undefined || typeof delay === 'number')) return;
      const at = performance.now();
      made.count++;
      made.live.set(id, [at, at + Math.max(0, Number(delay ?? 0) | 0), repeats]);
    };
    // Methods, as the browser's own have no prototype either.
    const ours = {
      setTimeout(handler: unknown, ...rest: unknown[]) { const id = apply(was.setTimeout, this, [handler, ...rest]); note(id, rest[0], false); return id; },
      setInterval(handler: unknown, ...rest: unknown[]) { const id = apply(was.setInterval, this, [handler, ...rest]); note(id, rest[0], true); return id; },
      clearTimeout(id: unknown) { made.live.delete(id); return apply(was.clearTimeout, this, [id]); },
      clearInterval(id: unknown) { made.live.delete(id); return apply(was.clearInterval, this, [id]); },
    } as Own;
    const names = Object.keys(was) as Name[];
    const made: Watch = {
      count: 0,
      live: new Map(),
      end() {
        on = false;
        made.live.clear();
        for (const of of names) if (scope[of] === ours[of]) scope[of] = was[of];
      },
    };
    for (const of of names) scope[of] = ours[of];
    return made;
  };

  addEventListener(name, (e) => {
    const { detail } = e as CustomEvent<unknown>;
    // What goes wrong here, in a page that has other things in these places, must not look like a fault of the page.
    try {
      if (detail === 'begin') watch ??= begin();
      else if (detail === 'end') { watch?.end(); watch = undefined; }
      else if (watch) dispatchEvent(new CustomEvent(`${name}-told`, { detail: JSON.stringify([watch.count, [...watch.live].map(([id, t]) => [id, ...t])]) }));
    } catch { /* then nothing is told */ }
  });
}

let name: string | undefined;
let told: string | undefined;
let on = false;

/** The name under which the page's world hears; known once the worker has put seeTimers there. */
export function timersHear(given: string): void {
  if (name === given) return;
  name = given;
  addEventListener(`${name}-told`, (e) => { const { detail } = e as CustomEvent<unknown>; if (typeof detail === 'string') told = detail; });
}

const say = (detail: string) => { if (name !== undefined) dispatchEvent(new CustomEvent(name, { detail })); };

/** From here on the page's timers are noted, until unwatch. */
export function watchTimers(): void {
  on = true;
  say('begin');
}

export function unwatchTimers(): void {
  if (on) say('end');
  on = false;
}

/** What has been noted; nothing if nobody is there to note it. */
export function timersBegun(): Begun | undefined {
  if (name === undefined || !on) return undefined;
  told = undefined;
  say('tell');
  try {
    const [count, timers] = JSON.parse(told ?? '') as [number, [number, number, number, boolean][]];
    return { count, timers: timers.map(([id, at, due, repeats]) => ({ id, at, due, repeats })) };
  } catch {
    return undefined;
  }
}
