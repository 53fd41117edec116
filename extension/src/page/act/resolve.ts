// From the element that a target found to the control that is meant: a label's control, the field inside of a component.
import { closestAcross, isVisible, shadowOf } from '../dom';
import { native } from '../native';

/** The element itself if it is such a control; else the one that it labels, or the only one inside of it. */
export function controlOf(el: Element, selector: string): Element {
  if (native(el).matches(selector)) return el;
  const label = closestAcross(el, 'label');
  if (label instanceof HTMLLabelElement && label.control && native(label.control).matches(selector)) return label.control;
  const shadow = shadowOf(el);
  const inside = [...(shadow ? controlsIn(shadow, selector) : []), ...controlsIn(el, selector)];
  if (inside.length === 1) return inside[0]!;
  const visible = inside.filter(isVisible);
  return visible.length === 1 ? visible[0]! : el;
}

function* controlsIn(root: Element | ShadowRoot, selector: string): Generator<Element> {
  yield* native(root).querySelectorAll(selector);
  for (const inner of native(root).querySelectorAll('*')) {
    const shadow = native(inner).localName.includes('-') ? shadowOf(inner) : null;
    if (shadow) yield* controlsIn(shadow, selector);
  }
}

/** The element on which editing was switched on, for one that can be edited. */
export function editingHost(el: Element): HTMLElement | null {
  if (!(el instanceof HTMLElement) || !native(el).isContentEditable) return null;
  let host = el;
  for (let up = native(host).parentElement; up && native(up).isContentEditable; up = native(host).parentElement) host = up;
  return host;
}
