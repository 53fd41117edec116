// Refs across a tab: which document a ref belongs to. `backend-<n>` is an element of the top document, `backend-<n>@f<k>` one of a
// child frame's. In the top frame no number is given twice in a tab's life, and every child document has a name of its own, so that a
// ref of a page that is gone can never mean an element of the one that came after it.
import type { Call } from '../call';
import { BridgeError } from '../errors';
import { findDocument, framesOf, type Doc } from './document';

interface TabRefs {
  /** The next free number of the top frame. */
  next: number;
  /** From which number on which document of the top frame; the last one holds now. */
  runs: { from: number; documentId: string }[];
  frames: { k: number; documentId: string }[];
  nextFrame: number;
}

const RUNS_MOST = 30;
const FRAMES_MOST = 300;
const known = new Map<number, Promise<TabRefs>>();
const keyOf = (tabId: number) => `refs:${tabId}`;

function refsOf(tabId: number): Promise<TabRefs> {
  let refs = known.get(tabId);
  if (!refs) {
    refs = chrome.storage.session.get(keyOf(tabId)).then((stored) => (stored[keyOf(tabId)] as TabRefs | undefined) ?? { next: 1, runs: [], frames: [], nextFrame: 1 });
    known.set(tabId, refs);
  }
  return refs;
}

const save = async (tabId: number, refs: TabRefs) => chrome.storage.session.set({ [keyOf(tabId)]: refs }).catch(() => {});

/** Sets numbers aside for a snapshot of the top document; `used` gives back what was not needed. */
export async function reserve(tabId: number, documentId: string, count: number): Promise<{ next: number; used(next: number): Promise<void> }> {
  const refs = await refsOf(tabId);
  const from = refs.next;
  if (refs.runs.at(-1)?.documentId !== documentId) {
    refs.runs.push({ from, documentId });
    if (refs.runs.length > RUNS_MOST) refs.runs.shift();
  }
  const end = from + count;
  refs.next = end;
  return {
    next: from,
    async used(next) {
      if (refs.next === end) refs.next = next;
      await save(tabId, refs);
    },
  };
}

/** The name of a child document. */
export async function frameKey(tabId: number, documentId: string): Promise<number> {
  const refs = await refsOf(tabId);
  let frame = refs.frames.find((f) => f.documentId === documentId);
  if (!frame) {
    frame = { k: refs.nextFrame++, documentId };
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
    const run = n < refs.next ? refs.runs.findLast((r) => r.from <= n) : undefined;
    if (!run) throw staleRef(ref, 'no snapshot of this tab gave it');
    const doc = await findDocument(call, tabId);
    if (doc.documentId !== run.documentId) throw staleRef(ref, 'the page it was on is gone');
    return doc;
  }
  const documentId = refs.frames.find((f) => f.k === Number(parts[2]))?.documentId;
  if (documentId === undefined) throw staleRef(ref, 'no snapshot of this tab gave it');
  const frame = (await framesOf(tabId)).find((f) => f.documentId === documentId);
  if (!frame) throw staleRef(ref, 'the frame it was in is gone');
  return { ...frame, tabId };
}

export const staleRef = (ref: string, why: string) => new BridgeError('STALE_REF', `ref ${ref} is stale: ${why}; a new snapshot has what is there now`);

/** To be called at the top level of the worker. */
export function watchRefs(): void {
  chrome.tabs.onRemoved.addListener((tabId) => {
    known.delete(tabId);
    void chrome.storage.session.remove(keyOf(tabId)).catch(() => {});
  });
}
