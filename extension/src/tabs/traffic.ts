// Whether a tab's network is at rest. Best effort by nature: a page may ask for something again at any time, and what it keeps open
// on purpose (streams, long polls, sockets) must not hold up anybody for ever.

/** So long nothing may have begun, ended or been under way. */
export const QUIET_MS = 500;
/** A response whose body is still coming after this long is taken for a stream. */
const STREAM_MS = 3000;
/** A request that has had no response for so long is taken for a long poll. */
const POLL_MS = 8000;

const NOT_COUNTED = new Set(['websocket', 'webtransport', 'ping', 'csp_report', 'media']);

export interface Traffic {
  /** Names the tab, if it was not known when the watch was set up. */
  bind(tabId: number): void;
  /** Resolves with true when the network has been quiet, with false after `ms` or when `signal` aborts. */
  quiet(ms: number, signal: AbortSignal): Promise<boolean>;
  stop(): void;
}

interface Details { tabId: number; requestId: string; type: string }
interface Request { tabId: number; at: number; answered: boolean }

/** Must be set up before what is to be watched begins, unless the tab was attended to. */
export function watchTraffic(knownTab?: number): Traffic {
  return watch(knownTab, new Map(knownTab === undefined ? [] : attended.get(knownTab)?.requests));
}

/** A tab that a call has come to is listened to for so long after it: who then waits for its network must know what is under way. */
const ATTEND_MS = 15_000;
const ATTEND_MOST = 20;
const attended = new Map<number, { requests: Map<string, Request>; traffic: Traffic; over: ReturnType<typeof setTimeout> }>();

/** A call has come to the tab. */
export function attend(tabId: number): void {
  const known = attended.get(tabId);
  if (known) {
    clearTimeout(known.over);
    known.over = setTimeout(leave, ATTEND_MS, tabId);
    return;
  }
  if (attended.size >= ATTEND_MOST) leave(attended.keys().next().value!);
  const requests = new Map<string, Request>();
  attended.set(tabId, { requests, traffic: watch(tabId, requests), over: setTimeout(leave, ATTEND_MS, tabId) });
}

function leave(tabId: number): void {
  const known = attended.get(tabId);
  if (!known) return;
  clearTimeout(known.over);
  known.traffic.stop();
  attended.delete(tabId);
}

function watch(knownTab: number | undefined, requests: Map<string, Request>): Traffic {
  let tabId = knownTab;
  let last = Date.now();
  let wake = () => {};
  const mine = (d: Details) => d.tabId >= 0 && (tabId === undefined || d.tabId === tabId) && !NOT_COUNTED.has(d.type);
  const touched = () => { last = Date.now(); wake(); };
  const onBegin = (d: Details): undefined => {
    if (!mine(d)) return;
    requests.set(d.requestId, { tabId: d.tabId, at: Date.now(), answered: false });
    touched();
  };
  const onAnswer = (d: Details) => { const r = requests.get(d.requestId); if (r) { r.answered = true; r.at = Date.now(); } };
  const onEnd = (d: Details) => { if (requests.delete(d.requestId) || mine(d)) touched(); };
  const all = { urls: ['<all_urls>'], ...(knownTab === undefined ? {} : { tabId: knownTab }) };
  const { webRequest } = chrome;
  webRequest.onBeforeRequest.addListener(onBegin, all);
  webRequest.onResponseStarted.addListener(onAnswer, all);
  webRequest.onCompleted.addListener(onEnd, all);
  webRequest.onErrorOccurred.addListener(onEnd, all);

  /** Milliseconds until the network may be called quiet, if nothing else happens. */
  const missing = (): number => {
    const now = Date.now();
    let wait = last + QUIET_MS - now;
    for (const { tabId: of, at, answered } of requests.values()) {
      if (of === tabId || tabId === undefined) wait = Math.max(wait, at + (answered ? STREAM_MS : POLL_MS) - now);
    }
    return Math.max(0, wait);
  };

  return {
    bind(id) { tabId = id; },
    quiet: (ms, signal) => new Promise((resolve) => {
      const end = Date.now() + ms;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const done = (quiet: boolean) => {
        clearTimeout(timer);
        wake = () => {};
        signal.removeEventListener('abort', onAbort);
        resolve(quiet);
      };
      const onAbort = () => done(false);
      const look = () => {
        clearTimeout(timer);
        const wait = missing();
        if (wait === 0) return done(true);
        if (Date.now() >= end || signal.aborted) return done(false);
        timer = setTimeout(look, Math.max(1, Math.min(wait, end - Date.now())));
      };
      wake = look;
      signal.addEventListener('abort', onAbort, { once: true });
      look();
    }),
    stop() {
      webRequest.onBeforeRequest.removeListener(onBegin);
      webRequest.onResponseStarted.removeListener(onAnswer);
      webRequest.onCompleted.removeListener(onEnd);
      webRequest.onErrorOccurred.removeListener(onEnd);
    },
  };
}
