// Whether an element can be acted on as a person could do it, and if not, why. One look, without waiting.
import { unseenAround } from './around';
import { ancestry, boxesOf, closestAcross, elementAt, isPerceivable, isVisible, parentOf, within } from './dom';
import { outline } from './describe';
import { modalBefore } from './modal';
import { native } from './native';

export interface Needs {
  /** It must be seen. Default true. */
  visible?: boolean;
  /** What is seen in its stead, for one that is hidden by design. */
  seenBy?(el: Element): Element | null;
  /** It must not be disabled. Default true. */
  enabled?: boolean;
  /** It must take text: not read only. */
  editable?: boolean;
  /** No modal dialog may stand before it: keys would not get there. What must be hit is held against what lies over it anyway. */
  keys?: boolean;
  /** It must be the one that gets what happens at its place: in view, at rest, and not covered. */
  hit?: boolean;
}

export interface Point { x: number; y: number }

export type State =
  | { is: 'ready'; point: Point; at: Element }
  /** Not yet, and why. */
  | { is: 'blocked'; reason: string; disabled?: true }
  /** Something was set in motion (scrolled) or is in motion: look again when the page has been drawn. */
  | { is: 'moving'; reason: string };

/** What has been tried on an element during one call. */
export class Attempt {
  el: Element | null = null;
  /** How many ways of scrolling have been tried. */
  scrolls = 0;
  /** When they may be tried once more: not at every look, or the page would jump about. */
  again = 0;
  box: DOMRect | null = null;

  of(el: Element): this {
    if (this.el !== el) { this.el = el; this.scrolls = 0; this.again = 0; this.box = null; }
    return this;
  }
}

export function stateOf(el: Element, needs: Needs, attempt: Attempt): State {
  if (!native(el).isConnected) return blocked('it is no longer in the document');
  if (needs.visible !== false && !isVisible(el) && !canBeSeen(standIn(el) ?? needs.seenBy?.(el))) return blocked(whyHidden(el));
  if (needs.enabled !== false) {
    const why = whyDisabled(el);
    if (why) return { is: 'blocked', reason: why, disabled: true };
  }
  if (needs.editable) {
    const why = whyReadOnly(el);
    if (why) return blocked(why);
  }
  if (needs.keys) {
    const dialog = modalBefore(el);
    if (dialog) return blocked(`it is behind the open ${outline(dialog)}`);
  }
  return needs.hit ? hitState(el, attempt.of(el)) : { is: 'ready', point: { x: 0, y: 0 }, at: el };
}

const canBeSeen = (el: Element | null | undefined) => el != null && isVisible(el);

const blocked = (reason: string): State => ({ is: 'blocked', reason });

/** The visible label of a check box or radio button that is hidden itself: what a person clicks on instead. */
export function standIn(el: Element): Element | null {
  if (!(el instanceof HTMLInputElement) || !/^(?:checkbox|radio|file)$/.test(el.type)) return null;
  return [...(el.labels ?? [])].find(isVisible) ?? null;
}

function whyHidden(el: Element): string {
  const style = getComputedStyle(el);
  for (const up of ancestry(el)) {
    if (getComputedStyle(up).display === 'none') return up === el ? 'it is hidden (display: none)' : `it is hidden by ${outline(up)} (display: none)`;
  }
  if (style.visibility !== 'visible') return `it is hidden (visibility: ${style.visibility})`;
  const details = closestAcross(parentOf(el) ?? el, 'details:not([open])');
  if (details) return `it is in a closed ${outline(details)}`;
  if (el instanceof HTMLOptionElement) return 'it is an option of a closed list: use select_option';
  return 'it has no size';
}

/** `inertOnly`: nothing but what the browser itself keeps input from. */
export function whyDisabled(el: Element, inertOnly = false): string | null {
  for (const up of ancestry(el)) {
    const itself = up === el;
    if (up instanceof HTMLElement && native(up).inert) return itself ? 'it is inert' : `it is inside ${outline(up)}, which is inert`;
    if (inertOnly) continue;
    if (native(up).matches(':disabled') && (itself || native(up).matches('button, select, option, optgroup'))) {
      const set = native(up).hasAttribute('disabled') ? null : native(up).closest('fieldset:disabled, optgroup:disabled');
      return itself && !set ? 'it is disabled' : set ? `it is disabled by its ${outline(set)}` : `it is inside ${outline(up)}, which is disabled`;
    }
    if (native(up).getAttribute('aria-disabled')?.toLowerCase() === 'true') return itself ? 'it is disabled (aria-disabled)' : `it is inside ${outline(up)}, which is disabled (aria-disabled)`;
    if (up instanceof HTMLLabelElement && (itself || !up.htmlFor) && up.control && up.control !== el && native(up.control).matches(':disabled')) return `its ${outline(up.control)} is disabled`;
  }
  return null;
}

