// Whether letters leave a mark where they stand. Text may have its box and its place and still not be drawn: without colour, through a
// mask of nothing, with its back to the reader, or in the colour of what is behind it.
//
// Colours are compared only where nothing but plain backgrounds can lie behind the text; wherever a picture, a gradient, a filter or
// another box may, the text counts as seen. What lies over a text is not asked: a banner must not make a page empty.
import { parentOf } from '../dom';
import { native } from '../native';

/** Colours that differ by no more than this in each part look the same. */
const SAME = 4;
/** More boxes than this are not looked through for what may lie behind a text. */
const MOST_BOXES = 20_000;
/** Backgrounds that a page fetches once they are scrolled to. */
const LAZY = /lazy|data-bg|data-background/i;

/** Whether the element's own paint keeps all that is in it from being drawn. */
export function isUndrawn(el: Element, style: CSSStyleDeclaration): boolean {
  if (style.filter !== 'none' && /\bopacity\(0(?:\.00\d*)?%?\)/.test(style.filter)) return true;
  if (style.maskImage !== 'none' && /gradient\(/.test(style.maskImage) && !/url\(|\),\s*(?:[\w-]+)\(.*gradient|element\(/.test(style.maskImage)) {
    const colours = style.maskImage.match(/(?:rgba?|color|oklab|oklch|lab|lch)\([^)]*\)/g) ?? [];
    if (colours.length > 0 && colours.every((colour) => alphaOf(colour) === 0)) return true;
  }
  return style.backfaceVisibility === 'hidden' && facesAway(el, style);
}

/** Turned round, by itself or together with what holds it in space. */
function facesAway(el: Element, style: CSSStyleDeclaration): boolean {
  let turned = matrixOf(style);
  for (let up = parentOf(el); up; up = parentOf(up)) {
    const around = getComputedStyle(up);
    if (around.transformStyle !== 'preserve-3d') break;
    turned = matrixOf(around).multiply(turned);
  }
  return turned.m33 < 0;
}

function matrixOf(style: CSSStyleDeclaration): DOMMatrix {
  return new DOMMatrix(style.transform === 'none' ? '' : style.transform);
}

/** Whether text of this element shows: in a colour, or by a stroke, a shadow or a background that is cut out along its letters. */
export function hasInk(el: Element, style: CSSStyleDeclaration, box: DOMRect): boolean {
  const drawn = el instanceof SVGElement;
  const fill = drawn ? style.fill : style.webkitTextFillColor;
  if (drawn ? isStroked(style.stroke, style.strokeWidth, Number(style.strokeOpacity)) : isStroked(style.webkitTextStrokeColor, style.webkitTextStrokeWidth, 1)) return true;
  if (!drawn && style.textShadow !== 'none') return true;
  const faint = fill === 'none' || alphaOf(fill) * (drawn ? Number(style.fillOpacity) : 1) < 0.01;
  if (faint) return (!drawn && isCutOut(el)) || native(el).getAnimations().some((animation) => animation.playState === 'running' || animation.pending);
  return drawn || !isLostIn(el, fill, box);
}

function isStroked(colour: string, width: string, opacity: number): boolean {
  return colour !== 'none' && parseFloat(width) > 0 && alphaOf(colour) * opacity >= 0.01;
}

/** Whether the letters are holes through which a background shows: theirs or that of a box around them. */
function isCutOut(el: Element): boolean {
  for (let up: Element | null = el; up; up = parentOf(up)) {
    const style = getComputedStyle(up);
    if (style.webkitBackgroundClip?.includes('text')) return true;
  }
  return false;
}

/** Whether the text has the colour of the plain background that it is on. */
function isLostIn(el: Element, fill: string, box: DOMRect): boolean {
  const colour = partsOf(fill);
  if (!colour) return false;
  const root = native(el).getRootNode();
  if (root !== document) return false;
  for (let up: Element | null = el; ; up = native(up).parentElement) {
    // Behind the page is the canvas, which is white unless the page asks for dark; a frame may show what is behind it.
    if (!up) return window.top === window && !/dark/.test(getComputedStyle(document.documentElement).colorScheme) && alike(colour, [255, 255, 255]) && isPlain(el, fill, box);
    const style = getComputedStyle(up);
    if (style.backgroundImage !== 'none' || style.filter !== 'none' || style.mixBlendMode !== 'normal' || style.backdropFilter !== 'none') return false;
    const alpha = alphaOf(style.backgroundColor);
    if (alpha === 0) continue;
    const behind = alpha === 1 ? partsOf(style.backgroundColor) : null;
    return behind !== null && alike(colour, behind) && isPlain(el, fill, box);
  }
}

/** Whether nothing of another colour is drawn where the text stands, and nothing is still to come there. */
function isPlain(el: Element, fill: string, box: DOMRect): boolean {
  if (box.top > innerHeight) {
    for (let up: Element | null = el, i = 0; up && i < 5; up = native(up).parentElement, i++) {
      if (native(up).getAttributeNames().some((name) => LAZY.test(name)) || LAZY.test(native(up).getAttribute('class') ?? '')) return false;
    }
  }
  const boxes = painted();
  if (!boxes) return false;
  const colour = partsOf(fill)!;
  return !boxes.some(({ el: other, rect, colour: theirs, before }) =>
    rect.left < box.right && rect.right > box.left && rect.top < box.bottom && rect.bottom > box.top &&
    (before || ((!theirs || !alike(colour, theirs)) && !native(other).contains(el))));
}

interface Painted { el: Element; rect: DOMRect; colour: [number, number, number] | null; before: boolean }
/** What draws something, as of this turn. */
let boxesNow: Painted[] | null | undefined;

const PICTURES = /^(?:img|video|canvas|svg|iframe|object|embed|input)$/;

function painted(): Painted[] | null {
  if (boxesNow !== undefined) return boxesNow;
  queueMicrotask(() => { boxesNow = undefined; });
  const all = document.body ? native(document.body).getElementsByTagName('*') : [];
  if (all.length > MOST_BOXES) return boxesNow = null;
  const boxes: Painted[] = [];
  for (const el of all) {
    const style = getComputedStyle(el);
    if (style.display === 'none') continue;
    const before = ['::before', '::after'].some((pseudo) => draws(getComputedStyle(el, pseudo)));
    const picture = PICTURES.test(native(el).localName) || style.backgroundImage !== 'none' || native(el).shadowRoot !== null;
    const alpha = alphaOf(style.backgroundColor);
    if (picture || before || alpha > 0) boxes.push({ el, rect: native(el).getBoundingClientRect(), colour: !picture && alpha === 1 ? partsOf(style.backgroundColor) : null, before });
  }
  return boxesNow = boxes;
}

function draws(style: CSSStyleDeclaration): boolean {
  const { content } = style;
  return content !== 'none' && content !== 'normal' && (style.backgroundImage !== 'none' || alphaOf(style.backgroundColor) > 0 || content.includes('url('));
}

function alphaOf(colour: string): number {
  if (colour === 'transparent') return 0;
  const said = /^rgba\(.*,\s*([\d.e-]+)\)$/.exec(colour)?.[1] ?? /\/\s*([\d.e-]+)\)$/.exec(colour)?.[1];
  return said === undefined ? 1 : Number(said);
}

function partsOf(colour: string): [number, number, number] | null {
  const found = /^rgba?\((\d+), (\d+), (\d+)/.exec(colour);
  return found && alphaOf(colour) === 1 ? [Number(found[1]), Number(found[2]), Number(found[3])] : null;
}

function alike(one: [number, number, number], two: [number, number, number]): boolean {
  return one.every((part, i) => Math.abs(part - two[i]!) <= SAME);
}
