// Reads the rendered page into the model: what each element means for the text around it.
import { isDataTable, roleOf } from '../a11y/roles';
import { BLOCK, isIconFont, standsApart } from '../read/text';
import { enter, UNCLIPPED } from '../read/visible';
import { walk, type Budget } from '../read/walk';
import { imageAddress, isTracker, linkAddress } from './address';
import { Builder } from './builder';
import { codeLanguage, codeTableCell, codeText } from './code';
import { formulaOf } from './formula';
import type { Block, Cell, MarkKind } from './model';
import { native } from '../native';

const SKIPPED = new Set(['audio', 'button', 'canvas', 'embed', 'iframe', 'input', 'meter', 'object', 'option', 'progress', 'rp', 'select',
  'textarea', 'video', 'frame', 'frameset', 'map', 'area']);

const MARKS: Record<string, MarkKind> = {
  strong: 'strong', b: 'strong', em: 'em', i: 'em', var: 'em', del: 'del', s: 'del', strike: 'del',
  code: 'code', tt: 'code', samp: 'code', kbd: 'kbd', sub: 'sub', sup: 'sup',
};

/** Tags that are part of a line by nature: side by side in a flex box they stay one line. */
const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'button', 'cite', 'code', 'em', 'i', 'img', 'kbd', 'label', 'mark', 'q', 'small', 'span', 'strong', 'sub', 'sup', 'svg', 'time', 'u']);

/** What a table of other elements than HTML's is made of. */
const ROW_OR_CELL = /^(?:row|cell|gridcell|columnheader|rowheader)$/;

export interface ReadOptions {
  /** Elements to leave out although they can be seen. */
  omit?: ReadonlySet<Element>;
}

/** The blocks of an element, itself included. */
export async function readBlocks(root: Element, budget: Budget, { omit }: ReadOptions = {}): Promise<Block[]> {
  const builder = new Builder();
  const reader = new Reader(builder, budget, root, omit);
  await walk(root, { element: (el, style, seen) => reader.element(el, style, seen), text: (text, style) => reader.text(text, style) }, budget);
  return builder.blocks;
}

type Leave = 'skip' | (() => void) | undefined;

class Reader {
  /** How many headings, summaries or terms are open: a button in one of these is its text. */
  private titles = 0;
  private readonly tables = new Map<HTMLTableElement, boolean>();

  constructor(private readonly to: Builder, private readonly budget: Budget, private readonly root: Element, private readonly omit: ReadonlySet<Element> | undefined) {}

  text(text: Text, style: CSSStyleDeclaration): void {
    const data = this.budget.take(text.data);
    // Where line ends show, they are meant.
    if (!/^(?:preserve|preserve-breaks|pre|pre-wrap|pre-line|break-spaces)$/.test(style.whiteSpaceCollapse ?? style.whiteSpace)) { this.to.text(data); return; }
    data.split(/\r\n?|\n/).forEach((line, i) => {
      if (i) this.to.put({ t: 'br' });
      this.to.text(line);
    });
  }

  element(el: Element, style: CSSStyleDeclaration, seen: () => boolean): Leave {
    const tag = native(el).localName;
    if (el !== this.root) {
      if (this.omit?.has(el) || native(el).hasAttribute('hidden') || isIconFont(el)) return 'skip';
      if (native(el).getAttribute('aria-hidden') === 'true' && !hasUnseenTwin(el)) return 'skip';
      const ticked = tag === 'li' ? null : tickOf(el);
      if (ticked !== null && seen()) this.to.task(ticked);
      if (SKIPPED.has(tag) && !(tag === 'button' && this.titles)) return 'skip';
      // Rows that fold away keep their cells, which must make no columns.
      if (tag === 'tr' && style.visibility === 'collapse') return 'skip';
    }
    const formula = formulaOf(el);
    if (formula !== null) {
      if (formula && seen()) this.to.put({ t: formula.startsWith('$') ? 'raw' : 'text', text: formula });
      return 'skip';
    }
    if (/^(?:img|hr|br|svg)$/.test(tag) && (style.visibility !== 'visible' || (tag === 'img' && !seen()))) return 'skip';
    return this.byTag(el, tag, style);
  }

