// Refs across the browser: which document a ref belongs to. `backend-<n>` is an element of a top document, `backend-<n>@f<k>` one of a
// child frame's. No number of a top document is given twice, in whatever tab, and every child document has a name of its own: so a ref
// of a page that is gone, or of another tab, can never mean an element of the page that it is used on.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { findDocument, framesOf, liveTab, type Doc } from './document';

interface TabRefs {
  /** Which numbers are of which top document; `end` is the first that is not. */
  runs: { from: number; end: number; documentId: string }[];
  frames: { k: number; documentId: string }[];
}

/** The next numbers that nobody has. */
interface Free { number: number; frame: number }

const RUNS_MOST = 300;
const FRAMES_MOST = 300;
const known = new Map<number, Promise<TabRefs>>();
const keyOf = (tabId: number) => `refs:${tabId}`;
const FREE = 'refs';
let free: Promise<Free> | undefined;

function freeOnes(): Promise<Free> {
  free ??= chrome.storage.session.get(FREE).then((stored) => (stored[FREE] as Free | undefined) ?? { number: 1, frame: 1 });
  return free;
}

function refsOf(tabId: number): Promise<TabRefs> {
  let refs = known.get(tabId);
  if (!refs) {
    refs = chrome.storage.session.get(keyOf(tabId)).then((stored) => (stored[keyOf(tabId)] as TabRefs | undefined) ?? { runs: [], frames: [] });
    known.set(tabId, refs);
  }
  return refs;
}

const save = async (tabId: number, refs: TabRefs) => chrome.storage.session.set({ [keyOf(tabId)]: refs, [FREE]: await freeOnes() }).catch(() => {});

/** Sets numbers aside for a snapshot of the top document; `used` gives back what was not needed. */
export async function reserve(tabId: number, documentId: string, count: number): Promise<{ next: number; used(next: number): Promise<void> }> {
  const [refs, unused] = await Promise.all([refsOf(tabId), freeOnes()]);
  const from = unused.number;
  const end = from + count;
  unused.number = end;
  const run = { from, end, documentId };
  refs.runs.push(run);
  return {
    next: from,
    async used(next) {
      run.end = next;
      if (unused.number === end) unused.number = next;
      if (next === from) refs.runs.splice(refs.runs.indexOf(run), 1);
      // Those of one document that follow on one another are one, and the oldest of very many are forgotten: their refs are stale then.
      const at = refs.runs.indexOf(run);
      const before = refs.runs[at - 1];
      if (before?.end === from && before.documentId === documentId) {
        before.end = next;
        refs.runs.splice(at, 1);
      }
      if (refs.runs.length > RUNS_MOST) refs.runs.shift();
      await save(tabId, refs);
    },
  };
}

/** The name of a child document. */
export async function frameKey(tabId: number, documentId: string): Promise<number> {
  const [refs, unused] = await Promise.all([refsOf(tabId), freeOnes()]);
  let frame = refs.frames.find((f) => f.documentId === documentId);
  if (!frame) {
    frame = { k: unused.frame++, documentId };
    refs.frames.push(frame);
    if (refs.frames.length > FRAMES_MOST) refs.frames.shift();
  }
  return frame.k;
}

/** The document that a ref belongs to; STALE_REF if the tab no longer shows it. */
export async function documentOf(call: Call, tabId: number, ref: string): Promise<Doc> {
  const parts = /^backend-(\d{1,15})(?:@f(\d{1,9}))?$/.exec(ref);
  if (!parts) throw new BridgeError('INVALID_PARAMS', `invalid params: target: ${JSON.stringify(ref.slice(0, 60))} is no ref; snapshot gives refs such as backend-12`);
  const refs = await refsOf(tabId);
  if (parts[2] === undefined) {
    const n = Number(parts[1]);
    const run = refs.runs.find((r) => r.from <= n && n < r.end);
    if (!run) return unknown(tabId, ref);
    const doc = await findDocument(call, tabId);
    if (doc.documentId !== run.documentId) throw staleRef(ref, 'the page it was on is gone');
    return doc;
  }
  const documentId = refs.frames.find((f) => f.k === Number(parts[2]))?.documentId;
  if (documentId === undefined) return unknown(tabId, ref);
  const frame = (await framesOf(tabId)).find((f) => f.documentId === documentId);
  if (!frame) {
    await liveTab(tabId);
    throw staleRef(ref, 'the frame it was in is gone');
  }
  return { ...frame, tabId };
}

/** With a tab its refs are forgotten. */
async function unknown(tabId: number, ref: string): Promise<never> {
  await liveTab(tabId);
  throw staleRef(ref, 'no snapshot of this tab gave it');
}

export const staleRef = (ref: string, why: string) => new BridgeError('STALE_REF', `ref ${ref} is stale: ${why}; a new snapshot has what is there now`);

/** To be called at the top level of the worker. */
export function watchRefs(): void {
  chrome.tabs.onRemoved.addListener((tabId) => {
    known.delete(tabId);
    void chrome.storage.session.remove(keyOf(tabId)).catch(() => {});
  });
}
