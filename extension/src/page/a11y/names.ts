// Accessible names: what assistive technology calls an element (the W3C's accname-1.2 with HTML-AAM), as Chrome computes them.
//
// Written for this bridge rather than taken from a library: it agrees with Chrome on placeholders, generated content, data
// tables and legends, looks at each node once, and stops at a bound, which matters on pages where a cell holds a whole page.
import { labelsOf } from '../labels';
import { skipsContent } from '../read/visible';
import { isEditingHost, isSummary, parentOf, roleOf, tagOf } from './roles';
import { native } from '../native';

/** A name longer than this is cut while it is computed; nobody tells elements apart by more. */
const LONGEST = 2000;

const FROM_CONTENT = new Set(['button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'rowheader', 'switch', 'tab', 'term', 'tooltip', 'treeitem', 'doc-backlink', 'doc-biblioref',
  'doc-glossref', 'doc-noteref']);

/**
 * Roles that are things of their own: inside of what is named by its content, as a menu is in the item that opens it, only a name that
 * the author gave them counts. In a label, and in what aria-labelledby names, all text does.
 */
const OWN_THING = new Set(('alert alertdialog application article banner blockquote combobox comment complementary contentinfo dialog document feed ' +
  'figure form grid group img listbox log main marquee menu menubar meter navigation note progressbar radiogroup row rowgroup scrollbar search ' +
  'separator spinbutton status suggestion table tablist tabpanel timer toolbar tree treegrid').split(' '));

/** Roles whose elements are text: ARIA rules out a name for them, and a title only describes them. */
const ONLY_TEXT = new Set(('caption code definition deletion emphasis insertion mark paragraph strong subscript suggestion superscript time').split(' '));

interface Walk {
  /** Elements whose text is already in, so that a cycle of references ends. */
  seen: Set<Element>;
  /** Following aria-labelledby: its targets' own aria-labelledby is not followed. */
  referring: boolean;
  /** In the content or the label that names an element, rather than in what is referred to. */
  content: boolean;
  /** Inside a hidden element that was asked for or referred to: there hidden text counts. */
  hidden: boolean;
  /** Characters that may still be added. */
  left: number;
}

/** The accessible name, '' if there is none. */
export function nameOf(el: Element): string {
  // Whoever asks for the name of what cannot be seen wants to know it all the same.
  const hidden = getComputedStyle(el).visibility !== 'visible';
  const walk: Walk = { seen: new Set(), referring: false, content: false, hidden, left: LONGEST };
  return tidy(alternative(el, walk, true));
}

/** Whether this element and all in it are left out of the accessibility tree, by itself rather than by an ancestor. */
export function isHiddenItself(el: Element, style: CSSStyleDeclaration = getComputedStyle(el)): boolean {
  // A computed display of '' is that of a node outside the rendered tree, such as an unassigned child of a shadow host.
  return style.display === 'none' || style.display === '' || native(el).getAttribute('aria-hidden')?.toLowerCase() === 'true' ||
    (native(el).hasAttribute('inert') && el instanceof HTMLElement) || isFoldedAway(el);
}

/** Whether this is the folded content of a closed details element. */
function isFoldedAway(el: Element): boolean {
  const parent = native(el).parentElement;
  return native(parent)?.localName === 'details' && !(parent as HTMLDetailsElement).open && !isSummary(el);
}

/** Whether the element is hidden from assistive technology, by itself or by an ancestor. */
export function isHidden(el: Element): boolean {
  const own = getComputedStyle(el);
  if (own.visibility !== 'visible' || isHiddenItself(el, own)) return true;
  for (let up = parentOf(el); up; up = parentOf(up)) {
    const style = getComputedStyle(up);
    if (isHiddenItself(up, style) || skipsContent(style)) return true;
  }
  return false;
}

/** One line of text, single spaces, as names are. */
export function tidy(text: string): string {
  return text.replace(/[\s\u00a0]+/g, ' ').trim();
}

/** The text that stands for an element: the root of the computation, or a part of another one's name. */
function alternative(el: Element, walk: Walk, root: boolean): string {
  if (walk.seen.has(el) || walk.left <= 0) return '';
  walk.seen.add(el);
  if (!walk.referring) {
    const text = referred(el, 'aria-labelledby', walk);
    if (text) return text;
  }
  const role = roleOf(el);
  if (!root) {
    const value = embedded(el, role);
    // An empty control is spoken of by its name.
    if (value) return spend(value, walk);
  }
  const label = native(el).getAttribute('aria-label');
  if (label?.trim()) return spend(label, walk);
  const own = nativeName(el, walk, role);
  if (own) return own;
  if (root ? FROM_CONTENT.has(role) || namedByContent(el, role) : !(walk.content && isOwnThing(el, role))) {
    const text = root ? ownContent(el, walk) : content(el, walk);
    if (text.trim()) return text;
  }
  return ONLY_TEXT.has(role) ? '' : spend(lastResort(el, role), walk);
}

