// Targets by label: a form control by the text of its label, its aria-label, or the hint in it.
import { nameOf } from '../a11y/names';
import { isVisible } from '../dom';
import { labelsOf } from '../labels';
import { fold, visibleText } from '../text';
import { firstOf, LENIENT, NOTHING, type Matches, type Root } from './find';
import { native } from '../native';

const CONTROLS = 'input:not([type=hidden]):not([type=submit]):not([type=reset]):not([type=button]):not([type=image]), textarea, select, meter, progress, output, ' +
  '[contenteditable]:not([contenteditable=false]), [role=textbox], [role=searchbox], [role=combobox], [role=listbox], [role=checkbox], ' +
  '[role=switch], [role=radio], [role=slider], [role=spinbutton]';

export function byLabel(root: Root, value: string, lenient: boolean): Matches {
  const wanted = fold(value);
  if (!wanted) return NOTHING;
  const low = wanted.toLocaleLowerCase();
  const all = [...root.querySelectorAll(CONTROLS)].map((el) => ({ el, names: namesOf(el) })).filter((c) => c.names.length);
  const pick = (holds: (name: string) => boolean) => all.filter((c) => c.names.some(holds)).map((c) => c.el);
  const usable = (list: Element[]) => list.filter(isReachable);
  const bare = (name: string) => name.replace(/[\s*＊:：]+$/u, '');
  if (!lenient) {
    return firstOf(
      { rank: 0, of: () => usable(pick((n) => n === wanted)) },
      { rank: 1, of: () => usable(pick((n) => bare(n) === bare(wanted))) },
      { rank: 2, of: () => pick((n) => bare(n) === bare(wanted)) },
      { rank: 3, of: () => usable(pick((n) => n.includes(wanted))) },
    );
  }
  return firstOf(
    { rank: LENIENT, of: () => usable(pick((n) => bare(n).toLocaleLowerCase() === bare(low))) },
    { rank: LENIENT + 1, of: () => usable(pick((n) => n.toLocaleLowerCase().includes(low))) },
  );
}

/** All that a person may call the control by. */
function namesOf(el: Element): string[] {
  const labels = labelsOf(el).map((label) => fold(visibleText(label)));
  return [...new Set([fold(nameOf(el)), ...labels, fold(native(el).getAttribute('aria-label') ?? '')])].filter(Boolean);
}

/** To be seen itself, or by the label that stands for it. */
function isReachable(el: Element): boolean {
  return isVisible(el) || labelsOf(el).some(isVisible);
}
