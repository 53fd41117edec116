// Tables as GFM writes them: one header row, every row of the same width, one line a row.
import { codeSpan } from './escape';
import { IN_CELL, writeInline } from './inline';
import type { Block, Cell, Row } from './model';

/** A table wider than this is cut; no reader lines up more columns. */
const MOST_COLUMNS = 500;

/** What stands in one place of the grid: a cell, whether it begins there, and whether it came down from a row above. */
interface Spot { cell: Cell; start: boolean; below: boolean }

/**
 * The cells in their columns, spans spread out. Columns in which no cell begins are left out: `colspan="100"` is a way to say
 * "all of them", not a hundred columns.
 */
export function grid(rows: Row[]): (Spot | undefined)[][] {
  const spread: (Spot | undefined)[][] = [];
  /** Cells that reach down into rows to come, by column. */
  const hanging: { cell: Cell; left: number; section: string }[] = [];
  const used = new Set<number>();
  for (const row of rows) {
    const line: (Spot | undefined)[] = [];
    let column = 0;
    const hang = () => {
      for (let over = hanging[column]; over && over.left > 0 && over.section === row.section; over = hanging[column]) {
        line[column] = { cell: over.cell, start: false, below: true };
        over.left--;
        column++;
      }
    };
    for (const cell of row.cells.slice(0, MOST_COLUMNS)) {
      hang();
      // Every cell has a place of its own, however wide the ones before it say they are.
      for (let i = 0; i < cell.colspan && (i === 0 || column < MOST_COLUMNS); i++, column++) {
        const over = hanging[column];
        if (i > 0 && over && over.left > 0 && over.section === row.section) break;
        line[column] = { cell, start: i === 0, below: false };
        if (i === 0) used.add(column);
        if (cell.rowspan > 1) hanging[column] = { cell, left: cell.rowspan - 1, section: row.section };
      }
    }
    while (column < hanging.length) {
      hang();
      column++;
    }
    spread.push(line);
  }
  const columns = [...used].sort((a, b) => a - b);
  return spread.map((line) => columns.map((column) => line[column]));
}

/** The lines of a table, the caption not among them; none if it holds nothing. */
export function tableLines(all: Row[]): string[] {
  const order = { head: 0, body: 1, foot: 2 };
  const rows = all.filter((row) => row.cells.length).sort((a, b) => order[a.section] - order[b.section]);
  const spots = grid(rows);
  const width = spots[0]?.length ?? 0;
  if (!width) return [];
  const texts = new Map<Cell, string>();
  const text = (cell: Cell) => {
    let known = texts.get(cell);
    if (known === undefined) texts.set(cell, known = cellText(cell.blocks));
    return known;
  };
  const heads = headerRows(rows);
  const body = spots.slice(heads).map((line) => line.map((spot) => (spot && (spot.start || spot.below) ? text(spot.cell) : '')));
  const header = Array.from({ length: width }, (_, column) => heading(spots.slice(0, heads), column, text));
  // A row in which nothing stands says nothing.
  const full = body.filter((line) => line.some(Boolean));
  if (!full.length && !header.some(Boolean)) return [];
  const rule = header.map((_, column) => RULES[alignment(spots, heads, column)]);
  return [header, rule, ...full].map((line) => `| ${line.join(' | ')} |`);
}

const RULES = { '': '---', left: ':---', center: ':---:', right: '---:' };

/** How many rows at the top are headers: the thead's, else a first row of nothing but headers. */
function headerRows(rows: Row[]): number {
  const inHead = rows.findIndex((row) => row.section !== 'head');
  if (inHead !== 0) return inHead < 0 ? 1 : inHead;
  const first = rows[0]!;
  const bare = rows.findIndex((row) => !row.cells.every((cell) => cell.header));
  if (bare > 1) {
    // Rows of headers go on as long as one above spans what is named below it; another one heads a section.
    let heads = 1;
    while (heads < bare && rows[heads]!.cells.length > 1 && rows[heads - 1]!.cells.some((cell) => cell.colspan > 1 || cell.rowspan > 1)) heads++;
    return heads;
  }
  return first.cells.every((cell) => cell.header) || (rows.length > 1 && first.cells.every(isBold) && !rows[1]!.cells.every(isBold)) ? 1 : 0;
}

/** A cell all in bold is what a header looks like where nobody wrote th. */
function isBold(cell: Cell): boolean {
  const [block] = cell.blocks;
  return cell.blocks.length === 1 && block?.t === 'p' && block.inner.every((node) =>
    (node.t === 'mark' && node.kind === 'strong') || (node.t === 'text' && !node.text.trim())) && block.inner.some((node) => node.t === 'mark');
}

/** Several header rows become one: from the group's name down to the column's. */
function heading(lines: (Spot | undefined)[][], column: number, text: (cell: Cell) => string): string {
  const cells = new Set(lines.map((line) => line[column]?.cell).filter((cell) => cell !== undefined));
  return [...new Set([...cells].map((cell) => text(cell).replace(/^\*\*((?:[^*]|\\\*)+)\*\*$/, '$1')))].filter(Boolean).join(' ');
}

function alignment(spots: (Spot | undefined)[][], heads: number, column: number): keyof typeof RULES {
  const said = spots.slice(0, heads).map((line) => line[column]).find((spot) => spot?.cell.align)?.cell.align;
  return said ?? spots[heads]?.[column]?.cell.align ?? '';
}

/** A cell's blocks in one line, `<br>` between them, every `|` behind an uneven number of backslashes. */
function cellText(blocks: Block[]): string {
  return cellLines(blocks, '').filter(Boolean).join('<br>').replace(/\n/g, ' ')
    .replace(/(\\*)\|/g, (_, slashes: string) => `${slashes}${slashes.length % 2 ? '\\' : ''}\\|`).trim();
}

function cellLines(blocks: Block[], indent: string): string[] {
  return blocks.flatMap((block): string[] => {
    switch (block.t) {
      case 'p': return [writeInline(block.inner, IN_CELL)];
      case 'heading': return [emphasized(writeInline(block.inner, IN_CELL))];
      case 'code': return block.text.split('\n').map((line) => (line.trim() ? codeSpan(line) : ''));
      case 'quote': return cellLines(block.blocks, indent);
      case 'list': return block.items.flatMap((item) => {
        const [first = '', ...rest] = cellLines(item.blocks, `${indent}&nbsp;&nbsp;`);
        const mark = item.task === null ? '' : item.task ? '[x] ' : '[ ] ';
        return [`${indent}${item.number === null ? '-' : `${item.number}.`} ${mark}${first}`, ...rest];
      });
      case 'table': return cellLines(block.caption, '').concat(block.rows.map((row) => row.cells.map((cell) => cellLines(cell.blocks, '').join(' ')).filter(Boolean).join(' ')));
      case 'hr': return [];
    }
  });
}

function emphasized(text: string): string {
  return text && !text.includes('**') ? `**${text}**` : text;
}
