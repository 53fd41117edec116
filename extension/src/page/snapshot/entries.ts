// Entries of lists and tables in a compact snapshot. An entry is told, before what it holds, where that alone does not say which
// one it belongs to: the fourth of ten buttons "Delete". Where a link or a heading in it does, the entry would say it twice.
import { native } from '../native';

const ENTRY = new Set(['listitem', 'row', 'article']);
/** What says by its name which entry it is in, also where there is no other to compare with. */
const TITLES = new Set(['link', 'heading', 'checkbox', 'radio', 'switch', 'option']);

interface Held { role: string; name: string; clickable?: boolean; editable?: boolean }
export interface Entry<N> { el: Element; role: string; before: N }

export class Entries<N extends Held> {
  private readonly found: (Entry<N> & { held: N[] })[] = [];

  constructor(private readonly nodes: N[]) {}

  /** To be called when an entry begins; the function given back when it ends. */
  begin(el: Element, role: string): () => void {
    if (!ENTRY.has(role)) return () => {};
    const at = this.nodes.length;
    return () => {
      const held = this.nodes.slice(at);
      const before = held[0];
      // An entry that holds others is a part of the page.
      if (!before || !held.some((n) => n.clickable || n.editable) || this.found.some((e) => el !== e.el && native(el).contains(e.el))) return;
      this.found.push({ el, role, before, held });
    };
  }

  /** Those that have to be told. */
  needed(): Entry<N>[] {
    const lists = new Map<Element | null, { entries: number; names: Map<string, number> }>();
    for (const { el, held } of this.found) {
      const parent = native(el).parentElement;
      const list = lists.get(parent) ?? { entries: 0, names: new Map<string, number>() };
      lists.set(parent, list);
      list.entries++;
      for (const name of new Set(held.map((n) => n.name))) list.names.set(name, (list.names.get(name) ?? 0) + 1);
    }
    return this.found.filter(({ el, held }) => {
      const { entries, names } = lists.get(native(el).parentElement)!;
      return !held.some((n) => n.name && names.get(n.name) === 1 && (entries > 1 || TITLES.has(n.role)));
    });
  }
}
