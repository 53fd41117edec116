// console: what a page wrote to its console; the first call begins to listen, and gets what the page wrote before as well.
import type { Handler } from '../call';
import type { ConsoleParams, ConsoleResult } from '../generated/methods';
import { atLeast, messages } from '../record/messages';
import { lastOf } from '../record/recorder';
import { resolveTab } from '../tabs/resolve';

export const handler: Handler<ConsoleParams, ConsoleResult> = async ({ action = 'get', limit = 100, level, ...params }, call) => {
  const { id } = await resolveTab(params, call);
  const ended = messages.of(id)?.ended;
  const recording = await messages.start(id);
  if (action === 'clear') messages.clear(id);
  const found = lastOf(recording.entries, limit, atLeast(level));
  return { messages: found, count: found.length, ...(recording.dropped ? { dropped: recording.dropped } : {}), ...(ended === undefined ? {} : { gap: ended }), tab_id: id };
};
