// Aiming for trusted input: the browser's own events go to a point, not to an element. So the page finds the element, waits until it
// can take the act, says where it is, and watches that what arrives there really arrives at this element.
import { pointOut } from '../../overlay/draw';
import { stateOf, Attempt, takes, type Point } from '../actionable';
import type { PageContext } from '../context';
import { describe, outline, type ElementInfo } from '../describe';
import { elementAt } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { PageError } from '../error';
import { elementOf } from '../snapshot/refs';
import { GONE_WHEN_PRESSED } from './click';
import { watchHeldBack } from './held-back';
import { keepInThisTab, leadsAway, linkOf, submitterOf } from './link';
import { watchOnward, type Onward } from './onward';
import { sayReached } from './reached';
import { native } from '../native';
import { pressDisabled } from './pointer';

export interface AimArgs {
  /** Keep a press from what is not the element: if the page moved, nothing is pressed at all. */
  press?: boolean;
  /** How often it is pressed (1); what is pressed after that is another act's, or a person's. */
  presses?: number;
  /** A link leads on in this tab, even if it asks for another. */
  stay?: boolean;
  /** To be said when the click has reached the element; where nothing is pressed, when the pointer has. */
  token?: string;
}

export interface Aim {
  /** The name of this aim, for `aimed` and `aim_point`. */
  aim: number;
  /** In the view of this document. */
  point: Point;
  element: ElementInfo;
  shadow?: true;
  leads?: true;
}

/** What came of it. */
export interface Verdict extends Onward {
  /** Whether a press arrived, at the element or (kept away from it) at something else; absent if none arrived. */
  pressed?: boolean;
  /** Whether the pointer was over the element when it last moved. */
  over?: boolean;
  /** What got in the way. */
  instead?: string;
  /** The form that the browser did not submit, and why. */
  heldBack?: string;
  /** It was pressed, but the click did not come to it, and why. */
  lost?: string;
}

interface Watch extends Verdict {
  el: Element;
  at?: Point;
  clicked?: true;
  /** How often something was pressed since its turn came. */
  downs: number;
  /** Whose turn it is: until then the pointer that moves and presses here is another act's. */
  armed?: number;
  /** The element that the target means by now, or an error that says why there is none. */
  meant(): Element | null;
  stop(): void;
  onward: () => Onward;
  held: () => string | undefined;
}
const watches = new Map<number, Watch>();
let counter = 0;

const PRESSES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
const CLICKS = new Set(['click', 'auxclick', 'contextmenu']);
const MOVES = ['pointermove', 'mousemove'];
/** A watch that nobody asks about any more. */
const FORGOTTEN_MS = 60_000;
/** An act presses as soon as its turn has come: what comes later than this, after a dialog say, is not its own press. */
const ARMED_MS = 5000;

export function aimOp(args: ElementArgs & AimArgs, ctx: PageContext): Promise<Aim | Beyond | Around> {
  return onElement<Aim>(args, ctx, {
    needs: { hit: true },
    unfit: (el) => (el instanceof HTMLOptionElement ? 'it is an option of a list that the browser draws: use select_option' : null),
    ...(args.press ? { tried: pressDisabled } : {}),
    act: ({ el, at, point, again }) => {
      pointOut();
      const link = linkOf(at);
      const leads = (link && leadsAway(link.href)) || submitterOf(at) ? { leads: true as const } : {};
      return { aim: watch(el, at, args, () => (args.target.by === 'ref' ? elementOf(args.target.value) : again())), point, element: describe(el), ...leads };
    },
  });
}

