// set_value and clear: what a field holds is replaced, the page is told as after typing, and the result is read back.
import type { PageContext } from '../context';
import { mark } from '../aftermath';
import { cut, describe, outline, type ElementInfo } from '../describe';
import { closestAcross } from '../dom';
import { onElement, type Around, type Beyond, type ElementArgs, type Hit } from '../element';
import { PageError } from '../error';
import { CODE_EDITORS, codeInput, isCodeEditor, writeCode } from './code-editor';
import { writeEditable } from './editable';
import { editTold } from './edited';
import { settle, type Later, type Settled } from './kept';
import { choose, isChosen, selectNow } from './options';
import { focus } from './pointer';
import { controlOf, editingHost } from './resolve';
import { native } from '../native';

export interface Filled extends Settled { element: ElementInfo; value: string; shadow?: true; validation?: string }

const NOT_TEXT = '[type=checkbox], [type=radio], [type=hidden], [type=button], [type=submit], [type=reset], [type=image], [type=file]';
const FIELD = `input:not(${NOT_TEXT}), textarea, select, [contenteditable=""], [contenteditable=true i], [contenteditable=plaintext-only i]`;

export function valueOp(args: ElementArgs & Later & { value: string }, ctx: PageContext): Promise<Filled | Beyond | Around> {
  const { value } = args;
  return onElement<Filled>(args, ctx, {
    needs: { editable: true, keys: true, seenBy: (el) => (isCodeEditor(el) ? closestAcross(el, CODE_EDITORS) : null) },
    resolve: (el) => codeInput(el) ?? editingHost(el) ?? controlOf(el, FIELD),
    unfit: (el) => { refuse(el, value); return null; },
    async act(hit) {
      const { el } = hit;
      if (el instanceof HTMLSelectElement) return setSelect(el, value, hit, ctx, args);
      if (isCodeEditor(el)) return writeCode(el as HTMLElement, value, hit, ctx, args);
      if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) return setField(el, value, hit, ctx, args);
      return writeEditable(el as HTMLElement, value, hit, ctx, args);
    },
  });
}

/** Says at once what no waiting can help with. */
function refuse(el: Element, value: string): void {
  if (el instanceof HTMLSelectElement || editingHost(el) || isCodeEditor(el)) return;
  if (el instanceof HTMLTextAreaElement) return checkLength(el, value);
  if (!(el instanceof HTMLInputElement)) throw new PageError('INVALID_PARAMS', `${outline(el)} takes no value: it is no input, textarea, select or editable element`);
  switch (el.type) {
    case 'checkbox': case 'radio': throw new PageError('INVALID_PARAMS', `${outline(el)} has no text to fill in: use check`);
    case 'file': throw new PageError('INVALID_PARAMS', `${outline(el)} takes files: use upload`);
    case 'submit': case 'button': case 'reset': case 'image': throw new PageError('INVALID_PARAMS', `${outline(el)} is a button: use click`);
    default:
  }
  checkLength(el, value);
  accepted(el, value);
}

function checkLength(el: HTMLInputElement | HTMLTextAreaElement, value: string): void {
  // An attribute that does not apply to this type reads as -1.
  if (el.maxLength >= 0 && value.length > el.maxLength) {
    throw new PageError('INVALID_PARAMS', `the value has ${value.length} characters, but ${outline(el)} takes no more than ${el.maxLength}`);
  }
}

const FORMATS: Record<string, string> = {
  date: 'a date as 2027-03-09', time: 'a time as 07:45', month: 'a month as 2027-03', week: 'a week as 2027-W07',
  'datetime-local': 'a date and time as 2027-03-09T18:30', number: 'a number as 12.5', range: 'a number', color: 'a colour as #a0b1c2',
};

/** The value as the browser keeps it in a field of this kind; throws if it would drop or bend it. */
function accepted(el: HTMLInputElement, given: string): string {
  const value = el.type === 'color' ? (colour(given) ?? given) : given;
  const probe = document.createElement('input');
  for (const name of ['type', 'min', 'max', 'step', 'multiple']) {
    const set = el.getAttribute(name);
    if (set !== null) probe.setAttribute(name, set);
  }
  probe.value = value;
  const kept = probe.value;
  if (value === '') {
    if (kept !== '' ) throw new PageError('INVALID_PARAMS', `${outline(el)} cannot be empty: it takes ${FORMATS[el.type] ?? 'a value'}`);
    return kept;
  }
  const same = kept === value || (FORMATS[el.type] !== undefined && kept !== '' && (el.type === 'color' ? kept === value : el.type === 'range' || el.type === 'number' ? Number(kept) === Number(value) : true)) ||
    ((el.type === 'email' || el.type === 'url') && kept.replace(/\s/g, '') === value.replace(/\s/g, ''));
  if (same) return kept;
  if (FORMATS[el.type] === undefined && /[\r\n]/.test(value)) throw new PageError('INVALID_PARAMS', `${outline(el)} takes one line; the value has line breaks`);
  const limits = el.type === 'range' ? ` from ${el.min || 0} to ${el.max || 100}${el.step && el.step !== 'any' ? ` in steps of ${el.step}` : ''}` : '';
  throw new PageError('INVALID_PARAMS', `${outline(el)} takes ${FORMATS[el.type] ?? 'another form of value'}${limits}, not ${quoted(value, el)}`);
}

/** A colour however CSS writes it (`#FFF`, `red`) as a colour field keeps it; nothing for what is none, or is not opaque. */
function colour(value: string): string | undefined {
  const context = new OffscreenCanvas(1, 1).getContext('2d');
  if (!context) return undefined;
  // What is no colour leaves the style as it was.
  const read = (before: string) => { context.fillStyle = before; context.fillStyle = value.trim(); return context.fillStyle; };
  const [one, other] = [read('#000000'), read('#ffffff')];
  return one === other && /^#[0-9a-f]{6}$/.test(one) ? one : undefined;
}

