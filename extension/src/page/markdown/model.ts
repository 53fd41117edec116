// What a page says, between its DOM and its Markdown: plain data, so that writing it out needs no browser.

/** Marks that Markdown knows, those it takes as HTML, and code; an emphasis that cannot be written falls back to HTML as well. */
export type MarkKind = 'strong' | 'em' | 'del' | 'link' | 'code' | 'sub' | 'sup' | 'kbd';

export interface Mark { t: 'mark'; kind: MarkKind; href?: string; inner: Inline[] }

export type Inline =
  | { t: 'text'; text: string }
  | { t: 'br' }
  | { t: 'image'; alt: string; src: string }
  /** Written as it stands, e.g. a formula. */
  | { t: 'raw'; text: string }
  | Mark;

export interface Item {
  /** The number that the page shows; for a bulleted list null. */
  number: number | null;
  /** Whether it is ticked; for no task null. */
  task: boolean | null;
  blocks: Block[];
}

export interface Cell {
  blocks: Block[];
  header: boolean;
  colspan: number;
  rowspan: number;
  align: '' | 'left' | 'center' | 'right';
}

export interface Row { section: 'head' | 'body' | 'foot'; cells: Cell[] }

export type Block =
  | { t: 'p'; inner: Inline[] }
  | { t: 'heading'; level: number; inner: Inline[] }
  | { t: 'quote'; blocks: Block[] }
  | { t: 'list'; ordered: boolean; items: Item[]; implicit?: boolean }
  | { t: 'code'; lang: string; text: string }
  | { t: 'table'; caption: Block[]; rows: Row[] }
  | { t: 'hr' };

/** Whether there is anything to read in it. */
export function isEmpty(nodes: Inline[]): boolean {
  return nodes.every((node) => {
    switch (node.t) {
      case 'text': return !/[^\s\u00a0\u00ad\u200b\ufeff]/.test(node.text);
      case 'br': return true;
      case 'mark': return isEmpty(node.inner);
      default: return false;
    }
  });
}

/** Blocks as one run of text, for places that hold no blocks (headings); parts are set apart by `between`. */
export function flatten(blocks: Block[], between: Inline): Inline[] {
  const parts: Inline[][] = [];
  const take = (list: Block[]): void => {
    for (const block of list) {
      switch (block.t) {
        case 'p': case 'heading': parts.push(block.inner); break;
        case 'quote': take(block.blocks); break;
        case 'list': for (const item of block.items) take(item.blocks); break;
        case 'code': parts.push([{ t: 'mark', kind: 'code', inner: [{ t: 'text', text: block.text }] }]); break;
        case 'table':
          take(block.caption);
          for (const row of block.rows) for (const cell of row.cells) take(cell.blocks);
          break;
        case 'hr': break;
      }
    }
  };
  take(blocks);
  return parts.flatMap((part, i) => (i ? [between, ...part] : part));
}
