// What a person can see of the page: which elements and which text are drawn where one can get to them.
//
// Text that nobody sees is the classic carrier of instructions meant for a reading program, so "hidden" is meant broadly: not
// rendered, transparent, clipped to nothing, of no size, or parked where no scrolling leads. Content that one reaches by
// scrolling, by turning a carousel or by scrolling a page whose parts fade in is not hidden.
import { parentOf, shadowOf } from '../dom';
import { native } from '../native';
import { FAINTEST, hasInk, isOpaque, isUndrawn } from './ink';
import { isCutAway } from './clip-path';

/**
 * What the boxes around an element do to what is in it. Which content they clip away goes by how it is positioned: a box clips what is
 * in its flow, but a positioned descendant escapes unless the box is (also) what it is positioned against.
 */
export interface Clip {
  readonly flow: boolean;
  readonly absolute: boolean;
  readonly fixed: boolean;
  /** Inside a fixed box, which does not move when the page is scrolled. */
  readonly pinned: boolean;
  /** The share of their ink that all opacities together leave. */
  readonly opacity: number;
  /** The radius of all blurs together, in pixels. */
  readonly blur: number;
  /** A box that clips and has padding but no room for content: what shows of it is what hangs over into the padding. */
  readonly roomless: Element | null;
}

export const UNCLIPPED: Clip = { flow: false, absolute: false, fixed: false, pinned: false, opacity: 1, blur: 0, roomless: null };

/** Farther away than this something is parked out of sight rather than one turn of a carousel away. */
const PARKED = 5000;

/** The children as they are rendered: a shadow tree stands for a host's own, assigned nodes for a slot's, the summary for a closed details'. */
export function renderedChildren(el: Element): ArrayLike<Node> {
  const shadow = shadowOf(el);
  if (shadow) return shadow.childNodes;
  if (el instanceof HTMLSlotElement && el.getRootNode() instanceof ShadowRoot) {
    const assigned = el.assignedNodes();
    if (assigned.length) return assigned;
  }
  if (el instanceof HTMLDetailsElement && !el.open) {
    const summary = el.querySelector(':scope > summary');
    return summary ? [summary] : [];
  }
  return native(el).childNodes;
}

/** What is clipped below this element; null if nothing of it can be seen, whatever is inside. */
export function enter(el: Element, style: CSSStyleDeclaration, above: Clip): Clip | null {
  const { display, position, filter } = style;
  if (display === 'none' || display === '') return null;
  const pinned = above.pinned || position === 'fixed';
  if (position === 'fixed' && isOutsideViewport(el)) return null;
  let opacity = above.opacity * Number(style.opacity);
  if (opacity < FAINTEST) {
    if (!fadesIn(el, style)) return null;
    ({ opacity } = above);
  }
  if (isCutAway(el, style) || isUndrawn(el, style, filter) || (position !== 'static' && isUnderneath(el, style)) || (display === 'table-cell' && isFolded(el))) return null;
  const blur = filter === 'none' ? above.blur : Math.hypot(above.blur, blurOf(el, filter));

  const room = roomOf(el, style);
  const shut = room === 'shut', roomless = room === 'roomless' ? el : /^(?:absolute|fixed)$/.test(position) ? null : above.roomless;
  if (!shut && above === UNCLIPPED && !pinned && opacity === 1 && !blur && !roomless) return above;
  // What this box inherits depends on which of the clipping boxes above it is positioned against.
  const clipped = position === 'fixed' ? above.fixed : position === 'absolute' ? above.absolute : above.flow;
  const positioned = position !== 'static', holdsAll = holdsFixed(style);
  const absolute = positioned || holdsAll ? clipped || shut : above.absolute;
  const fixed = holdsAll ? clipped || shut : above.fixed;
  const flow = clipped || shut;
  if (flow && absolute && fixed) return null;
  return { flow, absolute, fixed, pinned, opacity, blur, roomless };
}

/** Whether even fixed content below this box is positioned against it rather than the viewport. */
function holdsFixed(style: CSSStyleDeclaration): boolean {
  return style.transform !== 'none' || style.filter !== 'none' || /paint|strict|content/.test(style.contain);
}

/** Boxes that cannot keep their content back: they have none of their own, or their size comes from what is in them. */
const NEVER_SKIPS = /^(?:inline|contents|ruby.*|(?:inline-)?table|table-(?!caption).*)$/;

/** Whether a box's content is not drawn although the box is. */
export function skipsContent(style: CSSStyleDeclaration): boolean {
  return style.contentVisibility === 'hidden' && !NEVER_SKIPS.test(style.display);
}

function isOutsideViewport(el: Element): boolean {
  const box = native(el).getBoundingClientRect();
  // A box of no size may still show what overflows it.
  if (box.width < 1 || box.height < 1) return false;
  return box.right <= 0 || box.bottom <= 0 || box.left >= innerWidth || box.top >= innerHeight;
}

