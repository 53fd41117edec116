// The elements that show child frames: which one shows which, and where a point is in the view on either side.
import { shadowRoots } from './dom';
import { native } from './native';

interface Point { x: number; y: number }
type FrameElement = HTMLIFrameElement;

/** Which of the window's frames an element shows; -1 for one that is in a shadow tree. */
export function frameIndex(frame: FrameElement): number {
  const shown = frame.contentWindow;
  for (let i = 0; shown && i < window.length; i++) if (window[i] === shown) return i;
  return -1;
}

/** The element that shows a child frame. Frames in shadow trees are not counted by the window: those are told by their address. */
export function frameElement(index: number, url: string): FrameElement | null {
  const inTree = (root: ParentNode) => [...native(root).querySelectorAll<FrameElement>('iframe, frame, object')];
  if (index >= 0) {
    for (const root of [document, ...shadowRoots(document)]) for (const el of inTree(root)) if (frameIndex(el) === index) return el;
    return null;
  }
  const hidden = shadowRoots(document).flatMap(inTree).filter((el) => frameIndex(el) < 0);
  if (hidden.length === 1) return hidden[0]!;
  const named = hidden.filter((el) => el.src === url);
  return named.length === 1 ? named[0]! : null;
}

/** Where a frame's content begins, and its scale, as where a transform shrinks it. */
function contentOf(frame: HTMLElement): { x: number; y: number; scaleX: number; scaleY: number } {
  const box = native(frame).getBoundingClientRect();
  const style = getComputedStyle(frame);
  const scaleX = native(frame).offsetWidth ? box.width / native(frame).offsetWidth : 1;
  const scaleY = native(frame).offsetHeight ? box.height / native(frame).offsetHeight : 1;
  return {
    x: box.x + (native(frame).clientLeft + parseFloat(style.paddingLeft)) * scaleX,
    y: box.y + (native(frame).clientTop + parseFloat(style.paddingTop)) * scaleY,
    scaleX, scaleY,
  };
}

/** From the view of a frame's content to the one that the frame is in. */
export function fromFrame(frame: HTMLElement, { x, y }: Point): Point {
  const content = contentOf(frame);
  return { x: content.x + x * content.scaleX, y: content.y + y * content.scaleY };
}

/** The other way. */
export function intoFrame(frame: HTMLElement, { x, y }: Point): Point {
  const content = contentOf(frame);
  return { x: (x - content.x) / (content.scaleX || 1), y: (y - content.y) / (content.scaleY || 1) };
}
