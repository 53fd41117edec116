// What the worker asks every child frame: where it is in the document, and how much of a target it holds.
import { shadowRoots } from '../dom';
import { find } from './find';
import type { Target } from './target';

export interface Place {
  /** This window's place among its parent's frames; -1 if it is in a shadow tree there. */
  index: number;
  /** The places of this document's own frames in the order of their elements. */
  order: number[];
}

export interface Probe extends Place {
  count: number;
  rank: number;
}

export function framePlaceOp(): Place {
  let index = -1;
  // The indexed frames of a window may be read and compared across sites.
  if (parent !== window) for (let i = 0; i < parent.length; i++) if (parent[i] === window) { index = i; break; }
  return { index, order: frameOrder() };
}

export function probeOp({ target }: { target: Target }): Probe {
  const { elements, rank } = find(target, true);
  return { ...framePlaceOp(), count: elements.length, rank: elements.length ? rank : -1 };
}

/** Chrome numbers frames in the order in which they were made; this is the order in which they stand in the document. */
function frameOrder(): number[] {
  const places = new Map<Window, number>();
  for (let i = 0; i < window.length; i++) places.set(window[i]!, i);
  const order: number[] = [];
  for (const root of [document, ...shadowRoots(document)]) {
    for (const el of root.querySelectorAll<HTMLIFrameElement>('iframe, frame, object')) {
      const place = el.contentWindow ? places.get(el.contentWindow) : undefined;
      if (place !== undefined) order.push(place);
    }
  }
  return order;
}
