// What keys do to controls whose value they choose: sliders, number fields, selects, groups of radio buttons.
import { fold } from '../text';
import { focus } from './pointer';
import { native } from '../native';

const BACK = new Set(['ArrowUp', 'ArrowLeft', 'PageUp', 'Home']);

/** Whether the key is the control's; its value follows. */
export function valueKey(el: Element, key: string): boolean {
  if (el instanceof HTMLSelectElement) {
    // A list that stands open goes up and down only.
    if (!/^Arrow(?:Left|Right)$/.test(key) || (!el.multiple && el.size <= 1)) chooseBy(el, key);
    return true;
  }
  if (!(el instanceof HTMLInputElement)) return false;
  if (el.type === 'radio' && key.startsWith('Arrow')) { nextRadio(el, !BACK.has(key)); return true; }
  if (el.type === 'range') { slide(el, key); return true; }
  return false;
}

/** Up and down in a number field. */
export function stepNumber(el: HTMLInputElement, up: boolean): void {
  // "any" has no steps of its own; the browser takes one.
  change(el, () => { if (el.step.toLowerCase() === 'any') el.valueAsNumber = (el.valueAsNumber || 0) + (up ? 1 : -1); else if (up) el.stepUp(); else el.stepDown(); });
}

function slide(el: HTMLInputElement, key: string): void {
  if (el.disabled) return;
  const number = (text: string, otherwise: number) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : otherwise);
  const min = number(el.min, 0);
  const max = Math.max(min, number(el.max, 100));
  const any = el.step.toLowerCase() === 'any';
  const step = any ? (max - min) / 100 : Math.max(number(el.step, 1), 0) || 1;
  const page = Math.max((max - min) / 10, step);
  const rightToLeft = getComputedStyle(el).direction === 'rtl';
  const to: Record<string, number> = {
    ArrowUp: step, ArrowDown: -step, ArrowRight: rightToLeft ? -step : step, ArrowLeft: rightToLeft ? step : -step, PageUp: page, PageDown: -page, Home: min - max, End: max - min,
  };
  change(el, () => { el.valueAsNumber = Math.min(max, Math.max(min, el.valueAsNumber + (to[key] ?? 0))); });
}

function change(el: HTMLInputElement, by: () => void): void {
  const before = el.value;
  by();
  if (el.value !== before) tell(el);
}

function tell(el: Element): void {
  native(el).dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  native(el).dispatchEvent(new Event('change', { bubbles: true }));
}

function nextRadio(el: HTMLInputElement, forward: boolean): void {
  const root = el.form ?? (el.getRootNode() as Document);
  const group = [...native(root).querySelectorAll<HTMLInputElement>('input[type=radio]:enabled')].filter((r) => r.name === el.name);
  const next = group[(group.indexOf(el) + (forward ? 1 : -1) + group.length) % group.length];
  if (!next || next === el) return;
  focus(next);
  next.click();
}

// ---- Selects ----

/** How many options a page of a closed list has. */
const PAGE = 3;

function chooseBy(el: HTMLSelectElement, key: string): void {
  const usable = [...el.options].filter((o) => !o.matches(':disabled') && !o.hidden);
  const at = usable.findIndex((o) => o.index >= el.selectedIndex && el.selectedIndex >= 0);
  const here = at < 0 ? (el.selectedIndex < 0 ? -1 : usable.length) : usable[at]!.index === el.selectedIndex ? at : at - (BACK.has(key) ? 0 : 1);
  const steps: Record<string, number> = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1, PageUp: -PAGE, PageDown: PAGE, Home: -Infinity, End: Infinity };
  if (here === usable.length && !BACK.has(key)) return;
  const option = usable[Math.min(usable.length - 1, Math.max(0, here + (steps[key] ?? 0)))];
  if (option) choose(el, option);
}

function choose(el: HTMLSelectElement, option: HTMLOptionElement): void {
  if (el.selectedOptions.length === 1 && option.selected) return;
  el.selectedIndex = option.index;
  tell(el);
}

/** What was typed into which list, and when last: what follows soon goes on with it. */
let typed: { el: WeakRef<Element>; text: string; at: number } | undefined;
const SOON_MS = 1000;

const folded = (text: string) => fold(text).toLowerCase();

/** Letters choose the next option that begins with them; the same letter again the one after it. */
export function typeAhead(el: HTMLSelectElement, key: string): void {
  const now = performance.now();
  const before = typed?.el.deref() === el && now - typed.at < SOON_MS ? typed.text : '';
  const text = before === key ? key : before + key;
  typed = { el: new WeakRef(el), text, at: now };
  const usable = [...el.options].filter((o) => !o.matches(':disabled'));
  const from = usable.findIndex((o) => o.index > el.selectedIndex - (text.length > 1 ? 1 : 0));
  const inTurn = from < 0 ? usable : [...usable.slice(from), ...usable.slice(0, from)];
  const option = inTurn.find((o) => folded(o.text).startsWith(folded(text)));
  if (option) choose(el, option);
}
