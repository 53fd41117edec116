// Mouse and pointer events as a browser sends them for one movement and one click, and the focus that follows them.
import { ancestry, closestAcross, focused, isVisible, parentOf, shadowOf } from '../dom';
import type { Point } from '../actionable';
import { dismissAround } from './dismiss';
import { native } from '../native';

export interface Modifiers { alt: boolean; ctrl: boolean; shift: boolean; meta: boolean }
export const NO_MODIFIERS: Modifiers = { alt: false, ctrl: false, shift: false, meta: false };

const BUTTONS = [1, 4, 2];

function init(point: Point, modifiers: Modifiers, more: PointerEventInit): PointerEventInit {
  return {
    bubbles: true, cancelable: true, composed: true, view: window,
    clientX: point.x, clientY: point.y, screenX: Math.round(point.x + screenX), screenY: Math.round(point.y + screenY),
    altKey: modifiers.alt, ctrlKey: modifiers.ctrl, shiftKey: modifiers.shift, metaKey: modifiers.meta,
    pointerId: 1, pointerType: 'mouse', isPrimary: true, width: 1, height: 1,
    ...more,
  };
}

/** Where the pointer was last, so that what it leaves hears of it. */
let hovered: Element | null = null;

/** Moves the pointer onto the element: out of what it was on, into this. */
export function moveOnto(el: Element, point: Point, modifiers: Modifiers = NO_MODIFIERS): void {
  const from = native(hovered)?.isConnected ? hovered : null;
  if (from !== el) {
    const path = [...ancestry(el)];
    const left = from ? [...ancestry(from)].filter((up) => !path.includes(up)) : [];
    const entered = path.filter((up) => !from || ![...ancestry(from)].includes(up)).reverse();
    const inner = { bubbles: false, cancelable: false, composed: false };
    // All of the pointer's events come before the mouse's.
    for (const kind of ['pointer', 'mouse'] as const) {
      const send = (on: Element, what: string, more: PointerEventInit) => {
        if (kind === 'pointer') native(on).dispatchEvent(new PointerEvent(kind + what, init(point, modifiers, { button: -1, ...more })));
        else native(on).dispatchEvent(new MouseEvent(kind + what, init(point, modifiers, more)));
      };
      if (from) {
        send(from, 'out', { relatedTarget: el });
        for (const up of left) send(up, 'leave', { relatedTarget: el, ...inner });
      }
      send(el, 'over', { relatedTarget: from });
      for (const down of entered) send(down, 'enter', { relatedTarget: from, ...inner });
    }
    hovered = el;
  }
  native(el).dispatchEvent(new PointerEvent('pointermove', init(point, modifiers, { button: -1 })));
  native(el).dispatchEvent(new MouseEvent('mousemove', init(point, modifiers, {})));
}

export interface Press { button: number; detail: number; modifiers: Modifiers }

/** Presses and releases a button, with the focus moving as it does for a person. False if the page kept the browser from its part in it. */
export function pressAndRelease(el: Element, point: Point, press: Press): boolean {
  const { button, detail, modifiers } = press;
  const buttons = BUTTONS[button] ?? 1;
  const down = init(point, modifiers, { button, buttons, detail });
  const quiet = !native(el).dispatchEvent(new PointerEvent('pointerdown', { ...down, detail: 0, pressure: 0.5 }));
  const prevented = quiet || !native(el).dispatchEvent(new MouseEvent('mousedown', down));
  if (!prevented && native(el).isConnected) focusAsPressed(el);
  if (!native(el).isConnected) return !prevented;
  dismissAround(el, point);
  const up = init(point, modifiers, { button, buttons: 0, detail });
  native(el).dispatchEvent(new PointerEvent('pointerup', { ...up, detail: 0 }));
  if (!quiet && native(el).isConnected) native(el).dispatchEvent(new MouseEvent('mouseup', up));
  return !prevented;
}

/** The one click event. What a click does by itself (follow, submit, toggle) the browser does for this one as well. */
export function click(el: Element, point: Point, press: Press): boolean {
  const { button, detail, modifiers } = press;
  const type = button === 0 ? 'click' : 'auxclick';
  return native(el).dispatchEvent(new PointerEvent(type, init(point, modifiers, { button, buttons: 0, detail })));
}

export function doubleClick(el: Element, point: Point, press: Press): void {
  native(el).dispatchEvent(new MouseEvent('dblclick', init(point, press.modifiers, { button: press.button, detail: 2 })));
}

export function contextMenu(el: Element, point: Point, press: Press): void {
  native(el).dispatchEvent(new PointerEvent('contextmenu', init(point, press.modifiers, { button: 2, buttons: 0, detail: 0 })));
}

// ---- Focus ----

const FOCUSABLE = 'a[href], area[href], button:enabled, input:enabled:not([type=hidden]), select:enabled, textarea:enabled, iframe, summary, ' +
  'audio[controls], video[controls], [tabindex], [contenteditable]:not([contenteditable=false])';

/** Whether pressing the mouse on it gives it the focus. */
export function takesFocus(el: Element): boolean {
  return (native(el).matches(FOCUSABLE) || (shadowOf(el)?.delegatesFocus ?? false)) && isVisible(el);
}

/** What pressing the mouse does: the nearest focusable element gets the focus; if there is none, nothing has it any more. */
function focusAsPressed(el: Element): void {
  // Pressing on a label leaves the focus alone; its click hands it on to the control.
  if (closestAcross(el, 'label') && !takesFocus(el)) return;
  for (let up: Element | null = el; up; up = parentOf(up)) {
    if (takesFocus(up)) { focus(up); return; }
  }
  const active = focused();
  if (active instanceof HTMLElement || active instanceof SVGElement) move(active, null, () => native(active).blur());
}

const EDITED = 'input, textarea, select, [contenteditable]:not([contenteditable=false])';
const NO_BUTTON = ':is(button, input:is([type=submit], [type=button], [type=image])):disabled, :is(button, [role=button])[aria-disabled=true i]';

/**
 * A press on a disabled button comes to nothing but that the field which has the focus loses it; where the page checks its fields only then, and
 * enables the button for it, it would otherwise be waited for in vain.
 */
export function pressDisabled(el: Element): void {
  if (native(el).matches(NO_BUTTON) && native(focused())?.matches(EDITED)) focusAsPressed(el);
}

/** Gives the focus to an element. In a window that does not have it, Chrome moves it without a word; the page is told all the same. */
export function focus(el: Element): void {
  if (focused() === el || !(el instanceof HTMLElement || el instanceof SVGElement || el instanceof MathMLElement)) return;
  move(focused(), el, () => native(el).focus({ preventScroll: true }));
}

function move(from: Element | null, to: Element | null, act: () => void): void {
  let heard = false;
  const hear = () => { heard = true; };
  for (const type of ['focus', 'blur']) addEventListener(type, hear, { capture: true, once: true });
  try { act(); } finally {
    for (const type of ['focus', 'blur']) removeEventListener(type, hear, { capture: true });
  }
  const now = focused();
  if (heard || now === from) return;
  const tell = (on: Element, type: string, other: Element | null) =>
    native(on).dispatchEvent(new FocusEvent(type, { bubbles: type.startsWith('focus') && type !== 'focus', composed: true, relatedTarget: other, view: window }));
  if (from && native(from).isConnected) { tell(from, 'blur', to); tell(from, 'focusout', to); }
  if (now) { tell(now, 'focus', from); tell(now, 'focusin', from); }
}
