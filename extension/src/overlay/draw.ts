// Shows a person where somebody acts in the page: a box around the element, the pointer where it goes, a ripple where it presses. Drawn
// in a closed shadow root of an element that takes no pointer events and is there for two seconds at most, after the act and not before it.
import { native } from '../page/native';
import type { OverlayWish } from './settings';
import { HOST, overlay } from './host';
import { STYLE } from './style';

interface Point { x: number; y: number }
type Box = Pick<DOMRect, 'left' | 'top' | 'width' | 'height'>;

const GONE_MS = 1700;

let wish: OverlayWish | undefined;
let subject: { el: Element; point: Point | undefined } | undefined;

/** What the worker wants shown; told along with every call. */
export function setWish(told: OverlayWish | undefined): void {
  wish = told;
}

/** The element that is about to be acted on, and where; costs nothing until the act comes. */
export function aimedAt(el: Element | undefined, point?: Point): void {
  subject = el && { el, point };
}

/** The act comes now: its place is taken down before the page changes, and drawn when the act is over. */
export function pointOut(): void {
  if (!wish || !subject || document.hidden) return;
  const { el, point } = subject;
  subject = undefined;
  show(wish.box ? native(el).getBoundingClientRect() : undefined, wish.cursor ? point : undefined);
}

/** For input that goes to a point and not to an element. */
export function showPointOp(point: Point): void {
  if (wish?.cursor && !document.hidden) show(undefined, point);
}

function show(box: Box | undefined, point: Point | undefined): void {
  const seen = box && box.width > 0 && box.height > 0 ? box : undefined;
  if (seen || point) setTimeout(() => { try { draw(seen, point); } catch { /* a page that is going away */ } }, 0);
}

// ---- The drawing ----

interface Layer { host: HTMLElement; root: ShadowRoot; cursor?: SVGElement }
let layer: Layer | undefined;
let gone: ReturnType<typeof setTimeout> | undefined;
/** A picture is being taken until then. */
let hiddenUntil = 0;

function draw(box: Box | undefined, point: Point | undefined): void {
  if (Date.now() < hiddenUntil || !document.documentElement) return;
  const { host, root } = (layer ??= make());
  clearTimeout(gone);
  gone = setTimeout(remove, GONE_MS);
  native(host).hidden = false;
  if (!native(host).isConnected) native(document.documentElement).append(host);
  raise(host);
  for (const old of root.querySelectorAll('.box, .ripple')) native(old).remove();
  if (box) root.append(placed('box', { left: box.left - 4, top: box.top - 4, width: box.width + 8, height: box.height + 8 }));
  if (!point) return;
  root.append(placed('ripple', { left: point.x, top: point.y }));
  const place = `${point.x}px ${point.y}px`;
  if (!layer.cursor) {
    layer.cursor = arrow();
    layer.cursor.style.translate = place;
    root.append(layer.cursor);
    return;
  }
  // Goes there from where it was, and starts anew to fade.
  for (const animation of layer.cursor.getAnimations()) if (animation instanceof CSSAnimation) animation.currentTime = 0;
  layer.cursor.style.translate = place;
}

function make(): Layer {
  const host = document.createElement(HOST);
  native(host).setAttribute('aria-hidden', 'true');
  // Above the page's dialogs too, without closing any of its own popovers.
  native(host).setAttribute('popover', 'manual');
  const root = native(host).attachShadow({ mode: 'closed' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  overlay().host = host;
  return { host, root };
}

/** Into the top layer, and above what the page has put there since. */
function raise(host: HTMLElement): void {
  if (native(host).matches(':popover-open')) {
    if (!document.querySelector('dialog:modal, :fullscreen')) return;
    native(host).hidePopover();
  }
  native(host).showPopover();
}

function placed(name: string, { left, top, width, height }: Partial<Box>): HTMLElement {
  const el = document.createElement('div');
  el.className = name;
  el.style.left = `${left}px`;
  el.style.top = `${top}px`;
  if (width !== undefined) el.style.width = `${width}px`;
  if (height !== undefined) el.style.height = `${height}px`;
  return el;
}

function arrow(): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'cursor');
  svg.setAttribute('viewBox', '0 0 22 26');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', 'M3 2 L3 20 L7.6 15.8 L10.6 22.8 L14 21.3 L11 14.5 L17.2 14.2 Z');
  svg.append(path);
  return svg;
}

function remove(): void {
  native(layer?.host)?.remove();
  layer = undefined;
  overlay().host = undefined;
}

// ---- Pictures ----

/** How long a page may take to be drawn without it; one that is not drawn at all shows nothing either. */
const DRAWN_MS = 150;

/** Takes it out of view for at most `ms` and resolves when the page has been drawn without it. */
overlay().hide = async (ms) => {
  hiddenUntil = Date.now() + ms;
  if (!layer) return;
  native(layer.host).hidden = true;
  if (document.hidden) return;
  await new Promise<void>((done) => {
    const late = setTimeout(done, DRAWN_MS);
    requestAnimationFrame(() => requestAnimationFrame(() => { clearTimeout(late); done(); }));
  });
};
overlay().show = () => {
  hiddenUntil = 0;
  if (layer) native(layer.host).hidden = false;
};
