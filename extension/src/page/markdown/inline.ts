// Writes a run of text with its marks as Markdown. Spaces move out of marks, empty marks vanish, neighbours of one kind melt together,
// and where the delimiters would not be taken as such by a reader, HTML tags stand instead.
import { canClose, canOpen, codeSpan, escapeAddress, escapeLineStart, escapeText } from './escape';
import { isEmpty, type Inline, type Mark, type MarkKind } from './model';

type Token =
  | { t: 'text'; text: string }
  | { t: 'atom'; text: string; code?: string }
  | { t: 'break'; lines: number }
  | { t: 'open'; mark: Mark }
  | { t: 'close'; mark: Mark };

export interface InlineStyle {
  /** What a line break and a paragraph's end become. */
  br: string;
  paragraph: string;
  /** Where text begins a line of the document, it must not look like a list or a heading. */
  block: boolean;
}

export const PARAGRAPH: InlineStyle = { br: '  \n', paragraph: '\n\n', block: true };
export const ONE_LINE: InlineStyle = { br: ' ', paragraph: ' ', block: false };
export const IN_CELL: InlineStyle = { br: '<br>', paragraph: '<br><br>', block: false };

const DELIMITER: Partial<Record<MarkKind, string>> = { strong: '**', em: '*', del: '~~' };
/** Where a word may be broken is nothing that shows. */
const UNSEEN = /[\u00ad\u200b\ufeff]+/g;
const MELTS = new Set<MarkKind>(['strong', 'em', 'del', 'sub', 'sup']);

/** The Markdown of a run; '' if it says nothing. */
export function writeInline(nodes: Inline[], style: InlineStyle): string {
  const tokens = tokenize(nodes);
  if (!tokens.some((token) => token.t === 'text' || token.t === 'atom')) return '';
  return write(tokens, style);
}

/** Tokens in which white space is single, stands outside of marks, and every mark holds something. */
function tokenize(nodes: Inline[]): Token[] {
  const out: Token[] = [];
  let opening: Mark[] = [];
  let space = false, breaks = 0, begun = false;
  const active: Mark[] = [];

  const arrive = (token: Token): void => {
    if (breaks && begun) {
      if (breaks > 1) for (const mark of closable()) out.push({ t: 'close', mark });
      out.push({ t: 'break', lines: breaks });
      if (breaks > 1) for (const mark of closable().reverse()) out.push({ t: 'open', mark });
    } else if (space && begun) {
      out.push({ t: 'text', text: ' ' });
    }
    breaks = 0;
    space = false;
    for (const mark of opening) out.push({ t: 'open', mark });
    opening = [];
    out.push(token);
    begun = true;
  };
  /** Marks already written as open, innermost first: a paragraph's end must not lie inside them. */
  const closable = () => active.filter((mark) => !opening.includes(mark)).reverse();

  const visit = (list: Inline[]): void => {
    for (const node of list) {
      switch (node.t) {
        case 'text': {
          const words = node.text.replace(UNSEEN, '').replace(/[ \t\n\r\f]+/g, ' ');
          if (words.startsWith(' ')) space = true;
          const word = words.trim() === '' ? words.replace(/^ +| +$/g, '') : words.replace(/^ | $/g, '');
          if (word) arrive({ t: 'text', text: word });
          if (word && words.endsWith(' ')) space = true;
          break;
        }
        case 'br': breaks++; space = false; break;
        case 'image': arrive({ t: 'atom', text: `![${escapeText(node.alt, { before: '', after: '', inLink: true, alone: NONE })}](${escapeAddress(node.src)})` }); break;
        case 'raw': arrive({ t: 'atom', text: node.text }); break;
        case 'mark': visitMark(node); break;
      }
    }
  };
  const visitMark = (node: Mark): void => {
    if (isEmpty(node.inner)) { visit(node.inner); return; }
    if (node.kind === 'code') { visitCode(node); return; }
    // The same mark twice says nothing more; Markdown has no link in a link.
    if (active.some((mark) => mark.kind === node.kind)) { visit(node.inner); return; }
    const last = out.at(-1);
    const melts = last?.t === 'close' && last.mark.kind === node.kind && MELTS.has(node.kind) && !breaks && !space && !opening.length;
    const mark = melts ? last.mark : node;
    if (melts) out.pop(); else opening.push(mark);
    active.push(mark);
    visit(node.inner);
    active.pop();
    if (opening.includes(mark)) opening = opening.filter((other) => other !== mark);
    else out.push({ t: 'close', mark });
  };
  const visitCode = (node: Mark): void => {
    const only = node.inner.filter((child) => !isEmpty([child]));
    const [link] = only;
    if (only.length === 1 && link?.t === 'mark' && link.kind === 'link') {
      visitMark({ ...link, inner: [{ ...node, inner: link.inner }] });
      return;
    }
    const text = plain(node.inner).replace(UNSEEN, '').replace(/\s+/g, ' ');
    if (text.startsWith(' ') && text.trim()) space = true;
    if (!text.trim()) return;
    // Code right behind code is one word to the eye, and its backticks would be read as one run.
    const last = out.at(-1);
    const melts = last?.t === 'atom' && last.code !== undefined && !breaks && !space && !opening.length;
    if (melts) out.pop();
    const code = (melts ? last.code! : '') + text.trim();
    arrive({ t: 'atom', text: codeSpan(code), code });
    if (text.endsWith(' ')) space = true;
  };
  visit(nodes);
  return out;
}

