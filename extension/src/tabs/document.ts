// Finds the document that a call is going to work in, waiting for it if the tab is still on its way to its first page.
import { remaining, type Call } from '../call';
import { BridgeError, PageLeft } from '../errors';
import { guarded, isOwnAddress, sites } from '../policy/policy';
import { admitDocument, refusalOf } from './admission';
import { listFrames } from './frames';
import { hasOwnAddress, makerOf } from './inherited';
import { restricted, restriction } from './restricted';

/** One document in one frame. A navigation makes a new documentId, so work never drifts into another page. */
export interface Doc {
  tabId: number;
  frameId: number;
  documentId: string;
  url: string;
}

/** How long a call waits for a tab's first page to arrive before it says that there is none. */
const FIRST_PAGE_MS = 20_000;

export interface Where { frameId?: number; documentId?: string }

export async function findDocument(call: Call, tabId: number, where: Where = {}): Promise<Doc> {
  for (;;) {
    const frame = await frameDetails(tabId, where);
    if (frame && !frame.errorOccurred && !(frame.frameId === 0 ? restriction(frame.url) : isOwnAddress(frame.url))) {
      if (guarded(call)) await admitDocument(call, tabId, frame);
      return { tabId, frameId: frame.frameId, documentId: frame.documentId, url: frame.url };
    }
    const tab = await liveTab(tabId);
    if (where.documentId !== undefined || (where.frameId ?? 0) !== 0) {
      throw new PageLeft(`tab ${tabId}: the frame is gone`);
    }
    if (tab.discarded) {
      // Chrome took the page out of memory; it comes back by loading it again, as when a person clicks on the tab.
      const arrived = firstCommit(call, tabId);
      await chrome.tabs.reload(tabId);
      await arrived;
      continue;
    }
    const coming = tab.pendingUrl;
    if (coming && !restriction(coming) && tab.status === 'loading') {
      if (await firstCommit(call, tabId)) continue;
    }
    // The page may have arrived between the two looks.
    const arrived = await frameDetails(tabId, where);
    if (arrived && arrived.documentId !== frame?.documentId) continue;
    const url = frame?.url ?? tab.url ?? '';
    // The address of what cannot be worked on would tell of it.
    if (frame && !frame.errorOccurred && guarded(call)) await admitDocument(call, tabId, frame);
    throw restricted(tabId, url, frame?.errorOccurred ? 'it shows an error page of the browser' : (restriction(url) ?? 'it has no page yet'));
  }
}

interface FrameDetails { frameId: number; documentId: string; url: string; errorOccurred: boolean }

async function frameDetails(tabId: number, where: Where): Promise<FrameDetails | undefined> {
  if (where.documentId !== undefined) {
    // getFrame by documentId leaves the frame's id out; the list of the tab's frames has it.
    return (await listFrames(tabId)).find((f) => f.documentId === where.documentId);
  }
  const frameId = where.frameId ?? 0;
  const frame = await chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => null);
  return frame ? { ...frame, frameId } : undefined;
}

export async function liveTab(tabId: number): Promise<chrome.tabs.Tab> {
  try {
    return await chrome.tabs.get(tabId);
  } catch {
    throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`);
  }
}

/** Waits until the tab's top frame gets a document or its navigation fails; false if the time is up first. */
function firstCommit(call: Call, tabId: number): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (arrived: boolean) => {
      clearTimeout(timer);
      clearInterval(poll);
      chrome.webNavigation.onCommitted.removeListener(onMove);
      chrome.webNavigation.onErrorOccurred.removeListener(onMove);
      chrome.tabs.onRemoved.removeListener(onRemoved);
      call.signal.removeEventListener('abort', onAbort);
      resolve(arrived);
    };
    const onMove = (d: { tabId: number; frameId: number }) => { if (d.tabId === tabId && d.frameId === 0) done(true); };
    const onRemoved = (id: number) => { if (id === tabId) done(true); };
    const onAbort = () => done(false);
    const timer = setTimeout(() => done(false), remaining(call, FIRST_PAGE_MS));
    // The commit may have come between the look at the tab and the listeners.
    const poll = setInterval(() => void chrome.tabs.get(tabId).then((t) => { if (!t.pendingUrl) done(true); }, () => done(true)), 250);
    chrome.webNavigation.onCommitted.addListener(onMove);
    chrome.webNavigation.onErrorOccurred.addListener(onMove);
    chrome.tabs.onRemoved.addListener(onRemoved);
    call.signal.addEventListener('abort', onAbort);
  });
}

export interface Frame { frameId: number; parentFrameId: number; documentId: string; url: string }

/** The frames of a tab, the top one first, without those that show an error or a site that the user denies. */
export async function framesOf(tabId: number): Promise<Frame[]> {
  const frames = (await listFrames(tabId))
    .filter((f) => !f.errorOccurred && f.documentLifecycle === 'active' && !isOwnAddress(f.url))
    .map(({ frameId, parentFrameId, documentId, url }) => ({ frameId, parentFrameId, documentId, url }))
    .sort((a, b) => a.frameId - b.frameId);
  return sites.limited ? (await apart(tabId, frames)).open : frames;
}

/** The child frames that may be worked in, and those of sites that the user denies. */
export async function allFrames(tabId: number): Promise<{ open: Frame[]; denied: Frame[] }> {
  const all = await listFrames(tabId);
  return apart(tabId, all.filter((f) => f.documentLifecycle === 'active').sort((a, b) => a.frameId - b.frameId));
}

async function apart(tabId: number, frames: Frame[]): Promise<{ open: Frame[]; denied: Frame[] }> {
  const refused = new Map(await Promise.all(frames.map(async (f) => [f.frameId, await refusedFrame(tabId, f, frames)] as const)));
  return { open: frames.filter((f) => !refused.get(f.frameId)), denied: frames.filter((f) => refused.get(f.frameId)) };
}

/** A frame without an address and without an origin (data:, a sandbox) is its parent's. */
async function refusedFrame(tabId: number, frame: Frame, all: Frame[], depth = 0): Promise<boolean> {
  if ((hasOwnAddress(frame.url) && !frame.url.startsWith('data:')) || frame.frameId === 0 || depth > 20) return (await refusalOf(tabId, { documentId: frame.documentId }, frame.url)) !== undefined;
  const maker = await makerOf(tabId, { documentId: frame.documentId });
  if (maker) return sites.refusal(maker) !== undefined;
  const around = all.find((f) => f.frameId === frame.parentFrameId);
  return around === undefined || refusedFrame(tabId, around, all, depth + 1);
}
