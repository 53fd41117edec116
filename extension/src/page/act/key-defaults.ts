// What a browser does by itself when a key is pressed: submit, click, put a character in, move the focus, scroll, close a dialog.
import { isVisible, parentOf, shadowOf } from '../dom';
import { edit } from './editable';
import { tellEdit } from './edited';
import { leadsAway, linkOf, submitterOf } from './link';
import { focus, type Modifiers } from './pointer';
import { prints } from './keyboard';
import { editingHost } from './resolve';
import { stepNumber, typeAhead, valueKey } from './value-keys';
import { native } from '../native';

/** After keydown and keypress. True if a page may be on its way now. */
export function defaultAction(el: Element, key: string, held: Modifiers): boolean {
  const plain = !held.ctrl && !held.alt && !held.meta;
  switch (key) {
    case 'Enter': return plain && enter(el, held);
    case 'Tab': if (plain) tabFrom(el, held.shift); return false;
    case 'Escape': escape(); return false;
    case 'Backspace': case 'Delete':
      if (plain && isText(el)) edit(el, key === 'Delete' ? 'deleteContentForward' : 'deleteContentBackward', null);
      return false;
    case 'ArrowUp': case 'ArrowDown': case 'ArrowLeft': case 'ArrowRight': case 'PageUp': case 'PageDown': case 'Home': case 'End':
      if (plain) arrow(el, key, held);
      return false;
    default:
  }
  if (key.toLowerCase() === 'a' && (held.ctrl || held.meta) && !held.alt) { selectAll(el); return false; }
  if (!plain || !prints(key)) return false;
  if (el instanceof HTMLSelectElement && key !== ' ') typeAhead(el, key);
  else if (isText(el)) edit(el, 'insertText', held.shift && /^[a-z]$/.test(key) ? key.toUpperCase() : key);
  else if (key === ' ' && !isControl(el)) scrollPage(el, 0, (held.shift ? -0.875 : 0.875) * innerHeight);
  return false;
}

/** The space bar presses buttons and boxes when it comes up. True if a page may be on its way now. */
export function defaultActionOfKeyup(el: Element, key: string, held: Modifiers): boolean {
  if (key !== ' ' || held.ctrl || held.alt || held.meta) return false;
  const pressed = native(el).matches('button:enabled, summary, input:is([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset], [type=image], [type=file], [type=color]):enabled');
  const leads = pressed && submitterOf(el) !== null;
  if (pressed) native(el as HTMLElement).click();
  return leads;
}

const UNTYPED = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden', 'color', 'range', 'date', 'time', 'month', 'week', 'datetime-local']);

/** Whether characters go into it. */
function isText(el: Element): boolean {
  if (el instanceof HTMLInputElement) return !UNTYPED.has(el.type) && !el.readOnly && !el.disabled;
  if (el instanceof HTMLTextAreaElement) return !el.readOnly && !el.disabled;
  return editingHost(el) !== null;
}

const isControl = (el: Element) => native(el).matches('input, button, select, textarea, summary, audio, video, [role=button], [role=checkbox], [role=radio], [role=switch], [role=option], [role=tab], [role=menuitem]');

function enter(el: Element, held: Modifiers): boolean {
  if (el instanceof HTMLTextAreaElement || editingHost(el)) {
    if (isText(el)) edit(el, editingHost(el) && !held.shift ? 'insertParagraph' : 'insertLineBreak', null);
    return false;
  }
  if (native(el).matches('button:enabled, summary, input:is([type=submit], [type=button], [type=reset], [type=image], [type=file], [type=color]):enabled')) {
    const leads = submitterOf(el) !== null;
    native(el as HTMLElement).click();
    return leads;
  }
  if (native(el).matches('a[href], area[href]') || (el instanceof SVGElement && linkOf(el))) {
    const link = linkOf(el);
    native(el).dispatchEvent(new PointerEvent('click', { bubbles: true, cancelable: true, composed: true, view: window }));
    return link !== null && leadsAway(link.href);
  }
  if (!(el instanceof HTMLInputElement)) return false;
  tellEdit(el);
  return el.form !== null && submitImplicitly(el.form);
}

/** A form's own rule for Enter in one of its fields: its default button is clicked; without any, a form of one field is submitted. */
function submitImplicitly(form: HTMLFormElement): boolean {
  const elements = [...native(form).elements];
  const button = elements.find((e): e is HTMLButtonElement | HTMLInputElement =>
    (e instanceof HTMLButtonElement && e.type === 'submit') || (e instanceof HTMLInputElement && (e.type === 'submit' || e.type === 'image'))) ??
    [...native(form).querySelectorAll<HTMLInputElement>('input[type=image]')][0];
  if (button) {
    if (button.matches(':disabled')) return false;
    button.click();
    return true;
  }
  const single = elements.filter((e) => e instanceof HTMLInputElement && /^(?:text|search|tel|url|email|password|date|month|week|time|datetime-local|number)$/.test(e.type));
  if (single.length > 1) return false;
  native(form).requestSubmit();
  return true;
}

