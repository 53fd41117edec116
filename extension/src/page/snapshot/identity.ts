// Whether a node still stands for what it stood for. Lists that are drawn anew often keep their nodes and put other contents into
// them: the node is the same, but a click on "Delete" in it would delete something else. Such a node counts as gone.
import { nameOf } from '../a11y/names';
import { roleOf } from '../a11y/roles';
import { ancestry, within } from '../dom';
import { cut } from '../describe';
import { native } from '../native';
import { pageSetting, settingChanged, settingOf, type Setting } from './setting';

/** What an element was when a snapshot told of it. */
export interface Identity {
  role: string;
  name: string;
  id: string;
  /** What the part of the page around it is about. */
  setting: Setting;
  /** The cell, row, list, card around it (or itself) that has others like it beside it; the innermost first. */
  entries: Entry[];
}

interface Entry {
  el: WeakRef<Element>;
  /** What it says by itself of which one it is. */
  key: string | undefined;
  said: Said;
  /** What it said besides the element itself. */
  rest: number;
  siblings: Siblings;
}

interface Said { all: number; words: number }

/** The children of one parent that are of one kind, with what they said. One record for all entries of a list and one snapshot. */
interface Siblings { parent: WeakRef<Element>; kind: string; all: { el: WeakRef<Element>; said: Said }[] }

/** So many children of a list are compared, and so many lists in lists. */
const MOST = 300;
const LEVELS = 3;
/** What says more than this is no entry of a list but a part of the page. */
const LARGE = 4000;

/** Records are shared within one snapshot. */
export class Identities {
  private readonly lists = new Map<Element, Map<string, Siblings>>();
  private readonly page = pageSetting();
  private readonly texts = new Map<Element, Said>();

  of(el: Element, role: string, name: string): Identity {
    const entries: Entry[] = [];
    for (const entry of entriesOf(el)) {
      entries.push({ el: new WeakRef(entry), key: keyOf(entry), said: this.said(entry), rest: besides(entry, el), siblings: this.siblings(entry, native(entry).parentElement!) });
    }
    return { role, name, id: native(el).id, setting: settingOf(el, this.page), entries };
  }

  private said(el: Element): Said {
    let known = this.texts.get(el);
    if (!known) this.texts.set(el, known = whatItSays(el));
    return known;
  }

  private siblings(entry: Element, parent: Element): Siblings {
    const kind = kindOf(entry);
    let kinds = this.lists.get(parent);
    if (!kinds) this.lists.set(parent, kinds = new Map<string, Siblings>());
    let record = kinds.get(kind);
    if (!record) {
      const all = like(parent, kind).slice(0, MOST).map((el) => ({ el: new WeakRef(el), said: this.said(el) }));
      kinds.set(kind, record = { parent: new WeakRef(parent), kind, all });
    }
    return record;
  }
}

/** Why the element is no longer what it was; null if it is. */
export function changed(el: Element, was: Identity): string | null {
  const role = roleOf(el);
  if (role !== was.role) return `it was a ${was.role} and is a ${role} now`;
  if (native(el).id !== was.id) return 'its id has changed';
  const elsewhere = settingChanged(el, was.setting);
  if (elsewhere) return elsewhere;
  for (const entry of was.entries) {
    const now = entry.el.deref();
    if (!now || !within(el, now)) return 'it is in another entry of the list now';
    const key = keyOf(now);
    if (key !== entry.key) return renamed(el, was);
    // One that says by itself which one it is may change as it likes. Among the whole page only an id does; what tells the cells of a
    // row apart does not tell the rows.
    if (key?.startsWith('id=')) return null;
    if (key !== undefined) continue;
    const { all, words } = whatItSays(now);
    if (words === entry.said.words && isOnly(entry)) continue;
    if (now !== el && besides(now, el) === entry.rest) continue;
    // Its own change (a counter, "Follow" to "Following") leaves the others of the list alone; a list that is drawn anew does not.
    if (all !== entry.said.all && !othersStayed(now, entry.siblings)) return renamed(el, was);
  }
  return null;
}

function renamed(el: Element, was: Identity): string {
  const name = nameOf(el);
  if (name === was.name) return 'the list around it was drawn anew';
  return `it was named ${JSON.stringify(cut(was.name, 60))} and is named ${JSON.stringify(cut(name, 60))} now`;
}

/** Whether no other of the list said the same words. */
function isOnly({ said, siblings }: Entry): boolean {
  return siblings.all.filter((s) => s.said.words === said.words).length === 1;
}

function othersStayed(entry: Element, siblings: Siblings): boolean {
  const parent = siblings.parent.deref();
  if (!parent || native(entry).parentElement !== parent) return false;
  const now = like(parent, siblings.kind);
  if (Math.min(now.length, MOST) !== siblings.all.length) return false;
  return siblings.all.every(({ el, said }, i) => now[i] === el.deref() && (now[i] === entry || whatItSays(now[i]!).all === said.all));
}

const ENTRIES = 'li, tr, article, [role=listitem], [role=row], [role=treeitem], [role=article]';

function* entriesOf(el: Element): Generator<Element> {
  let levels = 0;
  for (const up of ancestry(el)) {
    if (up === document.body || up === document.documentElement) return;
    if (!native(up).parentElement) continue;
    if ((native(up).textContent?.length ?? 0) > LARGE) return;
    const kind = kindOf(up);
    const whole = native(up).matches(ENTRIES);
    if (whole || hasLike(native(up).nextElementSibling, kind) || hasLike(native(up).previousElementSibling, kind)) {
      yield up;
      // A row stands for itself, whatever the table is in.
      if (whole || ++levels >= LEVELS) return;
    }
  }
}

const hasLike = (el: Element | null, kind: string) => el !== null && kindOf(el) === kind;
const like = (parent: Element, kind: string) => [...native(parent).children].filter((el) => kindOf(el) === kind);
/** Without its classes: they say what state an entry is in as often as what it is. */
const kindOf = (el: Element) => `${native(el).localName} ${native(el).getAttribute('role') ?? ''}`;

const KEYS = ['id', 'data-id', 'data-key', 'data-row-key', 'data-item-id', 'data-row-id', 'data-uuid', 'data-testid'];

/** What an entry says of itself that tells it from the others: an attribute, or where its first link leads. */
function keyOf(entry: Element): string | undefined {
  const beside = [native(entry).nextElementSibling, native(entry).previousElementSibling];
  for (const name of KEYS) {
    const value = native(entry).getAttribute(name);
    // The same word on every entry (data-testid="row") tells nothing.
    if (value && !beside.some((s) => native(s)?.getAttribute(name) === value)) return `${name}=${value}`;
  }
  const link = linkIn(entry);
  return link && !beside.some((s) => s !== null && linkIn(s) === link) ? `href=${link}` : undefined;
}

function linkIn(el: Element): string | null {
  const link = native(el).matches('a[href]') ? el : native(el).querySelector('a[href]');
  const href = native(link)?.getAttribute('href');
  return href && !/^(?:#|javascript:)/i.test(href) ? href : null;
}

/** All of the text, and its words without what counts and ticks. */
function whatItSays(el: Element): Said {
  const text = tidied(el);
  return { all: hash(text), words: hash(text.replace(/[^\p{L}]+/gu, ' ')) };
}

function besides(entry: Element, el: Element): number {
  const own = tidied(el);
  const text = tidied(entry);
  return hash(own ? text.replace(own, () => '') : text);
}

const tidied = (el: Element) => (native(el).textContent ?? '').replace(/\s+/g, ' ').trim();

function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