  private byTag(el: Element, tag: string, style: CSSStyleDeclaration): Leave {
    const { to } = this;
    if (el instanceof SVGElement) {
      // The words of a diagram, one after the other.
      to.text(' ');
      return () => to.text(' ');
    }
    switch (tag) {
      case 'br': to.put({ t: 'br' }); return 'skip';
      case 'hr': to.block({ t: 'hr' }); return 'skip';
      case 'img': this.image(el as HTMLImageElement); return 'skip';
      case 'pre': return this.code(el);
      case 'h1': case 'h2': case 'h3': case 'h4': case 'h5': case 'h6': return this.heading(Number(tag[1]));
      case 'blockquote': return to.quote();
      case 'ul': case 'menu': return to.list(false, 1, 1);
      case 'ol': return this.ordered(el as HTMLOListElement);
      case 'li': return this.item(el as HTMLLIElement);
      case 'dl': return to.list(false, 1, 1);
      case 'dt': return this.term();
      case 'dd': return to.plain();
      case 'summary': return this.title(to.strong());
      case 'table': return this.table(el as HTMLTableElement);
      case 'caption': return this.showsData(el) ? to.caption() : to.plain();
      case 'tr': return this.showsData(el) ? to.row(sectionOf(el)) : to.plain();
      case 'td': case 'th': return this.showsData(el) ? to.cell(cellOf(el as HTMLTableCellElement, style)) : to.plain();
      case 'a': return this.link(el, style);
      case 'q': to.text('“'); return () => to.text('”');
      case 'rt': to.text('('); return () => to.text(')');
      default: return this.byRole(el, tag, style);
    }
  }

  private item(el: HTMLLIElement): () => void {
    const end = this.to.item(el.hasAttribute('value') ? el.value : undefined);
    const ticked = tickOf(el);
    if (ticked !== null) this.to.task(ticked);
    return end;
  }

  private byRole(el: Element, tag: string, style: CSSStyleDeclaration): Leave {
    const { to } = this;
    const role = native(el).hasAttribute('role') ? roleOf(el) : '';
    if (role === 'heading') return this.heading(Number(native(el).getAttribute('aria-level')) || 2);
    if (role === 'list') return to.list(false, 1, 1);
    if (role === 'listitem') return to.item();
    if (/^(?:table|grid|treegrid)$/.test(role)) return to.table();
    if (ROW_OR_CELL.test(role) && native(native(el).closest('[role=table], [role=grid], [role=treegrid], table'))?.localName !== 'table') {
      return role === 'row' ? to.row('body') : to.cell(ariaCell(el, role));
    }
    const block = this.isBlock(el, tag, style);
    if (tag === 'code' && block && /^(?:preserve|pre|pre-wrap|break-spaces)$/.test(style.whiteSpaceCollapse ?? style.whiteSpace)) return this.code(el);
    let mark = MARKS[tag];
    // Who writes <b> with a normal weight does not mean bold; editors wrap whole documents so.
    if (tag === 'b' && Number(style.fontWeight) < 600) mark = undefined;
    if (mark) {
      const unmark = to.mark(mark);
      if (!block && !isApart(style)) return unmark;
      if (!block) {
        to.text(' ');
        return () => { unmark(); to.text(' '); };
      }
      to.flush();
      return () => { to.flush(); unmark(); };
    }
    if (block) return to.plain();
    if (!isApart(style)) return undefined;
    to.text(' ');
    return () => to.text(' ');
  }

  private isBlock(el: Element, tag: string, style: CSSStyleDeclaration): boolean {
    if (!BLOCK.test(style.display)) return style.display === 'table-cell';
    if (!INLINE.has(tag) || !native(el).parentElement || el === this.root) return true;
    const around = getComputedStyle(native(el).parentElement!);
    return !(around.display.endsWith('flex') && around.flexDirection.startsWith('row'));
  }

  /** Whether the table that this is (a part of) shows data; what lays the page out is no table. */
  private showsData(el: Element): boolean {
    const table = native(el).closest('table');
    if (!table) return false;
    let known = this.tables.get(table);
    if (known === undefined) this.tables.set(table, known = showsData(table));
    return known;
  }

  private title(end: () => void): () => void {
    this.titles++;
    return () => {
      this.titles--;
      end();
    };
  }

  private heading(level: number): Leave {
    return this.title(this.to.heading(level));
  }

  private term(): Leave {
    const endItem = this.to.item();
    const endTerm = this.title(this.to.strong());
    // Definitions follow as siblings; they go into the item that the term has opened.
    return () => { endTerm(); endItem(); };
  }

  private code(el: Element): Leave {
    const text = codeText(el, this.budget);
    if (text.trim()) this.to.block({ t: 'code', lang: codeLanguage(el), text });
    return 'skip';
  }

  private ordered(el: HTMLOListElement): Leave {
    const items = el.reversed ? Array.from(el.children).filter((child) => native(child).localName === 'li').length : 0;
    return el.reversed
      ? this.to.list(true, el.hasAttribute('start') ? el.start : items, -1)
      : this.to.list(true, el.start, 1);
  }

  private table(el: HTMLTableElement): Leave {
    const code = codeTableCell(el);
    if (code) return this.code(code);
    return this.showsData(el) ? this.to.table() : this.to.plain();
  }

