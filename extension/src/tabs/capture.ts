// Takes pictures of tabs. Chrome's own capture needs no debugger, but is allowed only about twice a second; and of a window that others
// cover, or that is minimised, it gives what was drawn last, however long ago, or nothing at all. There the debugger takes the picture.
import { remaining, type Call } from '../call';
import { isAttached } from '../debugger/attach';
import { dialogOf } from '../debugger/dialogs';
import { pictureOfView, type Shot } from '../debugger/picture';
import { BridgeError } from '../errors';
import { admitPicture } from './denied-frames';
import { callPage } from './page';
import { withoutOverlay } from '../overlay/worker';

const CAPTURE_MS = 2000;
/** Two captures a second are allowed; failed ones count too. */
const SPACING_MS = 600;
/** How long a tab that was just brought up may take to be drawn, and a page to say whether it is. */
const SHOWN_MS = 500;
const ASKED_MS = 600;
let nextStart = 0;
/** Captures of one window take turns, because each may have to show another tab. */
const turns = new Map<number, Promise<unknown>>();

/** The visible part of a tab as a data URL. The tab is shown in its window; the window is not raised. */
export async function capture(call: Call, tabId: number, windowId: number, shot: Shot): Promise<string> {
  const before = turns.get(windowId) ?? Promise.resolve();
  const mine = before.catch(() => {}).then(() => withoutOverlay(tabId, () => takeTurn(call, tabId, windowId, shot)));
  turns.set(windowId, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(windowId) === mine) turns.delete(windowId);
  }
}

async function takeTurn(call: Call, tabId: number, windowId: number, shot: Shot): Promise<string> {
  if (call.signal.aborted) throw new BridgeError('CANCELLED', 'cancelled');
  const tab = await chrome.tabs.get(tabId).catch(() => { throw new BridgeError('TAB_NOT_FOUND', `no tab with id ${tabId}`); });
  if (!tab.active) await chrome.tabs.update(tabId, { active: true });
  // With the debugger on it a page believes that it is seen, so that there it cannot be asked. A dialog keeps the debugger waiting.
  if (!dialogOf(tabId) && (isAttached(tabId) || (await sleeps(call, tabId, tab.active ? 0 : SHOWN_MS)))) return byDebugger(call, tabId, shot, undefined);
  const slot = Math.max(Date.now(), nextStart);
  nextStart = slot + SPACING_MS;
  if (slot > Date.now()) await new Promise((r) => setTimeout(r, slot - Date.now()));
  await admitPicture(call, tabId);
  const options = shot.format === 'png' ? { format: 'png' as const } : { format: 'jpeg' as const, quality: shot.quality };
  const picture = await within(chrome.tabs.captureVisibleTab(windowId, options), CAPTURE_MS).catch((e: unknown) => (e instanceof Error ? e : new Error(String(e))));
  // Somebody may have shown another tab meanwhile: a picture of the wrong page is worse than none.
  const [shown] = await chrome.tabs.query({ windowId, active: true });
  if (typeof picture === 'string' && shown?.id === tabId) return picture;
  return byDebugger(call, tabId, shot, picture instanceof Error ? picture : undefined);
}

/** Whether the page is not being drawn, although its tab is the one that its window shows. */
async function sleeps(call: Call, tabId: number, patience: number): Promise<boolean> {
  const until = Date.now() + patience;
  const asking: Call = { ...call, deadline: Math.min(call.deadline, until + ASKED_MS) };
  for (;;) {
    // Of a page that cannot be asked Chrome's own capture may still have something.
    const view = await within(callPage<{ hidden: boolean }>(asking, tabId, 'viewport', null), ASKED_MS).catch(() => undefined);
    if (!view?.hidden) return false;
    if (Date.now() >= until) return true;
    await new Promise((r) => setTimeout(r, 40));
  }
}

async function byDebugger(call: Call, tabId: number, shot: Shot, reason: Error | undefined): Promise<string> {
  try {
    return await within(pictureOfView(call, tabId, shot), Math.max(500, remaining(call, 8000)));
  } catch (e) {
    if (e instanceof BridgeError && e.code !== 'UNSUPPORTED') throw e;
    if (reason && !(reason instanceof TimeUp)) throw new BridgeError(/access|permission/i.test(reason.message) ? 'RESTRICTED_PAGE' : 'INTERNAL_ERROR', `no picture could be taken: ${reason.message}`);
    throw new BridgeError('PAGE_BLOCKED', `no picture of tab ${tabId} could be taken: its window is covered or minimised, or the page shows a dialog or is busy; foreground brings it to the front`);
  }
}

class TimeUp extends Error {}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new TimeUp('no answer')), ms); });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
