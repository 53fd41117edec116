// What a press outside of them does to popovers, and to dialogs that ask for it: the browser closes them, but for its own events only.
import type { Point } from '../actionable';
import { ancestry, within } from '../dom';
import { native } from '../native';

type Invoker = Element & { popoverTargetElement?: Element | null; commandForElement?: Element | null };

/** To be called when the pointer comes up on the element, before the page hears of it. */
export function dismissAround(el: Element, point: Point): void {
  const open = [...document.querySelectorAll<HTMLElement>('[popover]:popover-open')].filter((p) => native(p).popover !== 'manual');
  if (open.length) {
    // Where it was pressed: in one of them, or on the button that has opened it, which closes it itself.
    const kept = open.filter((p) => within(el, p) || opensIt(el, p));
    const above = (p: HTMLElement) => kept.some((k) => within(p, k) || invokersOf(p).some((button) => within(button, k)));
    for (const p of open) if (!kept.includes(p) && (!kept.length || above(p)) && native(p).matches(':popover-open')) native(p).hidePopover();
  }
  for (const dialog of document.querySelectorAll<HTMLDialogElement>('dialog[open][closedby=any i]')) {
    const box = dialog.getBoundingClientRect();
    const inside = point.x >= box.left && point.x < box.right && point.y >= box.top && point.y < box.bottom;
    // What is pressed on the shade around a dialog is the dialog itself.
    if (el === dialog ? inside : within(el, dialog)) continue;
    (dialog as HTMLDialogElement & { requestClose?(): void }).requestClose?.();
  }
}

function opensIt(el: Element, popover: Element): boolean {
  for (const up of ancestry(el)) if (invokes(up, popover)) return true;
  return false;
}

const invokes = (button: Invoker, popover: Element) => native(button).popoverTargetElement === popover || native(button).commandForElement === popover;

const invokersOf = (popover: Element): Element[] => [...document.querySelectorAll('[popovertarget], [commandfor]')].filter((button) => invokes(button, popover));
