// What a page begins because of an act, as far as only its own functions are told: when its timers fall due, and whether it asks its server
// for something, by a request or over a WebSocket. So while an act is looked after, and not longer, the page's window has functions in their place that note it and go on to
// them. A page that keeps the functions from before is not seen so; for timers that shows, as there are more ids than notes (aftermath.ts).

import { layerOver, onLayerOver } from './layers';

type Name = 'setTimeout' | 'setInterval' | 'clearTimeout' | 'clearInterval' | 'fetch';

/** A timer of the page, in milliseconds of performance.now(). */
export interface Timer { id: number; at: number; due: number; repeats: boolean }
/**
 * How many timers and requests the page has begun so far while it was watched, the timers that it has not taken back, and over how many sockets it
 * has sent something without having heard anything since.
 */
export interface Begun { count: number; asked: number; timers: Timer[]; unheard: number }

/**
 * Goes into the page's own world as text, so it must stand alone. It listens to events of a name that the page does not know. The page
 * can lie here as it can everywhere; all it gets by that is a look at its field that comes too early or too late.
 */
export function seeBegun(name: string): void {
  type F = (...args: unknown[]) => unknown;
  type Own = Record<Name, F>;
  interface Watch { count: number; asked: number; live: Map<unknown, [at: number, due: number, repeats: boolean]>; unheard: Map<unknown, number>; end(): void; off(): boolean }
  const MOST = 1000, MOST_LEFT = 20;
  const scope = window as unknown as Own;
  interface Requests { send: F }
  const requests = XMLHttpRequest.prototype as unknown as Requests;
  const sockets = (window as { WebSocket?: typeof WebSocket }).WebSocket?.prototype as unknown as Requests | undefined;
  const { addEventListener: listen, removeEventListener: unlisten } = EventTarget.prototype as unknown as Record<'addEventListener' | 'removeEventListener', F>;
  const { apply } = Reflect;
  let watch: Watch | undefined;
  /** Those that have ended beneath something else, and are still there. */
  let left: Watch[] = [];

  // Functions of their own for each watch: one that the page has kept, or put its own around, goes on as it did.
  const begin = (): Watch => {
    const { setTimeout, setInterval, clearTimeout, clearInterval, fetch } = scope;
    const was: Own = { setTimeout, setInterval, clearTimeout, clearInterval, fetch };
    const { send } = requests;
    const talk = sockets?.send;
    const talks = sockets !== undefined && typeof talk === 'function';
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
      fetch(input: unknown, ...rest: unknown[]) { made.asked++; return apply(was.fetch, this, [input, ...rest]); },
      send(...args: unknown[]) { made.asked++; return apply(send, this, args); },
    } as Own & Requests;
    const ourTalk: Requests = {
      send(...args: unknown[]) {
        const done = apply(talk!, this, args);
        // Nothing that goes wrong here is the page's business.
        try { untilHeard(this); } catch { /* then it is not waited for */ }
        return done;
      },
    };
    // What the page itself does with a message it has done when this hears of it.
    const untilHeard = (socket: unknown) => {
      const sent = made.unheard.get(socket) ?? 0;
      if (!on || (!sent && made.unheard.size >= MOST_LEFT) || (socket as WebSocket).readyState !== 1) return;
      if (sent) return void made.unheard.set(socket, sent + 1);
      const hear = (e: Event) => {
        const left = e.type === 'message' ? (made.unheard.get(socket) ?? 1) - 1 : 0;
        if (left > 0) return void made.unheard.set(socket, left);
        made.unheard.delete(socket);
        listening.get(socket)?.();
      };
      for (const type of ['message', 'close']) apply(listen, socket, [type, hear]);
      listening.set(socket, () => {
        listening.delete(socket);
        for (const type of ['message', 'close']) apply(unlisten, socket, [type, hear]);
      });
      made.unheard.set(socket, 1);
    };
    const listening = new Map<unknown, () => void>();
    const names = Object.keys(was) as Name[];
    const there = new Set<string>([...names, 'send', ...(talks ? ['talk'] : [])]);
    const made: Watch = {
      count: 0,
      asked: 0,
      live: new Map(),
      unheard: new Map(),
      end() {
        on = false;
        made.live.clear();
        made.unheard.clear();
        for (const stop of [...listening.values()]) stop();
      },
      off() {
        for (const of of names) if (scope[of] === ours[of]) { scope[of] = was[of]; there.delete(of); }
        if (requests.send === ours.send) { requests.send = send; there.delete('send'); }
        if (talks && sockets.send === ourTalk.send) { sockets.send = talk; there.delete('talk'); }
        return !there.size;
      },
    };
    for (const of of names) scope[of] = ours[of];
    requests.send = ours.send;
    if (talks) sockets.send = ourTalk.send;
    return made;
  };

  const takeOff = () => { left = left.filter((w) => !w.off()); };

  addEventListener(name, (e) => {
    const { detail } = e as CustomEvent<unknown>;
    // What goes wrong here, in a page that has other things in these places, must not look like a fault of the page.
    try {
      if (detail === 'begin') {
        takeOff();
        watch ??= begin();
      } else if (detail === 'end') {
        watch?.end();
        if (watch) left = [watch, ...left].slice(0, MOST_LEFT);
        watch = undefined;
        takeOff();
      } else if (detail === 'off') takeOff();
      else if (watch) dispatchEvent(new CustomEvent(`${name}-told`, { detail: JSON.stringify([watch.count, watch.asked, [...watch.live].map(([id, t]) => [id, ...t]), watch.unheard.size]) }));
    } catch { /* then nothing is told */ }
  });
}

let name: string | undefined;
let told: string | undefined;
let on = false;

/** The name under which the page's world hears; known once the worker has put seeBegun there. */
export function beginnersHear(given: string): void {
  if (name === given) return;
  name = given;
  addEventListener(`${name}-told`, (e) => { const { detail } = e as CustomEvent<unknown>; if (typeof detail === 'string') told = detail; });
}

const say = (detail: string) => { if (name !== undefined) dispatchEvent(new CustomEvent(name, { detail })); };

/** From here on it is noted what the page begins, until unwatch. */
export function watchBegun(): void {
  on = true;
  say('begin');
}

export function unwatchBegun(): void {
  if (!on) return;
  on = false;
  say('end');
  layerOver();
}

onLayerOver(() => { say('off'); });

/** What has been noted; nothing if nobody is there to note it. */
export function begunByNow(): Begun | undefined {
  if (name === undefined || !on) return undefined;
  told = undefined;
  say('tell');
  try {
    const [count, asked, timers, unheard] = JSON.parse(told ?? '') as [number, number, [number, number, number, boolean][], number];
    return { count, asked, timers: timers.map(([id, at, due, repeats]) => ({ id, at, due, repeats })), unheard };
  } catch {
    return undefined;
  }
}