function whyReadOnly(el: Element): string | null {
  if ((el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) && el.readOnly) return 'it is read only';
  if (native(el).getAttribute('aria-readonly')?.toLowerCase() === 'true') return 'it is read only (aria-readonly)';
  return null;
}

// ---- Where it is, and what lies there ----

function hitState(el: Element, attempt: Attempt): State {
  const place = isPerceivable(el) ? el : (standIn(el) ?? el);
  const moving = isMoving(place);
  if (moving) {
    const box = native(place).getBoundingClientRect();
    const before = attempt.box;
    attempt.box = box;
    if (!before || !sameBox(before, box)) return { is: 'moving', reason: 'it is moving (an animation runs)' };
  }
  const points = pointsOf(place);
  if (attempt.scrolls === 0) {
    attempt.scrolls = 1;
    attempt.again = Date.now() + SCROLL_AGAIN_MS;
    if (!isWhollyInView(place) && scrollTo(place, points.length ? 'nearest' : 'center')) return { is: 'moving', reason: 'it was outside of the view' };
  }
  let cover: string | null = null;
  for (const point of points) {
    const at = elementAt(point.x, point.y);
    if (at && receives(at, el, place)) {
      const above = unseenAround(point);
      if (!above) return { is: 'ready', point, at };
      cover ??= above;
    } else if (at) {
      cover ??= coveredBy(at);
    }
  }
  // Out of view, or under a header that stays in place: bring it to another part of the view and look again.
  for (let block = BLOCKS[attempt.scrolls - 1]; block; block = BLOCKS[attempt.scrolls - 1]) {
    attempt.scrolls++;
    if (scrollTo(place, block)) return { is: 'moving', reason: cover ?? 'it is outside of the view' };
  }
  if (Date.now() >= attempt.again) attempt.scrolls = 0;
  if (!points.length) return blocked('it cannot be scrolled into view');
  if (!cover) return blocked('nothing is drawn at its place');
  if (getComputedStyle(place).pointerEvents === 'none') return blocked('it takes no clicks (pointer-events: none)');
  return blocked(cover);
}

const SCROLL_AGAIN_MS = 700;
const BLOCKS: ScrollLogicalPosition[] = ['center', 'end', 'start'];

/** Whether all of it is in view, as far as it fits; of a frame's view nothing is known from inside but that asking does no harm. */
function isWhollyInView(el: Element): boolean {
  if (window !== window.top) return false;
  const r = native(el).getBoundingClientRect();
  const part = clip(r, el);
  if (!part) return false;
  const whole = (seen: number, all: number, room: number) => seen >= Math.min(all, room) - 1;
  return whole(part.width, r.width, innerWidth) && whole(part.height, r.height, innerHeight);
}

const coveredBy = (cover: Element) => `it is covered by ${outline(cover)}`;
const sameBox = (a: DOMRect, b: DOMRect) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

/** Scrolls the element's scrollers, the window among them; says whether anything moved. */
function scrollTo(el: Element, block: ScrollLogicalPosition): boolean {
  const target = el instanceof HTMLAreaElement ? el.closest('map') ?? el : el;
  const before = native(el).getBoundingClientRect();
  native(target).scrollIntoView({ block, inline: block === 'nearest' ? 'nearest' : 'center', behavior: 'instant' });
  const after = native(el).getBoundingClientRect();
  const moved = before.x !== after.x || before.y !== after.y;
  // A page that is not being drawn hears of scrolling only when it is shown again; what it loads on scrolling would never come.
  if (moved && document.hidden) for (const scroller of scrollersOf(el)) announceScroll(scroller);
  return moved;
}

/** Scrolls what the element is in, from the inside out, so that a point of it comes to the middle of each. */
export function centre(el: Element, point: () => Point): void {
  for (const scroller of scrollersOf(parentOf(el) ?? el)) {
    const page = scroller === document.scrollingElement;
    const view = page ? new DOMRect(0, 0, innerWidth, innerHeight) : native(scroller).getBoundingClientRect();
    const before = point();
    native(scroller).scrollBy({ left: before.x - (view.x + view.width / 2), top: before.y - (view.y + view.height / 2), behavior: 'instant' });
    const { x, y } = point();
    if (document.hidden && (x !== before.x || y !== before.y)) announceScroll(scroller);
  }
}

