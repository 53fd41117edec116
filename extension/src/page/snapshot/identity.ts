// Whether a node still stands for what it stood for. Lists that are drawn anew often keep their nodes and put other contents into
// them: the node is the same, but a click on "Delete" in it would delete something else. Such a node counts as gone.
import { nameOf } from '../a11y/names';
import { roleOf } from '../a11y/roles';
import { ancestry, within } from '../dom';
import { cut } from '../describe';

/** What an element was when a snapshot told of it. */
export interface Identity {
  role: string;
  name: string;
  id: string;
  /** The list entry, row or card around it (or itself): what tells it from its like. */
  entry?: WeakRef<Element>;
  key?: string;
  text?: number;
  /** The entry among its siblings, as they were. */
  siblings?: Siblings;
}

/** The children of one parent that are of one kind, with what they said. One record for all entries of a list and one snapshot. */
interface Siblings { parent: WeakRef<Element>; kind: string; all: { el: WeakRef<Element>; text: number }[] }

/** Records are shared within one snapshot. */
export class Identities {
  private readonly lists = new Map<Element, Map<string, Siblings>>();
  private readonly texts = new Map<Element, number>();

  of(el: Element, role: string, name: string): Identity {
    const identity: Identity = { role, name, id: el.id };
    const entry = entryOf(el);
    if (!entry) return identity;
    return { ...identity, entry: new WeakRef(entry), key: keyOf(entry), text: this.text(entry), siblings: this.siblings(entry) };
  }

  private text(el: Element): number {
    let known = this.texts.get(el);
    if (known === undefined) this.texts.set(el, known = hash(said(el)));
    return known;
  }

  private siblings(entry: Element): Siblings | undefined {
    const parent = entry.parentElement;
    if (!parent) return undefined;
    const kind = kindOf(entry);
    let kinds = this.lists.get(parent);
    if (!kinds) this.lists.set(parent, kinds = new Map());
    let record = kinds.get(kind);
    if (!record) {
      const all = like(parent, kind).slice(0, MOST).map((el) => ({ el: new WeakRef(el), text: this.text(el) }));
      kinds.set(kind, record = { parent: new WeakRef(parent), kind, all });
    }
    return record;
  }
}

const MOST = 300;

/** Why the element is no longer what it was; null if it is. */
export function changed(el: Element, was: Identity): string | null {
  const role = roleOf(el);
  if (role !== was.role) return `it was a ${was.role} and is a ${role} now`;
  if (el.id !== was.id && (el.id || was.id)) return 'its id has changed';
  const name = nameOf(el);
  const entry = was.entry?.deref();
  if (was.entry && !(entry && within(el, entry))) return 'it is in another entry of the list now';
  if (!entry) return null;
  const key = keyOf(entry);
  if (key !== was.key) return renamed(was.name, name);
  // An entry that says by itself which one it is may change as it likes.
  if (key !== undefined) return null;
  const now = hash(said(entry));
  if (now === was.text && name === was.name) return null;
  // Its own change (a counter, "Follow" to "Following") leaves the others of the list alone; one that is drawn anew does not.
  return othersStayed(entry, was.siblings) ? null : renamed(was.name, name);
}

const renamed = (before: string, now: string) =>
  (before === now ? 'the list around it was drawn anew' : `it was named ${JSON.stringify(cut(before, 60))} and is named ${JSON.stringify(cut(now, 60))} now`);

function othersStayed(entry: Element, siblings: Siblings | undefined): boolean {
  if (!siblings) return true;
  const parent = siblings.parent.deref();
  if (!parent || entry.parentElement !== parent) return false;
  const now = like(parent, siblings.kind);
  if (Math.min(now.length, MOST) !== siblings.all.length) return false;
  return siblings.all.every(({ el, text }, i) => now[i] === el.deref() && (now[i] === entry || hash(said(now[i]!)) === text));
}

const ENTRIES = 'li, tr, option, article, [role=listitem], [role=row], [role=option], [role=treeitem], [role=article], [role=tab], [role=menuitem]';

/** The innermost thing around the element (or itself) that has others like it beside it. */
function entryOf(el: Element): Element | undefined {
  for (const up of ancestry(el)) {
    if (up === document.body || up === document.documentElement) return undefined;
    const parent = up.parentElement;
    if (!parent) continue;
    if (up.matches(ENTRIES)) return up;
    const kind = kindOf(up);
    if (hasLike(up.nextElementSibling, kind) || hasLike(up.previousElementSibling, kind)) return up;
  }
  return undefined;
}

const hasLike = (el: Element | null, kind: string) => el !== null && kindOf(el) === kind;
const like = (parent: Element, kind: string) => [...parent.children].filter((el) => kindOf(el) === kind);
/** Without its classes: they say what state an entry is in as often as what it is. */
const kindOf = (el: Element) => `${el.localName} ${el.getAttribute('role') ?? ''}`;

const KEYS = ['id', 'data-id', 'data-key', 'data-row-key', 'data-item-id', 'data-row-id', 'data-uuid', 'data-testid'];

/** What an entry says of itself that tells it from the others; undefined if nothing does. */
function keyOf(entry: Element): string | undefined {
  for (const name of KEYS) {
    const value = entry.getAttribute(name);
    // The same word on every entry (data-testid="row") tells nothing.
    if (value && ![entry.nextElementSibling, entry.previousElementSibling].some((s) => s?.getAttribute(name) === value)) return `${name}=${value}`;
  }
  return undefined;
}

const said = (el: Element) => (el.textContent ?? '').replace(/\s+/g, ' ').trim();

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

