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

/**
 * The text that is rendered inside an element, blocks apart by spaces, normalised and bounded. Who asks for elements inside each other hands
 * on what is `known`: in a deep nest each level would cost as much as all below it.
 */
export function visibleText(el: Element, known?: Map<Element, string>): string {
  return normalise(said(el, { left: LONGEST }, known));
}

function said(el: Element, budget: { left: number }, known?: Map<Element, string>): string {
  if (SILENT.has(native(el).localName)) return '';
  const before = known?.get(el);
  if (before !== undefined) return before;
  let text = '';
  for (const child of contentOf(el)) {
    if (budget.left <= 0) break;
    if (native(child).nodeType === Node.TEXT_NODE) {
      const { data } = child as Text;
      if (!/\S/.test(data)) { text += ' '; continue; }
      if (!drawsText(el)) continue;
      const shown = transformed(data, el);
      budget.left -= shown.length;
      text += shown;
    } else if (native(child).nodeType === Node.ELEMENT_NODE) {
      const inner = child as Element;
      if (native(inner).localName === 'br') { text += ' '; continue; }
      const display = getComputedStyle(inner).display;
      if (display === 'none') continue;
      const apart = !/^(?:inline|contents|ruby)/.test(display) || display === 'inline-block';
      // Spaces do not add up: in a deep nest they would outgrow the text.
      const part = said(inner, budget, known);
      text += apart ? ` ${part.trim()} ` : part;
    }
  }
  known?.set(el, text);
  return text;
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
