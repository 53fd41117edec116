// Visible text: what a person reads in an element, and the comparison that text targets rest on.
import { isRendered, parentOf } from './dom';
import { native } from './native';

/** One line, single spaces. */
export function normalise(text: string): string {
  return text.replace(/[\s\u00a0]+/g, ' ').trim();
}

/**
 * The text as it is compared: letters composed, and without what nobody sees of it (directions, soft hyphens, zero-width marks, the
 * choice between an emoji's two looks). Joiners stay: they tell one emoji, or one word, from another.
 */
export function fold(text: string): string {
  return normalise(text.normalize('NFC').replace(INVISIBLE, ''));
}

const INVISIBLE = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]|[\ufe0e\ufe0f]/gu;

const SILENT = new Set(['script', 'style', 'noscript', 'template', 'head', 'title', 'desc', 'metadata', 'datalist', 'option', 'optgroup', 'textarea', 'select']);
const LONGEST = 20_000;

/** The text that is rendered inside an element, blocks apart by spaces, normalised and bounded. */
export function visibleText(el: Element): string {
  const parts: string[] = [];
  collect(el, parts, { left: LONGEST });
  return normalise(parts.join(''));
}

function collect(el: Element, parts: string[], budget: { left: number }): void {
  if (SILENT.has(native(el).localName)) return;
  for (const child of contentOf(el)) {
    if (budget.left <= 0) return;
    if (native(child).nodeType === Node.TEXT_NODE) {
      const { data } = child as Text;
      if (!/\S/.test(data)) { parts.push(' '); continue; }
      if (!drawsText(el)) continue;
      const said = transformed(data, el);
      budget.left -= said.length;
      parts.push(said);
    } else if (native(child).nodeType === Node.ELEMENT_NODE) {
      const inner = child as Element;
      if (native(inner).localName === 'br') { parts.push(' '); continue; }
      const display = getComputedStyle(inner).display;
      if (display === 'none') continue;
      const apart = !/^(?:inline|contents|ruby)/.test(display) || display === 'inline-block';
      if (apart) parts.push(' ');
      collect(inner, parts, budget);
      if (apart) parts.push(' ');
    }
  }
}

/** What has no box of its own (display: contents, as every slot) draws its text in that of the element around it. */
function drawsText(el: Element): boolean {
  let box: Element | null = el;
  while (box && getComputedStyle(box).display === 'contents') box = parentOf(box);
  return box === el ? isRendered(el) : box !== null && getComputedStyle(el).visibility === 'visible' && native(box).checkVisibility();
}

/** A slot says what is put into it, else what it holds itself. */
function contentOf(el: Element): Iterable<Node> {
  const assigned = el instanceof HTMLSlotElement ? el.assignedNodes() : [];
  return assigned.length ? assigned : native(el).childNodes;
}

/** Letters as they are shown: a button written "Save" may read "SAVE". */
function transformed(text: string, el: Element): string {
  switch (getComputedStyle(el).textTransform) {
    case 'uppercase': return text.toLocaleUpperCase(native(native(el).closest('[lang]'))?.getAttribute('lang') || undefined);
    case 'lowercase': return text.toLocaleLowerCase(native(native(el).closest('[lang]'))?.getAttribute('lang') || undefined);
    default: return text;
  }
}

/** The text of the element's own text nodes, without that of its children. */
export function ownText(el: Element): string {
  let text = '';
  for (const child of native(el).childNodes) text += native(child).nodeType === Node.TEXT_NODE ? (child as Text).data : ' ';
  return normalise(text);
}