/** Transparent now, but on its way to appear, or made to appear when it is scrolled to. A page in the background stands still midway. */
function fadesIn(el: Element, style: CSSStyleDeclaration): boolean {
  if (el === document.body || isMoving(el)) return true;
  const moves = style.animationName !== 'none' ||
    (/\b(?:all|opacity)\b/.test(style.transitionProperty) && /[1-9]/.test(style.transitionDuration));
  return moves && native(el).getBoundingClientRect().top >= innerHeight;
}

function isMoving(el: Element): boolean {
  return native(el).getAnimations().some((animation) => animation.playState === 'running' || animation.pending);
}

/** How much the element blurs, unless that is passing. What waits to be pointed at (a spoiler) has a transition as well, so that says nothing. */
function blurOf(el: Element, filter: string): number {
  let radius = 0;
  for (const [, px] of filter.matchAll(/blur\(([\d.]+)px\)/g)) radius = Math.hypot(radius, Number(px));
  return radius && isMoving(el) ? 0 : radius;
}

/**
 * Whether a negative z-index has put the element behind a box that it is in: only what makes a stacking context has its background
 * beneath such a child, any other box around it is painted over it.
 */
function isUnderneath(el: Element, style: CSSStyleDeclaration): boolean {
  if (!(Number(style.zIndex) < 0)) return false;
  const box = native(el).getBoundingClientRect();
  for (let up = parentOf(el); up && up !== document.documentElement; up = parentOf(up)) {
    const around = getComputedStyle(up);
    if (stacks(around)) return false;
    // The body's background is the page's, and beneath all, unless the page has one of its own.
    if (up === document.body && getComputedStyle(document.documentElement).backgroundColor === 'rgba(0, 0, 0, 0)') return false;
    const frame = native(up).getBoundingClientRect();
    if (isOpaque(around.backgroundColor) && box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1) return true;
  }
  return false;
}

/** Whether a cell is of a column that folds away: it has no width then, and its text hangs out of it undrawn. */
function isFolded(cell: Element): boolean {
  if (native(cell).getBoundingClientRect().width > 0) return false;
  const columns = native(native(cell).closest('table'))?.querySelectorAll('col, colgroup') ?? [];
  return Array.from(columns).some((column) => getComputedStyle(column).visibility === 'collapse');
}

/** Whether a box makes a stacking context. */
function stacks(style: CSSStyleDeclaration): boolean {
  return style.zIndex !== 'auto' || /^(?:fixed|sticky)$/.test(style.position) || Number(style.opacity) < 1 || holdsFixed(style) || style.isolation === 'isolate' ||
    style.mixBlendMode !== 'normal' || style.clipPath !== 'none' || style.maskImage !== 'none' || style.perspective !== 'none' || style.backdropFilter !== 'none' ||
    style.scale !== 'none' || style.rotate !== 'none' || style.translate !== 'none' || style.willChange !== 'auto' || style.contain !== 'none' || style.containerType !== 'normal' || style.viewTransitionName !== 'none';
}

/** Whether a box that does not let its content hang out is too small to show anything, or has no room but its padding. */
function roomOf(el: Element, style: CSSStyleDeclaration): 'shut' | 'roomless' | 'open' {
  // Unless one axis is `clip`, both are visible or neither is. What is laid out only once it comes into view has no height until then.
  const open = style.overflowX === 'visible' && style.overflowY === 'visible';
  if (open && (style.contentVisibility === 'auto' || !/paint|strict|content/.test(style.contain))) return 'open';
  if ((style.display === 'inline' && native(el).localName !== 'svg') || style.display === 'contents' || el === document.body || el === document.documentElement) return 'open';
  const { width, height } = native(el).getBoundingClientRect();
  if (width <= 1 || height <= 1) return 'shut';
  const across = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight), down = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  return (across || down) && (width - across <= 1 || height - down <= 1) && !/auto|scroll/.test(style.overflow) ? 'roomless' : 'open';
}

/** Where the page is scrolled to and how large the window is; does not change while a walk goes on. */
export interface View { x: number; y: number; width: number }

export function view(): View {
  return { x: scrollX, y: scrollY, width: innerWidth };
}

const range = document.createRange();

/** Whether the text of this node is drawn where one can get to it. Blank text counts as seen: it keeps words apart. */
export function isTextSeen(text: Text, style: CSSStyleDeclaration, clip: Clip, at: View): boolean {
  if (clip.flow || style.visibility !== 'visible') return false;
  range.selectNodeContents(text);
  let box = range.getBoundingClientRect();
  if (box.width === 0 && box.height === 0) {
    if (isBlank(text.data)) return true;
    // In a part that is laid out only once it comes into view (content-visibility: auto) the first question gets no answer yet.
    native(parentOf(text))?.getBoundingClientRect();
    box = range.getBoundingClientRect();
    if (box.width === 0 && box.height === 0) return false;
  }
  if (isBlank(text.data)) return isReachable(text, box, style, clip, at);
  if (isTooSmall(text.data, box, style)) return false;
  const el = parentOf(text);
  if (clip.blur && clip.blur >= parseFloat(style.fontSize) * ILLEGIBLE) return false;
  if (el && (!hasInk(el, style, box, clip.opacity) || isOutsideDrawing(el, box))) return false;
  if (clip.roomless && !overlap(box, native(clip.roomless).getBoundingClientRect())) return false;
  return isReachable(text, box, style, clip, at);
}

