// select_option: one option of a select, chosen as a person would, with what the page is told about it.
import type { PageContext } from '../context';
import { mark } from '../aftermath';
import { cut, describe, outline, type ElementInfo } from '../describe';
import { onElement, type Around, type Beyond, type ElementArgs } from '../element';
import { PageError } from '../error';
import { fold, normalise } from '../text';
import { settle, type Later, type Settled } from './kept';
import { focus } from './pointer';
import { controlOf } from './resolve';
import { native } from '../native';

/** `any`: by its text, else by its value. */
export interface SelectParams { value?: string; text?: string; index?: number; any?: string }
export interface Selected extends Settled { element: ElementInfo; value: string; text: string; selected?: string[]; shadow?: true }

export function selectOp(args: ElementArgs & Later & { option: SelectParams }, ctx: PageContext): Promise<Selected | Beyond | Around> {
  const { option } = args;
  return onElement<Selected>(args, ctx, {
    needs: { keys: true },
    resolve: (el) => controlOf(el, 'select'),
    // Not a select now, not a select later; only one that is still being built is waited for.
    unfit: (el) => { if (!(el instanceof HTMLSelectElement)) { refuse(el); } return whyNot(el, option); },
    async act({ el, dress, again }) {
      const select = el as HTMLSelectElement;
      const wanted = optionOf(select, option)!;
      ctx.acted(dress({ element: describe(select), value: wanted.value, text: textOf(wanted) }));
      const before = mark();
      choose(select, wanted);
      const settled = await settle(before, ctx, args, () => {
        const now = selectNow(select, again);
        if (!now || isChosen(now, wanted)) return null;
        const shown = now.selectedOptions[0];
        return new PageError('ELEMENT_NOT_ACTIONABLE', `the page did not keep the option ${quoted(textOf(wanted))}: ${shown ? `it shows ${quoted(textOf(shown))}` : 'nothing is selected'}`, { maybe_executed: true });
      });
      const now = selectNow(select, again);
      const result: Selected = { element: describe(select), value: wanted.value, text: textOf(wanted), ...settled };
      if (select.multiple && settled.wrong === undefined) result.selected = [...(now ?? select).selectedOptions].map((o) => o.value);
      return result;
    },
  });
}

/** Selects the option and tells the page, if that is a change. With `add`, in a list of several, the others stay as they are, and what is selected no longer is. */
export function choose(select: HTMLSelectElement, option: HTMLOptionElement, add = false): void {
  focus(select);
  const before = [...select.selectedOptions];
  if (add && select.multiple) {
    option.selected = !option.selected;
  } else {
    if (before.length === 1 && before[0] === option) return;
    for (const other of before) if (other !== option) other.selected = false;
    option.selected = true;
  }
  select.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
  select.dispatchEvent(new Event('change', { bubbles: true }));
}

/** The select, or the one that the page has drawn in its place. */
export function selectNow(select: HTMLSelectElement, again: () => Element | null): HTMLSelectElement | null {
  const now = select.isConnected ? select : again();
  return now instanceof HTMLSelectElement && now.name === select.name ? now : null;
}

/** Whether the option is chosen, also where the page has drawn its options anew. */
export function isChosen(select: HTMLSelectElement, option: HTMLOptionElement): boolean {
  if (option.isConnected && option.closest('select') === select) return option.selected;
  return [...select.selectedOptions].some((o) => o.value === option.value && textOf(o) === textOf(option));
}

const textOf = (option: HTMLOptionElement) => normalise(option.text) || normalise(option.label);
const quoted = (text: string) => JSON.stringify(cut(text, 60));

function refuse(el: Element): never {
  const custom = native(el).closest('[role=combobox], [role=listbox], [aria-haspopup=listbox]') !== null || native(el).querySelector('[role=option]') !== null;
  throw new PageError('INVALID_PARAMS', custom
    ? `select_option is for <select> elements; this is ${outline(el)}, a list made by the page: click it, then click the option`
    : `select_option is for <select> elements; this is ${outline(el)}`);
}

function optionOf(select: HTMLSelectElement, { value, text, index, any }: SelectParams): HTMLOptionElement | undefined {
  const options = [...select.options];
  if (index !== undefined) return options[index];
  const usable = (list: HTMLOptionElement[]) => list.find((o) => !isDisabled(o)) ?? list[0];
  if (value !== undefined) return usable(options.filter((o) => o.value === value));
  const wanted = fold(text ?? any ?? '');
  return usable(options.filter((o) => fold(o.text) === wanted)) ?? usable(options.filter((o) => fold(o.label) === wanted)) ?? usable(options.filter((o) => o.value === any));
}

const isDisabled = (o: HTMLOptionElement) => o.disabled || (o.parentElement instanceof HTMLOptGroupElement && o.parentElement.disabled);

function whyNot(select: HTMLSelectElement, asked: SelectParams): string | null {
  const option = optionOf(select, asked);
  if (!option) {
    const count = select.options.length;
    const what = asked.index !== undefined ? `no option ${asked.index} (it has ${count})` : asked.value !== undefined ? `no option with the value ${quoted(asked.value)}` : `no option ${quoted(asked.text ?? asked.any ?? '')}`;
    const have = [...select.options].slice(0, 10).map((o) => quoted(asked.value !== undefined ? o.value : textOf(o))).join(', ');
    return `it has ${what}${asked.index === undefined && count ? `; it has ${have}${count > 10 ? `, and ${count - 10} more` : ''}` : ''}`;
  }
  if (isDisabled(option)) return `its option ${quoted(textOf(option))} is disabled`;
  return null;
}
