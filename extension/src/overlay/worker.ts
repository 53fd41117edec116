// The worker's side of the overlay: points that only the browser's own input goes to, and pictures without it.
import type { Call } from '../call';
import { callPage } from '../tabs/page';
import { mayBeShown, overlayWish } from './settings';

/** Shows the pointer at a point of the tab's view. Nothing waits for it. */
export function showPoint(call: Call, tabId: number, at: { x: number; y: number }): void {
  if (overlayWish().cursor) callPage(call, tabId, 'show_point', at).catch(() => {});
}

/** How long a page may hold up a picture by not taking the overlay away. */
const HIDE_MS = 400;
/** A picture that takes longer than this has the overlay back in it: better than a page that never shows it again. */
const PICTURE_MS = 20_000;

/** Runs `work`, which takes a picture of the tab, while the tab shows nothing of ours. */
export async function withoutOverlay<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  if (!mayBeShown()) return work();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((r) => { timer = setTimeout(r, HIDE_MS); });
  await Promise.race([inAllFrames(tabId, PICTURE_MS), late]);
  clearTimeout(timer);
  try {
    return await work();
  } finally {
    void inAllFrames(tabId, 0);
  }
}

/** Hides it in every frame for `ms`; 0 shows it again. */
async function inAllFrames(tabId: number, ms: number): Promise<void> {
  await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    injectImmediately: true,
    func: (ms: number) => {
      const ours = (globalThis as { __bridgedOverlay?: { hide?(ms: number): Promise<void>; show?(): void } }).__bridgedOverlay;
      return ms ? ours?.hide?.(ms) : ours?.show?.();
    },
    args: [ms],
  }).catch(() => {});
}
