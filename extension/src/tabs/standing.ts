// Whether what was put into fields still stands once the page has had its time, and its server has answered.
import { remaining, type Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import type { Settled, Stands } from '../page/act/kept';
import { watchAsked } from './asked';
import type { Doc } from './document';
import { ticking } from './element';
import { callPage } from './page';

/** How long answers of the page's server are waited for, all in all. */
const SERVER_MS = 2000;
/** The browser's news of a request that the page has begun comes within this time, if it is one that goes over the network. */
const NEWS_MS = 150;
/** What is left of the call's time for the last look. */
const LOOK_MS = 200;

const UNANSWERED = 'the page has asked its server for something since, which had not answered in time: what it makes of the answer could not be read back';
const ON_AND_ON = 'the page asks its server again and again: what it makes of later answers could not be read back';

/** One fill of those that a call makes. */
export type Fill = <R extends Settled>(one: (worked: (doc: Doc) => void) => Promise<R>) => Promise<Omit<R, 'look' | 'since' | 'asked' | 'wrong'>>;
/** A field that does not hold what was put in, by its place in the row of fills. */
export interface Fallen { field: number; message: string }

/**
 * What is to be looked at once more in a document: since when, which field by which name, how often the page says that it has asked its server,
 * and what did not hold when it was last looked at.
 */
interface Filled { doc: Doc; since: number; of: { field: number; look: number }[]; asked: number; fallen?: Fallen | undefined }

interface Options {
  /** The fills were told to leave the page's own time for the end. */
  atEnd?: boolean;
  /** The error's words for a field that does not hold what was put in. */
  told?: (fallen: Fallen) => string;
}

/**
 * Runs `work`, which fills fields by way of the function that it is given. If the page asks its server for something meanwhile, the answer
 * is waited for; what was filled and has been taken back by then is an error.
 */
export async function standing<R extends { note?: string }>(call: Call, tabId: number, work: (fill: Fill) => Promise<R>, { atEnd = false, told = (f) => f.message }: Options = {}): Promise<R> {
  const requests = watchAsked(tabId);
  const documents = new Map<string, Filled>();
  let count = 0;
  let note: string | undefined;

  const fill: Fill = async (one) => {
    const field = count++;
    let doc: Doc | undefined;
    const { look, since, asked = 0, wrong, ...done } = await one((d) => { doc = d; });
    if (doc && look !== undefined && since !== undefined) {
      const known = documents.get(doc.documentId) ?? { doc, since, of: [], asked };
      documents.set(doc.documentId, known);
      known.of.push({ field, look });
      known.asked = Math.max(known.asked, asked);
      if (wrong !== undefined) known.fallen ??= { field, message: wrong };
    }
    return done;
  };
  const lookAgain = async (filled: Filled, more: object) => {
    const { doc, of } = filled;
    const stands = await still(call, doc, of.map((e) => e.look), more);
    const { failed } = stands;
    filled.fallen = failed && { field: of.find((e) => e.look === failed.look)?.field ?? 0, message: failed.message };
    filled.asked = Math.max(filled.asked, stands.asked ?? 0);
    note ??= stands.note;
  };
  /** What an answer makes the page ask is waited for as well. A page that has asked nothing is judged by what it holds now. */
  const answered = async (filled: Filled) => {
    const { doc, since } = filled;
    const end = Date.now() + SERVER_MS;
    const left = () => Math.max(0, Math.min(end - Date.now(), remaining(call) - LOOK_MS));
    const asked = () => Math.max(filled.asked, requests.all(doc, since));
    for (let known = 0; note === undefined && asked() > known;) {
      // A page that asks at intervals would keep it here for as long as the call has.
      if (known > 0 && left() === 0) { note = ON_AND_ON; break; }
      // What the page itself says comes sooner than the browser's news.
      if (filled.asked > known) await requests.until(() => requests.all(doc, since) >= filled.asked, Math.min(NEWS_MS, left()), call.signal);
      if (!await requests.until(() => requests.open(doc, since) === 0, left(), call.signal)) note ??= UNANSWERED;
      known = asked();
      if (remaining(call) > LOOK_MS / 2) await lookAgain(filled, { answered: Date.now() });
    }
    if (filled.fallen) throw new BridgeError('ELEMENT_NOT_ACTIONABLE', told(filled.fallen), { maybe_executed: true });
  };

  try {
    const result = await work(fill);
    if (atEnd) for (const filled of documents.values()) await lookAgain(filled, {});
    for (const filled of documents.values()) await answered(filled);
    return note === undefined || result.note !== undefined ? result : { ...result, note };
  } finally {
    requests.stop();
  }
}

/** What became of a page that was left is not known. */
async function still(call: Call, doc: Doc, looks: number[], more: object): Promise<Stands> {
  const { tabId, documentId } = doc;
  try {
    return await ticking(doc, () => callPage<Stands>(call, tabId, 'still', { looks, ...more }, { documentId }));
  } catch (e) {
    if (e instanceof PageLeft || (e instanceof BridgeError && e.code === 'NAVIGATION_FAILED')) return {};
    throw e;
  }
}
