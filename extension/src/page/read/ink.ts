// Whether letters leave a mark where they stand. Text may have its box and its place and still not be drawn: without colour, through a
// mask of nothing, with its back to the reader, or in the colour of what is behind it.
//
// Colours are compared only where nothing but plain backgrounds can lie behind the text; wherever a picture, a gradient, a filter or
// another box may, the text counts as seen. What lies over a text is not asked: a banner must not make a page empty.
import { parentOf, shadowOf } from '../dom';
import { native } from '../native';

/** Colours that differ by no more than this in each part look the same. */
const SAME = 8;
/** Less of a colour than this leaves no more of a mark than that. */
export const FAINTEST = SAME / 255;
/** More boxes than this are not looked through for what may lie behind a text. */
const MOST_BOXES = 20_000;
/** Backgrounds that a page fetches once they are scrolled to. */
const LAZY = /lazy|data-bg|data-background/i;

/** Whether the element's own paint keeps all that is in it from being drawn. */
export function isUndrawn(el: Element, style: CSSStyleDeclaration, filter: string): boolean {
  if (filter !== 'none' && /\bopacity\(0(?:\.00\d*)?%?\)/.test(filter)) return true;
  const { maskImage } = style;
  if (maskImage !== 'none' && style.maskSize.split(', ').every((size) => /(?:^|\s)0(?:px|%)/.test(size))) return true;
  if (maskImage !== 'none' && /gradient\(/.test(maskImage) && !/url\(|\),\s*(?:[\w-]+)\(.*gradient|element\(/.test(maskImage)) {
    const colours = maskImage.match(/(?:rgba?|color|oklab|oklch|lab|lch)\([^)]*\)/g) ?? [];
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
export function hasInk(el: Element, style: CSSStyleDeclaration, box: DOMRect, opacity: number): boolean {
  const drawn = el instanceof SVGElement;
  const fill = drawn ? style.fill : style.webkitTextFillColor;
  const faint = fill === 'none' || alphaOf(fill) * (drawn ? Number(style.fillOpacity) : 1) * opacity < FAINTEST;
  // The rest is asked only of what has no colour of its own to be seen by: on a large page every question counts.
  if (!faint && !isLike(fill, behind(el))) return true;
  const [stroke, strokeWidth] = drawn ? [style.stroke, style.strokeWidth] : [style.webkitTextStrokeColor, style.webkitTextStrokeWidth];
  if (isStroked(stroke, strokeWidth, drawn ? Number(style.strokeOpacity) : 1) && !isLike(stroke, behind(el))) return true;
  if (!drawn && isShaded(style.textShadow, behind(el))) return true;
  if (faint) return (!drawn && isCutOut(el)) || native(el).getAnimations().some((animation) => animation.playState === 'running' || animation.pending);
  return !isLostIn(el, fill, box);
}

function isStroked(colour: string, width: string, opacity: number): boolean {
  return colour !== 'none' && parseFloat(width) > 0 && alphaOf(colour) * opacity >= FAINTEST;
}

/** Whether a shadow of the letters shows: one of another colour than what is behind them. */
function isShaded(shadow: string, behind: string): boolean {
  return (shadow.match(/[a-z-]+\([^)]*\)/g) ?? []).some((colour) => alphaOf(colour) >= FAINTEST && !isLike(colour, behind));
}

/** Whether the letters are holes through which a background shows: theirs or that of a box around them. */
function isCutOut(el: Element): boolean {
  for (let up: Element | null = el; up; up = parentOf(up)) {
    const style = getComputedStyle(up);
    if (style.webkitBackgroundClip?.includes('text')) return true;
  }
  return false;
}

const CANVAS = 'rgb(255, 255, 255)';
const CLEAR = 'rgba(0, 0, 0, 0)';
/** The colour behind the text of each element, as of this turn: the backgrounds around it, laid on each other. */
let colours = new WeakMap<Element, string>();

function behind(el: Element): string {
  const asked: Element[] = [];
  const layers: { own: string; at: number }[] = [];
  let colour = CANVAS;
  for (let up: Element | null = el; up; up = native(up).parentElement) {
    const known = colours.get(up);
    if (known !== undefined) { colour = known; break; }
    const own = getComputedStyle(up).backgroundColor;
    if (own !== CLEAR) layers.push({ own, at: asked.length });
    asked.push(up);
    if (own !== CLEAR && isOpaque(own)) break;
  }
  // From the bottom up: what lies within a layer has its colour, as far as the next one.
  for (let i = asked.length - 1; i >= 0; i--) {
    if (layers.at(-1)?.at === i) colour = laidOn(layers.pop()!.own, colour);
    colours.set(asked[i]!, colour);
  }
  forget();
  return colour;
}

/** A see-through colour over another one. */
function laidOn(colour: string, under: string): string {
  const alpha = alphaOf(colour);
  if (alpha === 1) return colour;
  const over = partsOf(colour, true), ground = partsOf(under);
  if (!over || !ground) return colour;
  return `rgb(${over.map((part, i) => Math.round(part * alpha + ground[i]! * (1 - alpha))).join(', ')})`;
}

/** Whether a colour, be it see-through, looks like the one that it is laid on. */
function isLike(fill: string, behind: string): boolean {
  if (fill === behind) return true;
  const one = partsOf(fill, true), two = partsOf(behind);
  return one !== null && two !== null && alike(one, two);
}

let forgetting = false;
/** What is known holds for one turn: after it the page may have changed. */
function forget(): void {
  if (forgetting) return;
  forgetting = true;
  queueMicrotask(() => {
    forgetting = false;
    boxesNow = undefined;
    colours = new WeakMap();
  });
}

/** Whether the text has the colour of the plain background that it is on. */
function isLostIn(el: Element, fill: string, box: DOMRect): boolean {
  if (!isLike(fill, behind(el))) return false;
  const root = native(el).getRootNode();
  if (root !== document) return false;
  for (let up: Element | null = el; ; up = native(up).parentElement) {
    // Behind the page is the canvas; a frame may show what is behind it.
    if (!up) return window.top === window && !isCanvasDark() && isPlain(el, fill, box);
    const style = getComputedStyle(up);
    // What a component draws behind its slots, and what edges and their shadows reach over, is not looked into.
    if (shadowOf(up) || style.borderImageSource !== 'none' || style.boxShadow.includes('inset')) return false;
    if (style.backgroundImage !== 'none' || style.filter !== 'none' || style.mixBlendMode !== 'normal' || style.backdropFilter !== 'none') return false;
    if (isOpaque(style.backgroundColor)) return isPlain(el, fill, box);
  }
}

/** Whether the page is dark where nothing has a colour: it asks for that, or takes either and the person prefers it. */
function isCanvasDark(): boolean {
  const said = getComputedStyle(document.documentElement).colorScheme;
  const schemes = said === 'normal' ? document.querySelector<HTMLMetaElement>('meta[name="color-scheme" i]')?.content ?? '' : said;
  return /dark/i.test(schemes) && (!/light/i.test(schemes) || matchMedia('(prefers-color-scheme: dark)').matches);
}

/** Whether nothing of another colour is drawn where the text stands, and nothing is still to come there. */
function isPlain(el: Element, fill: string, box: DOMRect): boolean {
  if (box.top > innerHeight) {
    for (let up: Element | null = el, i = 0; up && i < 5; up = native(up).parentElement, i++) {
      if (native(up).getAttributeNames().some((name) => LAZY.test(name)) || LAZY.test(native(up).getAttribute('class') ?? '')) return false;
    }
  }
  const boxes = painted();
  if (!boxes || box.height >= MANY_STRIPS * STRIP_PX) return false;
  const colour = partsOf(fill, true)!;
  return ![...boxes.tall, ...strips(box).flatMap((strip) => boxes.strips.get(strip) ?? [])].some(({ el: other, rect, colour: theirs, before }) =>
    rect.left < box.right && rect.right > box.left && rect.top < box.bottom && rect.bottom > box.top &&
    (before || ((!theirs || !alike(colour, theirs)) && !native(other).contains(el))));
}

interface Painted { el: Element; rect: DOMRect; colour: [number, number, number] | null; before: boolean }
/** What draws something, as of this turn, by the strips of the page that it reaches over; what reaches over many is kept apart. */
interface Boxes { strips: Map<number, Painted[]>; tall: Painted[] }
let boxesNow: Boxes | null | undefined;

const STRIP_PX = 200;
const MANY_STRIPS = 50;

function strips({ top, bottom }: DOMRect): number[] {
  const first = Math.floor(top / STRIP_PX);
  return Array.from({ length: Math.min(MANY_STRIPS, Math.floor(bottom / STRIP_PX) - first + 1) }, (_, i) => first + i);
}

const SHAPES = /^(?:rect|circle|ellipse|path|polygon|polyline|line|image|use|foreignObject)$/;
const PICTURES = /^(?:img|video|canvas|svg|iframe|object|embed|input)$/;

function painted(): Boxes | null {
  if (boxesNow !== undefined) return boxesNow;
  forget();
  const all = document.body ? [document.documentElement, document.body, ...native(document.body).getElementsByTagName('*')] : [];
  if (all.length > MOST_BOXES) return boxesNow = null;
  const boxes: Boxes = { strips: new Map(), tall: [] };
  for (const el of all) {
    const style = getComputedStyle(el);
    if (style.display === 'none') continue;
    const paint = el instanceof SVGElement && el.ownerSVGElement ? paintOf(el, style) : groundPaint(el, style);
    if (!paint) continue;
    const box: Painted = { el, rect: native(el).getBoundingClientRect(), ...paint };
    const over = strips(box.rect);
    if (over.length >= MANY_STRIPS) { boxes.tall.push(box); continue; }
    for (const strip of over) {
      const there = boxes.strips.get(strip);
      if (there) there.push(box); else boxes.strips.set(strip, [box]);
    }
  }
  return boxesNow = boxes;
}

type Paint = Pick<Painted, 'colour' | 'before'>;

/** What a box draws beneath its text, if anything; no colour stands for one that is not to be told. */
function groundPaint(el: Element, style: CSSStyleDeclaration): Paint | null {
  const before = ['::before', '::after'].some((pseudo) => draws(getComputedStyle(el, pseudo)));
  const picture = PICTURES.test(native(el).localName) || style.backgroundImage !== 'none' || native(el).shadowRoot !== null;
  const alpha = alphaOf(style.backgroundColor);
  if (!picture && !before && alpha === 0) return null;
  return { colour: !picture && alpha === 1 ? partsOf(style.backgroundColor) : null, before };
}

/** What a shape of a drawing fills its place with. */
function paintOf(shape: SVGElement, style: CSSStyleDeclaration): Paint | null {
  if (!SHAPES.test(shape.localName)) return null;
  const fill = style.fill === 'none' ? 0 : alphaOf(style.fill) * Number(style.fillOpacity);
  if (fill === 0 && !/^(?:image|use|foreignObject)$/.test(shape.localName) && !isStroked(style.stroke, style.strokeWidth, Number(style.strokeOpacity))) return null;
  return { colour: fill === 1 && /^(?:rect|circle|ellipse|path|polygon)$/.test(shape.localName) ? partsOf(style.fill) : null, before: false };
}

function draws(style: CSSStyleDeclaration): boolean {
  const { content } = style;
  return content !== 'none' && content !== 'normal' && (style.backgroundImage !== 'none' || alphaOf(style.backgroundColor) > 0 || content.includes('url('));
}

export function isOpaque(colour: string): boolean {
  return alphaOf(colour) === 1;
}

function alphaOf(colour: string): number {
  if (colour === 'transparent') return 0;
  const said = /^rgba\(.*,\s*([\d.e-]+)\)$/.exec(colour)?.[1] ?? /\/\s*([\d.e-]+)\)$/.exec(colour)?.[1];
  return said === undefined ? 1 : Number(said);
}

/** Red, green and blue of a colour; of one that is see-through only if that is said to do. */
function partsOf(colour: string, any = false): [number, number, number] | null {
  if (!any && alphaOf(colour) !== 1) return null;
  const found = /^rgba?\((\d+), (\d+), (\d+)/.exec(colour);
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : painting(colour);
}

const paintings = new Map<string, [number, number, number] | null>();
const MOST_PAINTINGS = 500;
let paper: OffscreenCanvasRenderingContext2D | null | undefined;

/** What a colour of another space (oklch, lab, color-mix) looks like: it is painted and looked at. */
function painting(colour: string): [number, number, number] | null {
  const known = paintings.get(colour);
  if (known !== undefined) return known;
  let parts: [number, number, number] | null = null;
  if (/^(?:color|oklab|oklch|lab|lch|hsl|hwb)\(/.test(colour)) {
    paper ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    if (paper) {
      paper.clearRect(0, 0, 1, 1);
      paper.fillStyle = colour.replace(/\s*\/\s*[\d.e-]+\)$/, ')');
      paper.fillRect(0, 0, 1, 1);
      const [red, green, blue] = paper.getImageData(0, 0, 1, 1).data;
      parts = [red!, green!, blue!];
    }
  }
  if (paintings.size >= MOST_PAINTINGS) paintings.clear();
  paintings.set(colour, parts);
  return parts;
}

function alike(one: [number, number, number], two: [number, number, number]): boolean {
  return one.every((part, i) => Math.abs(part - two[i]!) <= SAME);
}
