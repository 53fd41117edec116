// What a page asks its server for because of an act: fields are often checked there, and what the answer makes of them comes when it comes.
// No request says what it was made for; those that a document has begun between an act and its result are taken for the act's.
import type { Doc } from './document';

export interface Asked {
  /** How many times the document has asked since that time (Date.now() milliseconds). */
  all(doc: Doc, since: number): number;
  /** How many of these have not been answered. */
  open(doc: Doc, since: number): number;
  /** Resolves with true once that holds, with false after so many milliseconds or when the signal aborts. */
  until(holds: () => boolean, ms: number, signal: AbortSignal): Promise<boolean>;
  stop(): void;
}

interface Details { requestId: string; tabId: number; documentId?: string; initiator?: string; timeStamp: number }
type Request = Omit<Details, 'requestId'> & { open: boolean };

const MOST = 1000;
/** The clocks of a page and of the browser differ by as much. */
const CLOCKS_MS = 2;

/** Must be set up before the act. */
export function watchAsked(tabId: number): Asked {
  const requests = new Map<string, Request>();
  let wake = () => {};
  const onBegin = ({ requestId, tabId: of, documentId, initiator, timeStamp }: Details): undefined => {
    // A page's service worker, which asks in its stead, belongs to no tab.
    if ((of !== tabId && of >= 0) || (requests.size >= MOST && !requests.has(requestId))) return;
    requests.set(requestId, { tabId: of, documentId, initiator, timeStamp: requests.get(requestId)?.timeStamp ?? timeStamp, open: true });
    wake();
  };
  const onEnd = ({ requestId }: Details) => {
    const request = requests.get(requestId);
    if (request) { request.open = false; wake(); }
  };
  // What scripts ask for; pictures and the like change no field.
  const filter = { urls: ['<all_urls>'], types: ['xmlhttprequest'] as `${chrome.webRequest.ResourceType}`[] };
  const { onBeforeRequest, onCompleted, onErrorOccurred } = chrome.webRequest;
  onBeforeRequest.addListener(onBegin, filter);
  onCompleted.addListener(onEnd, filter);
  onErrorOccurred.addListener(onEnd, filter);

  const since = (doc: Doc, time: number) => [...requests.values()].filter((r) => r.timeStamp >= time - CLOCKS_MS &&
    (r.tabId === tabId ? r.documentId === undefined || r.documentId === doc.documentId : r.initiator === originOf(doc.url)));

  return {
    all: (doc, time) => since(doc, time).length,
    open: (doc, time) => since(doc, time).filter((r) => r.open).length,
    until: (holds, ms, signal) => new Promise((resolve) => {
      const done = (held: boolean) => {
        clearTimeout(timer);
        wake = () => {};
        signal.removeEventListener('abort', onAbort);
        resolve(held);
      };
      const onAbort = () => done(false);
      const timer = setTimeout(onAbort, ms);
      signal.addEventListener('abort', onAbort);
      wake = () => { if (holds()) done(true); };
      wake();
    }),
    stop() {
      onBeforeRequest.removeListener(onBegin);
      onCompleted.removeListener(onEnd);
      onErrorOccurred.removeListener(onEnd);
    },
  };
}

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : url);