async function setField(el: HTMLInputElement | HTMLTextAreaElement, value: string, { dress, again }: Hit, ctx: PageContext, later: Later): Promise<Filled> {
  const wanted = el instanceof HTMLInputElement ? accepted(el, value) : value.replace(/\r\n?/g, '\n');
  const element = describe(el);
  ctx.acted(dress({ element, value: wanted }));
  const before = mark();
  focus(el);
  // Some draw a field anew when it gets the focus: then the new one is meant.
  if (!el.isConnected) el = redrawn(el, again());
  // The accessor of this world's prototype: what the page has put over it (React does) is not asked, and so notices the change.
  el.value = wanted;
  const text = wanted === '' ? { inputType: 'deleteContentBackward' } : { inputType: 'insertText', data: wanted };
  el.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, ...text }));
  editTold(el);
  el.dispatchEvent(new Event('change', { bubbles: true }));
  const current = () => {
    const now = el.isConnected ? el : again();
    return (now instanceof HTMLInputElement || now instanceof HTMLTextAreaElement) && sameField(now, el) ? now : null;
  };
  const result: Filled = { element, value: wanted };
  Object.assign(result, await settle(before, ctx, later, () => {
    const now = current();
    return now && now.value !== wanted ? notKept(wanted, now.value, now) : null;
  }));
  const now = current();
  if (!now) result.note = GONE;
  else if (result.wrong === undefined && !now.validity.valid && now.validationMessage) result.validation = cut(now.validationMessage, 200);
  return result;
}

function redrawn<E extends HTMLInputElement | HTMLTextAreaElement>(el: E, now: Element | null): E {
  const gone = (why: string) => new PageError('ELEMENT_NOT_ACTIONABLE', `the page replaced ${outline(el)} when it got the focus${why}`, { maybe_executed: true });
  if (!(now instanceof (el instanceof HTMLInputElement ? HTMLInputElement : HTMLTextAreaElement)) || !sameField(el, now)) throw gone('');
  const field = now as E;
  if (field.readOnly || field.matches(':disabled')) throw gone(`, by one that takes no value: ${outline(field)}`);
  focus(field);
  if (!field.isConnected) throw gone(' and again');
  return field;
}

/** Whether one is the other drawn anew. Else what the target now means is another field: what that holds is not what was put in. */
function sameField(a: HTMLInputElement | HTMLTextAreaElement, b: Element): boolean {
  return a === b || ['id', 'name', 'type'].every((name) => a.getAttribute(name) === native(b).getAttribute(name));
}

const GONE = 'the page has taken the field away: what became of the value could not be read back';

/** The page has another value than the one that was put in: an error that shows both. */
export function notKept(wanted: string, kept: string, el: Element): PageError {
  const form = sameBesidesForm(kept, wanted) ? ' (the letters and digits are the same, their form is the page\'s)' : '';
  const [asked, has] = isSecret(el) ? [quoted(wanted, el), quoted(kept, el)] : bothShown(wanted, kept);
  return new PageError('ELEMENT_NOT_ACTIONABLE', `the page did not keep the value: ${asked} was put in, ${outline(el)} now has ${has}${form}`, { maybe_executed: true });
}

const SHOWN = 100;

/** Both texts, and where they are long the part of each in which they begin to differ. */
export function bothShown(a: string, b: string): [string, string] {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  const from = same < SHOWN - 20 ? 0 : same - 20;
  const part = (s: string) => (from ? `…${JSON.stringify(cut(s.slice(from), SHOWN))} (${s.length} characters in all)` : JSON.stringify(cut(s, SHOWN)));
  return [part(a), part(b)];
}

/** Whether a page has only put it into another form (a phone number, capitals): the letters and digits are all there. */
function sameBesidesForm(a: string, b: string): boolean {
  const core = (s: string) => s.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return core(b) !== '' && core(a) === core(b);
}

async function setSelect(el: HTMLSelectElement, value: string, { dress, again }: Hit, ctx: PageContext, later: Later): Promise<Filled> {
  const options = [...el.options];
  const option = options.find((o) => o.value === value) ?? options.find((o) => o.text.trim() === value.trim());
  if (!option) throw new PageError('INVALID_PARAMS', `${outline(el)} has no option ${quoted(value, el)}; it has ${options.slice(0, 10).map((o) => JSON.stringify(cut(o.text.trim(), 60))).join(', ')}`);
  if (option.disabled || (option.parentElement as HTMLOptGroupElement).disabled) throw new PageError('ELEMENT_NOT_ACTIONABLE', `the option ${quoted(value, el)} is disabled`);
  const element = describe(el);
  ctx.acted(dress({ element, value: option.value }));
  const before = mark();
  choose(el, option);
  const settled = await settle(before, ctx, later, () => {
    const now = selectNow(el, again);
    if (!now || isChosen(now, option)) return null;
    return new PageError('ELEMENT_NOT_ACTIONABLE', `the page did not keep the option: ${quoted(value, el)} was chosen, ${outline(now)} now has ${quoted(now.value, now)}`, { maybe_executed: true });
  });
  return { element, value: option.value, ...settled };
}

/** A value in an error; never a password. */
function quoted(value: string, el: Element): string {
  return isSecret(el) ? `a secret of ${value.length} characters` : JSON.stringify(cut(value, 100));
}

/** Whether what the field holds is for nobody's eyes, even while the page shows it. */
export function isSecret(el: Element): boolean {
  return el instanceof HTMLInputElement && (el.type === 'password' || /\b(?:current|new)-password\b/.test(el.autocomplete));
}
