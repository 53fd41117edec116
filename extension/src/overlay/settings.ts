// Whether pages show where somebody acts: the popup's two switches, kept in the profile. On by default where a person can see it.

export interface OverlayWish {
  /** A box around the element. */
  box: boolean;
  /** The pointer, where it is moved and pressed. */
  cursor: boolean;
}

const KEY = 'overlay';
/** Nobody looks at a browser without a window. */
const headless = /\bHeadlessChrome\b/.test(navigator.userAgent);
/** How long something may still be in view after the switch was turned off. */
export const FADED_MS = 3000;

/** Nothing until the switches are known. */
let wish: OverlayWish = { box: false, cursor: false };
let offSince = 0;

const read = (stored: unknown): OverlayWish => {
  const { box, cursor } = (stored ?? {}) as Partial<Record<keyof OverlayWish, unknown>>;
  const of = (v: unknown) => (typeof v === 'boolean' ? v : !headless);
  return { box: of(box), cursor: of(cursor) };
};

function take(now: OverlayWish): void {
  if ((wish.box || wish.cursor) && !now.box && !now.cursor) offSince = Date.now();
  wish = now;
}

/** To be called at the top level of the worker. */
export function watchOverlay(): void {
  void chrome.storage.local.get(KEY).then((all) => take(read(all[KEY])));
  chrome.storage.local.onChanged.addListener((changes) => { if (changes[KEY]) take(read(changes[KEY].newValue)); });
}

export const overlayWish = (): OverlayWish => wish;

/** What a page is told along with a call; nothing where it shall show nothing. */
export const overlayTold = (): { show?: OverlayWish } => (wish.box || wish.cursor ? { show: wish } : {});

/** Whether something of it may be in view now. */
export const mayBeShown = (): boolean => wish.box || wish.cursor || Date.now() - offSince < FADED_MS;

/** The popup's switches. */
export async function setOverlay(change: Partial<OverlayWish>): Promise<void> {
  take({ ...wish, ...change });
  await chrome.storage.local.set({ [KEY]: wish });
}
