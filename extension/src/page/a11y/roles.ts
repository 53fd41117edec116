// ARIA roles: what an element is to assistive technology, as Chrome computes it. A page's script cannot read Chrome's own tree
// (computedRole is behind a flag), so this is the HTML-AAM mapping, checked in the tests against that tree.
//
// Where Chrome has names of its own (Date, ColorWell, DisclosureTriangle, image, …) the ARIA word stands that says what can be done
// with the element; `iframe`, `audio` and `video` are the only words that are not ARIA's. The tests hold the list of differences.
import { native } from '../native';

const WORDS = new Set((
  'alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox comment ' +
  'complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group ' +
  'heading image img insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox ' +
  'menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup ' +
  'rowheader scrollbar search searchbox separator slider spinbutton status strong subscript suggestion superscript switch tab ' +
  'table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem ' +
  'doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography doc-biblioref ' +
  'doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph ' +
  'doc-epilogue doc-errata doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref ' +
  'doc-notice doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna ' +
  'doc-subtitle doc-tip doc-toc graphics-document graphics-object graphics-symbol').split(' '));

const SAME_AS: Record<string, string> = { image: 'img', presentation: 'none', directory: 'list' };

/** Attributes that make a presentational role void: who sets them wants the element to be perceived. */
const GLOBAL = ['aria-atomic', 'aria-busy', 'aria-controls', 'aria-current', 'aria-describedby', 'aria-description', 'aria-details',
  'aria-dropeffect', 'aria-flowto', 'aria-grabbed', 'aria-keyshortcuts', 'aria-label', 'aria-labelledby', 'aria-live', 'aria-owns',
  'aria-relevant', 'aria-roledescription'];

/** Elements whose role does not depend on anything else. */
const SIMPLE: Record<string, string> = {
  address: 'group', article: 'article', blockquote: 'blockquote', button: 'button', caption: 'caption', code: 'code', datalist: 'listbox',
  dd: 'definition', del: 'deletion', details: 'group', dfn: 'term', dialog: 'dialog', dt: 'term', em: 'emphasis', fieldset: 'group',
  figure: 'figure', form: 'form', audio: 'audio', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading',
  hgroup: 'group', hr: 'separator', html: 'document', iframe: 'iframe', ins: 'insertion', main: 'main', mark: 'mark', math: 'math', menu: 'list',
  meter: 'meter', nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph',
  progress: 'progressbar', s: 'deletion', search: 'search', strong: 'strong', sub: 'subscript', sup: 'superscript', svg: 'img',
  textarea: 'textbox', time: 'time', ul: 'list', video: 'video',
};

const INPUT: Record<string, string> = {
  button: 'button', checkbox: 'checkbox', color: 'textbox', date: 'textbox', 'datetime-local': 'textbox', file: 'button', image: 'button',
  month: 'textbox', number: 'spinbutton', password: 'textbox', radio: 'radio', range: 'slider', reset: 'button', submit: 'button',
  time: 'textbox', week: 'textbox',
};

const HEADER_SCOPE = new Set(['ARTICLE', 'ASIDE', 'MAIN', 'NAV', 'SECTION']);
const HEADER_SCOPE_ROLE = /^(?:article|complementary|main|navigation|region)$/;

/** The element's tag in lower case; SVG and MathML keep theirs. */
export function tagOf(el: Element): string {
  return native(el).localName.toLowerCase();
}

/** The parent in what is rendered: the slot's host for slotted nodes, the host for the top of a shadow tree. */
export function parentOf(node: Node): Element | null {
  const parent = native(node as Element | Text).assignedSlot ?? native(node).parentNode;
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : null;
}

/** Whether a user can move the focus here, by attribute or by nature. */
export function isFocusable(el: Element): boolean {
  if (native(el).hasAttribute('tabindex') && /^\s*[-+]?\d/.test(native(el).getAttribute('tabindex')!)) return true;
  switch (tagOf(el)) {
    case 'a': case 'area': return native(el).hasAttribute('href');
    case 'button': case 'select': case 'textarea': return !(el as HTMLButtonElement).disabled;
    case 'input': return !(el as HTMLInputElement).disabled && (el as HTMLInputElement).type !== 'hidden';
    case 'iframe': return true;
    case 'summary': return isSummary(el);
    case 'audio': case 'video': return native(el).hasAttribute('controls');
    default: return isEditingHost(el);
  }
}

