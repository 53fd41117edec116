// Whether the page keeps what was put in: looked at once it has had its time for that. The fields of one form share that time: each is
// filled, and what they all hold is looked at in the end, which also tells where a later field has changed an earlier one.
import { aftermath, type Mark } from '../aftermath';
import type { PageContext } from '../context';
import { PageError } from '../error';

/** What is wrong with what the element holds now, if anything. */
export type Look = () => PageError | null;
export interface Later { later?: boolean }
/** Names the look that is left for the end of the form. */
export interface Settled { note?: string; look?: number }

interface Open { since: Mark; look: Look }
const open = new Map<number, Open>();
const MOST = 500;
let counter = 0;

/** Throws if the page has not kept it. With `later`, what the page has put off is left to the look at the end. */
export async function settle(since: Mark, ctx: PageContext, { later = false }: Later, look: Look): Promise<Settled> {
  const { unseen, waits } = await aftermath(since, ctx, !later);
  const wrong = look();
  if (wrong && !waits) throw wrong;
  const note = unseen === undefined ? {} : { note: unseen };
  if (!later) return note;
  if (open.size >= MOST) open.delete(open.keys().next().value!);
  open.set(++counter, { since, look });
  return { ...note, look: counter };
}

export interface Stands { failed?: { look: number; message: string } }

/** Looks once more at fields that were filled with `later`; tells the first that does not hold what was put in. */
export async function stillOp({ looks }: { looks: number[] }, ctx: PageContext): Promise<Stands> {
  const entries = looks.flatMap((look) => { const entry = open.get(look); open.delete(look); return entry ? [{ at: look, ...entry }] : []; });
  if (!entries.length) return {};
  await aftermath(entries[0]!.since, ctx);
  for (const { at, look } of entries) {
    const wrong = look();
    if (wrong) return { failed: { look: at, message: wrong.message } };
  }
  return {};
}
