// Which characters of plain text Markdown would take for marks, and how to keep it from that: escaped only where it is needed.

export interface EscapeContext {
  /** The characters next to the text, '' at an edge. */
  before: string;
  after: string;
  inLink: boolean;
  /** Marks that occur once in a paragraph and nowhere as syntax can pair with nothing. */
  alone: ReadonlySet<string>;
}

const SPACE = /^[\s\u00a0]?$/;
const WORD = /^[\p{L}\p{N}]$/u;
const ENTITY = /^&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});/;

export function escapeText(text: string, context: EscapeContext): string {
  if (context.inLink || !text.includes('://')) return escapePart(text, 0, text.length, context);
  let out = '', at = 0;
  // GFM makes a link of a bare address, backslashes and all: one that holds a mark is put between angle brackets, where none counts.
  for (const { 0: address, index } of text.matchAll(/https?:\/\/[^\s<>]*[^\s<>?!.,:;'")\]}]/gi)) {
    const end = index + address.length;
    if (!SPACE.test(index ? text[index - 1]! : context.before) || !/^[\s?!.,:;'")\]]?$/.test(end < text.length ? text[end]! : context.after)) continue;
    if (escapePart(text, index, end, context) === address) continue;
    out += `${escapePart(text, at, index, context)}<${address}>`;
    at = end;
  }
  return out + escapePart(text, at, text.length, context);
}

/** The part of the text from one place to another, by what stands around each character in the whole. */
function escapePart(text: string, from: number, to: number, { before, after, inLink, alone }: EscapeContext): string {
  return text.slice(from, to).replace(/[\\`*_[\]<&~!]/g, (c, within: number) => {
    const i = from + within;
    const prev = i ? text[i - 1]! : before, next = i + 1 < text.length ? text[i + 1]! : after;
    const needed = (): boolean => {
      switch (c) {
        case '\\': return next === '' || /[!-/:-@[-`{-~]/.test(next);
        case '`': return true;
        case '*': case '~': return !alone.has(c) && !(SPACE.test(prev) && SPACE.test(next));
        case '_': return !alone.has(c) && !(SPACE.test(prev) && SPACE.test(next)) && !(WORD.test(prev) && WORD.test(next));
        case '[': return inLink;
        case ']': return inLink || next === '(' || next === ':' || next === '[';
        case '<': return /[A-Za-z/!?]/.test(next);
        case '&': return ENTITY.test(text.slice(i, i + 40));
        default: return next === '[';
      }
    };
    return needed() ? `\\${c}` : c;
  });
}

/** What would make a heading, a list, a quote or a rule of a line of text; `first` is the paragraph's first line. */
export function escapeLineStart(line: string, first: boolean): string {
  const number = /^(\d{1,9})([.)])(?=\s|$)/.exec(line);
  if (number) return `${number[1]}\\${line.slice(number[1]!.length)}`;
  if (/^(?:[-+*](?=\s|$)|#{1,6}(?=\s|$)|>)/.test(line)) return `\\${line}`;
  if (/^(?:-[\s-]*|_[\s_]*|\*[\s*]*)$/.test(line) && line.replace(/\s/g, '').length >= 3) return `\\${line}`;
  if (!first && /^(?:=+|-+)\s*$/.test(line)) return `\\${line}`;
  // Under a line of text it would make that line a table's header.
  if (!first && /[|:]/.test(line) && /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/.test(line)) return `\\${line}`;
  if (/^~~~/.test(line)) return `\\${line}`;
  return line;
}

/** An address as the target of a link: nothing in it may end the link. */
export function escapeAddress(address: string): string {
  const safe = address.replace(/[\s<>\\]/g, (c) => encodeURIComponent(c));
  let depth = 0;
  for (const c of safe) {
    if (c === '(') depth++;
    else if (c === ')' && --depth < 0) break;
  }
  return depth === 0 ? safe : safe.replace(/[()]/g, (c) => (c === '(' ? '%28' : '%29'));
}

/** Code between backticks, more of them than the code has anywhere in a row. */
export function codeSpan(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), (run) => run[0].length));
  const ticks = '`'.repeat(longest === 0 ? 1 : longest + 1);
  const pad = /^`|`$/.test(text) || (/^ .* $/.test(text) && text.trim() !== '') ? ' ' : '';
  return ticks + pad + text + pad + ticks;
}

/** Whether delimiters like `**` can stand between these characters (CommonMark's flanking rules), whoever reads them. */
export function canOpen(before: string, after: string): boolean {
  return kinds(before).every((left) => kinds(after).every((right) => right !== 'space' && (right === 'word' || left !== 'word')));
}

export function canClose(before: string, after: string): boolean {
  return canOpen(after, before);
}

/** Readers of Markdown do not agree whether symbols beyond ASCII (€, emoji) are punctuation: those must do as either. */
function kinds(c: string): ('space' | 'punctuation' | 'word')[] {
  if (SPACE.test(c)) return ['space'];
  if (/^[\p{P}!-/:-@[-`{-~]$/u.test(c)) return c.length > 1 ? ['punctuation', 'word'] : ['punctuation'];
  return /^\p{S}$/u.test(c) ? ['punctuation', 'word'] : ['word'];
}
