// The requests of a tab, as the debugger tells of them.
import { BridgeError } from '../errors';
import { sites } from '../policy/policy';
import { placeOf } from '../policy/sites';
import { hasOwnAddress } from '../tabs/inherited';
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
}
type Entry = NetworkEntry & { hidden: Hidden };

export interface NetworkDetail extends NetworkEntry {
  request_headers?: Record<string, string>;
  response_headers?: Record<string, string>;
  request_body?: string;
  response_body?: string;
  /** The body is no text and given in base64. */
  base64?: true;
  truncated?: true;
  note?: string;
}

const BODY_MOST = 4 * 1024 * 1024;
const POST_KEPT = 65_536;
const URL_MOST = 8192;
const IDLE_MS = 30 * 60_000;
/** A request is some six events. */
const FLOOD = 12_000;
let counter = 0;

export const requests = new Recorder<Entry>({ name: 'network', domains: ['Network'], idle_ms: IDLE_MS, flood: FLOOD, event });

interface Sent { requestId: string; documentURL?: string; timestamp: number; wallTime: number; type?: string; request: { url: string; method: string; headers: Record<string, string>; postData?: string; hasPostData?: boolean }; redirectResponse?: Response }
interface Stack { callFrames?: { url?: string }[]; parent?: Stack }
interface Initiator { url?: string; stack?: Stack }
interface Response { status: number; mimeType?: string; headers?: Record<string, string>; fromDiskCache?: boolean; fromPrefetchCache?: boolean; fromServiceWorker?: boolean; encodedDataLength?: number }

function event({ entries }: Recording<Entry>, method: string, params: Record<string, unknown>, push: (entry: Entry) => void, session?: string): void {
  const id = params.requestId as string;
  const find = () => entries.findLast((e) => e.hidden.cdp === id);
  const timestamp = params.timestamp as number;
  const took = (entry: Entry) => { entry.duration_ms = Math.max(0, Math.round((timestamp - entry.hidden.began) * 1000)); };
  switch (method) {
    case 'Network.requestWillBeSent': {
      const { request, wallTime, type, redirectResponse, documentURL } = params as unknown as Sent;
      const before = redirectResponse ? find() : undefined;
      if (before && redirectResponse) {
        answered(before, redirectResponse);
        before.redirected_to = request.url.slice(0, URL_MOST);
        took(before);
      }
      push({
        request_id: `r${++counter}`, url: shorten(request.url), method: request.method, type: (type ?? 'Other').toLowerCase(), at: Math.round(wallTime * 1000),
        hidden: { cdp: id, asked: session, by: named([documentURL]), began: timestamp, requestHeaders: request.headers, posted: request.postData?.slice(0, POST_KEPT), hasPost: request.hasPostData },
      });
      return;
    }
    case 'Network.requestWillBeSentExtraInfo': {
      const entry = find();
      if (entry && params.headers) entry.hidden.requestHeaders = params.headers as Record<string, string>;
      return;
    }
    case 'Network.responseReceived': {
      const entry = find();
      if (!entry) return;
      answered(entry, params.response as Response);
      entry.hidden.answered = session;
      return;
    }
    case 'Network.loadingFinished': {
      const entry = find();
      if (!entry) return;
      took(entry);
      if (typeof params.encodedDataLength === 'number') entry.size = Math.round(params.encodedDataLength);
      return;
    }
    case 'Network.loadingFailed': {
      const entry = find();
      if (!entry) return;
      took(entry);
      entry.error = params.blockedReason ? `blocked: ${String(params.blockedReason)}` : String(params.errorText ?? 'failed');
      return;
    }
    case 'Network.webSocketCreated':
      push({ request_id: `r${++counter}`, url: shorten(String(params.url)), method: 'GET', type: 'websocket', at: Date.now(), hidden: { cdp: id, asked: session, by: named(scriptsOf(params.initiator as Initiator | undefined)), began: 0 } });
      return;
    case 'Network.webSocketHandshakeResponseReceived': {
      const entry = find();
      if (entry) answered(entry, params.response as Response);
    }
  }
}

function answered(entry: Entry, response: Response): void {
  entry.status = response.status;
  if (response.mimeType) entry.mime = response.mimeType;
  entry.hidden.responseHeaders = response.headers;
  if (response.fromDiskCache || response.fromPrefetchCache) entry.from_cache = true;
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
const mayBeTold = ({ url, hidden: { by } }: Entry): boolean => !sites.limited || (by.length > 0 && [url, ...by].every((of) => sites.refusal(of) === undefined));

/** Every word of the filter stands in the address, or is the method, the type or the status. */
export function filtering(filter: string | undefined): (entry: Entry) => boolean {
  const words = (filter ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return (e) => mayBeTold(e) && words.every((w) => e.url.toLowerCase().includes(w) || e.method.toLowerCase() === w || e.type === w || String(e.status) === w);
}

/** One request with its headers and bodies. */
export async function detail(recording: Recording<Entry> | undefined, id: string): Promise<NetworkDetail> {
  const entry = recording?.entries.find((e) => e.request_id === id && mayBeTold(e));
  if (!recording || !entry) throw new BridgeError('INVALID_PARAMS', `invalid params: there is no request ${id.slice(0, 40)} in this tab's record`);
  const { cdp, asked, answered, requestHeaders, responseHeaders, posted, hasPost } = entry.hidden;
  const all: NetworkDetail = { ...shown(entry), ...(requestHeaders ? { request_headers: requestHeaders } : {}), ...(responseHeaders ? { response_headers: responseHeaders } : {}) };
  if (entry.redirected_to !== undefined && sites.refusal(entry.redirected_to) !== undefined) delete all.response_headers;
  const live = recording.status === 'recording';
  if (posted !== undefined || hasPost) {
    const whole = live ? await recording.send<{ postData: string }>('Network.getRequestPostData', { requestId: cdp }, asked).catch(() => undefined) : undefined;
    const body = whole?.postData ?? posted;
    if (body !== undefined) all.request_body = body.slice(0, BODY_MOST);
  }
  if (entry.status === undefined || entry.redirected_to !== undefined) return all;
  if (!live) return { ...all, note: 'the recording is stopped: bodies are to be had only while it runs' };
  try {
    const { body, base64Encoded } = await recording.send<{ body: string; base64Encoded: boolean }>('Network.getResponseBody', { requestId: cdp }, answered);
    all.response_body = body.slice(0, BODY_MOST);
    if (base64Encoded) all.base64 = true;
    if (body.length > BODY_MOST) all.truncated = true;
  } catch (e) {
    all.note = `the browser no longer has the body (${e instanceof Error ? e.message : String(e)})`;
  }
  return all;
}
