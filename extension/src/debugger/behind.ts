// A press of the browser's own mouse brings the window up that it happens in: a covered one comes to the front and takes the focus, a
// minimised one opens. Nobody asked for that, so it is put back as soon as it happens.

interface Watch {
  minimised: boolean;
  /** The window that a person was in, if it was one of Chrome's. */
  before: number | undefined;
  /** Acts under way in the window. */
  acts: number;
  left: number;
  end?: ReturnType<typeof setTimeout>;
  stop(): void;
}
const watches = new Map<number, Watch>();

/** How long after an act the window may still come up. */
const LATE_MS = 700;
/** So often it is put back: someone who insists on it is a person. */
const MOST = 3;

/** Runs `work`; if the tab's window was not in front before, it does not stay there. */
export async function stayingBehind<T>(tabId: number, work: () => Promise<T>): Promise<T> {
  const windowId = await chrome.tabs.get(tabId).then((t) => t.windowId, () => undefined);
  const watch = windowId === undefined ? undefined : watches.get(windowId) ?? (await watchFor(windowId));
  if (windowId === undefined || !watch) return work();
  watch.acts++;
  watch.left = MOST;
  clearTimeout(watch.end);
  try {
    return await work();
  } finally {
    if (--watch.acts === 0) watch.end = setTimeout(() => watch.stop(), LATE_MS);
  }
}

async function watchFor(windowId: number): Promise<Watch | undefined> {
  const all = await chrome.windows.getAll().catch(() => []);
  const own = all.find((w) => w.id === windowId);
  if (!own || (own.focused && own.state !== 'minimized')) return undefined;
  const known = watches.get(windowId);
  if (known) return known;
  const onFocus = (id: number) => {
    if (id === windowId && watch.left-- > 0) void putBack(windowId, watch).catch(() => {});
  };
  const watch: Watch = {
    minimised: own.state === 'minimized', before: all.find((w) => w.focused && w.id !== windowId)?.id, acts: 0, left: MOST,
    stop() {
      chrome.windows.onFocusChanged.removeListener(onFocus);
      watches.delete(windowId);
    },
  };
  chrome.windows.onFocusChanged.addListener(onFocus);
  watches.set(windowId, watch);
  return watch;
}

async function putBack(windowId: number, { minimised, before }: Watch): Promise<void> {
  if (minimised) await chrome.windows.update(windowId, { state: 'minimized' });
  if (before !== undefined) await chrome.windows.update(before, { focused: true });
  // Somewhere outside of Chrome: the browser can only step back.
  else if (!minimised) await chrome.windows.update(windowId, { focused: false });
}
