// Where child frames are seen: asked when some of them are not to be worked on, nor to be seen in a picture.
import type { InFrame } from './act/click';
import { outline } from './describe';
import { elementAt } from './dom';
import { frameElement, frameIndex, intoFrame } from './frames';
import { native } from './native';

/** Whether a person could see the frame, if only by scrolling there. One that cannot be found may be seen. */
export function frameShownOp({ index, url }: { index: number; url: string }): boolean {
  const frame = frameElement(index, url);
  if (!frame) return true;
  const { width, height } = native(frame).getBoundingClientRect();
  // A counter's frame of one pixel shows nothing, whatever its border.
  return Math.min(width, native(frame).clientWidth) > 1 && Math.min(height, native(frame).clientHeight) > 1 && frame.checkVisibility({ visibilityProperty: true, opacityProperty: true });
}

/** The child frame that lies at a point of the view, and where in it that is; null if the page itself does. */
export function pointFrameOp({ x, y }: { x: number; y: number }): InFrame['inFrame'] | null {
  const at = elementAt(x, y);
  if (!at || !/^(?:iframe|frame|object|embed)$/.test(native(at).localName)) return null;
  const frame = at as HTMLIFrameElement;
  return { index: frameIndex(frame), ...intoFrame(frame, { x, y }), outline: outline(frame) };
}
