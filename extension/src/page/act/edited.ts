// Which fields hold typed text of which the page has had no `change` yet. A browser sends one when the focus leaves such a field, and before Enter
// in it does anything else. A key that is dispatched makes the browser do neither, so the second is done here; when the focus leaves the field
// later, the browser's own comes for the same text, and is kept from the page.
import { focused } from '../dom';
import { native } from '../native';

/** null: the page has not been told; else the text with which it has been told here. */
const edited = new WeakMap<Element, string | null>();
const heard = new WeakSet<EventTarget>();
/** What was in a field before it was typed into, of which the page has had no word since. */
const before = new WeakMap<Element, string>();
let typedAt = -Infinity;
const TYPING_MS = 1000;

/** Whether somebody, or another act, is typing in this page. */
export const typing = (): boolean => performance.now() - typedAt < TYPING_MS;

/** To be called once in a document: typing of all kinds, the browser's own input too, raises `input`. */
export function watchEdits(): void {
  for (const type of ['keydown', 'input']) addEventListener(type, (e) => { if (e.isTrusted) typedAt = performance.now(); }, true);
  addEventListener('beforeinput', (e) => {
    const el = focused();
    if (e.isTrusted && el instanceof HTMLInputElement && !before.has(el)) before.set(el, el.value);
  }, true);
  addEventListener('input', (e) => {
    const el = focused();
    if (!e.isTrusted || !(el instanceof HTMLInputElement)) return;
    edited.set(el, null);
    // `change` does not leave a shadow tree.
    const root = el.getRootNode();
    hear(root instanceof ShadowRoot ? root : window);
  }, true);
}

function hear(place: EventTarget): void {
  if (heard.has(place)) return;
  heard.add(place);
  native(place).addEventListener('change', (e) => {
    const el = e.composedPath()[0];
    if (!e.isTrusted || !(el instanceof HTMLInputElement) || !edited.has(el)) return;
    if (edited.get(el) === el.value) e.stopImmediatePropagation();
    editTold(el);
  }, true);
}

/** The page hears of a change of which it has not heard yet. */
export function tellEdit(el: HTMLInputElement): void {
  // What was typed and taken back again is no change.
  if (edited.get(el) !== null || before.get(el) === el.value) return;
  edited.set(el, el.value);
  before.delete(el);
  el.dispatchEvent(new Event('change', { bubbles: true }));
}

/** The page has been told by other means. */
export function editTold(el: Element): void {
  edited.delete(el);
  before.delete(el);
}
