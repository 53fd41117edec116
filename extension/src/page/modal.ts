// Which modal dialog is on top: it alone takes input.
import { closestAcross, elementAt, focused, within } from './dom';
import { native } from './native';

/** The modal dialog that makes everything outside of it inert, if the element is outside. */
export function modalBefore(el: Element): Element | null {
  if (el === document.body || el === document.documentElement) return null;
  const top = topModals();
  return top.length && !top.some((modal) => within(el, modal)) ? top[0]! : null;
}

/**
 * The modal dialog on top, of those that stand open over one another; the order in which they were opened is told to nobody. Whatever the browser
 * finds at a point, or lets have the focus, is in the one on top, or in one that is nested in it, as all others are inert.
 */
function topModals(): Element[] {
  const active = focused();
  const withFocus = active && closestAcross(active, 'dialog:modal');
  const open = [...document.querySelectorAll('dialog:modal')];
  if (open.length <= 1) return withFocus ? [withFocus] : open;
  const tops = new Set<Element>();
  const middles = open.map((d) => native(d).getBoundingClientRect()).map((r) => ({ x: r.x + r.width / 2, y: r.y + r.height / 2 }));
  for (const { x, y } of [...middles, { x: 1, y: 1 }, { x: innerWidth - 2, y: innerHeight - 2 }]) {
    const at = elementAt(x, y);
    const modal = at && closestAcross(at, 'dialog:modal');
    if (modal) tops.add(modal);
  }
  if (tops.size) return [...tops];
  return withFocus ? [withFocus] : open;
}