export function announceScroll(scroller: Element): void {
  const isPage = scroller === document.scrollingElement;
  (native(isPage ? document : scroller)).dispatchEvent(new Event('scroll', { bubbles: isPage }));
}

function* scrollersOf(el: Element): Generator<Element> {
  for (const up of ancestry(el)) if (up === document.scrollingElement || (native(up).scrollHeight > native(up).clientHeight && getComputedStyle(up).overflowY !== 'visible')) yield up;
}

/** Points of the element's visible part that are worth trying, the middle first. */
function pointsOf(el: Element): Point[] {
  const points: Point[] = [];
  const boxes = boxesOf(el).map((r) => clip(r, el)).filter((r) => r !== null).sort((a, b) => b.width * b.height - a.width * a.height).slice(0, 3);
  for (const r of boxes) points.push({ x: r.x + r.width / 2, y: r.y + r.height / 2 });
  const largest = boxes[0];
  if (largest) {
    for (const [fx, fy] of [[0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9], [0.1, 0.9], [0.9, 0.1]] as const) {
      points.push({ x: largest.x + largest.width * fx, y: largest.y + largest.height * fy });
    }
  }
  return points;
}

/** The part of a box that lies in the viewport and in the scrollers around the element. */
function clip(box: DOMRect, el: Element): DOMRect | null {
  let { left, top, right, bottom } = box;
  left = Math.max(left, 0);
  top = Math.max(top, 0);
  right = Math.min(right, innerWidth);
  bottom = Math.min(bottom, innerHeight);
  let fixed = getComputedStyle(el).position === 'fixed';
  for (let up = parentOf(el); up && up !== document.body && up !== document.documentElement && !fixed; up = parentOf(up)) {
    const style = getComputedStyle(up);
    if (style.overflowX !== 'visible' || style.overflowY !== 'visible') {
      const r = native(up).getBoundingClientRect();
      if (style.overflowX !== 'visible') { left = Math.max(left, r.left); right = Math.min(right, r.right); }
      if (style.overflowY !== 'visible') { top = Math.max(top, r.top); bottom = Math.min(bottom, r.bottom); }
    }
    fixed = style.position === 'fixed';
  }
  return right > left && bottom > top ? new DOMRect(left, top, right - left, bottom - top) : null;
}

/** Whether what happens at the point of the view happens to the element. */
export function takes(el: Element, { x, y }: Point): boolean {
  const at = elementAt(x, y);
  return at !== null && receives(at, el, isPerceivable(el) ? el : (standIn(el) ?? el));
}

/** What acts when any part of it is clicked. */
const ACTIVE = 'a[href], button, label, summary, input, select, textarea, option, [role=button], [role=link], [role=checkbox], [role=radio], [role=switch], ' +
  '[role=menuitem], [role=menuitemcheckbox], [role=menuitemradio], [role=option], [role=tab], [role=treeitem], [role=gridcell]';

/** Whether what lies at the point passes on to the element what happens there. */
function receives(at: Element, el: Element, place: Element): boolean {
  if (within(at, el) || within(at, place)) return true;
  // A label and its control are one thing, whichever of them lies on top.
  const labels = (el as HTMLInputElement).labels;
  if (labels) for (const label of labels) if (within(at, label)) return true;
  if (el instanceof HTMLLabelElement && el.control && within(at, el.control)) return true;
  // A piece of an icon or of a button's content, beside another piece of the same button.
  const active = closestAcross(el, ACTIVE);
  if (active && active !== el && within(at, active) && closestAcross(at, ACTIVE) === active) return true;
  return el instanceof SVGElement && at instanceof SVGElement && within(el, at);
}

const MOVES = /^(?:transform|translate|scale|rotate|offset|offsetDistance|offsetPath|left|top|right|bottom|inset.*|margin.*|padding.*|width|height|(?:min|max)(?:Width|Height)|fontSize|flex.*|gap|grid.*|zoom)$/;

/** Whether an animation that comes to an end is moving it. One that never ends is not waited for. */
function isMoving(el: Element): boolean {
  for (const up of ancestry(el)) {
    for (const animation of native(up).getAnimations()) {
      const { effect } = animation;
      if (animation.playState !== 'running' || !(effect instanceof KeyframeEffect)) continue;
      const end = effect.getComputedTiming().endTime;
      if (end === Infinity || effect.pseudoElement) continue;
      if (effect.getKeyframes().some((frame) => Object.keys(frame).some((property) => MOVES.test(property)))) return true;
    }
  }
  return false;
}
