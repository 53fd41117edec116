// What the page around a frame knows of it: where a point of its view is, and whether a person could get there.
import { centre, whyDisabled, type Point } from '../actionable';
import { outline } from '../describe';
import { elementAt, isRendered } from '../dom';
import { PageError } from '../error';
import { frameElement, fromFrame } from '../frames';
import { modalBefore } from '../modal';

interface Which { index: number; url: string }
/** `unseen`: why a person could not get there. */
export interface FramePoint { point: Point; unseen?: string }

/**
 * Where a point of a child frame's view is in this one's, and whether the frame can be seen there. Scrolls to it if need be, unless `still`: what
 * a frame of another site scrolls into view may end up beside it, as Chrome leaves out the frame's border, and under what stays in place here.
 */
export function framePointOp({ point, still = false, ...which }: Which & { point: Point; still?: boolean }): FramePoint {
  const frame = theFrame(which);
  const look = () => {
    const at = fromFrame(frame, point);
    return { at, seen: elementAt(at.x, at.y) };
  };
  let { at, seen } = look();
  if (seen !== frame && !still) {
    centre(frame, () => fromFrame(frame, point));
    ({ at, seen } = look());
  }
  if (seen === frame) return { point: at };
  const why = shut(frame) ?? (!isRendered(frame) ? 'its frame is hidden' : seen ? `its frame is covered there by ${outline(seen)}` : 'its frame is out of view there');
  return { point: at, unseen: why };
}

/** Why what is in a child frame takes no keys, because of what is around it; null if it does. */
export function frameShutOp(which: Which): string | null {
  return shut(theFrame(which));
}

function theFrame({ index, url }: Which): HTMLElement {
  const frame = frameElement(index, url);
  if (!frame) throw new PageError('ELEMENT_NOT_ACTIONABLE', 'the frame that holds the element cannot be found in the page around it');
  return frame;
}

function shut(frame: HTMLElement): string | null {
  const disabled = whyDisabled(frame, true);
  if (disabled) return `its frame takes nothing: ${disabled}`;
  const dialog = modalBefore(frame);
  return dialog && `its frame is behind the open ${outline(dialog)}`;
}
