// Mouse and keyboard as the browser itself makes them: events that a page cannot tell from a person's.
import { BridgeError } from '../errors';
import type { Send } from './attach';
import { dialogOf, onDialog, type Dialog } from './dialogs';

export type Button = 'left' | 'right' | 'middle';
export interface Point { x: number; y: number }

const BUTTONS: Record<Button, number> = { left: 1, right: 2, middle: 4 };

/**
 * Gives commands one after the other. A page answers an event only when its handlers are done; where one of them opens a dialog,
 * that is not before the dialog is closed. So a dialog ends the waiting, and is told.
 */
export async function untilDialog(tabId: number, work: () => Promise<unknown>): Promise<Dialog | undefined> {
  let stop = () => {};
  const opened = new Promise<Dialog>((resolve) => {
    const already = dialogOf(tabId);
    if (already) resolve(already);
    stop = onDialog(tabId, resolve);
  });
  try {
    const done = work();
    done.catch(() => {});
    return await Promise.race([done.then(() => undefined), opened]);
  } finally {
    stop();
  }
}

export interface Press { button: Button; clickCount: number; modifiers: number }

export const move = (send: Send, { x, y }: Point, modifiers = 0, held?: Button) =>
  send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y, modifiers, button: held ?? 'none', buttons: held ? BUTTONS[held] : 0, pointerType: 'mouse' });

export const press = (send: Send, { x, y }: Point, { button, clickCount, modifiers }: Press) =>
  send('Input.dispatchMouseEvent', { type: 'mousePressed', x, y, button, buttons: BUTTONS[button], clickCount, modifiers, pointerType: 'mouse' });

export const release = (send: Send, { x, y }: Point, { button, clickCount, modifiers }: Press) =>
  send('Input.dispatchMouseEvent', { type: 'mouseReleased', x, y, button, buttons: 0, clickCount, modifiers, pointerType: 'mouse' });

/** One click, or a double or triple one: each press with its number, as a mouse makes them. */
export async function clickAt(send: Send, at: Point, { button, clickCount, modifiers }: Press): Promise<void> {
  for (let n = 1; n <= clickCount; n++) {
    await press(send, at, { button, clickCount: n, modifiers });
    await release(send, at, { button, clickCount: n, modifiers });
  }
}

export const wheel = (send: Send, { x, y }: Point, dx: number, dy: number) =>
  send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: dx, deltaY: dy, modifiers: 0, pointerType: 'mouse' });

export function checkPoint({ x, y }: Point, view: { width: number; height: number }): void {
  if (x >= 0 && y >= 0 && x < view.width && y < view.height) return;
  throw new BridgeError('INVALID_PARAMS', `the point (${x}, ${y}) is outside of the view, which is ${view.width} x ${view.height} pixels; scroll moves what it shows`);
}