function watch(el: Element, at: Element, { press = false, presses = 1, stay = false, token }: AimArgs, meant: () => Element | null): number {
  const id = ++counter;
  const onPress = (e: Event) => {
    if (w.armed === undefined || !e.isTrusted || !(e instanceof MouseEvent)) return;
    // Whoever armed it is not always there to end it: a dialog that the press opened has ended the act.
    if (e.type === 'pointerdown' && (++w.downs > presses || performance.now() - w.armed > ARMED_MS)) return w.stop();
    if (e.type === 'pointerdown' || (e.type === 'mousedown' && w.pressed === undefined)) {
      const point = { x: e.clientX, y: e.clientY };
      w.pressed = native(el).isConnected && takes(el, point);
      if (!w.pressed) w.instead = outline(elementAt(point.x, point.y) ?? document.documentElement);
    }
    if (CLICKS.has(e.type) && (e.composedPath().includes(el) || takes(el, { x: e.clientX, y: e.clientY }))) w.clicked = true;
    if (press && w.pressed) sayReached(token, w.clicked ? 'click' : 'press');
    if (press && w.pressed !== true) {
      e.preventDefault();
      e.stopImmediatePropagation();
    } else if (stay && e.type === 'click' && e.target instanceof Element) {
      const restore = keepInThisTab(elementAt(e.clientX, e.clientY) ?? e.target);
      // The browser follows the link when all listeners are through.
      setTimeout(restore, 0);
    }
  };
  const onMove = (e: Event) => {
    if (!e.isTrusted || !(e instanceof MouseEvent)) return;
    const point = { x: e.clientX, y: e.clientY };
    w.at = point;
    w.over = native(el).isConnected && takes(el, point);
    if (!press && w.over) sayReached(token, 'press');
    w.instead = w.over ? undefined : outline(elementAt(point.x, point.y) ?? document.documentElement);
  };
  const options = { capture: true, passive: false };
  for (const type of PRESSES) addEventListener(type, onPress, options);
  for (const type of MOVES) addEventListener(type, onMove, options);
  const timer = setTimeout(() => w.stop(), FORGOTTEN_MS);
  const w: Watch = {
    el,
    downs: 0,
    meant,
    onward: watchOnward(),
    held: watchHeldBack(at),
    stop() {
      w.onward();
      w.held();
      clearTimeout(timer);
      watches.delete(id);
      for (const type of PRESSES) removeEventListener(type, onPress, options);
      for (const type of MOVES) removeEventListener(type, onMove, options);
    },
  };
  watches.set(id, w);
  return id;
}

/** What has come of an aim: asked before a press, from when on it is watched for, and after it, where `end` stops watching. */
export function aimedOp({ aim, end }: { aim: number; end: boolean }): Verdict {
  const w = watches.get(aim);
  if (!w) return {};
  const onward = end ? w.onward() : {};
  const heldBack = end ? w.held() : undefined;
  if (end) w.stop();
  else {
    // One act at a time has the tab: another one that is armed still was ended by a dialog.
    for (const other of [...watches.values()]) if (other !== w && other.armed !== undefined) other.stop();
    w.armed = performance.now();
  }
  const { pressed, over, instead, at } = w;
  // The page's own listeners come after ours: only now is it known where their work has left the element.
  if (!end && at && over && !(native(w.el).isConnected && takes(w.el, at))) return { over: false, instead: outline(elementAt(at.x, at.y) ?? document.documentElement) };
  return { pressed, over, instead, ...onward, heldBack, lost: end ? lost(w) : undefined };
}

function lost({ el, pressed, clicked }: Watch): string | undefined {
  // The press itself opens the list of a select, which takes what follows.
  if (!pressed || clicked || el instanceof HTMLSelectElement) return undefined;
  return native(el).isConnected ? 'it was pressed, but the page moved or hid it before the click itself' : GONE_WHEN_PRESSED;
}

/**
 * Where the element of an aim is now, scrolled into view if it was not. `anew`: another act came between, so it must still be what the
 * target means and fit to be acted on.
 */
export function aimPointOp({ aim, anew }: { aim: number; anew?: boolean }): Point {
  const w = watches.get(aim);
  if (!w || !native(w.el).isConnected) throw new PageError('ELEMENT_NOT_ACTIONABLE', 'the page took the element away meanwhile');
  if (anew) {
    w.at = w.over = w.instead = undefined;
    w.onward();
    w.onward = watchOnward();
    w.held();
    w.held = watchHeldBack(w.el);
    if (w.meant() !== w.el) throw new PageError('ELEMENT_NOT_ACTIONABLE', 'the page has another element in its place');
  }
  const attempt = new Attempt();
  let reason = 'it is in motion';
  for (let i = 0; i < 8; i++) {
    const state = stateOf(w.el, { hit: true }, attempt);
    if (state.is === 'ready') return state.point;
    ({ reason } = state);
    if (state.is === 'blocked') break;
  }
  if (anew) throw new PageError('ELEMENT_NOT_ACTIONABLE', reason);
  // What is being dragged may lie over it; the middle of what is in view is good enough then.
  const r = native(w.el).getBoundingClientRect();
  const middle = (from: number, to: number, room: number) => (Math.max(from, 0) + Math.min(to, room)) / 2;
  return { x: middle(r.left, r.right, innerWidth), y: middle(r.top, r.bottom, innerHeight) };
}