const NONE: ReadonlySet<string> = new Set();

/** The text without its marks. */
export function plain(nodes: Inline[]): string {
  return nodes.map((node) => {
    switch (node.t) {
      case 'text': case 'raw': return node.text;
      case 'br': return '\n';
      case 'image': return node.alt;
      case 'mark': return plain(node.inner);
    }
  }).join('');
}

function write(tokens: Token[], style: InlineStyle): string {
  const alone = loners(tokens);
  const tags = unwritable(tokens);
  let out = '';
  let links = 0;
  tokens.forEach((token, i) => {
    switch (token.t) {
      case 'text':
        out += escapeText(token.text, { before: out.at(-1) ?? '', after: following(tokens[i + 1], tags, style), inLink: links > 0, alone });
        break;
      case 'atom': out += token.text; break;
      case 'break': out += token.lines > 1 ? style.paragraph : style.br; break;
      case 'open':
        if (token.mark.kind === 'link') { links++; out += '['; } else out += delimiter(token.mark, tags, '');
        break;
      case 'close':
        if (token.mark.kind === 'link') { links--; out += `](${escapeAddress(token.mark.href ?? '')})`; } else out += delimiter(token.mark, tags, '/');
        break;
    }
  });
  if (!style.block) return out;
  return out.split('\n\n').map((part) => part.split('\n').map((line, i) => escapeLineStart(line, i === 0)).join('\n')).join('\n\n');
}

function delimiter(mark: Mark, tags: Set<Mark>, slash: string): string {
  const simple = tags.has(mark) ? undefined : DELIMITER[mark.kind];
  return simple ?? `<${slash}${mark.kind}>`;
}

/** The very character that will be written after a text. */
function following(token: Token | undefined, tags: Set<Mark>, style: InlineStyle): string {
  if (!token) return '';
  if (token.t === 'break') return style.br[0]!;
  if (token.t === 'text' || token.t === 'atom') return token.text[0]!;
  if (token.mark.kind === 'link') return token.t === 'open' ? '[' : ']';
  return delimiter(token.mark, tags, '')[0]!;
}

/**
 * The character that comes next to a mark's delimiter, as a reader of the Markdown will see it. Delimiters of the same character make
 * one run and are looked through; others are punctuation, and so are the brackets of links and of tags.
 */
function edge(tokens: Token[], from: number, step: 1 | -1, delimiterCharacter: string, tags: Set<Mark>): string {
  for (let i = from + step; i >= 0 && i < tokens.length; i += step) {
    const token = tokens[i]!;
    if (token.t === 'text' || token.t === 'atom') return step > 0 ? String.fromCodePoint(token.text.codePointAt(0)!) : lastCharacter(token.text);
    if (token.t === 'break') return '';
    if (token.mark.kind === 'link') return step > 0 ? (token.t === 'open' ? '[' : ']') : token.t === 'open' ? '[' : ')';
    const other = tags.has(token.mark) ? undefined : DELIMITER[token.mark.kind]?.[0];
    if (!other) return step > 0 ? '<' : '>';
    if (other !== delimiterCharacter) return other;
  }
  return '';
}

function lastCharacter(text: string): string {
  return /[\s\S]$/u.exec(text)?.[0] ?? '';
}

/** Emphases whose delimiters would be read as plain characters where they stand, e.g. between a quote and a letter. */
function unwritable(tokens: Token[]): Set<Mark> {
  const bad = new Set<Mark>();
  // A tag in place of a delimiter is another neighbour for the delimiters beside it: until nothing changes any more.
  for (let known = -1; known < bad.size;) {
    known = bad.size;
    tokens.forEach((token, i) => {
      if ((token.t !== 'open' && token.t !== 'close') || bad.has(token.mark)) return;
      const character = DELIMITER[token.mark.kind]?.[0];
      if (!character) return;
      const before = edge(tokens, i, -1, character, bad), after = edge(tokens, i, 1, character, bad);
      // One mark's end and another's beginning would melt into one run of delimiters.
      const last = tokens[i - 1];
      const melts = token.t === 'open' && last?.t === 'close' && !bad.has(last.mark) && DELIMITER[last.mark.kind]?.[0] === character;
      if (melts || !(token.t === 'open' ? canOpen(before, after) : canClose(before, after))) bad.add(token.mark);
    });
  }
  return bad;
}

/** Of the characters that only work in pairs, those that have no partner in this run. */
function loners(tokens: Token[]): Set<string> {
  const counts = new Map([['*', 0], ['_', 0], ['~', 0]]);
  for (const token of tokens) {
    if (token.t === 'open') {
      if (token.mark.kind === 'strong' || token.mark.kind === 'em') counts.set('*', 2);
      if (token.mark.kind === 'del') counts.set('~', 2);
    } else if (token.t === 'text') {
      for (const [c, n] of counts) if (n < 2) counts.set(c, n + token.text.split(c).length - 1);
    }
  }
  return new Set([...counts].filter(([, n]) => n < 2).map(([c]) => c));
}
