// The way every element method goes: find the element, wait until it is fit for the act, act, and say what was hit.
import { typing } from './act/edited';
import { aimedAt } from '../overlay/draw';
import { Attempt, stateOf, takes, type Needs, type Point } from './actionable';
import { isAmongOthers } from './around';
import type { PageContext } from './context';
import { PageError } from './error';
import { find, type Found } from './locate/find';
import { namesWithRole } from './locate/role';
import { hiddenByText } from './locate/text';
import { toWords, type Target } from './locate/target';
import { elementAt, isVisible, shadowRoots } from './dom';
import { cancelled, change, drawn, hasSettled, observeStillness, watching } from './wait';
import { native } from './native';

export interface ElementArgs {
  target: Target;
  /** When the call began to wait, and until when it may: Date.now() milliseconds. */
  from: number;
  until: number;
  /** The timeout that the client set (or the default). */
  timeout: number;
  /** No other act had the tab when this one came: it may try what a person would, which might disturb the other. */
  alone?: boolean;
  /** In a child frame the worker has found matches already: nothing there waits for the light DOM to settle. */
  inFrame?: boolean;
  /** Come back at this time if nothing was found, so that child frames can be looked into; only where there are any. */
  slice?: number;
  /** The time is over and all frames have been looked into: find it now, or say why not. */
  last?: boolean;
  /** What the pages around this frame let through just now. */
  clear?: Point | true;
  /** Whoever asks sees to it that nothing in the pages around is in the way. */
  aims?: boolean;
  /** Child frames that have been looked into by now, for the error. */
  frames?: number;
  /** How many matches they hold: fewer than the index asks for. */
  inFrames?: number;
}

/**
 * The act is about to be done in a frame: what do the pages around it make of this point, or (true) of keys? The worker asks them, and runs the
 * operation again with `clear` if nothing there is in the way.
 */
export interface Around { around: Point | true }

/** Nothing in this document, which has settled and has child frames: the worker looks there. */
export interface Beyond { beyond: true }

export interface Hit {
  el: Element;
  point: Point;
  /** What is at the point: the element itself or something inside of it. */
  at: Element;
  /** The element that the target means now, for one that the page has replaced meanwhile. */
  again: () => Element | null;
  /** Adds to a result where the element was found. */
  dress: <R extends object>(result: R) => R & { shadow?: true };
}

export interface Plan<R extends object> {
  needs: Needs;
  /** The element that is meant by the one that was found: a label's control, the input inside a component. */
  resolve?(el: Element): Element;
  /** A reason why it is not fit yet that only this method knows. */
  unfit?(el: Element): string | null;
  /** What a person's try would do to the page while the element is disabled. */
  tried?(el: Element): void;
  /** What must be waited for right before the act, if anything; asked once, and then everything is looked at again. */
  before?(): Promise<void> | null;
  /** Must end in what was done, or throw. Runs in one turn with the last check up to its first await. */
  act(hit: Hit): R | Promise<R>;
}

let acting = false;
/** So long a disabled element is given to become enabled by itself. */
const TRIED_MS = 500;
/** So long it holds what the pages around a frame have said: less than a person's hand would take. */
const CLEAR_MS = 250;
const BUSY = 'other acts on this page came first and were still under way';

export async function onElement<R extends object>(args: ElementArgs, ctx: PageContext, plan: Plan<R>): Promise<(R & { shadow?: true }) | Beyond | Around> {
  observeStillness();
  return watching(async () => {
    const attempt = new Attempt();
    const why: Why = {};
    let prepared = false;
    let tried = false;
    let asked = false;
    let { clear } = args;
    for (;;) {
      const before = performance.now();
      const look = lookFor(args, plan, attempt, why);
      // Acts take turns, and nothing may come between the last look and the act: so no waiting in between.
      if (look.is === 'ready' && !acting && !prepared) {
        prepared = true;
        const first = plan.before?.();
        if (first) {
          await first;
          if (ctx.signal.aborted) throw cancelled();
          continue;
        }
      }
      if (look.is === 'ready' && !acting && !asked) {
        asked = true;
        const asking = ctx.wanted();
        if (asking) {
          await asking;
          // A slow machine asks each time; what the pages around said a moment ago still holds, or it would never act.
          if (performance.now() - before > CLEAR_MS) clear = undefined;
          continue;
        }
      }
      if (look.is === 'ready' && !acting && !args.aims) {
        const around = asksAround(look.hit, plan.needs, clear);
        if (around) return { around };
      }
      if (look.is === 'ready' && !acting) {
        acting = true;
        try {
          aimedAt(look.hit.el, plan.needs.hit ? look.hit.point : undefined);
          return look.hit.dress(await plan.act(look.hit));
        } finally {
          aimedAt(undefined);
          acting = false;
        }
      }
      if (look.is === 'missing' && goesBeyond(args)) return { beyond: true };
      if (look.is === 'blocked' && look.disabled && args.alone && !tried && !acting && !typing() && Date.now() - args.from >= Math.min(TRIED_MS, args.timeout / 2)) {
        tried = true;
        await ctx.wanted();
        plan.tried?.(look.disabled);
      }
      if (look.is === 'ready') why.reason = BUSY;
      if (Date.now() >= args.until) throw failure(args, why);
      asked = false;
      clear = undefined;
      if (look.is === 'moving') await drawn(ctx.signal);
      // At most a fifth of the time is spent on looking.
      else await change(ctx.signal, Math.min(Math.max(5, (performance.now() - before) * 4), Math.max(5, args.until - Date.now())));
    }
  });
}