/** What an element is named by; if there is nothing but things of their own in it (a link around a card), they name it after all. */
function ownContent(el: Element, walk: Walk): string {
  const seen = new Set(walk.seen);
  const text = content(el, { ...walk, content: true });
  return text.trim() ? text : content(el, { ...walk, seen });
}

function isOwnThing(el: Element, role: string): boolean {
  return OWN_THING.has(role) && !/^(?:address|footer|svg)$/.test(tagOf(el));
}

function spend(text: string, walk: Walk): string {
  const cut = text.length > walk.left ? text.slice(0, walk.left) : text;
  walk.left -= cut.length;
  return cut;
}

/** The text of the elements that an attribute names by id. */
function referred(el: Element, attribute: string, walk: Walk): string {
  const ids = native(el).getAttribute(attribute)?.trim();
  if (!ids) return '';
  const root = native(el).getRootNode() as Document | ShadowRoot;
  const parts: string[] = [];
  for (const id of ids.split(/\s+/).slice(0, 50)) {
    const target = root.getElementById?.(id);
    if (!target) continue;
    // Each reference starts anew: an element may well label itself by its own aria-label.
    const part: Walk = { seen: new Set(target === el ? [] : [el]), referring: true, content: false, hidden: isHidden(target), left: walk.left };
    parts.push(tidy(alternative(target, part, false)));
    walk.left = part.left;
  }
  return parts.filter(Boolean).join(' ');
}

/** The value of a control inside another one's label; null if this is no such control, '' if it is empty. */
function embedded(el: Element, role: string): string | null {
  switch (role) {
    case 'textbox': case 'searchbox':
      return el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement ? (el.type === 'password' ? '•'.repeat(el.value.length) : el.value) : (native(el).textContent ?? '');
    case 'combobox': case 'listbox':
      if (el instanceof HTMLSelectElement) return Array.from(el.selectedOptions, (option) => option.label).join(' ');
      if (el instanceof HTMLInputElement) return el.value;
      return Array.from(native(el).querySelectorAll('[role~=option][aria-selected=true]'), (option) => native(option).textContent ?? '').join(' ');
    case 'slider': case 'spinbutton': case 'scrollbar': case 'progressbar': case 'meter':
      if (el instanceof HTMLProgressElement && el.position < 0) return '';
      return native(el).getAttribute('aria-valuetext') ?? native(el).getAttribute('aria-valuenow') ??
        (el instanceof HTMLInputElement || el instanceof HTMLProgressElement || el instanceof HTMLMeterElement ? String(el.value) : unsaid(el, role));
    default:
      return null;
  }
}

/** What a control stands at that does not say: the middle of its range, or nought. */
function unsaid(el: Element, role: string): string {
  if (role === 'progressbar') return '';
  if (role === 'spinbutton' || role === 'meter') return '0';
  const [low, high] = (['aria-valuemin', 'aria-valuemax'] as const).map((name, i) => Number(native(el).getAttribute(name) ?? i * 100) || 0) as [number, number];
  return String((low + high) / 2);
}

/** The name that HTML itself gives: labels, alt, caption, legend, title elements. */
function nativeName(el: Element, walk: Walk, role: string): string {
  const tag = tagOf(el);
  switch (tag) {
    case 'input': {
      const input = el as HTMLInputElement;
      const labelled = labels(input, walk);
      if (labelled) return labelled;
      if (input.type === 'image') return spend(input.alt || input.title || input.value || 'Submit', walk);
      if (role === 'button' && input.type !== 'file') {
        const word = input.type === 'submit' ? 'Submit' : input.type === 'reset' ? 'Reset' : '';
        return spend(input.hasAttribute('value') ? input.value : word, walk);
      }
      return input.type === 'file' ? spend(input.multiple ? 'Choose Files' : 'Choose File', walk) : '';
    }
    case 'textarea': case 'select': case 'meter': case 'progress': case 'output': case 'button':
      return labels(el, walk);
    case 'img': case 'area': return spend(native(el).getAttribute('alt') ?? '', walk);
    case 'fieldset': return firstChild(el, 'legend', walk);
    case 'table': return firstChild(el, 'caption', walk);
    case 'option': return spend((el as HTMLOptionElement).label, walk);
    case 'optgroup': return spend((el as HTMLOptGroupElement).label, walk);
    default: return el instanceof SVGElement ? firstChild(el, 'title', walk) : '';
  }
}

function labels(el: Element, walk: Walk): string {
  const part: Walk = { ...walk, content: !walk.referring };
  const text = labelsOf(el).slice(0, 20)
    .map((label) => (walk.hidden || !isHidden(label) ? tidy(alternative(label, part, false)) : ''))
    .filter(Boolean).join(' ');
  walk.left = part.left;
  return text;
}

