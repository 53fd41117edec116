// One request with all that the browser knows of it: headers, bodies, what was exchanged.
import { refusalOf } from '../debugger/attach';
import { BridgeError } from '../errors';
import { sites } from '../policy/policy';
import { exchangedBy, type Exchanged } from './exchanged';
import { mayBeTold, POST_KEPT, shown, type Entry, type NetworkEntry } from './requests';
import type { Recording } from './recorder';
import { readable } from './text';

export interface NetworkDetail extends NetworkEntry {
  request_headers?: Record<string, string>;
  response_headers?: Record<string, string>;
  request_body?: string;
  /** request_body is no text and given in base64. */
  request_base64?: true;
  response_body?: string;
  /** response_body is no text and given in base64. */
  base64?: true;
  truncated?: true;
  messages?: Exchanged[];
  note?: string;
}

const BODY_MOST = 4 * 1024 * 1024;
/** In base64 a part that can be read ends after whole groups. */
const BASE64_MOST = BODY_MOST - (BODY_MOST % 4);

export async function detail(recording: Recording<Entry> | undefined, id: string): Promise<NetworkDetail> {
  const entry = recording?.entries.find((e) => e.request_id === id && mayBeTold(e));
  if (!recording || !entry) throw new BridgeError('INVALID_PARAMS', `invalid params: there is no request ${id.slice(0, 40)} in this tab's record`);
  const { cdp, requestHeaders, responseHeaders } = entry.hidden;
  const all: NetworkDetail = { ...shown(entry), ...(requestHeaders ? { request_headers: requestHeaders } : {}), ...(responseHeaders ? { response_headers: responseHeaders } : {}) };
  if (entry.redirected_to !== undefined && sites.refusal(entry.redirected_to) !== undefined) delete all.response_headers;
  await addRequestBody(recording, entry, all);
  const messages = exchangedBy(recording, cdp);
  if (messages.length || entry.type === 'websocket') return { ...all, messages };
  if (entry.status === undefined || entry.redirected_to !== undefined) return all;
  if (recording.status !== 'recording') return { ...all, note: 'the recording is stopped: bodies are to be had only while it runs' };
  await addResponseBody(recording, entry, all);
  return all;
}

async function addRequestBody(recording: Recording<Entry>, { hidden: { cdp, asked, posted, hasPost } }: Entry, all: NetworkDetail): Promise<void> {
  if (posted === undefined && !hasPost) return;
  const live = recording.status === 'recording';
  const whole = live ? await recording.send<{ postData: string; base64Encoded?: boolean }>('Network.getRequestPostData', { requestId: cdp }, asked).catch(() => undefined) : undefined;
  const body = whole?.postData ?? posted;
  if (body === undefined) return;
  all.request_body = body.slice(0, BASE64_MOST);
  if (whole?.base64Encoded) all.request_base64 = true;
  if (body.length > BASE64_MOST || (whole === undefined && body.length >= POST_KEPT)) all.truncated = true;
}

async function addResponseBody(recording: Recording<Entry>, entry: Entry, all: NetworkDetail): Promise<void> {
  try {
    const { mime, hidden } = entry;
    const came = await bodyOf(recording, entry);
    const { body, base64 } = readable(came.body, came.base64Encoded, mime ?? '', hidden.responseHeaders);
    all.response_body = body.slice(0, BASE64_MOST);
    if (base64) all.base64 = true;
    if (body.length > BASE64_MOST) all.truncated = true;
  } catch (e) {
    all.note = entry.duration_ms === undefined ? 'the browser has not told of the end of the answer: its body is to be had after that' : `the browser has no body of it (${refusalOf(e)})`;
  }
}

interface Body { body: string; base64Encoded: boolean }

async function bodyOf(recording: Recording<Entry>, entry: Entry): Promise<Body> {
  const ask = ({ hidden: { cdp, answered } }: Entry) => recording.send<Body>('Network.getResponseBody', { requestId: cdp }, answered);
  try {
    return await ask(entry);
  } catch (e) {
    // The browser keeps what came over the network: with a service worker in between that is the body of the worker's own request.
    const over = entry.hidden.byWorker && recording.entries.find((o) => o !== entry && o.url === entry.url && o.method === entry.method && o.at >= entry.at && o.at <= entry.at + (entry.duration_ms ?? 0) && mayBeTold(o));
    if (!over) throw e;
    return ask(over);
  }
}
