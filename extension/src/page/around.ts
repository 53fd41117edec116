// What the pages around this frame let through to it, as far as they are of the same site; of others only the worker can ask (tabs/around.ts).
import type { Point } from './actionable';
import { outline } from './describe';
import { fromFrame } from './frames';
import { native } from './native';

/** Why a person could not get at this point of the frame, because of the pages around it, as far as they are of the same site. */
export function unseenAround(point: Point): string | null {
  let at = point;
  for (let inner: Window = window; inner !== inner.parent; inner = inner.parent) {
    const frame = frameAround(inner);
    if (!frame) return null;
    at = fromFrame(frame, at);
    const seen = seenInstead(frame, at);
    if (seen !== frame) return seen ? `it is covered by ${outline(seen)}` : 'its frame is out of view there';
  }
  return null;
}

/** What is at the point instead of this element, which may be another page's; the element itself if nothing is. */
function seenInstead(wanted: Element, { x, y }: Point): Element | null {
  for (let el = wanted; ;) {
    const root = native(el).getRootNode() as Document | ShadowRoot;
    const seen = root.elementFromPoint(x, y);
    if (seen !== el) return seen;
    if (!('host' in root)) return wanted;
    el = root.host;
  }
}

/** The element that shows a frame in the page around it; null if that is another site's. */
function frameAround(inner: Window): HTMLElement | null {
  try { return inner.frameElement as HTMLElement | null; } catch { return null; }
}

/** Whether any page around this one is another site's, which only the worker can ask. */
export function isAmongOthers(): boolean {
  for (let inner: Window = window; inner !== inner.parent; inner = inner.parent) if (!frameAround(inner)) return true;
  return false;
}
