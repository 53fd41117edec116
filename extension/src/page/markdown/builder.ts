// Puts the model together while the page is walked: text and marks come in as they are met, and end up in paragraphs, lists, tables.
import { flatten, isEmpty, type Block, type Cell, type Inline, type Item, type Mark, type MarkKind, type Row } from './model';

/** Lists and quotes nested deeper than this are written flat: every level costs an indentation on every line. */
const DEEPEST = 40;

type Frame =
  | { t: 'blocks'; blocks: Block[] }
  | { t: 'list'; blocks: Block[]; list: Extract<Block, { t: 'list' }>; next: number; step: number }
  | { t: 'item'; blocks: Block[]; item: Item };

interface OpenMark { kind: MarkKind; href?: string; used: boolean }
interface OpenTable { rows: Row[]; caption: Block[] }

export class Builder {
  private readonly frames: Frame[] = [{ t: 'blocks', blocks: [] }];
  private readonly marks: OpenMark[] = [];
  private readonly tables: OpenTable[] = [];
  /** The run that is being written, and where in it: the innermost open mark's content. */
  private run: Inline[] = [];
  private holders: Inline[][] = [this.run];

  get blocks(): Block[] {
    this.flush();
    return this.frames[0]!.blocks;
  }

  text(text: string): void {
    this.inner.push({ t: 'text', text });
  }

  put(node: Inline): void {
    this.inner.push(node);
  }

  private get inner(): Inline[] {
    return this.holders[this.holders.length - 1]!;
  }

  private get frame(): Frame {
    return this.frames[this.frames.length - 1]!;
  }

  /** Begins a mark; the function that comes back ends it. */
  mark(kind: MarkKind, href?: string): () => void {
    const mark: OpenMark = { kind, href, used: false };
    this.marks.push(mark);
    this.enterMark(mark);
    return () => {
      this.marks.pop();
      this.holders.pop();
    };
  }

  private enterMark(mark: OpenMark): void {
    const node: Mark = { t: 'mark', kind: mark.kind, href: mark.href, inner: [] };
    // A link around several blocks (a card) is written on the first that says something, not on each.
    if (mark.used) { this.holders.push(this.inner); return; }
    this.inner.push(node);
    this.holders.push(node.inner);
  }

  /** Ends the paragraph that is being written, if there is one; open marks go on in the next. */
  flush(): void {
    const { run } = this;
    if (!run.length) return;
    if (!isEmpty(run)) {
      this.add({ t: 'p', inner: run });
      this.marks.forEach((mark, i) => {
        if (mark.kind === 'link' && !isEmpty(this.holders[i + 1]!)) mark.used = true;
      });
    }
    this.run = [];
    this.holders = [this.run];
    for (const mark of this.marks) this.enterMark(mark);
  }

  /** A finished block, into the innermost frame. */
  add(block: Block): void {
    const { frame } = this;
    if (frame.t !== 'list') { frame.blocks.push(block); return; }
    // What stands in a list outside of its items belongs to the item before it.
    const last = frame.list.items.at(-1);
    if (last) last.blocks.push(block);
    else frame.list.items.push({ number: null, task: null, blocks: [block] });
  }

  block(block: Block): void {
    this.flush();
    this.add(block);
  }

  /** Collects blocks apart from where they would go; the function that comes back gives them. */
  private collect(frame: Frame = { t: 'blocks', blocks: [] }): () => Block[] {
    this.flush();
    this.frames.push(frame);
    return () => {
      this.flush();
      this.frames.pop();
      return frame.blocks;
    };
  }

  heading(level: number): () => void {
    const end = this.collect();
    return () => {
      const blocks = end();
      // A heading that is only a picture or an address book of blocks is still one line.
      this.add({ t: 'heading', level, inner: flatten(blocks, { t: 'text', text: ' ' }) });
    };
  }

  /** A paragraph all in bold, for what is a heading of a small kind: a summary, a term. */
  strong(): () => void {
    const end = this.collect();
    return () => {
      const inner = flatten(end(), { t: 'text', text: ' ' });
      if (!isEmpty(inner)) this.add({ t: 'p', inner: [{ t: 'mark', kind: 'strong', inner }] });
    };
  }

  quote(): () => void {
    if (this.frames.length > DEEPEST) return this.plain();
    const end = this.collect();
    return () => {
      const blocks = end();
      if (blocks.length) this.add({ t: 'quote', blocks });
    };
  }

  /** A block that adds nothing but its own ends. */
  plain(): () => void {
    this.flush();
    return () => this.flush();
  }

  list(ordered: boolean, start: number, step: number, implicit = false): () => void {
    if (this.frames.length > DEEPEST) return this.plain();
    const list: Extract<Block, { t: 'list' }> = { t: 'list', ordered, items: [], ...(implicit ? { implicit } : {}) };
    const end = this.collect({ t: 'list', blocks: [], list, next: start, step });
    return () => {
      end();
      if (list.items.length) this.add(list);
    };
  }

  /** An item; outside of any list it makes one of its own. */
  item(value?: number): () => void {
    const { frame } = this;
    if (this.frames.length > DEEPEST + 1) return this.plain();
    if (frame.t !== 'list') {
      if (this.frames.length > DEEPEST) return this.plain();
      const endList = this.list(false, 1, 1, true);
      const endItem = this.item();
      return () => { endItem(); endList(); };
    }
    this.flush();
    const number = frame.list.ordered ? value ?? frame.next : null;
    if (number !== null) frame.next = number + frame.step;
    const item: Item = { number, task: null, blocks: [] };
    const end = this.collect({ t: 'item', blocks: item.blocks, item });
    frame.list.items.push(item);
    return () => {
      end();
      // A list may hold what is not an item's at all, such as a menu's empty corner.
      if (!item.blocks.length && item.task === null) frame.list.items.splice(frame.list.items.lastIndexOf(item), 1);
    };
  }

  /** A tick box: makes a task of the item that it opens. */
  task(ticked: boolean): void {
    const { frame } = this;
    if (frame.t === 'item' && !frame.blocks.length && isEmpty(this.run)) frame.item.task ??= ticked;
  }

  table(): () => void {
    const end = this.collect();
    const table: OpenTable = { rows: [], caption: [] };
    this.tables.push(table);
    return () => {
      // What stood between the rows (which a parser would have moved) comes before the table.
      const stray = end();
      this.tables.pop();
      for (const block of stray) this.add(block);
      this.add({ t: 'table', ...table });
    };
  }

  caption(): () => void {
    const end = this.collect();
    const table = this.tables.at(-1);
    return () => {
      const blocks = end();
      if (table) table.caption.push(...blocks); else for (const block of blocks) this.add(block);
    };
  }

  row(section: Row['section']): () => void {
    this.flush();
    this.tables.at(-1)?.rows.push({ section, cells: [] });
    return () => this.flush();
  }

  cell(cell: Omit<Cell, 'blocks'>): () => void {
    const rows = this.tables.at(-1)?.rows;
    const end = this.collect();
    return () => {
      const blocks = end();
      // A script may put a cell into a table without a row.
      if (!rows?.length) rows?.push({ section: 'body', cells: [] });
      const row = rows?.at(-1);
      if (row) row.cells.push({ ...cell, blocks }); else for (const block of blocks) this.add(block);
    };
  }
}
