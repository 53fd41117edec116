// The tree as it is rendered: shadow roots of both kinds, boxes, visibility, and what lies at a point.
import { isOverlay } from '../overlay/host';
import { parentOf } from './a11y/roles';
import { native } from './native';

/** HTML elements that may host a shadow root, besides custom elements. */
const HOSTS = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);

type OpenOrClosed = (el: HTMLElement) => ShadowRoot | null;
const openOrClosed = (globalThis as { chrome?: { dom?: { openOrClosedShadowRoot?: OpenOrClosed } } }).chrome?.dom?.openOrClosedShadowRoot;

/** The shadow root that a page attached to the element, open or closed. */
export function shadowOf(el: Element): ShadowRoot | null {
  if (native(el).shadowRoot) return native(el).shadowRoot;
  if (!openOrClosed || !(el instanceof HTMLElement) || isOverlay(el)) return null;
  const name = native(el).localName;
  if (!name.includes('-') && !HOSTS.has(name)) return null;
  try { return openOrClosed(el); } catch { return null; }
}

/** Every shadow root below `root`, outer ones before those nested in them, in document order. */
export function shadowRoots(root: Document | ShadowRoot): ShadowRoot[] {
  const found: ShadowRoot[] = [];
  for (const el of root.querySelectorAll('*')) {
    const shadow = shadowOf(el);
    if (shadow) found.push(shadow, ...shadowRoots(shadow));
  }
  return found;
}

export { parentOf };

/** The element and everything it is rendered inside of, innermost first. */
export function* ancestry(el: Element): Generator<Element> {
  for (let up: Element | null = el; up; up = parentOf(up)) yield up;
}

/** Whether `inner` is `outer` or rendered somewhere inside of it, across shadow roots and slots. */
export function within(inner: Element, outer: Element): boolean {
  for (const up of ancestry(inner)) if (up === outer) return true;
  return false;
}

/** As `closest`, but across shadow roots. */
export function closestAcross(el: Element, selector: string): Element | null {
  for (const up of ancestry(el)) if (native(up).matches(selector)) return up;
  return null;
}

/** The focused element, inside shadow roots too; null if it is the body or nothing. */
export function focused(): Element | null {
  let active = document.activeElement;
  for (;;) {
    const inner: Element | null | undefined = active ? shadowOf(active)?.activeElement : null;
    if (!inner) break;
    active = inner;
  }
  return active === document.body || active === document.documentElement ? null : active;
}

/** The topmost element at a point of the viewport, inside shadow roots too. */
export function elementAt(x: number, y: number): Element | null {
  let el = document.elementFromPoint(x, y);
  while (el) {
    const shadow = shadowOf(el);
    const inner: Element | null | undefined = shadow?.elementFromPoint(x, y);
    if (!inner || inner === el || native(inner).getRootNode() !== shadow) break;
    el = inner;
  }
  return el;
}

/** Whether styles let it be seen (display, visibility, content-visibility, closed details); its size is another question. */
export function isRendered(el: Element): boolean {
  return native(el).checkVisibility({ visibilityProperty: true });
}

/** The boxes that an element takes up. One that has no size itself (display: contents, floats inside) is as large as what it holds. */
export function boxesOf(el: Element): DOMRect[] {
  const area = areaBox(el);
  if (area) return [area];
  const own = [...native(el).getClientRects()].filter((r) => r.width > 0 && r.height > 0);
  if (own.length) return own;
  const inner: DOMRect[] = [];
  const queue: Element[] = [...(shadowOf(el)?.children ?? []), ...native(el).children];
  for (let i = 0; i < queue.length && i < 60 && !inner.length; i++) {
    const child = queue[i]!;
    if (!isRendered(child)) continue;
    for (const r of native(child).getClientRects()) if (r.width > 0 && r.height > 0) inner.push(r);
    if (!inner.length) queue.push(...native(child).children);
  }
  if (!inner.length && native(el).firstChild) {
    const range = document.createRange();
    range.selectNodeContents(el);
    for (const r of range.getClientRects()) if (r.width > 0 && r.height > 0) inner.push(r);
  }
  return inner;
}

/** A part of an image map has no box of its own; it lies on its image. */
function areaBox(el: Element): DOMRect | null {
  if (!(el instanceof HTMLAreaElement)) return null;
  const name = el.closest('map')?.name;
  const image = name ? [...document.images].find((i) => i.useMap === `#${name}`) : undefined;
  if (!image) return null;
  const box = image.getBoundingClientRect();
  const c = el.coords.split(',').map(Number);
  if (el.shape === 'circle' && c.length >= 3) return new DOMRect(box.x + c[0]! - c[2]!, box.y + c[1]! - c[2]!, 2 * c[2]!, 2 * c[2]!);
  if (c.length < 4) return box;
  const xs = c.filter((_, i) => i % 2 === 0);
  const ys = c.filter((_, i) => i % 2 === 1);
  return new DOMRect(box.x + Math.min(...xs), box.y + Math.min(...ys), Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
}

/** Whether a person could see it, after scrolling if need be. */
export function isVisible(el: Element): boolean {
  if (el instanceof HTMLAreaElement) return boxesOf(el).length > 0;
  const display = getComputedStyle(el).display;
  if (display === 'contents') return [...native(el).children].some(isVisible) || boxesOf(el).length > 0;
  return isRendered(el) && boxesOf(el).length > 0;
}

/**
 * Whether it is also painted where a person could get to it: not fully transparent, not clipped to nothing, not parked outside of
 * the page. Texts for screen readers only are visible by the rules of CSS, but nobody sees them.
 */
export function isPerceivable(el: Element): boolean {
  if (!isVisible(el) || !native(el).checkVisibility({ opacityProperty: true })) return false;
  const boxes = boxesOf(el);
  const reachable = (r: DOMRect) => r.right + scrollX > 0 && r.bottom + scrollY > 0;
  if (!boxes.some(reachable)) return false;
  for (const up of ancestry(el)) {
    if (up === document.body || up === document.documentElement) break;
    const style = getComputedStyle(up);
    if (style.position !== 'absolute' && style.position !== 'fixed') continue;
    if (/^inset\((?:50|100)%\)$/.test(style.clipPath) || /^rect\((?:0px|1px)(?:,? (?:0px|1px)){3}\)$/.test(style.clip)) return false;
    const r = native(up).getBoundingClientRect();
    if (style.overflow !== 'visible' && r.width <= 1 && r.height <= 1) return false;
  }
  return true;
}
