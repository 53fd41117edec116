// The requests of a tab, as the debugger tells of them.
import { sites } from '../policy/policy';
import { placeOf } from '../policy/sites';
import { hasOwnAddress } from '../tabs/inherited';
import { onMessage } from './exchanged';
import { Recorder, type Recording } from './recorder';

export interface NetworkEntry {
  request_id: string;
  url: string;
  method: string;
  /** document, script, fetch, xhr, image, websocket, … */
  type: string;
  status?: number;
  mime?: string;
  /** Bytes over the wire. */
  size?: number;
  from_cache?: true;
  /** Why it failed. */
  error?: string;
  redirected_to?: string;
  /** Milliseconds since 1970. */
  at: number;
  duration_ms?: number;
}

/** What is not shown in lists. */
interface Hidden {
  cdp: string;
  /** The page that asked for it, or the scripts that did where the browser does not say the page; none if nobody with an address of its own is known. */
  by: string[];
  /** Who has the bodies: the page's own target, or that of a frame of another process or of a worker. */
  asked: string | undefined;
  answered?: string | undefined;
  began: number;
  requestHeaders?: Record<string, string>;
  responseHeaders?: Record<string, string>;
  posted?: string;
  hasPost?: boolean;
  /** A service worker of the page answered it. */
  byWorker?: true;
  /** What the network itself saw of it, beside what the page was given (cookies, 304), is told apart: whether it came, and none comes where the cache answered. */
  wire: { sent?: true; answered?: true; none?: true };
}
export type Entry = NetworkEntry & { hidden: Hidden };

/** So much of what was sent is kept here; the rest is asked for. */
export const POST_KEPT = 65_536;
const URL_MOST = 8192;
const IDLE_MS = 30 * 60_000;
/** A request is some six events. */
const FLOOD = 12_000;
let counter = 0;

/** Bodies are kept by the browser itself, so that they outlive the page that asked for them. */
const KEEP = { maxTotalBufferSize: 100e6, maxResourceBufferSize: 50e6 };

export const requests = new Recorder<Entry>({ name: 'network', domains: ['Network'], wish: ['Network.configureDurableMessages', KEEP], idle_ms: IDLE_MS, flood: FLOOD, event });

interface Sent { requestId: string; documentURL?: string; timestamp: number; wallTime: number; type?: string; request: { url: string; method: string; headers: Record<string, string>; postData?: string; hasPostData?: boolean }; redirectResponse?: Response; redirectHasExtraInfo?: boolean }
interface Stack { callFrames?: { url?: string }[]; parent?: Stack }
interface Initiator { url?: string; stack?: Stack }
interface Response { status: number; mimeType?: string; headers?: Record<string, string>; fromDiskCache?: boolean; fromPrefetchCache?: boolean; fromServiceWorker?: boolean; encodedDataLength?: number }
interface Failed { blockedReason?: string; errorText?: string; corsErrorStatus?: { corsError?: string } }

function event(recording: Recording<Entry>, method: string, params: Record<string, unknown>, push: (entry: Entry) => void, session?: string): void {
  const { entries } = recording;
  const id = params.requestId as string;
  const find = () => entries.findLast((e) => e.hidden.cdp === id);
  const timestamp = params.timestamp as number;
  const took = (entry: Entry) => { entry.duration_ms = Math.max(0, Math.round((timestamp - entry.hidden.began) * 1000)); };
  switch (method) {
    case 'Network.requestWillBeSent': {
      const { request, wallTime, type, redirectResponse, redirectHasExtraInfo, documentURL } = params as unknown as Sent;
      const before = redirectResponse ? find() : undefined;
      if (before && redirectResponse) {
        answered(before, redirectResponse, redirectHasExtraInfo);
        before.redirected_to = request.url.slice(0, URL_MOST);
        took(before);
      }
      push({
        request_id: `r${++counter}`, url: shorten(request.url), method: request.method, type: (type ?? 'Other').toLowerCase(), at: Math.round(wallTime * 1000),
        hidden: { cdp: id, asked: session, by: named([documentURL]), began: timestamp, requestHeaders: request.headers, posted: request.postData?.slice(0, POST_KEPT), hasPost: request.hasPostData, wire: {} },
      });
      for (const wire of takeEarly(recording, id)) ofTheWire(entries, id, wire);
      return;
    }
    case 'Network.requestWillBeSentExtraInfo':
    case 'Network.responseReceivedExtraInfo': {
      const wire = params as unknown as Wire;
      if (!ofTheWire(entries, id, wire)) keepEarly(recording, id, wire);
      return;
    }
    case 'Network.responseReceived': {
      const entry = find();
      if (!entry) return;
      answered(entry, params.response as Response, params.hasExtraInfo as boolean | undefined);
      entry.hidden.answered = session;
      return;
    }
    case 'Network.requestServedFromCache': {
      const entry = find();
      if (entry) entry.from_cache = true;
      return;
    }
    case 'Network.loadingFinished': {
      const entry = find();
      if (!entry) return;
      took(entry);
      const size = params.encodedDataLength;
      if (typeof size === 'number' && size >= 0) entry.size = Math.round(size);
      return;
    }
    case 'Network.loadingFailed': {
      const entry = find();
      if (!entry) return;
      took(entry);
      const { blockedReason, errorText, corsErrorStatus } = params as Failed;
      entry.error = blockedReason ? `blocked: ${blockedReason}` : `${errorText || 'failed'}${corsErrorStatus?.corsError ? ` (CORS: ${corsErrorStatus.corsError})` : ''}`;
      return;
    }
    case 'Network.webSocketCreated':
      push({ request_id: `r${++counter}`, url: shorten(String(params.url)), method: 'GET', type: 'websocket', at: Date.now(), hidden: { cdp: id, asked: session, by: named(scriptsOf(params.initiator as Initiator | undefined)), began: 0, wire: {} } });
      return;
    case 'Network.webSocketWillSendHandshakeRequest': {
      const entry = find();
      if (!entry) return;
      entry.hidden.began = timestamp;
      entry.at = Math.round(Number(params.wallTime) * 1000);
      entry.hidden.requestHeaders = (params.request as { headers: Record<string, string> }).headers;
      return;
    }
    case 'Network.webSocketHandshakeResponseReceived': {
      const entry = find();
      if (entry) answered(entry, params.response as Response);
      return;
    }
    case 'Network.webSocketFrameError': {
      const entry = find();
      if (entry) entry.error = String(params.errorMessage || 'the web socket failed');
      return;
    }
    case 'Network.webSocketClosed': {
      const entry = find();
      if (entry?.hidden.began) took(entry);
      return;
    }
    default: onMessage(recording, method, params);
  }
}

