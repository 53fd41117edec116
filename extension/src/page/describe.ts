// How an element is told to the client: as the `element` or `clicked` of a result, and in one word in an error.
import { boxesOf } from './dom';
import { visibleText } from './text';
import { native } from './native';

export interface ElementInfo {
  tag: string;
  id?: string;
  type?: string;
  name?: string;
  text?: string;
  href?: string;
}

const TYPED = new Set(['input', 'button']);
const NO_TEXT = new Set(['input', 'select', 'textarea', 'html', 'body']);

/** What an element is, in a few fields. Never its value: that may be a secret. */
export function describe(el: Element): ElementInfo {
  const tag = native(el).localName.toLowerCase();
  const info: ElementInfo = { tag };
  if (native(el).id) info.id = cut(native(el).id, 200);
  if (TYPED.has(tag)) info.type = (el as HTMLInputElement).type;
  const name = native(el).getAttribute('name');
  if (name) info.name = cut(name, 200);
  const text = isButtonInput(el) ? el.value : NO_TEXT.has(tag) || isEditable(el) ? '' : visibleText(el);
  if (text) info.text = cut(text, 200);
  if (el instanceof HTMLAnchorElement && el.href) info.href = cut(el.href, 2000);
  return info;
}

const isEditable = (el: Element) => el instanceof HTMLElement && native(el).isContentEditable;

export function isButtonInput(el: Element): el is HTMLInputElement {
  return el instanceof HTMLInputElement && ['submit', 'button', 'reset'].includes(el.type);
}

/** The element in the manner of its own tag, for errors: `<div id="toast" class="big">`. */
export function outline(el: Element): string {
  const tag = native(el).localName.toLowerCase();
  let text = `<${tag}`;
  if (native(el).id) text += ` id="${word(native(el).id)}"`;
  const role = native(el).getAttribute('role');
  if (role) text += ` role="${word(role)}"`;
  if (!native(el).id) {
    const type = TYPED.has(tag) && native(el).getAttribute('type');
    if (type) text += ` type="${word(type)}"`;
    const name = native(el).getAttribute('name');
    const classes = native(el).getAttribute('class')?.trim();
    if (name) text += ` name="${word(name)}"`;
    else if (classes) text += ` class="${word(classes)}"`;
  }
  return `${text}>`;
}

// A page's own words go into an error only as a short, single-line piece.
const word = (text: string) => cut(text.replace(/[\s"<>\p{C}]+/gu, ' ').trim(), 40);

export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // Not between the halves of a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text[length - 2]!) ? length - 2 : length - 1;
  return `${text.slice(0, end)}…`;
}

/** The middle of an element's first box, for reports. */
export function middle(el: Element): { x: number; y: number } {
  const r = boxesOf(el)[0] ?? native(el).getBoundingClientRect();
  return { x: Math.round(r.x + r.width / 2), y: Math.round(r.y + r.height / 2) };
}
