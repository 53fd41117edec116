// The text of the page as innerText has it, plus what that leaves out (shadow trees) and minus what nobody sees.
import { walk, type Budget, type Visitor } from './walk';
import { native } from '../native';

/** Values of display that begin and end a line. */
export const BLOCK = /^(?:block|flex|grid|flow-root|list-item|table|table-row|table-caption|table-row-group|table-header-group|table-footer-group|-webkit-box)/;
const ATOMIC = /^inline-/;
const WORDLESS = new Set(['audio', 'canvas', 'embed', 'iframe', 'img', 'meter', 'object', 'picture', 'progress', 'rp', 'textarea', 'video']);

/** Whether a box within a line is set apart from the words beside it: two buttons are two words, two letters of a word are not. */
export function standsApart(style: CSSStyleDeclaration): boolean {
  return ATOMIC.test(style.display) && [style.paddingLeft, style.paddingRight, style.marginLeft, style.marginRight, style.borderLeftWidth, style.borderRightWidth]
    .some((length) => parseFloat(length) > 0);
}

/** Text that an icon font turns into a picture: its letters are never seen. */
export function isIconFont(el: Element): boolean {
  return /(?:^|\s)material-(?:icons|symbols)/.test(native(el).getAttribute('class') ?? '');
}

/** Puts lines together: breaks are asked for before and after blocks, and made once, however many blocks ask. */
class Lines {
  private readonly parts: string[] = [];
  private breaks = 0;
  private tab = false;
  private space = false;

  /** At least so many line ends before the next word. */
  require(breaks: number): void {
    if (breaks > this.breaks) this.breaks = breaks;
    this.space = false;
  }

  /** One more line end, whatever was asked for. */
  newline(): void {
    this.flush();
    this.parts.push('\n');
  }

  cell(): void {
    this.tab = true;
    this.space = false;
  }

  gap(): void {
    this.space = true;
  }

  /** Text whose white space is worth one space. */
  flow(text: string): void {
    const words = text.replace(/[ \t\n\r\f]+/g, ' ');
    if (words === ' ') { this.space = true; return; }
    if (words.startsWith(' ')) this.space = true;
    this.put(words.slice(words.startsWith(' ') ? 1 : 0, words.endsWith(' ') ? -1 : undefined));
    if (words.endsWith(' ')) this.space = true;
  }

  /** Text that keeps its white space. */
  keep(text: string): void {
    this.put(text);
  }

  private put(text: string): void {
    if (!text) return;
    this.flush();
    this.parts.push(text);
  }

  private flush(): void {
    const last = this.parts.length ? this.parts[this.parts.length - 1]! : '';
    if (this.parts.length) {
      if (this.breaks) this.parts.push('\n'.repeat(this.breaks));
      else if (this.tab) this.parts.push('\t');
      else if (this.space && !/[\n\t ]$/.test(last)) this.parts.push(' ');
    }
    this.breaks = 0;
    this.tab = this.space = false;
  }

  toString(): string {
    return this.parts.join('').trim();
  }
}

/** The visible text below an element, in reading order. */
export async function visibleText(root: Element, budget: Budget): Promise<string> {
  const lines = new Lines();
  /** Cells so far in each table row that is open. */
  const rows: number[] = [];

  const visitor: Visitor = {
    element(el, style, seen) {
      const tag = native(el).localName;
      if (WORDLESS.has(tag) || isIconFont(el)) return 'skip';
      if (tag === 'br') { lines.newline(); return 'skip'; }
      if (tag === 'input' || tag === 'select') {
        const shown = controlText(el as HTMLInputElement | HTMLSelectElement);
        if (shown && seen()) { lines.gap(); lines.flow(budget.take(shown)); lines.gap(); }
        return 'skip';
      }
      const { display } = style;
      if (display === 'table-cell') {
        if (rows.length && rows[rows.length - 1]!++ > 0) lines.cell();
        return undefined;
      }
      if (BLOCK.test(display)) {
        const breaks = tag === 'p' ? 2 : 1;
        lines.require(breaks);
        if (display === 'table-row') rows.push(0);
        return () => {
          if (display === 'table-row') rows.pop();
          lines.require(breaks);
        };
      }
      if (!standsApart(style)) return undefined;
      lines.gap();
      return () => lines.gap();
    },
    text(node, style) {
      const collapse = style.whiteSpaceCollapse ?? style.whiteSpace;
      const text = budget.take(node.data);
      if (/^(?:preserve|pre|pre-wrap|break-spaces)$/.test(collapse)) { lines.keep(text.replace(/\r\n?/g, '\n')); return; }
      if (!/^(?:preserve-breaks|pre-line)$/.test(collapse)) { lines.flow(text); return; }
      text.split('\n').forEach((line, i) => {
        if (i) lines.newline();
        lines.flow(line);
      });
    },
  };
  await walk(root, visitor, budget);
  return lines.toString();
}

/** What a control shows of its own accord: a button's word, a list's choice. What a person entered is not the page's text. */
function controlText(el: HTMLInputElement | HTMLSelectElement): string {
  if (el instanceof HTMLSelectElement) {
    const shown = el.multiple || el.size > 1 ? Array.from(el.options) : Array.from(el.selectedOptions);
    return shown.map((option) => option.label).join('\n');
  }
  return /^(?:submit|reset|button)$/.test(el.type) ? el.value : '';
}