/** Whether an element that shows something other than text is drawn where one can get to it. */
export function isBoxSeen(el: Element, style: CSSStyleDeclaration, clip: Clip, at: View): boolean {
  if (clip.flow || style.visibility !== 'visible') return false;
  const box = native(el).getBoundingClientRect();
  // What is not laid out yet has no place to be judged by.
  return (box.width === 0 && box.height === 0) || isReachable(el, box, style, clip, at);
}

/** Blurred by more than this share of their height letters are a shade. */
const ILLEGIBLE = 0.2;

/** Letters lower than this cannot be read in any language: font-size 0 or 1, or a scale to nothing. */
const LOWEST = 2.5;

function isTooSmall(text: string, box: DOMRect, style: CSSStyleDeclaration): boolean {
  if (box.height >= LOWEST && box.width >= LOWEST) return false;
  const [height, length] = style.writingMode.startsWith('horizontal') ? [box.height, box.width] : [box.width, box.height];
  // Turned by a quarter, a line is as high as it was long: then both sides say it.
  if (height < LOWEST && (length < LOWEST || parseFloat(style.fontSize) < LOWEST || height < 1)) return true;
  // Turned edge on, or its letters pushed onto each other; accents on a letter before them have no width of their own.
  return length < 0.5 && !/^[\p{M}\p{Cf}\s]*$/u.test(text);
}

/** Text of a drawing that lies beside what the drawing shows. */
function isOutsideDrawing(el: Element, box: DOMRect): boolean {
  if (!(el instanceof SVGElement)) return false;
  let drawing: SVGElement = el;
  while (drawing.ownerSVGElement) drawing = drawing.ownerSVGElement;
  if (getComputedStyle(drawing).overflowX === 'visible') return false;
  return !overlap(box, drawing.getBoundingClientRect());
}

function overlap(one: DOMRect, two: DOMRect): boolean {
  return one.right > two.left && one.left < two.right && one.bottom > two.top && one.top < two.bottom;
}

export function isBlank(text: string): boolean {
  return !/[^ \t\n\r\f]/.test(text);
}

function isReachable(node: Node, box: DOMRect, style: CSSStyleDeclaration, clip: Clip, at: View): boolean {
  const dx = clip.pinned ? 0 : at.x, dy = clip.pinned ? 0 : at.y;
  const left = box.right + dx <= 0 && box.right + dx <= leftEdge(), above = box.bottom + dy <= 0;
  if (style.textIndent !== '0px' && isIndentedAway(node, box)) return false;
  if (!left && !above && !(box.left >= at.width && pageClipsRight())) return true;
  if (parseFloat(style.textIndent) < -100) return false;
  // Scrolled out of an inner scroller, or slid out of a carousel's window.
  for (let up = parentOf(node); up && up !== document.body && up !== document.documentElement; up = parentOf(up)) {
    const around = getComputedStyle(up);
    if (around.overflowX === 'visible' && around.overflowY === 'visible') continue;
    const frame = native(up).getBoundingClientRect();
    if (frame.width <= 1 || frame.height <= 1 || frame.right + dx <= 0 || frame.bottom + dy <= 0) continue;
    if (native(up).scrollLeft !== 0 || native(up).scrollTop !== 0) return true;
    return box.right > frame.left - PARKED && box.bottom > frame.top - PARKED && box.left < frame.right + PARKED;
  }
  return false;
}

/** Pushed out of its own block by its indent, as images that stand for a text do with it. */
function isIndentedAway(node: Node, box: DOMRect): boolean {
  let block = parentOf(node);
  while (block && /^(?:inline|contents)$/.test(getComputedStyle(block).display)) block = parentOf(block);
  if (!block || getComputedStyle(block).overflowX === 'visible' || native(block).scrollLeft !== 0) return false;
  const frame = native(block).getBoundingClientRect();
  return box.left >= frame.right - 1 || box.right <= frame.left + 1;
}

/** How far to the left the page can be scrolled: only a right-to-left page goes below 0. */
function leftEdge(): number {
  const root = document.documentElement;
  return getComputedStyle(document.body ?? root).direction === 'rtl' ? native(root).clientWidth - native(root).scrollWidth : 0;
}

/** Whether the page as a whole cuts off what stands to the right of it. */
function pageClipsRight(): boolean {
  return [document.documentElement, document.body].some((el) => el && /^(?:hidden|clip)$/.test(getComputedStyle(el).overflowX));
}
