// network: the requests of a tab, recorded between start and stop.
import type { Handler } from '../call';
import { BridgeError } from '../errors';
import type { NetworkParams, NetworkResult } from '../generated/methods';
import { detail } from '../record/detail';
import { lastOf } from '../record/recorder';
import { filtering, requests, shown } from '../record/requests';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<NetworkParams, NetworkResult> = async ({ action, limit = 100, filter, request_id, ...params }, call) => {
  if (request_id !== undefined && action !== 'get') throw new BridgeError('INVALID_PARAMS', 'invalid params: request_id goes with action "get"');
  const { id } = await resolveTab(params, call);
  if (action === 'start' || action === 'get') await requests.resume(id); else await requests.drop(id);
  if (action === 'start') {
    const { status, entries, gap } = await requests.start(id);
    return { status, count: entries.length, ...(gap === undefined ? {} : { gap }), tab_id: id };
  }
  if (action === 'stop') requests.stop(id);
  if (action === 'clear') requests.clear(id);
  const recording = requests.of(id);
  const state = { status: recording?.status ?? 'off' as const, ...(recording?.ended === undefined ? {} : { ended: recording.ended }), ...(recording?.gap === undefined ? {} : { gap: recording.gap }), tab_id: id };
  if (action !== 'get') return { ...state, count: recording?.entries.length ?? 0 };
  if (request_id !== undefined) return { ...state, events: [await detail(recording, request_id)], count: 1 };
  const events = lastOf(recording?.entries ?? [], limit, filtering(filter)).map(shown);
  return { ...state, events, count: events.length, ...(recording?.dropped ? { dropped: recording.dropped } : {}) };
};
