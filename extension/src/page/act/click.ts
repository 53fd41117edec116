// click and click_at: one click, exactly once, on the right element.
import { aimedAt } from '../../overlay/draw';
import { standIn } from '../actionable';
import type { PageContext } from '../context';
import { describe, outline, type ElementInfo } from '../describe';
import { elementAt, parentOf, shadowOf, within } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs, type Hit } from '../element';
import { PageError } from '../error';
import { frameIndex, intoFrame } from '../frames';
import { answered, type Answer } from './answer';
import { blockedAtTop, inThisTab, leadsAway, linkOf, submitterOf } from './link';
import { choose } from './options';
import { click, contextMenu, doubleClick, moveOnto, NO_MODIFIERS, pressAndRelease, pressDisabled, type Modifiers } from './pointer';
import { native } from '../native';
import { ready } from './windows';

export interface ClickParams {
  newTab?: boolean;
  button?: 'left' | 'right' | 'middle';
  clickCount?: number;
  modifiers?: (keyof Modifiers)[];
}

export interface Clicked extends Answer {
  clicked: ElementInfo;
  shadow?: true;
  /** The worker is to open this: in a new tab, or in this one. */
  open?: string;
  follow?: string;
  /** A javascript: link, which this world may not follow: the worker lets the page do it. */
  code?: string;
  note?: string;
}

export const GONE_WHEN_PRESSED = 'the page took the element away when it was pressed, before the click itself';

export function clickOp(args: ElementArgs & ClickParams, ctx: PageContext): Promise<Clicked | Beyond | Around> {
  return onElement<Clicked>(args, ctx, {
    needs: { hit: true },
    unfit: (el) => (el instanceof HTMLOptionElement && el.disabled ? 'it is disabled' : null),
    tried: pressDisabled,
    before: ready,
    act: (hit) => answered(hit.at, () => clickOn(hit, args, ctx)),
  });
}

function clickOn({ el, at, point, dress }: Pick<Hit, 'el' | 'at' | 'point' | 'dress'>, params: ClickParams, ctx: PageContext): Clicked {
  const on = receiver(el, at);
  const result: Clicked = { clicked: describe(el) };
  const button = { left: 0, middle: 1, right: 2 }[params.button ?? 'left'];
  const modifiers = { ...NO_MODIFIERS };
  for (const key of params.modifiers ?? []) modifiers[key] = true;
  const link = button === 0 ? linkOf(on) : null;
  if (params.newTab && link && !/^(?:https?|ftp|file|blob|data|about|chrome-extension):/i.test(link.href)) {
    throw new PageError('INVALID_PARAMS', `new_tab: a ${link.href.slice(0, link.href.indexOf(':') + 1)} link cannot be opened in a tab of its own`);
  }
  if ((link && leadsAway(link.href)) || submitterOf(on)) result.leads = true;
  const follow = params.newTab ? null : blockedAtTop(on);
  const code = link && /^javascript:/i.test(link.href) ? link.href : null;
  const then: Partial<Clicked> = follow !== null ? { follow } : code !== null ? { code } : {};
  ctx.acted(dress({ ...result, ...then }));

  moveOnto(on, point, modifiers);
  const list = on instanceof HTMLOptionElement && button === 0 ? on.closest('select') : null;
  if (list) {
    const press = { button, detail: 1, modifiers };
    // Many pages choose by themselves when the mouse is pressed, so that a list of several needs no key held.
    if (pressAndRelease(on, point, press)) choose(list, on as HTMLOptionElement, modifiers.ctrl || modifiers.meta);
    if (native(on).isConnected) click(on, point, press);
    return result;
  }
  const times = Math.max(1, Math.min(3, params.clickCount ?? 1));
  for (let detail = 1; detail <= times; detail++) {
    const press = { button, detail, modifiers };
    pressAndRelease(on, point, press);
    if (params.newTab && link) {
      // Read only now: some pages put the real address in when the mouse is pressed.
      return { ...result, open: linkOf(on)?.href ?? link.href };
    }
    if (!native(on).isConnected) return { ...result, note: GONE_WHEN_PRESSED };
    if (button === 2) contextMenu(on, point, press);
    if (follow !== null || code !== null) {
      if (clickWithoutFollowing(on, () => click(on, point, press))) return { ...result, ...then };
    } else inThisTab(on, () => click(on, point, press));
    if (detail === 2 && button === 0 && native(on).isConnected) doubleClick(on, point, press);
  }
  return result;
}

/**
 * What gets the events: the element that was asked for. Only where that is the shell of a component, or lets the pointer through,
 * is it what lies at the point, since there the events of a real click begin.
 */
function receiver(el: Element, at: Element): Element {
  if (at === el) return el;
  if (standIn(el)) return el;
  if (shadowOf(el) && within(at, el)) return at;
  if (getComputedStyle(el).pointerEvents === 'none' && within(el, at)) return at;
  return el;
}

/** Clicks, but keeps the browser from following the link; says whether it would have. */
function clickWithoutFollowing(el: Element, act: () => boolean): boolean {
  let would = false;
  const stop = (e: Event) => { if (e.composedPath().includes(el) && !e.defaultPrevented) { would = true; e.preventDefault(); } };
  addEventListener('click', stop);
  try { act(); } finally { removeEventListener('click', stop); }
  return would;
}

// ---- By coordinates ----

export interface PointArgs extends ClickParams { x: number; y: number }
/** The point lies in a child frame: which one, by its place among the window's frames, and where in it. */
export interface InFrame { inFrame: { index: number; x: number; y: number; outline: string } }

export async function clickAtOp(args: PointArgs, ctx: PageContext): Promise<Clicked | InFrame> {
  await ready();
  const asking = ctx.wanted();
  if (asking) await asking;
  const { x, y } = args;
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) {
    throw new PageError('INVALID_PARAMS', `the point (${x}, ${y}) is outside of the view, which is ${innerWidth} x ${innerHeight} pixels; scroll moves what it shows`);
  }
  const at = elementAt(x, y);
  if (!at) throw new PageError('ELEMENT_NOT_FOUND', `there is no element at (${x}, ${y})`);
  if (at instanceof HTMLIFrameElement || native(at).localName === 'frame') {
    const frame = at as HTMLIFrameElement;
    const inner = intoFrame(frame, { x, y });
    const index = frameIndex(frame);
    if (index >= 0 && inner.x >= 0 && inner.y >= 0) return { inFrame: { index, ...inner, outline: outline(frame) } };
  }
  const el = interactive(at);
  aimedAt(el, { x, y });
  const dress = <R extends object>(r: R) => (native(el).getRootNode() instanceof ShadowRoot ? { ...r, shadow: true as const } : r);
  return dress(await answered(el, () => clickOn({ el, at: el, point: { x, y }, dress }, args, ctx)));
}

/** elementFromPoint gives a select's option or a text's element as it is; nothing is put in its place. */
const interactive = (at: Element): Element => (native(at).localName === 'optgroup' ? (parentOf(at) ?? at) : at);
