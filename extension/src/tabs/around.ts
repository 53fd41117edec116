// The pages around a frame: where a point of its view is in theirs, and whether it can be seen and used there. What is of another site
// cannot be looked at from inside the frame.
import type { Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { FramePoint } from '../page/act/frame';
import type { Around } from '../page/element';
import type { Place } from '../page/locate/frames';
import { framesOf, type Doc } from './document';
import { callPage } from './page';

interface Point { x: number; y: number }

/** From a point of a document's view to the tab's, through all frames around it; stops where a frame cannot be seen, unless that is all one. */
export async function inTab(call: Call, doc: Doc, point: Point, covered = false): Promise<FramePoint> {
  let at = point;
  return outwards(call, doc, async (index, url, documentId) => {
    const placed = await callPage<FramePoint>(call, doc.tabId, 'frame_point', { index, url, point: at, still: covered }, { documentId });
    at = placed.point;
    return placed.unseen === undefined || covered ? undefined : placed;
  }).then((stopped) => stopped ?? { point: at });
}

/** Asks each page around the document, from the inside out, about the frame in it, until one gives an answer. */
async function outwards<T>(call: Call, doc: Doc, ask: (index: number, url: string, documentId: string) => Promise<T | undefined>): Promise<T | undefined> {
  let inner: { frameId: number; documentId: string; url: string } = doc;
  const frames = doc.frameId === 0 ? [] : await framesOf(doc.tabId);
  while (inner.frameId !== 0) {
    const parentId = frames.find((f) => f.frameId === inner.frameId)?.parentFrameId;
    const outer = frames.find((f) => f.frameId === parentId);
    if (!outer) throw new PageLeft('the frame is gone');
    const { index } = await callPage<Place>(call, doc.tabId, 'frame_place', null, { documentId: inner.documentId });
    const answer = await ask(index, inner.url, outer.documentId);
    if (answer !== undefined) return answer;
    inner = outer;
  }
  return undefined;
}

/** How long the pages around a frame are left alone before they are asked again. */
const AGAIN_MS = 100;

/**
 * Runs an act in a document; the act in a frame comes back to ask what the pages around make of it, and goes on when nothing there is in its way.
 * That is asked right before the act: what comes between the two is less than a person's hand would need.
 */
export async function throughFrames<R extends object>(call: Call, doc: Doc, until: number, act: (clear?: Point | true) => Promise<R | Around>): Promise<R> {
  let clear: Point | true | undefined;
  for (let late = 0; ;) {
    const result = await act(clear);
    if (!('around' in result)) return result;
    const { around } = result;
    const unseen = around === true
      ? await outwards(call, doc, (index, url, documentId) => callPage<string | null>(call, doc.tabId, 'frame_shut', { index, url }, { documentId }).then((why) => why ?? undefined))
      : (await inTab(call, doc, around)).unseen;
    clear = unseen === undefined ? around : undefined;
    if (Date.now() >= until && (unseen !== undefined || ++late > 1)) throw new BridgeError('ELEMENT_NOT_ACTIONABLE', `the element was found, but ${unseen ?? 'it is in motion'}`);
    if (unseen !== undefined) await new Promise((r) => setTimeout(r, Math.min(AGAIN_MS, Math.max(0, until - Date.now()))));
  }
}