function escape(): void {
  const popovers = [...document.querySelectorAll<HTMLElement>('[popover]:popover-open')].filter((p) => native(p).popover !== 'manual');
  const popover = popovers.at(-1);
  if (popover) { native(popover).hidePopover(); return; }
  const dialog = [...document.querySelectorAll<HTMLDialogElement>('dialog:modal, dialog[open]:is([closedby=any i], [closedby=closerequest i])')].at(-1);
  if (!dialog || dialog.matches('[closedby=none i]')) return;
  if (dialog.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close();
}

function selectAll(el: Element): void {
  if (el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) el.select();
  else getSelection()?.selectAllChildren(editingHost(el) ?? document.body);
}

// ---- Tab ----

const STOPS = 'a[href], area[href], button, input:not([type=hidden]), select, textarea, iframe, summary, audio[controls], video[controls], [tabindex], [contenteditable]:not([contenteditable=false])';

function tabFrom(el: Element, back: boolean): void {
  const stops = [...tabStops(document)];
  const positive = stops.filter((s) => order(s) > 0).sort((a, b) => order(a) - order(b));
  const all = [...positive, ...stops.filter((s) => order(s) === 0)];
  if (!all.length) return;
  let at = all.indexOf(el);
  if (at < 0) {
    // From an element that is no stop itself the way goes on to the next one in the document.
    const behind = (s: Element) => (native(el).compareDocumentPosition(s) & (Node.DOCUMENT_POSITION_FOLLOWING | Node.DOCUMENT_POSITION_DISCONNECTED)) === Node.DOCUMENT_POSITION_FOLLOWING;
    const next = el === document.body || el === document.documentElement ? 0 : all.findIndex(behind);
    at = (next < 0 ? all.length : next) - (back ? 0 : 1);
  }
  const to = all[(at + (back ? -1 : 1) + all.length) % all.length];
  if (!to) return;
  focus(to);
  if (to instanceof HTMLInputElement && !UNTYPED.has(to.type)) to.select();
}

const order = (el: Element) => native(el as HTMLElement).tabIndex;

function* tabStops(root: Document | ShadowRoot): Generator<Element> {
  for (const el of root.querySelectorAll('*')) {
    if (native(el).matches(STOPS) && !native(el).matches(':disabled') && order(el) >= 0 && isVisible(el) && !isOtherRadio(el)) yield el;
    const shadow = shadowOf(el);
    if (shadow) yield* tabStops(shadow);
  }
}

/** Of a group of radio buttons only the chosen one is a stop. */
function isOtherRadio(el: Element): boolean {
  if (!(el instanceof HTMLInputElement) || el.type !== 'radio' || el.checked || !el.name) return false;
  const root = el.form ?? (el.getRootNode() as Document);
  return [...native(root).querySelectorAll<HTMLInputElement>('input[type=radio]:checked')].some((r) => r.name === el.name);
}

// ---- Arrows and scrolling ----

function arrow(el: Element, key: string, held: Modifiers): void {
  if (isText(el)) { moveCaret(el, key, held.shift); return; }
  if (valueKey(el, key)) return;
  if (isControl(el)) return;
  const line = 40;
  const page = 0.875 * innerHeight;
  const steps: Record<string, [number, number]> = {
    ArrowUp: [0, -line], ArrowDown: [0, line], ArrowLeft: [-line, 0], ArrowRight: [line, 0], PageUp: [0, -page], PageDown: [0, page], Home: [0, -1e9], End: [0, 1e9],
  };
  const step = steps[key];
  if (step) scrollPage(el, ...step);
}

function moveCaret(el: Element, key: string, extend: boolean): void {
  if (el instanceof HTMLInputElement && el.type === 'number') {
    if (key !== 'ArrowUp' && key !== 'ArrowDown') return;
    if (isText(el)) stepNumber(el, key === 'ArrowUp');
    return;
  }
  const moves: Record<string, [string, string]> = {
    ArrowLeft: ['left', 'character'], ArrowRight: ['right', 'character'], ArrowUp: ['backward', 'line'], ArrowDown: ['forward', 'line'],
    Home: ['backward', 'lineboundary'], End: ['forward', 'lineboundary'],
  };
  const move = moves[key];
  if (move) getSelection()?.modify(extend ? 'extend' : 'move', ...(move as ['left', 'character']));
}

/** Scrolls the nearest scroller that can go that way, else the page. */
function scrollPage(el: Element, dx: number, dy: number): void {
  for (let up: Element | null = el; up && up !== document.body && up !== document.documentElement; up = parentOf(up)) {
    const style = getComputedStyle(up);
    const scrolls = (dy !== 0 && /auto|scroll/.test(style.overflowY) && native(up).scrollHeight > native(up).clientHeight) || (dx !== 0 && /auto|scroll/.test(style.overflowX) && native(up).scrollWidth > native(up).clientWidth);
    if (!scrolls) continue;
    const before = [native(up).scrollTop, native(up).scrollLeft];
    native(up).scrollBy({ left: dx, top: dy, behavior: 'instant' });
    if (native(up).scrollTop !== before[0] || native(up).scrollLeft !== before[1]) return;
  }
  scrollBy({ left: dx, top: dy, behavior: 'instant' });
}
