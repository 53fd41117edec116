// Whether `clip` or `clip-path` leave anything of an element, as "visually hidden" classes see to it that they do not.
import { native } from '../native';

/** Less than this shows no letter. */
const LEAST = 2.5;
/** Of a box of no size nothing can be cut off; what hangs out of it is cut off by any percentage. */
const UNSIZED = 1000;

interface Bounds { left: number; top: number; right: number; bottom: number }

/** Whether the element is clipped to nothing. */
export function isCutAway(el: Element, style: CSSStyleDeclaration): boolean {
  if (style.position === 'absolute' || style.position === 'fixed') {
    const edges = style.clip.match(/-?[\d.]+px/g)?.map(parseFloat);
    if (edges?.length === 4 && (edges[1]! - edges[3]! <= 1 || edges[2]! - edges[0]! <= 1)) return true;
  }
  const path = style.clipPath;
  if (path === 'none') return false;
  // A line or a point has no inside.
  if (path.startsWith('path(') && (path.match(/-?[\d.]+/g)?.length ?? 0) < 5) return true;
  const box = native(el).getBoundingClientRect();
  const width = box.width || UNSIZED, height = box.height || UNSIZED;
  const left = boundsOf(path, width, height);
  if (!left) return false;
  const least = (whole: number) => Math.min(LEAST, whole / 4);
  return Math.min(left.right, width) - Math.max(left.left, 0) < least(width) || Math.min(left.bottom, height) - Math.max(left.top, 0) < least(height);
}

/** The box around a shape, by its computed value; null for a shape that is not known. */
function boundsOf(path: string, width: number, height: number): Bounds | null {
  const [, shape, said = ''] = /^(\w+)\((.*)\)/.exec(path) ?? [];
  const [size = '', place = '50% 50%'] = said.split(/(?:^|\s+)at\s+/);
  const [x = NaN, y = NaN] = lengths(place).map((part, i) => lengthOf(part, i ? height : width));
  switch (shape) {
    case 'inset': {
      const [top = '', right = top, bottom = top, left = right] = lengths(said.replace(/\s+round.*/, ''));
      return sized({ left: lengthOf(left, width), top: lengthOf(top, height), right: width - lengthOf(right, width), bottom: height - lengthOf(bottom, height) });
    }
    case 'circle': {
      const r = lengthOf(size, Math.hypot(width, height) / Math.SQRT2);
      return sized({ left: x - r, top: y - r, right: x + r, bottom: y + r });
    }
    case 'ellipse': {
      const [rx = NaN, ry = NaN] = lengths(size).map((part, i) => lengthOf(part, i ? height : width));
      return sized({ left: x - rx, top: y - ry, right: x + rx, bottom: y + ry });
    }
    case 'polygon': {
      const corners = said.replace(/^(?:nonzero|evenodd),\s*/, '').split(/\s*,\s*/);
      // A line has no inside either.
      if (new Set(corners).size < 3) return { left: 0, top: 0, right: 0, bottom: 0 };
      const points = corners.map((corner) => lengths(corner).map((part, i) => lengthOf(part, i ? height : width)));
      const xs = points.map((point) => point[0] ?? NaN), ys = points.map((point) => point[1] ?? NaN);
      return sized({ left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) });
    }
    default: return null;
  }
}

function sized(bounds: Bounds): Bounds | null {
  return Object.values(bounds).some(Number.isNaN) ? null : bounds;
}

function lengths(said: string): string[] {
  return said.match(/calc\([^)]*\)|\S+/g) ?? [];
}

/** A computed length in pixels: `12px`, `50%` or a sum of both; NaN for a word. */
function lengthOf(said: string, whole: number): number {
  let px = NaN;
  for (const [, sign, number, unit] of said.matchAll(/([+-]\s+)?(-?[\d.]+)(px|%)/g)) px = (px || 0) + (sign?.startsWith('-') ? -1 : 1) * Number(number) * (unit === '%' ? whole / 100 : 1);
  return px;
}