/** What is to be asked of the pages around this frame first; nothing where that has been answered, and the hit is then where it was answered for. */
function asksAround(hit: Hit, needs: Needs, clear: Point | true | undefined): Point | true | undefined {
  if (window === window.parent || (!needs.hit && !needs.keys)) return undefined;
  if (!needs.hit) return clear === true ? undefined : true;
  if (!isAmongOthers()) return undefined;
  if (!clear || clear === true || !takes(hit.el, clear)) return hit.point;
  hit.point = clear;
  hit.at = elementAt(clear.x, clear.y) ?? hit.at;
  return undefined;
}

/** Whether the child frames are to be looked into now, there being nothing in this document. */
function goesBeyond(args: ElementArgs): boolean {
  if (args.inFrame || args.last || !(args.slice === undefined ? hasSettled(args.from, args.timeout) : Date.now() >= args.slice)) return false;
  return hasFrames();
}

interface Why { reason?: string; found?: Found }
type Look = { is: 'ready'; hit: Hit } | { is: 'missing' | 'few' | 'moving' } | { is: 'blocked'; disabled?: Element };

function lookFor<R extends object>(args: ElementArgs, plan: Plan<R>, attempt: Attempt, why: Why): Look {
  const { target } = args;
  const deep = args.inFrame === true || hasSettled(args.from, args.timeout);
  const found = find(target, deep);
  why.found = found;
  const first = found.elements[target.index];
  if (!first) { why.reason = undefined; return { is: found.elements.length ? 'few' : 'missing' }; }
  const el = plan.resolve ? plan.resolve(first) : first;
  const state = stateOf(el, plan.needs, attempt);
  if (state.is !== 'ready') {
    why.reason = state.reason;
    return state.is === 'blocked' && state.disabled ? { is: 'blocked', disabled: el } : { is: state.is };
  }
  const unfit = plan.unfit?.(el);
  if (unfit) { why.reason = unfit; return { is: 'blocked' }; }
  const dress = <T extends object>(result: T) => (found.shadow || native(el).getRootNode() instanceof ShadowRoot ? { ...result, shadow: true as const } : result);
  const again = () => {
    // A ref means this one element and never a successor.
    const now = target.by === 'ref' ? (native(first).isConnected ? first : undefined) : find(target, deep).elements[target.index];
    return now ? (plan.resolve ? plan.resolve(now) : now) : null;
  };
  return { is: 'ready', hit: { el, point: state.point, at: state.at, again, dress } };
}

/** Whether this document holds child frames, those in shadow trees too. */
function hasFrames(): boolean {
  return window.length > 0 || shadowRoots(document).some((root) => root.querySelector('iframe, frame'));
}

function failure(args: ElementArgs, { reason, found }: Why): PageError {
  const waited = `waited ${seconds(Date.now() - args.from)}`;
  const what = toWords(args.target);
  if (reason !== undefined) return new PageError('ELEMENT_NOT_ACTIONABLE', `${what} was found, but ${reason}${seenInstead(args.target, found)} (${waited})`);
  const count = found?.elements.length ?? 0;
  if (count) return new PageError('ELEMENT_NOT_FOUND', `${what} was not found: ${count === 1 ? 'there is 1 match, its index is 0' : `there are ${count} matches, their indexes are 0 to ${count - 1}`} (${waited})`);
  if (args.inFrames) return new PageError('ELEMENT_NOT_FOUND', `${what} was not found: the page's frames hold ${args.inFrames} in all (${waited})`);
  const where = args.frames ? ` in the page and its ${args.frames === 1 ? 'frame' : `${args.frames} frames`}` : '';
  return new PageError('ELEMENT_NOT_FOUND', `${what} was not found${where}${hint(args.target)} (${waited})`);
}

/** Which of the other matches can be seen, where the one that was asked for cannot. */
function seenInstead({ index }: Target, found?: Found): string {
  const all = found?.elements ?? [];
  const asked = all[index];
  if (all.length < 2 || !asked || isVisible(asked)) return '';
  const seen = all.slice(0, 200).flatMap((el, i) => (isVisible(el) ? [i] : []));
  if (!seen.length) return `; none of the ${all.length} matches can be seen`;
  return `; of the ${all.length} matches ${seen.length === 1 ? `the one with index ${seen[0]} can be seen` : `those with index ${seen.slice(0, 5).join(', ')}${seen.length > 5 ? ', …' : ''} can be seen`}`;
}

const seconds = (ms: number) => (ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`);

/** What is there instead. */
function hint({ by, value, name }: Target): string {
  if (by === 'text') {
    const hidden = hiddenByText(document, value);
    return hidden ? `; ${hidden === 1 ? 'one element says this, but it is' : `${hidden} elements say this, but they are`} hidden` : '';
  }
  if (by === 'role') {
    const names = namesWithRole(document, value);
    if (!names.length) return `; nothing visible has this role`;
    if (name === undefined) return '';
    const shown = names.slice(0, 8).map((n) => JSON.stringify(n.slice(0, 60))).join(', ');
    return `; with this role there ${names.length === 1 ? 'is' : 'are'} ${shown}${names.length > 8 ? `, and ${names.length - 8} more` : ''}`;
  }
  return '';
}

export const isBeyond = (result: object): result is Beyond => 'beyond' in result;