  private link(el: Element, style: CSSStyleDeclaration): Leave {
    const { to } = this;
    if (isPermalink(el)) return 'skip';
    const address = linkAddress(el);
    const block = this.isBlock(el, 'a', style);
    const apart = !block && isApart(style);
    const end = address === null ? undefined : to.mark('link', address);
    if (address !== null && style.visibility === 'visible' && !native(el).textContent?.trim() && !native(el).querySelector('img')) {
      const label = native(el).getAttribute('aria-label')?.trim() ?? native(el).getAttribute('title')?.trim();
      if (label) to.text(label);
    }
    if (block) to.flush(); else if (apart) to.text(' ');
    return () => {
      if (block) to.flush();
      end?.();
      if (apart) to.text(' ');
    };
  }

  private image(img: HTMLImageElement): void {
    if (isTracker(img)) return;
    const src = imageAddress(img);
    const alt = (img.alt ?? '').replace(/\s+/g, ' ').trim();
    if (src) this.to.put({ t: 'image', alt, src });
    else if (alt) this.to.text(alt);
  }
}

/** Whether something in a line is a word of its own: a box with an edge, or an item of a flex box. */
function isApart(style: CSSStyleDeclaration): boolean {
  return BLOCK.test(style.display) || standsApart(style);
}

function showsData(table: HTMLTableElement): boolean {
  const role = table.getAttribute('role');
  if (role === 'presentation' || role === 'none') return false;
  if (isDataTable(table)) return true;
  // Rows of several cells without anything of a page in them read better in columns, even if nobody drew lines between them.
  return table.rows.length > 1 && !table.querySelector('table, h1, h2, h3, h4, h5, h6, form, article, section, nav, main') &&
    Array.from(table.rows).slice(0, 50).some((row) => row.cells.length > 1);
}

function sectionOf(row: Element): 'head' | 'body' | 'foot' {
  const section = native(native(row).parentElement)?.localName;
  return section === 'thead' ? 'head' : section === 'tfoot' ? 'foot' : 'body';
}

function cellOf(cell: HTMLTableCellElement, style: CSSStyleDeclaration): Omit<Cell, 'blocks'> {
  const header = cell.localName === 'th';
  // A header is centred by the browser itself: there only what the author wrote counts.
  const said = cell.style.textAlign || cell.getAttribute('align') || (header ? '' : style.textAlign);
  const align = /center/.test(said) ? 'center' : /^(?:right|end|-webkit-right)$/.test(said) ? 'right' : said === 'left' && (cell.style.textAlign || cell.hasAttribute('align')) ? 'left' : '';
  return { header, align, colspan: Math.max(1, cell.colSpan), rowspan: cell.rowSpan === 0 ? 65534 : Math.max(1, cell.rowSpan) };
}

function ariaCell(el: Element, role: string): Omit<Cell, 'blocks'> {
  const span = (name: string) => Math.min(1000, Math.max(1, Math.trunc(Number(native(el).getAttribute(name))) || 1));
  return { header: /header$/.test(role), align: '', colspan: span('aria-colspan'), rowspan: span('aria-rowspan') };
}

/** Whether a tick box is ticked, the browser's own or one made of something else; null for what is none. */
function tickOf(el: Element): boolean | null {
  if (el instanceof HTMLInputElement) return el.type === 'checkbox' ? el.checked : null;
  if (!/^\s*(?:checkbox|menuitemcheckbox|switch)(?:\s|$)/i.test(native(el).getAttribute('role') ?? '')) return null;
  return native(el).getAttribute('aria-checked')?.trim().toLowerCase() === 'true';
}

/** The mark beside a heading that links to the heading itself. */
function isPermalink(el: Element): boolean {
  if (!/^#|\/#|\.html?#/.test(native(el).getAttribute('href') ?? '')) return false;
  const text = (native(el).textContent ?? '').trim();
  if (/^[#¶§🔗⚓]+$/u.test(text)) return true;
  return text === '' && (/(?:^|[\s_-])(?:anchor|headerlink|header-anchor|permalink|hash-link|heading-link)/i.test(native(el).className?.toString() ?? '') || native(el).closest('h1,h2,h3,h4,h5,h6') !== null);
}

/**
 * Some sites show a text that they hide from screen readers, next to the same text that they hide from eyes. The one that is seen
 * is read, though it says aria-hidden.
 */
function hasUnseenTwin(el: Element): boolean {
  const parent = native(el).parentElement;
  const siblings = parent ? native(parent).children : [];
  if (siblings.length > 8 || !native(el).textContent?.trim()) return false;
  return Array.from(siblings).some((other) => {
    if (other === el || !native(other).textContent?.trim() || native(other).getAttribute('aria-hidden') === 'true') return false;
    const style = getComputedStyle(other);
    if (style.display === 'none') return false;
    const clip = enter(other, style, UNCLIPPED);
    return clip === null || clip.flow;
  });
}
