// What goes to and fro over web sockets and event streams: the last messages of a recording, of all its connections together.
import type { Recording } from './recorder';

export interface Exchanged {
  from: 'page' | 'server';
  text: string;
  /** The message is no text and given in base64. */
  base64?: true;
  /** Of an event stream: its kind of event, if it has a name. */
  event?: string;
  /** The message is longer. */
  truncated?: true;
  /** Milliseconds since 1970. */
  at: number;
}

const MOST = 500;
const TEXT_MOST = 10_000;
const kept = new WeakMap<Recording<unknown>, (Exchanged & { cdp: string })[]>();

interface Frame { opcode: number; payloadData: string }

export function onMessage(recording: Recording<unknown>, method: string, params: Record<string, unknown>): void {
  const frame = params.response as Frame | undefined;
  if (method === 'Network.webSocketFrameSent') keep(recording, params, 'page', frame!.payloadData, frame!.opcode !== 1);
  else if (method === 'Network.webSocketFrameReceived') keep(recording, params, 'server', frame!.payloadData, frame!.opcode !== 1);
  else if (method === 'Network.eventSourceMessageReceived') keep(recording, params, 'server', String(params.data), false, params.eventName === 'message' ? undefined : String(params.eventName));
}

function keep(recording: Recording<unknown>, { requestId }: Record<string, unknown>, from: Exchanged['from'], text: string, binary: boolean, event?: string): void {
  const all = kept.get(recording) ?? [];
  kept.set(recording, all);
  all.push({
    cdp: String(requestId), from, text: text.slice(0, TEXT_MOST), ...(binary ? { base64: true } : {}),
    ...(event ? { event } : {}), ...(text.length > TEXT_MOST ? { truncated: true } : {}), at: Date.now(),
  });
  if (all.length > MOST) all.shift();
}

/** The messages of one connection, oldest first. */
export const exchangedBy = (recording: Recording<unknown>, cdp: string): Exchanged[] => (kept.get(recording) ?? []).filter((m) => m.cdp === cdp).map(({ cdp: _, ...message }) => message);
