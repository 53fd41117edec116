// Downloads that an act in a tab sets off. Chrome's list of downloads knows no tabs: whose a download is, is told by when it came, by
// the page that it came from and, where the tab went to its address, by that.
import { remaining, type Call } from '../call';
import type { Download } from '../generated/methods';
import { listFrames } from './frames';

type Item = chrome.downloads.DownloadItem;

/** A download that is under way is waited for so long; then the answer says that it goes on. */
const DONE_MS = 10_000;
/** What is kept of the deadline for the answer itself. */
const ANSWER_MS = 300;

export interface DownloadsWatch {
  /** How many have begun that belong to this act. */
  began(): number;
  /** The tab is on its way to this address. */
  went(url: string): void;
  /** What became of them, as far as there is time to wait for it. */
  outcome(call: Call): Promise<Download[]>;
  stop(): void;
}

interface Watcher { tabId: number; addresses: Set<string>; items: Item[]; begun: () => void }

const watchers = new Set<Watcher>();
let listening = false;
/** Tabs that have had one: of those Chrome asks the person before the next, unless that one comes of a click of theirs. */
const hadOne = new Set<number>();
const REMEMBERED = 1000;
const MORE = 'it has not begun; Chrome lets a page start one download and asks the person about the next, unless a trusted click started it: click with trusted, or in a new tab';

/** Must be set up before the act; `begun` hears of each download that belongs to it. */
export function watchDownloads(tabId: number, begun: () => void): DownloadsWatch {
  // One listener for good: adding and removing one with each click would cost each click.
  if (!listening) chrome.downloads?.onCreated.addListener((item) => void attribute(item));
  listening = true;
  const watcher: Watcher = { tabId, addresses: new Set(), items: [], begun };
  watchers.add(watcher);
  return {
    began: () => watcher.items.length,
    went: (url) => void watcher.addresses.add(bare(url)),
    outcome(call) {
      const until = Date.now() + Math.min(DONE_MS, Math.max(0, remaining(call) - ANSWER_MS));
      return Promise.all(watcher.items.map((item) => finished(call, item, until)));
    },
    stop: () => void watchers.delete(watcher),
  };
}

/** Gives a download to the act that most likely set it off; to none where nothing speaks for one. */
async function attribute(item: Item): Promise<void> {
  // One that an extension asked for, ours included, is no page's.
  if (item.byExtensionId !== undefined || !watchers.size) return;
  const scored = await Promise.all([...watchers].map(async (watcher) => ({ watcher, score: await score(watcher, item) })));
  // Of two that are alike, the one that has none yet.
  scored.sort((a, b) => b.score - a.score || a.watcher.items.length - b.watcher.items.length);
  const [best] = scored;
  if (!best?.score) return;
  best.watcher.items.push(item);
  if (hadOne.size >= REMEMBERED) hadOne.clear();
  hadOne.add(best.watcher.tabId);
  best.watcher.begun();
}

/** What there is to say of one that was asked for, or most likely was, and did not begin. */
export const notBegun = (tabId: number): Download => ({ state: 'requested', ...(hadOne.has(tabId) ? { note: MORE } : {}) });
export const wasOne = (tabId: number): boolean => hadOne.has(tabId);

async function score({ tabId, addresses }: Watcher, { url, referrer }: Item): Promise<number> {
  if (addresses.has(bare(url))) return 3;
  const frames = await listFrames(tabId);
  const pages = frames.map((f) => f.url);
  const from = referrer ?? '';
  if (from !== '') return pages.some((p) => bare(p) === bare(from)) ? 2 : Number(pages.some((p) => originOf(p) === originOf(from)));
  return Number(/^(blob|data):/i.test(url) && (originOf(url) === 'null' || pages.some((p) => originOf(p) === originOf(url))));
}

const bare = (url: string) => url.split('#', 1)[0]!;
const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : '');

async function finished(call: Call, { id, ...begun }: Item, until: number): Promise<Download> {
  let wake = () => {};
  let news = true;
  // One listener for as long as it takes: what comes while one is taken off and the next put on would be missed.
  const tell = () => { news = true; wake(); };
  const onChanged = (delta: { id: number }) => { if (delta.id === id) tell(); };
  const timer = setTimeout(tell, Math.max(0, until - Date.now()));
  chrome.downloads.onChanged.addListener(onChanged);
  call.signal.addEventListener('abort', tell);
  try {
    for (;;) {
      if (!news) await new Promise<void>((resolve) => { wake = resolve; });
      news = false;
      const [item] = await chrome.downloads.search({ id }).catch(() => []);
      if (!item || isOver(item) || Date.now() >= until || call.signal.aborted) return shown(item ?? { id, ...begun });
    }
  } finally {
    clearTimeout(timer);
    chrome.downloads.onChanged.removeListener(onChanged);
    call.signal.removeEventListener('abort', tell);
  }
}

/** Nothing more happens to it by itself: it is through, or waits for the person. */
const isOver = (item: Item) => item.state !== 'in_progress' || item.paused || isDangerous(item);
const isDangerous = ({ danger }: Item) => danger !== undefined && !/^(safe|accepted|allowlistedByPolicy|deepScannedSafe|asyncScanning|asyncLocalPasswordScanning)$/.test(danger);

function shown(item: Item): Download {
  const { state, filename, mime, error, danger } = item;
  const bytes = state === 'complete' && item.fileSize >= 0 ? item.fileSize : item.bytesReceived;
  const url = item.finalUrl || item.url;
  return {
    state,
    // Of one that came to nothing there is no file.
    ...(filename && state !== 'interrupted' ? { path: filename } : {}),
    ...(mime ? { mime } : {}),
    bytes,
    ...(state === 'in_progress' && item.totalBytes > 0 ? { total_bytes: item.totalBytes } : {}),
    origin: originOf(url) === 'null' ? url.slice(0, url.indexOf(':') + 1) : originOf(url),
    ...(error === undefined ? {} : { error }),
    ...(isDangerous(item) ? { danger } : {}),
    ...(item.paused ? { paused: true } : {}),
  };
}
