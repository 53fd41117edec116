// Writes blocks as Markdown, line by line, each behind the prefixes of the quotes and lists around it.
import { ONE_LINE, PARAGRAPH, writeInline } from './inline';
import { flatten, type Block, type Item } from './model';
import { tableLines } from './table';

export interface Rendered { markdown: string; cut: boolean }

/** Lines with what stands before them; stops taking more at the bound. */
class Writer {
  cut = false;
  private readonly lines: string[] = [];
  private readonly prefixes: { first: string; rest: string; used: boolean }[] = [];

  constructor(private left: number) {}

  line(text: string): void {
    if (this.cut) return;
    let prefix = '';
    for (const level of this.prefixes) {
      prefix += level.used ? level.rest : level.first;
      level.used = true;
    }
    const whole = text ? prefix + text : prefix.trimEnd();
    this.left -= whole.length + 1;
    if (this.left < 0) { this.cut = true; return; }
    this.lines.push(whole);
  }

  within(first: string, rest: string, write: () => void): void {
    const level = { first, rest, used: false };
    this.prefixes.push(level);
    write();
    // Even an item of no content is an item.
    if (!level.used) this.line('');
    this.prefixes.pop();
  }

  toString(): string {
    return this.lines.join('\n');
  }
}

export function renderMarkdown(blocks: Block[], longest: number): Rendered {
  const writer = new Writer(longest);
  writeBlocks(merged(blocks), writer, false);
  return { markdown: writer.toString(), cut: writer.cut };
}

/** Items that stood in no list of their own make one with their neighbours. */
function merged(blocks: Block[]): Block[] {
  const out: Block[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (block.t === 'list' && block.implicit && last?.t === 'list' && last.implicit) last.items.push(...block.items);
    else out.push(block.t === 'list' && block.implicit ? { ...block, items: [...block.items] } : block);
  }
  return out;
}

function writeBlocks(blocks: Block[], writer: Writer, tight: boolean): void {
  let before: Block | undefined;
  let bullet = 0;
  for (const block of blocks) {
    const lines = block.t === 'list' || block.t === 'quote' ? null : linesOf(block);
    if (lines?.length === 0) continue;
    if (block.t === 'list' && !block.items.length) continue;
    if (before && !(tight && before.t === 'p' && mayFollow(block))) writer.line('');
    if (block.t === 'list') {
      // Two lists in a row would be read as one if their marks were the same.
      bullet = before?.t === 'list' && before.ordered === block.ordered ? 1 - bullet : 0;
      writeList(block, writer, bullet === 1);
    } else if (block.t === 'quote') {
      writer.within('> ', '> ', () => writeBlocks(merged(block.blocks), writer, false));
    } else {
      for (const line of lines!) writer.line(line);
    }
    before = block;
  }
}

/** Whether a block may stand on the line after a paragraph: a list is only read as one there if it begins with a bullet or with 1. */
function mayFollow(block: Block): boolean {
  return block.t === 'list' && (!block.ordered || block.items[0]?.number === 1);
}

function linesOf(block: Exclude<Block, { t: 'list' | 'quote' }>): string[] {
  switch (block.t) {
    case 'p': {
      const text = writeInline(block.inner, PARAGRAPH);
      return text ? text.split('\n') : [];
    }
    case 'heading': {
      const text = writeInline(block.inner, ONE_LINE);
      return text ? [`${'#'.repeat(Math.min(6, Math.max(1, block.level)))} ${text.replace(/(^|\s)(#+)$/, '$1\\$2')}`] : [];
    }
    case 'code': return codeLines(block.lang, block.text);
    case 'table': {
      const lines = tableLines(block.rows);
      const caption = writeInline(flatten(block.caption, { t: 'text', text: ' ' }), ONE_LINE);
      return caption ? [caption, ...(lines.length ? ['', ...lines] : [])] : lines;
    }
    case 'hr': return ['---'];
  }
}

function codeLines(lang: string, text: string): string[] {
  const body = text.replace(/\r\n?/g, '\n').replace(/^\n+|\s+$/g, '');
  if (!body) return [];
  const longest = Math.max(2, ...Array.from(body.matchAll(/`{3,}/g), (run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return [fence + lang, ...body.split('\n'), fence];
}

function writeList(list: Extract<Block, { t: 'list' }>, writer: Writer, second: boolean): void {
  const loose = list.items.some((item) => merged(item.blocks).filter((block) => block.t !== 'list').length > 1);
  list.items.forEach((item, i) => {
    if (i && loose) writer.line('');
    const mark = item.number === null ? (second ? '* ' : '- ') : `${item.number}${second ? ')' : '.'} `;
    writer.within(mark, ' '.repeat(mark.length), () => writeItem(item, writer, !loose));
  });
}

function writeItem(item: Item, writer: Writer, tight: boolean): void {
  const blocks = merged(item.blocks);
  const [first, ...rest] = blocks;
  const box = item.task === null ? '' : item.task ? '[x] ' : '[ ] ';
  if (first?.t === 'p') {
    const text = writeInline(first.inner, PARAGRAPH);
    if (text) {
      // What only looks like a task is none.
      const [head = '', ...lines] = (box + (box ? text : text.replace(/^\[(?=[ xX]\](?:\s|$))/, '\\['))).split('\n');
      writer.line(head);
      for (const line of lines) writer.line(line);
      if (!rest.length) return;
      if (!(tight && mayFollow(rest[0]!))) writer.line('');
      writeBlocks(rest, writer, tight);
      return;
    }
  }
  if (box) writer.line(box.trimEnd());
  if (first?.t === 'hr') {
    // Written like the others, a rule right behind a bullet would make a rule of the whole line.
    writer.line('___');
    if (blocks.length > 1) writer.line('');
    blocks.shift();
  }
  writeBlocks(blocks, writer, tight);
}

