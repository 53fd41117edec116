// A form that the browser's own validation holds back: nothing is submitted, and the bubble that says why is no part of the page. What can be
// heard are the `invalid` events of its fields. A page's own checkValidity() sets them off as well, so it counts only where somebody tried to
// submit the form, or the browser has led to the field as it does when it shows the bubble.
import { nameOf } from '../a11y/names';
import { cut, outline } from '../describe';
import { focused } from '../dom';
import { native } from '../native';
import { fold } from '../text';
import { submitterOf } from './link';

interface Invalid { el: Element; form: HTMLFormElement; elsewhere: boolean }
interface Attempt { event: Event; form: HTMLFormElement }

/** So many fields are kept of a form that may have any number. */
const MOST = 500;

/**
 * Listens during an act on the element until the given function is called, which says what was not submitted and why. It may be told of a
 * form that the act was to submit.
 */
export function watchHeldBack(el?: Element): (form?: HTMLFormElement | null) => string | undefined {
  const invalid = new Map<EventTarget, Invalid>();
  const attempts: Attempt[] = [];
  const submitted = new Set<EventTarget | null>();
  const hear = (e: Event) => {
    const on = e.composedPath()[0];
    if (e.type === 'submit') submitted.add(on ?? null);
    else if (!(on instanceof Element)) return;
    else if (e.type === 'click') {
      const by = submitterOf(on);
      if (by && !by.button.formNoValidate && attempts.length < MOST) attempts.push({ event: e, form: by.form });
    } else if (invalid.size < MOST) {
      const form = (on as HTMLInputElement).form ?? native(on).closest('form');
      if (form && !invalid.has(on)) invalid.set(on, { el: on, form, elsewhere: focused() !== on });
    }
  };
  // Neither `invalid` nor `submit` leaves a shadow tree.
  const root = el && native(el).getRootNode();
  const places: EventTarget[] = root instanceof ShadowRoot ? [window, root] : [window];
  const types = ['click', 'submit', 'invalid'];
  for (const place of places) for (const type of types) native(place).addEventListener(type, hear, true);
  return (meant) => {
    for (const place of places) for (const type of types) native(place).removeEventListener(type, hear, true);
    if (!invalid.size) return undefined;
    const tried = ({ el: field, form, elsewhere }: Invalid) => form === meant || attempts.some((a) => a.form === form && !a.event.defaultPrevented) ||
      (elsewhere && focused() === field && field !== el && !(el && native(el).closest('label')));
    const counts = [...invalid.values()].filter(({ form }) => !native(form).noValidate && !submitted.has(form));
    const form = counts.find(tried)?.form;
    return form && said(counts.filter((i) => i.form === form).map((i) => i.el));
  };
}

function said(fields: Element[]): string {
  // The buttons of a group are held back by one and the same choice.
  const choices = new Set<string>();
  const each = fields.filter((el) => {
    if (!(el instanceof HTMLInputElement) || el.type !== 'radio' || !el.name) return true;
    return !choices.has(el.name) && choices.add(el.name);
  });
  const first = each[0]!;
  const name = fold(nameOf(first)) || native(first).getAttribute('name');
  const why = cut(fold((first as Partial<HTMLInputElement>).validationMessage ?? ''), 300).replace(/\.$/, '');
  const more = each.length > 1 ? ` (and ${each.length - 1} more)` : '';
  return `the form was not submitted: ${name ? `"${cut(name, 100)}"` : outline(first)} does not hold${why && `: ${why}`}${more}`;
}
