// The refs of this document: a number for every element that a snapshot told of, and back. They live with the document, need no
// debugger, and survive a restart of the worker, since they are kept here and not there.
import { PageError } from '../error';
import { changed, type Identity } from './identity';
import { native } from '../native';

interface Entry { el: WeakRef<Element>; identity: Identity }
const numbers = new WeakMap<Element, number>();
const entries = new Map<number, Entry>();
/** Beyond so many, those of elements that are gone are cleared away. */
let prune = 2000;

/** Numbers for one snapshot, from `next` on: the worker sees to it that no number is given twice in a tab. */
export class Numbering {
  constructor(private next: number) {}

  of(el: Element, identity: Identity): number {
    let n = numbers.get(el);
    // A node that came to stand for something else is another one to whoever reads the snapshots.
    if (n !== undefined && changed(el, entries.get(n)?.identity ?? identity)) n = undefined;
    if (n === undefined) numbers.set(el, n = this.next++);
    entries.set(n, { el: new WeakRef(el), identity });
    return n;
  }

  /** The first number that is free now. */
  done(): number {
    if (entries.size > prune) {
      for (const [n, { el }] of entries) if (!native(el.deref())?.isConnected) entries.delete(n);
      prune = Math.max(2000, entries.size * 2);
    }
    return this.next;
  }
}

/** The element of a ref; STALE_REF if it is gone or stands for something else now. */
export function elementOf(ref: string): Element {
  const entry = entries.get(Number(/^backend-(\d+)/.exec(ref)?.[1]));
  const el = entry?.el.deref();
  if (!entry || !el || !native(el).isConnected) throw stale(ref, 'the element is gone');
  const why = changed(el, entry.identity);
  if (why) throw stale(ref, why);
  return el;
}

const stale = (ref: string, why: string) => new PageError('STALE_REF', `ref ${ref} is stale: ${why}; a new snapshot has what is there now`);
