// Requests that a page begins in answer to an act: a file that it makes of an answer, or an address that it asks for first, come only after
// them. Whoever has acted looks here whether there are any; where there are none, nothing is waited for.

/** Between two acts in a tab its requests are listened to for so long: adding and removing the listeners would cost each act. */
const KEPT_MS = 10_000;
/** So long the page's requests are waited for, */
const PATIENCE_MS = 3000;
/** and so long for the body of a file. */
const FILE_MS = 10_000;
/** What a page makes of an answer it makes within this time: */
const REACTION_MS = 100;
/** of a file in this. */
const FILE_REACTION_MS = 500;

/** A request that the page has begun is seen within this time. */
const SHOWN_MS = 500;
/** A request that begins within this time after another one's end may follow from it. */
const LINK_MS = 400;
/** So many requests may follow from one another. */
const FURTHER = 3;

interface Request { at: number; file: boolean; endless: boolean; ended?: number }

interface Tab {
  requests: Map<string, Request>;
  wakers: Set<() => void>;
  stop(): void;
  timer?: ReturnType<typeof setTimeout>;
  users: number;
}

const tabs = new Map<number, Tab>();
const KEPT = 200;

/** What is known of an act's requests by itself. */
export interface Act {
  /** From when to when it went on, in Date.now() milliseconds. */
  from: number;
  to: number;
  /** So many calls that begin one were heard in the page. */
  begun?: number;
}

export interface Started {
  /** Whether the page began one during the act. */
  any(act: Act): boolean;
  /** Resolves when those have been answered and the page has had its time to react, or `end` says so, which is asked at each change. */
  over(act: Act, signal: AbortSignal, until: number, end: () => boolean): Promise<void>;
  /** To be called when `end` may have changed its mind. */
  wake(): void;
  stop(): void;
}

/** Must be set up before the act. */
export function watchStarted(tabId: number): Started {
  const tab = tabs.get(tabId) ?? listen(tabId);
  clearTimeout(tab.timer);
  tab.users++;
  const wake = () => { for (const waker of tab.wakers) waker(); };
  return {
    any: (act) => (act.begun ?? 0) > 0 || causedBy(act, tab.requests.values()).length > 0,
    wake,
    async over(act, signal, until, end) {
      for (;;) {
        const now = Date.now();
        const caused = causedBy(act, tab.requests.values());
        // Chrome's word of a request may come later than the page's.
        const shown = caused.length < (act.begun ?? 0) ? act.to + SHOWN_MS : 0;
        const at = Math.min(until, Math.max(shown, ...caused.map((r) => doneBy(r, act.from, now))));
        if (end() || signal.aborted || now >= at) return;
        await new Promise<void>((resolve) => {
          const done = () => {
            clearTimeout(timer);
            tab.wakers.delete(done);
            signal.removeEventListener('abort', done);
            resolve();
          };
          const timer = setTimeout(done, at - now);
          tab.wakers.add(done);
          signal.addEventListener('abort', done);
        });
      }
    },
    stop() {
      if (--tab.users === 0) tab.timer = setTimeout(() => { tab.stop(); tabs.delete(tabId); }, KEPT_MS);
    },
  };
}

/** Those that the act began, and those that were begun right after the answer to one of these; not what a page asks for all the time. */
function causedBy({ from, to, begun = 0 }: Act, requests: Iterable<Request>): Request[] {
  const all = [...requests].filter((r) => r.at >= from - 1);
  const caused = all.filter((r, i) => i < begun || r.at <= to + 1);
  for (let i = 0, further = 0; i < caused.length && further < FURTHER; i++) {
    const { ended } = caused[i]!;
    const next = ended === undefined ? undefined : all.find((r) => r.at >= ended - 1 && r.at <= ended + LINK_MS && !caused.includes(r));
    if (next && ++further) caused.push(next);
  }
  return caused;
}

/** When a request no longer needs to be waited for, as it stands now. */
function doneBy({ file, endless, ended }: Request, from: number, now: number): number {
  if (endless) return now;
  if (ended !== undefined) return ended + (file ? FILE_REACTION_MS : REACTION_MS);
  return from + (file ? FILE_MS : PATIENCE_MS);
}

type Details = chrome.webRequest.OnBeforeRequestDetails;

function listen(tabId: number): Tab {
  const requests = new Map<string, Request>();
  const wakers = new Set<() => void>();
  const changed = () => { for (const waker of wakers) waker(); };
  const onBegin = ({ requestId, timeStamp }: Details): undefined => {
    if (requests.has(requestId)) return;
    if (requests.size >= KEPT) requests.delete(requests.keys().next().value!);
    requests.set(requestId, { at: timeStamp, file: false, endless: false });
    changed();
  };
  const onAnswer = ({ requestId, responseHeaders = [] }: { requestId: string; responseHeaders?: chrome.webRequest.HttpHeader[] }) => {
    const request = requests.get(requestId);
    const header = (name: string) => responseHeaders.find((h) => h.name.toLowerCase() === name)?.value ?? '';
    if (!request) return;
    request.file = /^\s*attachment/i.test(header('content-disposition')) || FILE.test(header('content-type'));
    request.endless = /^\s*text\/event-stream/i.test(header('content-type'));
    changed();
  };
  const onEnd = ({ requestId }: { requestId: string }) => {
    const request = requests.get(requestId);
    if (!request) return;
    request.ended = Date.now();
    changed();
  };
  const filter = { urls: ['<all_urls>'], tabId, types: ['xmlhttprequest' as const] };
  const { webRequest } = chrome;
  webRequest.onBeforeRequest.addListener(onBegin, filter);
  webRequest.onResponseStarted.addListener(onAnswer, filter, ['responseHeaders']);
  webRequest.onCompleted.addListener(onEnd, filter);
  webRequest.onErrorOccurred.addListener(onEnd, filter);
  const tab: Tab = {
    requests, wakers, users: 0,
    stop() {
      webRequest.onBeforeRequest.removeListener(onBegin);
      webRequest.onResponseStarted.removeListener(onAnswer);
      webRequest.onCompleted.removeListener(onEnd);
      webRequest.onErrorOccurred.removeListener(onEnd);
    },
  };
  tabs.set(tabId, tab);
  return tab;
}

/** Kinds of content that pages give to a person as files. */
const FILE = /^\s*(?:application\/(?:octet-stream|pdf|zip|gzip|x-zip|x-tar|x-7z|x-rar|msword|rtf|epub|vnd\.(?:ms-|openxml|oasis|apple|android))|text\/(?:csv|calendar|vcard|tab-sep)|audio\/|video\/)/i;