/** The element on which contenteditable is set, not what is inside it. */
export function isEditingHost(el: Element): boolean {
  const value = native(el).getAttribute('contenteditable');
  return value !== null && /^(?:|true|plaintext-only)$/i.test(value.trim());
}

/** Whether this summary opens and closes its details. */
export function isSummary(el: Element): boolean {
  if (native(el).localName !== 'summary' || native(native(el).parentElement)?.localName !== 'details') return false;
  return native(native(el).parentElement!).querySelector(':scope > summary') === el;
}

/** What the author wrote in `role`: the first word that is a role, or null. */
function explicitRole(el: Element): string | null {
  const attribute = native(el).getAttribute('role');
  if (!attribute) return null;
  for (const word of attribute.trim().toLowerCase().split(/\s+/)) {
    if (!WORDS.has(word)) continue;
    const role = SAME_AS[word] ?? word;
    if (role === 'none' && (isFocusable(el) || GLOBAL.some((name) => native(el).hasAttribute(name)))) return null;
    // A region or a form of no name is nothing to navigate to.
    if (role === 'region' && !hasAuthorName(el)) return null;
    if (role === 'form' && tagOf(el) !== 'form' && !hasAuthorName(el)) return null;
    return role;
  }
  return null;
}

/** Named by the author in so many words: what some elements need to count as a landmark. */
function hasAuthorName(el: Element): boolean {
  return Boolean(native(el).getAttribute('aria-label')?.trim() || native(el).getAttribute('title')?.trim() ||
    native(el).getAttribute('aria-labelledby')?.split(/\s+/).some((id) => id && rootOf(el).getElementById(id)));
}

function rootOf(el: Element): Document | ShadowRoot {
  const root = native(el).getRootNode();
  return root instanceof ShadowRoot ? root : document;
}

/** The role, in ARIA's words; `generic` for what has none, `none` for what the author took out. */
export function roleOf(el: Element): string {
  return explicitRole(el) ?? implicitRole(el);
}

function implicitRole(el: Element): string {
  const tag = tagOf(el);
  switch (tag) {
    case 'a': return native(el).hasAttribute('href') || native(el).hasAttributeNS('http://www.w3.org/1999/xlink', 'href') ? 'link' : 'generic';
    case 'area': return native(el).hasAttribute('href') ? 'link' : 'generic';
    case 'aside': return hasAuthorName(el) || !isInside(el, HEADER_SCOPE, HEADER_SCOPE_ROLE, ['MAIN']) ? 'complementary' : 'generic';
    case 'header': return isInside(el, HEADER_SCOPE, HEADER_SCOPE_ROLE) ? 'generic' : 'banner';
    case 'footer': return isInside(el, HEADER_SCOPE, HEADER_SCOPE_ROLE) ? 'generic' : 'contentinfo';
    case 'section': return hasAuthorName(el) ? 'region' : 'generic';
    case 'img': return imageRole(el);
    case 'input': return inputRole(el as HTMLInputElement);
    case 'select': return (el as HTMLSelectElement).multiple || (el as HTMLSelectElement).size > 1 ? 'listbox' : 'combobox';
    case 'summary': return isSummary(el) ? 'button' : 'generic';
    case 'li': return /^(?:UL|OL|MENU)$/.test(native(native(el).parentElement)?.tagName ?? '') && roleOf(native(el).parentElement!) !== 'list' ? 'generic' : 'listitem';
    case 'table': case 'thead': case 'tbody': case 'tfoot': case 'tr': case 'td': case 'th': return tableRole(el, tag);
    // Chrome calls a bare editor generic; what one can do with it is what one does with a textbox.
    default: return SIMPLE[tag] ?? (isEditingHost(el) ? 'textbox' : 'generic');
  }
}

