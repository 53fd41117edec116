// What a press outside of them does to popovers, and to dialogs that ask for it: the browser closes them, but for its own events only.
import type { Point } from '../actionable';
import { ancestry, closestAcross, within } from '../dom';
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
  // Of dialogs only the topmost one is asked, as the HTML standard has it (light dismiss open dialogs); modal ones are above all others.
  const dialogs = [...document.querySelectorAll<HTMLDialogElement>('dialog[open]')];
  const topmost = dialogs.filter((d) => native(d).matches(':modal')).at(-1) ?? dialogs.at(-1);
  if (!topmost || !native(topmost).matches('[closedby=any i]') || pressedIn(el, point) === topmost) return;
  (topmost as HTMLDialogElement & { requestClose?(): void }).requestClose?.();
}

/** The dialog that was pressed in; none for the shade around one, which is the dialog itself to events. */
function pressedIn(el: Element, { x, y }: Point): Element | null {
  const dialog = closestAcross(el, 'dialog[open]');
  if (!dialog || dialog !== el) return dialog;
  const box = native(dialog).getBoundingClientRect();
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom ? dialog : null;
}

function opensIt(el: Element, popover: Element): boolean {
  for (const up of ancestry(el)) if (invokes(up, popover)) return true;
  return false;
}

const invokes = (button: Invoker, popover: Element) => native(button).popoverTargetElement === popover || native(button).commandForElement === popover;

const invokersOf = (popover: Element): Element[] => [...document.querySelectorAll('[popovertarget], [commandfor]')].filter((button) => invokes(button, popover));