function firstChild(el: Element, tag: string, walk: Walk): string {
  for (const child of native(el).children) {
    if (tagOf(child) !== tag) continue;
    // The title of a drawing is never rendered, and names it all the same.
    return walk.hidden || tag === 'title' || !isHiddenItself(child) ? tidy(alternative(child, walk, false)) : '';
  }
  return '';
}

/** Rows of a grid are chosen by what they say; focusable elements without a role have nothing else to be called by. */
function namedByContent(el: Element, role: string): boolean {
  if (role === 'row') return Boolean(native(el).closest('[role=grid],[role=treegrid]'));
  return role === 'generic' && (native(el).hasAttribute('tabindex') || native(el).hasAttribute('onclick'));
}

/** What is left when nothing else names an element. */
function lastResort(el: Element, role: string): string {
  const title = native(el).getAttribute('title')?.trim();
  if (title) return title;
  const placeholder = showsPlaceholder(el) ? native(el).getAttribute('placeholder')?.trim() : '';
  return placeholder || (/^(?:textbox|searchbox)$/.test(role) && native(el).getAttribute('aria-placeholder')?.trim()) || '';
}

/** Where `placeholder` means something: fields that are typed into, and editors, whose stylesheets show it. */
function showsPlaceholder(el: Element): boolean {
  if (el instanceof HTMLInputElement) return /^(?:text|search|url|tel|email|password|number)$/.test(el.type);
  return el instanceof HTMLTextAreaElement || isEditingHost(el);
}

/** The text of everything rendered inside, with generated content; blocks are set apart by spaces. */
function content(el: Element, walk: Walk): string {
  const style = getComputedStyle(el);
  if (!walk.hidden && skipsContent(style)) return '';
  const parts: string[] = [generated(el, '::before', walk)];
  for (const child of childrenOf(el)) {
    if (walk.left <= 0) break;
    if (native(child).nodeType === Node.TEXT_NODE) {
      if (walk.hidden || style.visibility === 'visible') parts.push(spend((child as Text).data, walk));
    } else if (native(child).nodeType === Node.ELEMENT_NODE) {
      parts.push(part(child as Element, walk));
    }
  }
  parts.push(generated(el, '::after', walk));
  const owned = ownedBy(el);
  // Below a block of its own it does not run on in its last line.
  if (owned.length && !/^(?:inline|contents)$/.test(style.display)) parts.push(' ');
  for (const other of owned) parts.push(part(other, walk));
  return parts.join('');
}

/** What `aria-owns` puts into the element after its children. */
function ownedBy(el: Element): Element[] {
  const ids = native(el).getAttribute('aria-owns')?.trim();
  if (!ids) return [];
  const root = native(el).getRootNode() as Document | ShadowRoot;
  return ids.split(/\s+/).slice(0, 50).map((id) => root.getElementById?.(id)).filter((owned) => owned != null && !native(owned).contains(el)) as Element[];
}

const NEVER = new Set(['script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'rp', 'datalist', 'title', 'desc', 'defs', 'metadata']);

function part(el: Element, walk: Walk): string {
  const tag = tagOf(el);
  if (NEVER.has(tag)) return '';
  if (tag === 'br') return ' ';
  const style = getComputedStyle(el);
  if (!walk.hidden && isHiddenItself(el, style)) return '';
  if (walk.hidden && native(el).getAttribute('aria-hidden') === 'true' && style.display !== 'none') return '';
  // What is not drawn says nothing of its own, whatever its attributes are; a child of it may be drawn again.
  const text = walk.hidden || style.visibility === 'visible' ? alternative(el, walk, false) : content(el, walk);
  return tag !== 'img' && /^(?:inline|contents|ruby.*)$/.test(style.display) ? text : ` ${text} `;
}

function childrenOf(el: Element): Iterable<Node> {
  if (el instanceof HTMLSlotElement) {
    const assigned = el.assignedNodes();
    if (assigned.length) return assigned;
  }
  const shadow = native(el).shadowRoot;
  if (shadow) return shadow.childNodes;
  return native(el).childNodes;
}

/** The text that a stylesheet puts before or after; icon fonts' private characters mean nothing as words. */
function generated(el: Element, pseudo: '::before' | '::after', walk: Walk): string {
  const style = getComputedStyle(el, pseudo);
  const value = style.content;
  if (!value || value === 'none' || value === 'normal' || style.display === 'none' || style.visibility !== 'visible') return '';
  const slash = value.search(/\s\/\s(?=")/);
  let text = '';
  for (const match of (slash >= 0 ? value.slice(slash) : value).matchAll(/"((?:[^"\\]|\\.)*)"/gs)) text += match[1]!.replace(/\\(.)/gs, '$1');
  text = text.replace(/[\ue000-\uf8ff\u{f0000}-\u{10fffd}]/gu, '');
  if (!text) return '';
  return spend(style.display === 'inline' && slash < 0 ? text : ` ${text} `, walk);
}