/** What the network saw of a request, which is told on another road than the rest: in the order of the redirects, now and then before the request itself. */
interface Wire { headers: Record<string, string>; statusCode?: number }

/** False if no request waits for it yet. */
function ofTheWire(entries: Entry[], cdp: string, { headers, statusCode }: Wire): boolean {
  const what = statusCode === undefined ? 'sent' : 'answered';
  const entry = entries.find((e) => e.hidden.cdp === cdp && !e.hidden.wire[what] && !e.hidden.wire.none);
  if (!entry) return false;
  entry.hidden.wire[what] = true;
  if (statusCode === undefined) entry.hidden.requestHeaders = headers;
  else {
    entry.status = statusCode;
    entry.hidden.responseHeaders = headers;
  }
  return true;
}

const early = new WeakMap<Recording<Entry>, Map<string, Wire[]>>();
/** More than these do not wait at once: the requests of the others were there before the recording, or fell out of it. */
const EARLY_MOST = 200;

function keepEarly(recording: Recording<Entry>, cdp: string, wire: Wire): void {
  const all = early.get(recording) ?? new Map<string, Wire[]>();
  early.set(recording, all);
  const of = all.get(cdp) ?? [];
  if (of.length < 2) of.push(wire);
  all.set(cdp, of);
  if (all.size > EARLY_MOST) all.delete(all.keys().next().value!);
}

function takeEarly(recording: Recording<Entry>, cdp: string): Wire[] {
  const all = early.get(recording);
  const of = all?.get(cdp) ?? [];
  all?.delete(cdp);
  return of;
}

function answered(entry: Entry, response: Response, wire?: boolean): void {
  if (wire === false) entry.hidden.wire.none = true;
  if (response.mimeType) entry.mime = response.mimeType;
  if (response.fromDiskCache || response.fromPrefetchCache) entry.from_cache = true;
  if (response.fromServiceWorker) entry.hidden.byWorker = true;
  if (entry.hidden.wire.answered) return;
  entry.status = response.status;
  entry.hidden.responseHeaders = response.headers;
}

/** Those that say themselves whose they are: what is in a page without an address, or a data: one, may be any site's. */
const named = (urls: (string | undefined)[]) => [...new Set(urls)].filter((url): url is string => url !== undefined && URL.canParse(url) && hasOwnAddress(url) && !/^data:/i.test(url));

function scriptsOf({ url, stack }: Initiator = {}): (string | undefined)[] {
  const urls = [url];
  for (let at = stack; at; at = at.parent) for (const frame of at.callFrames ?? []) urls.push(frame.url || undefined);
  return urls;
}

const shorten = (url: string) => (url.startsWith('data:') ? `${url.slice(0, 100)}${url.length > 100 ? '…' : ''}` : url.slice(0, URL_MOST));

export const shown = ({ hidden: _, redirected_to: to, ...entry }: Entry): NetworkEntry => ({ ...entry, ...(to === undefined ? {} : { redirected_to: sites.refusal(to) === undefined ? to : placeOf(to) }) });

/** Nothing of a denied site's, nor of what its pages asked for elsewhere, or may have. */
export const mayBeTold = ({ url, hidden: { by } }: Entry): boolean => !sites.limited || (by.length > 0 && [url, ...by].every((of) => sites.refusal(of) === undefined));

/** Every word of the filter stands in the address, or is the method, the type or the status. */
export function filtering(filter: string | undefined): (entry: Entry) => boolean {
  const words = (filter ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return (e) => mayBeTold(e) && words.every((w) => e.url.toLowerCase().includes(w) || e.method.toLowerCase() === w || e.type === w || String(e.status) === w);
}
