// The frames of a tab as Chrome lists them; with those that it leaves out: once a page comes back from the back/forward cache, webNavigation
// knows its top frame only, until another document comes into one of the others. They can be scripted as before.

export interface FrameDetails { frameId: number; parentFrameId: number; documentId: string; url: string; errorOccurred: boolean; documentLifecycle: string }

/** The top documents that each tab has shown, by which one that comes back is known. */
const shown = new Map<number, string[]>();
/** The tabs whose page has come back. */
const back = new Set<number>();
/** Which frame each child document stands in. */
const parents = new Map<string, number>();
const SHOWN_MOST = 20;
const PARENTS_MOST = 2000;
const ANSWER_MS = 1000;

export async function listFrames(tabId: number): Promise<FrameDetails[]> {
  const [listed, unlisted] = await Promise.all([
    chrome.webNavigation.getAllFrames({ tabId }).catch(() => null),
    back.has(tabId) ? scriptable(tabId) : [],
  ]);
  const known = new Set(listed?.map((f) => f.frameId));
  return [...(listed ?? []), ...unlisted.filter((f) => !known.has(f.frameId))];
}

async function scriptable(tabId: number): Promise<FrameDetails[]> {
  const answers = chrome.scripting.executeScript({ target: { tabId, allFrames: true }, injectImmediately: true, func: () => location.href }).catch(() => []);
  // One that stands still would hold up all.
  const frames = await Promise.race([answers, new Promise<Awaited<typeof answers>>((r) => setTimeout(r, ANSWER_MS, []))]);
  return frames.map(({ frameId, documentId, result }) => ({
    frameId, documentId, url: result ?? '', parentFrameId: parents.get(documentId) ?? 0, errorOccurred: false, documentLifecycle: 'active',
  }));
}

/** To be called at the top level of the worker. */
export function watchFrames(): void {
  chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, parentFrameId, documentId, documentLifecycle }) => {
    if (documentLifecycle !== 'active' || !documentId) return;
    if (frameId !== 0) {
      parents.set(documentId, parentFrameId);
      if (parents.size > PARENTS_MOST) parents.delete(parents.keys().next().value!);
      return;
    }
    const before = shown.get(tabId) ?? [];
    if (before.includes(documentId)) back.add(tabId);
    else {
      back.delete(tabId);
      shown.set(tabId, [...before.slice(1 - SHOWN_MOST), documentId]);
    }
  });
  chrome.tabs.onRemoved.addListener((tabId) => {
    shown.delete(tabId);
    back.delete(tabId);
  });
}
