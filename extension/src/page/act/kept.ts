// Whether the page keeps what was put in: looked at once it has had its time for that. The fields of one form share that time: each is
// filled, and what they all hold is looked at in the end, which also tells where a later field has changed an earlier one.
import { aftermath, askedSince, type Aftermath, type Mark } from '../aftermath';
import { unwatchBegun } from '../begun';
import type { PageContext } from '../context';
import { PageError } from '../error';
import { later, queued } from '../wait';

/** What is wrong with what the element holds now, if anything. */
export type Look = () => PageError | null;
export interface Later { later?: boolean }
/**
 * Names the look for who wants to look once more, when the act was (Date.now() milliseconds), how often the page has asked its server since
 * then, and what was wrong all the same: an answer of the server may put it right.
 */
export interface Settled { note?: string; look?: number; since?: number; asked?: number; wrong?: string }

interface Open { since: Mark; look: Look; asked: number }
const open = new Map<number, Open>();
const MOST = 500;
/** Who wants to look again does so by then, or not at all. */
const AGAIN_MS = 5000;
let counter = 0;

/** Throws if the page has not kept it. With `later`, what the page has put off is left to the look at the end. */
export async function settle(since: Mark, ctx: PageContext, { later: atEnd = false }: Later, look: Look): Promise<Settled> {
  const { unseen, waits, asked } = await aftermath(since, ctx, !atEnd);
  const wrong = look();
  if (wrong && !waits && !asked) {
    unwatchBegun();
    throw wrong;
  }
  if (open.size >= MOST) open.delete(open.keys().next().value!);
  const at = ++counter;
  open.set(at, { since, look, asked });
  if (!atEnd) later(() => open.delete(at), AGAIN_MS);
  return { ...(unseen === undefined ? {} : { note: unseen }), look: at, since: Date.now() - (performance.now() - since.at), asked, ...(wrong && asked ? { wrong: wrong.message } : {}) };
}

export interface Stands {
  failed?: { look: number; message: string };
  note?: string;
  /** How often the page has asked its server since the first of these acts. */
  asked?: number;
}

/**
 * Looks once more at what was put in; tells the first that does not hold it. With `answered` (Date.now() milliseconds) the page has had an answer of
 * its server then, and takes its time anew; else it is the end of a form, and the page has had no time yet.
 */
export async function stillOp({ looks, answered }: { looks: number[]; answered?: number }, ctx: PageContext): Promise<Stands> {
  const entries = looks.flatMap((look) => { const entry = open.get(look); return entry ? [{ at: look, entry }] : []; });
  if (!entries.length) return {};
  later(() => { for (const { at } of entries) open.delete(at); }, AGAIN_MS);
  const first = entries[0]!.entry.since;
  const { unseen } = await (answered === undefined ? aftermath(first, ctx) : answerTaken(first, answered, ctx));
  const asked = askedSince(first);
  if (entries.every(({ entry }) => entry.asked === asked)) unwatchBegun();
  for (const { entry } of entries) entry.asked = asked;
  for (const { at, entry } of entries) {
    const wrong = entry.look();
    if (wrong) return { failed: { look: at, message: wrong.message }, asked };
  }
  return { asked, ...(unseen === undefined ? {} : { note: unseen }) };
}

/** How long a page may take to read an answer that is there. */
const READ_MS = 25;
/** The page may have had the answer so much sooner than the browser said that it is there. */
const SOONER_MS = 20;

/** Resolves when the page has read an answer that came at that time, and done what it puts off because of it. */
async function answerTaken(first: Mark, came: number, ctx: PageContext): Promise<Aftermath> {
  const at = performance.now() - Math.max(0, Date.now() - came) - SOONER_MS;
  for (const end = performance.now() + READ_MS; performance.now() < end;) await queued();
  return aftermath({ ...first, at: Math.max(at, first.at) }, ctx, true, true);
}