function imageRole(el: Element): string {
  if (native(el).getAttribute('alt') !== '') return 'img';
  return isFocusable(el) || native(el).getAttribute('aria-label')?.trim() || native(el).hasAttribute('aria-labelledby') ? 'img' : 'none';
}

function inputRole(el: HTMLInputElement): string {
  if (el.type === 'hidden') return 'none';
  const fixed = INPUT[el.type];
  if (fixed) return fixed;
  if (el.list) return 'combobox';
  return el.type === 'search' ? 'searchbox' : 'textbox';
}

/** Whether an ancestor is one of these sections; `except` names tags that do not count. */
function isInside(el: Element, tags: Set<string>, roles: RegExp, except: string[] = []): boolean {
  for (let up = parentOf(el); up; up = parentOf(up)) {
    const role = native(up).getAttribute('role')?.trim();
    if (role ? roles.test(role) : tags.has(native(up).tagName) && !except.includes(native(up).tagName)) return true;
  }
  return false;
}

/** Judgements of the current task only: a page may turn a table into another one later. */
let dataTables: WeakMap<HTMLTableElement, boolean> | null = null;

function tableRole(el: Element, tag: string): string {
  const table = native(el).closest('table');
  if (!table) return 'generic';
  const asked = explicitRole(table);
  if (asked !== null && !/^(?:table|grid|treegrid)$/.test(asked)) return 'generic';
  if (asked === null && !isDataTable(table)) return 'generic';
  const grid = asked === 'grid' || asked === 'treegrid';
  switch (tag) {
    case 'table': return 'table';
    case 'tr': return 'row';
    case 'td': return grid ? 'gridcell' : 'cell';
    case 'th': return headerRole(el as HTMLTableCellElement);
    default: return 'rowgroup';
  }
}

/** Whether a table shows data, or only lays the page out. Most of the web's old tables do the latter. */
export function isDataTable(table: HTMLTableElement): boolean {
  if (!dataTables) {
    dataTables = new WeakMap();
    queueMicrotask(() => { dataTables = null; });
  }
  let known = dataTables.get(table);
  if (known === undefined) dataTables.set(table, known = judgeTable(table));
  return known;
}

function judgeTable(table: HTMLTableElement): boolean {
  if (table.caption || table.tHead || table.tFoot || table.hasAttribute('summary') || table.closest('[contenteditable]')) return true;
  if (table.querySelector(':scope > colgroup, :scope > col')) return true;
  if (table.getAttribute('rules')) return true;
  const rows = Array.from(table.rows).slice(0, 20);
  const cells = rows.flatMap((row) => Array.from(row.cells));
  if (rows.length === 1 && cells.length === 1) return false;
  if (cells.some((cell) => cell.tagName === 'TH' || cell.headers || cell.abbr || cell.scope)) return true;
  if (cells.some((cell) => cell.querySelector('table'))) return false;
  if (cells.length < 2) return false;
  if (table.rows.length >= 20 && cells.length > rows.length) return true;
  // Visible lines between cells, or rows of changing colour, are what people draw around data.
  const bordered = cells.filter((cell) => {
    const style = getComputedStyle(cell);
    return parseFloat(style.borderTopWidth) > 0 || parseFloat(style.borderLeftWidth) > 0 || parseFloat(style.borderBottomWidth) > 0;
  }).length;
  if (bordered * 2 >= cells.length) return true;
  const colours = new Set(rows.map((row) => getComputedStyle(row).backgroundColor));
  return colours.size > 1;
}

function headerRole(cell: HTMLTableCellElement): string {
  if (/^(?:col|colgroup)$/i.test(cell.scope)) return 'columnheader';
  if (/^(?:row|rowgroup)$/i.test(cell.scope)) return 'rowheader';
  const row = cell.parentElement;
  if (!(row instanceof HTMLTableRowElement) || native(row.parentElement)?.tagName === 'THEAD') return 'columnheader';
  // Next to a data cell it heads the row; in a row or column of headers it heads what is below.
  const cells = Array.from(row.cells);
  const beside = cells.some((other) => other.tagName === 'TD');
  return beside ? 'rowheader' : 'columnheader';
}
